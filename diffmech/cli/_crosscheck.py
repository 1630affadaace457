"""`diffmech crosscheck`: do independent derivations of a machine agree?"""

import json

import click

from ._machines import machine
from ._options import debug_option, json_option, option
from ._runs import system_with
from ._shell_words import for_the_shell


@click.command()
@click.argument("system")
@option("params", "A parameter: IBz=3e-4.")
@click.option("--against", metavar="SYSTEM", help="Another description in the same coordinates.")
@click.option("--states", type=int, default=50, show_default=True, help="How many random states.")
@option("seed", "Of these states.")
@json_option
@debug_option
def crosscheck(
    system: str,
    params: tuple[str, ...],
    against: str | None,
    states: int,
    seed: int,
    as_json: bool,
) -> int:
    """Derive the motion of SYSTEM by every formulation that applies, and compare.

    Ends with 1 if two of them disagree, or if there is nothing to compare.

    \b
    diffmech crosscheck rolling_disc
    diffmech crosscheck rolling_disc:route=momentum --against rolling_disc
    """
    from ..crosschecks import crosscheck as compared

    comparison = compared(
        system_with(system, params),
        states=states,
        seed=seed,
        against=None if against is None else machine(against),
    )
    if as_json:
        click.echo(json.dumps(comparison.as_dict(), indent=2, allow_nan=False))
    else:
        click.echo(for_the_shell(str(comparison)))
    return 0 if comparison.passed else 1
