"""`diffmech check`: is a derivation on paper that of a machine?"""

import json
import sys
from pathlib import Path

import click

from .._suggest import shortened
from ._options import debug_option, json_option, option
from ._runs import system_with
from ._shell_words import assignments, for_the_shell, require_known

_AUTO = "auto"
_WAYS = (_AUTO, "varied", "nonzero", "given")
_MOST_BYTES = 2_000_000  # of a text file


@click.command()
@click.argument("system")
@click.argument("derivation", metavar="DERIVATION.txt")
@option("params", "A parameter of SYSTEM: mB=0.2. Repeatable.")
@click.option(
    "--symbol",
    "symbols",
    multiple=True,
    metavar="NAME=PATH",
    help="Another name for a parameter or coordinate: m1=masses[0]. Repeatable.",
)
@click.option(
    "--vary",
    default=_AUTO,
    show_default=True,
    metavar="WORD",
    help="Parameters: varied, zeros too; nonzero, zeros stay zero; given, the machine's own "
    "numbers; auto, as the equations allow.",
)
@option("seed")
@json_option
@debug_option
def check(
    system: str,
    derivation: str,
    params: tuple[str, ...],
    symbols: tuple[str, ...],
    vary: str,
    seed: int,
    as_json: bool,
) -> int:
    """Compare equations of motion derived by hand with those of SYSTEM.

    DERIVATION.txt (- for standard input) has one equation a line. Coordinates take ' and '' for
    rates and accelerations; names may be given to what is used again; comments begin with #.

    \b
        I1 = IA + mA*LA^2 + mB*LB^2
        qB'' = -sin(qB)*cos(qB)*qA'^2*(IBx - IBy)/IBz

    \b
    diffmech check babyboot derivation.txt
    diffmech check double_pendulum mine.txt --symbol m1=masses[0] --symbol m2=masses[1]
    diffmech check n_link:n=2 mine.txt --vary nonzero --json

    Says of each equation whether it is right and, if not, which term is wrong. Exit codes: 0 right,
    1 wrong, 2 cannot be read.
    """
    require_known(vary, "word for --vary", _WAYS)
    text = _read(derivation)
    named = assignments(symbols, "--symbol", "m1=masses[0]")
    machine = system_with(system, params)
    from ..derivation import UnreadableTextError, check_derivation

    try:
        found = check_derivation(
            machine, text, None if vary == _AUTO else vary, symbols=named, seed=seed
        )
    except UnreadableTextError as error:
        # The caret below the mistake needs its lines, which a sentence would lose.
        click.echo(f"Error: {shortened(derivation)}: {error}", err=True)
        return 2
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    else:
        click.echo(for_the_shell(str(found)))
    return 0 if found.right else 1


def _read(name: str) -> str:
    """A text file, or what comes on standard input."""
    from .._records import what_is_at

    if name == "-":
        data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    else:
        path = Path(name)
        if what_is_at(path) != "file":
            raise click.UsageError(f"there is no file `{name}`.")
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise click.UsageError(f"`{name}` is larger than {_MOST_BYTES / 1e6:g} MB: no derivation.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"`{name}` is not a text file in UTF-8.") from error
