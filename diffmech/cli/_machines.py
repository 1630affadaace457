"""SYSTEM on the command line: a catalogue name, a family, or a user's own file."""

import contextlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._suggest import nearest, quoted, suggestion
from ..systems import CATALOGUE
from ._quantities import has_unit, numbers
from ._shell_words import assignment, listed, require_known
from ._tuned import remember_programs

if TYPE_CHECKING:
    from ..model import AbstractSystem

_FILE = re.compile(r"(?P<path>.+\.py)(?::(?P<name>[^:/\\]*))?")


def machine(text: str) -> "AbstractSystem":
    """The machine that `babyboot`, `n_link:n=5` or `my_system.py:boot` stands for."""
    file = _FILE.fullmatch(text)
    if file:
        remember_programs()
        return _from_file(Path(file["path"]), file["name"] or "")
    name, _, arguments = text.partition(":")
    if name not in CATALOGUE:
        own = " A machine of your own is given as my_system.py:name."
        raise click.UsageError(
            f"there is no system {quoted(name)}.{suggestion(name, CATALOGUE)}{own}"
        )
    remember_programs()
    return _from_catalogue(name, arguments)


def is_own_file(text: str) -> bool:
    """Whether SYSTEM names a user's Python file."""
    return _FILE.fullmatch(text) is not None


def _from_catalogue(name: str, arguments: str) -> "AbstractSystem":
    from .. import systems

    factory = getattr(systems, name)
    parameters = inspect.signature(factory).parameters
    known = list(parameters)
    given: dict[str, Any] = {}
    for part in listed(arguments):
        key, value = assignment(part, "an argument of SYSTEM", "n_link:n=5")
        if not known:
            raise click.UsageError(
                f"{name} takes no arguments; change its parameters with --param {part}."
            )
        require_known(key, f"argument of {name}", known)
        if key in given:
            raise click.UsageError(f"the argument {key!r} of {name} is given twice.")
        if isinstance(parameters[key].default, str):  # a choice by name, such as route=quaternion
            given[key] = value.strip()
        else:
            whole = re.fullmatch(r"[+-]?\d+", value)
            unit = _argument_unit(factory, key) if has_unit(value) else ""
            given[key] = int(value) if whole else numbers(value, f"`{key}`", unit)
    return factory(**given)


def _argument_unit(factory: Callable[..., "AbstractSystem"], key: str) -> str:
    """Of an argument of a family: as annotated, or that of the parameter it is called after."""
    from ..model import parameter_units

    said = getattr(inspect.signature(factory).parameters[key].annotation, "__metadata__", None)
    return said[0] if said else parameter_units(factory()).get(key, "")


def _from_file(path: Path, name: str) -> "AbstractSystem":
    from ..model import AbstractSystem

    module = _run_file(path)
    public = {key: value for key, value in vars(module).items() if not key.startswith("_")}
    machines = [key for key, value in public.items() if isinstance(value, AbstractSystem)]
    makers = [
        key
        for key, value in public.items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and _plain(value)
    ]
    if not name:
        hint = f"such as {path}:{(machines or makers or ['boot'])[0]}"
        raise click.UsageError(f"say which machine of `{path}` you mean, {hint}.")
    if name not in vars(module):
        options = [*machines, *makers]
        hint = suggestion(name, options) if options else " It defines no system at all."
        raise click.UsageError(f"`{path}` has no {quoted(name)}.{hint}")
    value = vars(module)[name]
    if callable(value) and not isinstance(value, AbstractSystem):
        value = _called(value, path, name)
    if not isinstance(value, AbstractSystem):
        raise click.UsageError(
            f"`{path}:{name}` must be a diffmech System, or a function without arguments that "
            f"returns one, but is a {type(value).__name__}."
        )
    return value


def _plain(function: Any) -> bool:
    """Whether a function can be called without arguments."""
    parameters = inspect.signature(function).parameters.values()
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(p.default is not p.empty or p.kind in variable for p in parameters)


def _called(value: Any, path: Path, name: str) -> Any:
    if inspect.isfunction(value) and not _plain(value):
        needed = ", ".join(inspect.signature(value).parameters)
        raise click.UsageError(
            f"`{path}:{name}` must be a diffmech System or a function without arguments, but is a "
            f"function of ({needed})."
        )
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return value()
    except (Exception, SystemExit) as error:
        raise _explained(error, path) from error


def _run_file(path: Path) -> Any:
    """Import a file by its path, with its folder on `sys.path`."""
    from .._records import what_is_at

    if what_is_at(path) != "file":
        folder = path.parent
        there = {p.stem: str(p) for p in sorted(folder.glob("*.py"))} if folder.is_dir() else {}
        near = nearest(path.stem, there)  # what all paths have in common makes none of them near
        hint = f" Did you mean {there[near]!r}?" if near is not None else ""
        raise click.UsageError(f"there is no file `{path}`.{hint}")
    name = f"diffmech_user_{re.sub(r'[^A-Za-z0-9_]', '_', path.stem)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise click.UsageError(f"`{path}` cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what it prints is not our data
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _explained(error, path) from error
    return module


def _explained(error: BaseException, path: Path) -> click.UsageError:
    """One sentence about an error in a user's file, with the line it came from."""
    said = " ".join(str(error).split()) or "no message"
    if isinstance(error, SyntaxError):
        line = f", line {error.lineno}" if error.lineno else ""
        return click.UsageError(f"`{path}`{line}: {error.msg}.")
    if isinstance(error, UnicodeDecodeError):
        return click.UsageError(f"`{path}` is not a text file in UTF-8.")
    if isinstance(error, PermissionError) and error.filename == str(path):
        return click.UsageError(f"`{path}` may not be read: {error.strerror}.")
    places = traceback.extract_tb(error.__traceback__)
    lines = [p.lineno for p in places if Path(p.filename).resolve() == path.resolve()]
    where = f", line {lines[-1]}" if lines else ""
    own = isinstance(error, ValueError) and "`" in said  # a sentence of ours explains itself
    what = said if own else f"it raised {type(error).__name__}: {said}"
    return click.UsageError(f"`{path}`{where}: {what.rstrip('.')}.")
