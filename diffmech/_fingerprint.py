"""What a function reads besides its arguments: noticed when it changes.

JAX keeps what it traced of a function for as long as the function lives. A number that the function
takes from a closure or a global is then written into the program, and a change of it would go
unnoticed. So it is looked at again whenever the function is about to be used:

- its code, the values of closure cells, defaults and globals that it names, and the attributes that
  it names of objects, classes and modules among them, with what those inherit;
- the same of Python functions found there, of what `functools.partial`, methods, and wrappers such
  as `jax.jit` and `jax.vmap` hold, and of the fields of callable dataclasses.

Numbers, texts and containers of them are compared by value, NumPy arrays by content, JAX arrays
and everything else by identity. Code of installed packages is taken not to change, and what the
function itself writes to (a count, a list that it appends to) is not looked at. What a function
finds by other ways cannot be followed: `getattr` with a computed name, `globals()["G"]`, a module
that it imports itself (`import constants` in its body), files, the inside of foreign objects.
"""

import hashlib
import itertools
import sys
import types
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from ._reads import Function, Reading, has_changed, is_installed, is_installed_module, looked_at

_MOST_FUNCTIONS = 1024  # that are remembered


class _Known(NamedTuple):
    """A function as it was last seen; `version` is another one after each change."""

    readings: tuple[Reading, ...]
    codes: tuple[Any, ...]
    version: int


_versions = itertools.count(1)
_known: OrderedDict[Any, _Known] = OrderedDict()


def version_of(*functions: Any) -> tuple[int, ...]:
    """A number for each function that is another one once what it reads has changed.

    On a change everything that was traced is dropped, and a warning names what it was.

    Raises:
        ValueError: a function reads an array that is too large to look at every time.
    """
    return tuple(_version(each) for function in functions for each in _hashable(function))


def digest_of(function: Any) -> str:
    """A few letters that are others for a function with other code, or that reads other numbers.

    They are the same in another process with the same Python. What identity decides is left out.
    """
    readings, codes = looked_at(function)
    arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(function) if eqx.is_array(leaf)]
    seen = (
        [_spelled(code) for code in codes],
        [(reading.label, reading.token) for reading in readings if reading.token is not None],
        [(array.shape, array.dtype.str, array.tobytes()) for array in arrays],
    )
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:12]


def _spelled(code: types.CodeType) -> tuple[Any, ...]:
    """Code without the file and lines where it is written."""
    constants = []
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            constants.append(_spelled(each))
        else:  # the order of a set is another in every process
            constants.append(sorted(map(repr, each)) if isinstance(each, frozenset) else repr(each))
    return code.co_code, tuple(constants), code.co_names, code.co_freevars


def _hashable(function: Any) -> Iterator[Any]:
    """The function itself, or what a callable with arrays in it is made of."""
    if function is None:
        return
    try:
        hash(function)
    except TypeError:
        kind = type(function)
        if not is_installed(kind):
            yield from (each for each in vars(kind).values() if isinstance(each, Function))
        if is_dataclass(function):
            for field in fields(function):
                inside = getattr(function, field.name, None)
                if callable(inside):
                    yield from _hashable(inside)
    else:
        yield function


def _version(function: Any) -> int:
    known = _known.get(function)  # equal callables, made twice of the same functions, are one
    if known is None:
        return _remember(function, *looked_at(function), next(_versions))
    changed = next((reading for reading in known.readings if has_changed(reading)), None)
    if changed is None:
        return known.version
    readings, codes = looked_at(function)
    if codes == known.codes and _contents(readings) == _contents(known.readings):
        return _remember(function, readings, codes, known.version)
    version = _remember(function, readings, codes, next(_versions))
    _drop(function, changed)
    return version


def _remember(function: Any, readings: Any, codes: Any, version: int) -> int:
    _known[function] = _Known(readings, codes, version)
    _known.move_to_end(function)
    if len(_known) > _MOST_FUNCTIONS:
        _known.popitem(last=False)
    return version


def _contents(readings: tuple[Reading, ...]) -> list[Any]:
    return [
        (reading.label, id(reading.value) if reading.token is None else reading.token)
        for reading in readings
        if not isinstance(reading.value, Function | types.CodeType)  # what it does is compared
    ]


def _drop(function: Any, reading: Reading) -> None:
    """JAX keeps traces by inner functions too: a loop's body, a function under `jit`."""
    jax.clear_caches()
    name = getattr(function, "__qualname__", type(function).__name__)
    warnings.warn(
        f"{name} reads {reading.label}, which has changed: what was compiled of it is dropped and "
        "made anew. Numbers that change belong in `params`, which do not compile anew",
        stacklevel=_frames_to_the_user(),
    )


def _frames_to_the_user() -> int:
    """How far up the caller is who is not in an installed package."""
    frame, count = sys._getframe(1), 1
    while frame.f_back and is_installed_module(frame.f_globals.get("__name__", "")):
        frame, count = frame.f_back, count + 1
    return count
