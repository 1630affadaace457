"""`diffmech equations`: the equations of motion, printed."""

import json
from typing import Any

import click

from ._options import debug_option, json_option, option
from ._quantities import number
from ._runs import system_with
from ._shell_words import assignments

_LANGUAGES = {"python": "python", "c": "c", "js": "javascript"}
_FORMATS = ("text", "latex", "markdown", *_LANGUAGES)


@click.command()
@click.argument("system")
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="Formulas, or a program for the accelerations.",
)
@click.option(
    "--form",
    type=click.Choice(["balance", "matrix"]),
    default="balance",
    show_default=True,
    help="An equation for each coordinate, or entry by entry.",
)
@click.option(
    "--zero",
    "zeros",
    multiple=True,
    metavar="NAME",
    help="Leave a parameter out as zero; `--zero all`: those that are zero. Repeatable.",
)
@click.option(
    "--same",
    multiple=True,
    metavar="NAME=OTHER",
    help="Write a parameter as another: disc.inertia[1]=disc.inertia[0]. Repeatable.",
)
@option("params", "A parameter of SYSTEM.")
@click.option(
    "--seconds", default="10", show_default=True, help="Simplify for so long at the most."
)
@json_option
@debug_option
def equations(
    system: str,
    format_: str,
    form: str,
    zeros: tuple[str, ...],
    same: tuple[str, ...],
    params: tuple[str, ...],
    seconds: str,
    as_json: bool,
) -> None:
    """Print the equations of motion of SYSTEM, derived from its own functions.

    \b
    diffmech equations babyboot
    diffmech equations n_link:n=2 --zero all --format latex
    diffmech equations rolling_disc --same disc.inertia[1]=disc.inertia[0]
    diffmech equations cart_pole --format c > cart_pole.c
    """
    from ..formulas import equations as print_equations

    printed = print_equations(
        system_with(system, params),
        form=form,
        zero=True if "all" in zeros else zeros,
        same=assignments(same, "--same", "disc.inertia[1]=disc.inertia[0]"),
        seconds=number(seconds, "--seconds"),
    )
    language = _LANGUAGES.get(format_)
    text = printed.code(language) if language else _FORMULAS[format_](printed)
    if as_json:
        click.echo(json.dumps({**_as_json(printed), "format": format_, "text": text}, indent=2))
    else:
        click.echo(text.rstrip("\n"))


def _display(printed: Any) -> str:
    return f"\\[\n{printed.latex()}\n\\]"


_FORMULAS: dict[str, Any] = {
    "text": str,
    "latex": _display,
    "markdown": lambda printed: printed.markdown(),
}


def _as_json(printed: Any) -> dict[str, Any]:
    return {
        "system": printed.name,
        "coordinates": list(printed.coordinates),
        "equations": list(printed.balance),
        "constraints": list(printed.constraints),
        "rows": list(printed.rows),
        "entries": list(printed.entries),
        "shared": list(printed.shared),
        "left_out": list(printed.left_out),
        "remark": printed.remark,
    }
