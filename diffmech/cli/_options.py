"""Options that several commands share."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])

debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the trace behind an error."
)
force_option = click.option("--force", is_flag=True, help="Replace what is there.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
progress_option = click.option(
    "--progress/--no-progress",
    default=None,
    help="Progress on standard error; by default on a terminal.",
)


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


_RUN_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "start": click.option("--start", metavar="NAME", help="A named start; see `systems -v`."),
    "sets": click.option(
        "--set",
        "sets",
        multiple=True,
        metavar="NAME=VALUE",
        help="An initial coordinate or rate: qA=90deg, qA_dot=0, theta1=pi/3. Repeatable.",
    ),
    "params": click.option(
        "--param",
        "params",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter: mB=0.2, mB=200g, masses=1,2,3, masses[1]=2. Repeatable.",
    ),
    "duration": click.option(
        "--duration", default="10", metavar="SECONDS", show_default=True, help="How long."
    ),
    "samples": click.option(
        "--samples", type=int, default=1001, show_default=True, help="How many samples to keep."
    ),
    "method": click.option(
        "--method",
        metavar="NAME",
        help="Tsit5, Kvaerno5 (stiff by damping), GaussLegendre4 (long, with --dt), any of "
        "Diffrax's.  [default: Dopri8]",
    ),
    "stabilise": click.option(
        "--stabilise",
        metavar="WAY",
        help="How constraints are kept: projection, nullspace, baumgarte, penalty, none.  "
        "[default: projection]",
    ),
    "rtol": click.option("--rtol", metavar="NUMBER", help="Relative tolerance.  [default: 1e-11]"),
    "atol": click.option(
        "--atol", metavar="NUMBER", help="Absolute tolerance.  [default: as --rtol]"
    ),
    "dt": click.option("--dt", metavar="SECONDS", help="A constant step instead of tolerances."),
    "assemble": click.option(
        "--assemble",
        is_flag=True,
        help="Bring the start onto the machine's constraints; coordinates given by --set stay.",
    ),
    "max_steps": click.option("--max-steps", type=int, help="Give up after so many steps."),
}


def run_options(function: _F) -> _F:
    """Everything that says which run to make; handed over as one dictionary, `how`."""

    @functools.wraps(function)
    def gathered(**given: Any) -> Any:
        how = {name: given.pop(name) for name in _RUN_OPTIONS}
        return function(how=how, **given)

    wrapped: Any = gathered
    for option in reversed(_RUN_OPTIONS.values()):
        wrapped = option(wrapped)
    return wrapped


def given_run_options() -> list[str]:
    """The options above that stand on the command line, as the user spelled them."""
    context = click.get_current_context()
    spelled = {"sets": "--set", "params": "--param", "max_steps": "--max-steps"}
    return [
        spelled.get(name, f"--{name}")
        for name in _RUN_OPTIONS
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]


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
