"""Options of the commands: those that several have are declared here, once."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])


def as_path(context: Any, parameter: Any, value: str | None) -> Path | None:
    """A path as the user gave it; an empty one is refused."""
    del context
    if value is None:
        return None
    if not value or "\0" in value or value.startswith("-"):
        raise click.UsageError(
            f"--{parameter.name} must be a path, but is {value!r} (a name that starts with a dash "
            "is written ./-name)."
        )
    return Path(value)


class _Declared(NamedTuple):
    """An option as Click takes it: its words, the variable's name last, and what they mean."""

    words: tuple[str, ...]
    settings: dict[str, Any]


def _declare(*words: str, **settings: Any) -> _Declared:
    return _Declared(words, settings)


_TABLE = {
    "start": _declare("--start", metavar="NAME", help="A named start; see `systems -v`."),
    "sets": _declare(
        "--set",
        "sets",
        multiple=True,
        metavar="NAME=VALUE",
        help="An initial coordinate or rate: qA=90deg, qA_dot=0, theta1=pi/3. Repeatable.",
    ),
    "params": _declare(
        "--param",
        "params",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter: mB=0.2, mB=200g, masses=1,2,3, masses[1]=2. Repeatable.",
    ),
    "duration": _declare(
        "--duration", default="10", metavar="SECONDS", show_default=True, help="How long."
    ),
    "samples": _declare(
        "--samples", type=int, default=1001, show_default=True, help="How many samples to keep."
    ),
    "method": _declare(
        "--method",
        metavar="NAME",
        help="Tsit5, Kvaerno5 (stiff by damping), GaussLegendre4 (long, with --dt), any of "
        "Diffrax's.  [default: Dopri8]",
    ),
    "stabilise": _declare(
        "--stabilise",
        metavar="WAY",
        help="How constraints are kept: projection, nullspace, baumgarte, penalty, none.  "
        "[default: projection]",
    ),
    "rtol": _declare("--rtol", metavar="NUMBER", help="Relative tolerance.  [default: 1e-11]"),
    "atol": _declare("--atol", metavar="NUMBER", help="Absolute tolerance.  [default: as --rtol]"),
    "dt": _declare("--dt", metavar="SECONDS", help="A constant step instead of tolerances."),
    "assemble": _declare(
        "--assemble",
        is_flag=True,
        help="Bring the start onto the machine's constraints; coordinates given by --set stay.",
    ),
    "max_steps": _declare("--max-steps", type=int, help="Give up after so many steps."),
    "system": _declare(
        "--system",
        metavar="SYSTEM",
        help="The machine of a saved run, if it is your own.",
    ),
    "seed": _declare(
        "--seed", type=int, default=0, show_default=True, help="Of the random states."
    ),
    "out": _declare("--out", metavar="FILE", callback=as_path, help=".png, .pdf or .svg"),
    "plot": _declare(
        "--plot", metavar="FILE", callback=as_path, help="Draw it: .png, .pdf or .svg"
    ),
    "force": _declare("--force", is_flag=True, help="Replace what is there."),
    "json": _declare("--json", "as_json", is_flag=True, help="Print one JSON object."),
    "progress": _declare(
        "--progress/--no-progress",
        default=None,
        help="Progress on standard error; by default on a terminal.",
    ),
    "debug": _declare(
        "--debug", is_flag=True, expose_value=False, help="Show the trace behind an error."
    ),
}
# Everything that says which run to make.
_RUN = (
    *("start", "sets", "params", "duration", "samples", "method", "stabilise"),
    *("rtol", "atol", "dt", "assemble", "max_steps"),
)


def option(name: str, text: str | None = None, **changes: Any) -> Callable[[_F], _F]:
    """An option that several commands have; `text` is its help where theirs differ."""
    declared = _TABLE[name]
    said = {} if text is None else {"help": text}
    return click.option(*declared.words, **{**declared.settings, **said, **changes})


debug_option = option("debug")
force_option = option("force")
json_option = option("json")
progress_option = option("progress")


def version_option(function: _F) -> _F:
    """`--version`, read from the installed metadata."""

    def show(context: click.Context, parameter: Any, wanted: bool) -> None:
        del parameter
        if wanted and not context.resilient_parsing:
            from importlib.metadata import version

            click.echo(f"diffmech {version('diffmech')}")
            context.exit()

    return click.option(
        "--version",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show the version.",
    )(function)


def run_options(function: _F) -> _F:
    """Everything that says which run to make; handed over as one dictionary, `how`."""

    @functools.wraps(function)
    def gathered(**given: Any) -> Any:
        how = {name: given.pop(name) for name in _RUN}
        return function(how=how, **given)

    wrapped: Any = gathered
    for name in reversed(_RUN):
        wrapped = option(name)(wrapped)
    return wrapped


def given_run_options() -> list[str]:
    """The options above that stand on the command line, as the user spelled them."""
    context = click.get_current_context()
    return [
        _TABLE[name].words[0]
        for name in _RUN
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
