"""The group of commands, and how every one of them ends."""

import contextlib
import errno
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import click

from ._animate import animate
from ._check import check
from ._crosscheck import crosscheck
from ._demo import demo
from ._doctor import doctor
from ._edges import edges
from ._equations import equations
from ._fit import fit
from ._map import stability_map
from ._options import debug_option, version_option
from ._plot import plot
from ._report import report
from ._shell_words import brief, for_the_shell
from ._signals import Signals, watching
from ._simulate import simulate
from ._systems import systems

_EXITS = """
\b
Exit codes: 0 done, 1 the run or the fit failed or a derivation is wrong, 2 the request was wrong,
3 too many motions of a map failed,
130 and 143 interrupted (with --out, what was computed is kept).
"""


_PACKAGES = {"PIL": "pillow"}  # what is imported under another name than it is installed


class _Commands(click.Group):
    """Suggests a command for one that does not exist, and keeps the order of a day's work."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from .._suggest import quoted, suggestion

        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise click.UsageError(
                f"there is no command {quoted(args[0])}.{suggestion(args[0], self.commands)}"
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    epilog=_EXITS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@version_option
@debug_option
@click.pass_context
def cli(context: click.Context) -> None:
    """Mechanics from a Lagrangian: run machines, draw them, and say why to believe it.

    \b
    diffmech systems                                 what there is
    diffmech simulate babyboot --start chaotic       a run and its report
    diffmech simulate n_link:n=5 --out run5 --film   with numbers, pictures, film
    diffmech animate babyboot --set qA=45deg         a GIF
    diffmech map babyboot --axis qA=0:180deg:1801 --criterion tumble:qB=90deg
    diffmech edges babyboot --family qA              where it gets unstable, exactly
    diffmech fit pendulum swing.csv --free length    its parameters from measured motion
    diffmech equations babyboot --format latex       its equations of motion
    diffmech crosscheck rolling_disc                 derived by independent routes, compared
    diffmech check babyboot derivation.txt           are equations derived by hand right?
    diffmech simulate my_system.py:boot              a machine of your own
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (
    systems,
    simulate,
    animate,
    plot,
    report,
    stability_map,
    edges,
    fit,
    equations,
    crosscheck,
    check,
    demo,
    doctor,
):
    cli.add_command(command)


def main() -> None:
    """The `diffmech` command."""
    os.environ["MPLBACKEND"] = "Agg"  # pictures go to files; no display is needed
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # not a real terminal stream
            stream.reconfigure(errors="replace")  # pyright: ignore[reportAttributeAccessIssue]
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Carry out one command line and return its exit code."""
    debug = "--debug" in arguments
    with watching() as signals, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _show_warning
        try:
            code = cli.main(list(arguments), "diffmech", standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
            if signals.received is not None:
                return signals.exit_code
            return code if isinstance(code, int) else 0
        except BrokenPipeError:
            # Nobody reads any more (`| head`): there is nothing left to say, nor to complain of.
            if sys.stdout is not None:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except BaseException as error:
            if debug:
                traceback.print_exc()
            code, sentence = _ending(error, signals)
            _say(brief(sentence, arguments))
            return code


def _ending(error: BaseException, signals: Signals) -> tuple[int, str]:
    """Exit code and sentence for whatever went wrong."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code, ""
    if isinstance(error, click.UsageError):
        # Our own sentences say the way out; Click's name only the word that was wrong.
        ours = type(error) is click.UsageError
        more = f" See `{error.ctx.command_path} --help`." if error.ctx and not ours else ""
        return 2, f"Error: {_sentence(error.format_message())}{more}"
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return signals.exit_code, "Stopped."
    if isinstance(error, SystemExit):
        return 0, ""  # Click leaves this way when nobody reads its output any more
    if isinstance(error, ModuleNotFoundError):
        name = (error.name or str(error)).partition(".")[0]
        package = _PACKAGES.get(name, name)
        return 1, (
            f"Error: the package {package!r} is not installed: `pip install {package}`, or install "
            "diffmech again."
        )
    if isinstance(error, MemoryError):
        return 1, "Error: there is not enough memory for this: take fewer samples."
    if type(error).__name__ == "SimulationError":  # its class would take JAX to import
        return 1, f"Error: {for_the_shell(_sentence(getattr(error, 'reason', error)))}"
    if isinstance(error, ValueError | FileNotFoundError | FileExistsError | NotADirectoryError):
        return 2, f"Error: {for_the_shell(_sentence(error))}"
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return 2, f"Error: there is no file `{error.filename}`: no name can be that long."
    if isinstance(error, PermissionError) and error.filename:
        return 1, f"Error: permission to use `{error.filename}` is needed: {error.strerror}."
    if isinstance(error, OSError):
        return 1, f"Error: {for_the_shell(_sentence(error))}"
    return 1, (
        f"Error: {type(error).__name__}: {_sentence(error)} This should not happen; --debug shows "
        "where."
    )


def _sentence(error: Any) -> str:
    text = " ".join(str(error).split()) or "no message"
    return text if text[-1] in ".?!" else f"{text}."


def _say(text: str) -> None:
    if text:
        with contextlib.suppress(OSError):
            click.echo(text, err=True)


def _show_warning(message: Any, *details: Any, **others: Any) -> None:
    del details, others
    _say(f"Note: {for_the_shell(_sentence(message))}")
