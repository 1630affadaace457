"""What a function reads besides its arguments, and how to look at it again."""

import argparse
import array
import collections
import dis
import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

_MOST_BYTES = 65536  # of an array that is compared by content
_MOST_ENTRIES = 1000  # of a container that is compared by value
_MISSING = object()
_PLAIN = (bool, int, float, complex, str, bytes, type(None), range, slice, np.generic)
_CONTAINERS = (list, tuple, set, frozenset, dict, collections.deque)
_NUMBERS = (int, float, complex, np.generic, np.ndarray)
_OPERATORS = (
    *("__call__", "__getitem__", "__len__", "__iter__", "__float__", "__int__", "__index__"),
    *("__neg__", "__pos__", "__abs__", "__bool__", "__array__", "__jax_array__", "__getattr__"),
    *(
        f"__{side}{name}__"
        for side in ("", "r")
        for name in ("add", "sub", "mul", "truediv", "pow")
    ),
    *(f"__{side}{name}__" for side in ("", "r") for name in ("matmul", "floordiv", "mod")),
    *("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"),
)
_INSTALLED = ("site-packages", "dist-packages")
Function = types.FunctionType
_LOADS = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_CLOSURE")
_STORES = ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE")
_ASKS = ("LOAD_METHOD", "LOAD_ATTR")
_MUTATORS = (
    *("append", "extend", "insert", "add", "update", "pop", "popitem", "remove", "discard"),
    *("clear", "setdefault", "sort", "reverse", "fill", "appendleft", "put"),
)


class Reading(NamedTuple):
    """A value that a function reads: `get(holder, key)` gives it again, `value` is what it was."""

    label: str
    get: Callable[[Any, Any], Any]
    holder: Any
    key: Any
    value: Any
    token: Any  # to compare by; None if identity decides


def looked_at(function: Any) -> tuple[tuple[Reading, ...], tuple[Any, ...]]:
    look = _Look()
    look.into(function, "")
    return tuple(look.readings), tuple(look.codes)


def has_changed(reading: Reading) -> bool:
    value = reading.get(reading.holder, reading.key)
    if reading.token is None:
        return value is not reading.value
    if value is reading.value and isinstance(value, _PLAIN):
        return False
    return _token(value, reading.label) != reading.token


def _token(value: Any, label: str) -> Any:
    """Something to compare a value by, now and later; None for what identity decides."""
    if isinstance(value, _PLAIN):
        return type(value), repr(value)
    if isinstance(value, np.ndarray):
        if value.nbytes > _MOST_BYTES:
            raise ValueError(
                f"{label} is an array of {value.nbytes / 1e6:.3g} MB, which a function reads "
                "besides its arguments: pass it in `params`, so that a change is noticed"
            )
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, types.MethodType):  # another object at each look, of the same two
        return "a method", _Identity(id(value.__func__)), _Identity(id(value.__self__))
    if isinstance(value, bytearray | array.array):
        return type(value), bytes(value)
    if isinstance(value, _CONTAINERS):
        entries = value.values() if isinstance(value, dict) else value
        if len(value) <= _MOST_ENTRIES:
            keys = tuple(map(repr, value)) if isinstance(value, dict) else ()
            tokens = [_or_identity(entry, label) for entry in entries]
            if isinstance(value, set | frozenset):  # whose order is another in every process
                tokens.sort(key=repr)
            return type(value), keys, tuple(tokens)
        if isinstance(next(iter(entries)), _NUMBERS):
            raise ValueError(
                f"{label} has {len(value)} numbers, which a function reads besides its arguments: "
                "pass them in `params` as an array, so that a change is noticed"
            )
    return None


class _Identity(NamedTuple):
    """An object by itself; printed alike in every process."""

    of: int

    def __repr__(self) -> str:
        return "an object"


def _or_identity(value: Any, label: str) -> Any:
    token = _token(value, label)
    return _Identity(id(value)) if token is None else token


def _cell(cell: Any, _: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return _MISSING


def _entry(mapping: Any, key: Any) -> Any:
    return mapping.get(key, _MISSING)


def _attribute(holder: Any, name: str) -> Any:
    return getattr(holder, name, _MISSING)


def _method(holder: Any, name: str) -> Any:
    """A method or property as it is written, not bound to its object."""
    own = getattr(holder, "__dict__", {})
    return own[name] if name in own else getattr(type(holder), name, _MISSING)


class _Look:
    """A walk through everything that a function reads."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []
        self.codes: list[Any] = []
        self._seen: set[Any] = set()

    def into(self, value: Any, label: str, names: frozenset[str] = frozenset()) -> None:
        """Note what is read through `value`, of whose attributes `names` may be asked for."""
        if (id(value), names) in self._seen or isinstance(value, _PLAIN):
            return
        self._seen.add((id(value), names))
        if isinstance(value, Function):
            self._function(value, label)
            for name in sorted(names & {*vars(value)}):
                self._read(f"`{label.strip('`')}.{name}`", _attribute, value, name, names)
        elif isinstance(value, functools.partial):
            self.into(value.func, label)
            for where in ("args", "keywords"):
                self._read(
                    label or f"the {where} of a partial function", _attribute, value, where, names
                )
        elif isinstance(value, types.MethodType):
            self.into(value.__func__, label)
            self._attributes(value.__self__, label, _names_of(value.__func__))
        elif hasattr(value, "__wrapped__"):
            self.into(value.__wrapped__, label)
        elif isinstance(value, _CONTAINERS):
            if len(value) <= _MOST_ENTRIES:
                for entry in value.values() if isinstance(value, dict) else value:
                    self.into(entry, label, names)
        elif is_dataclass(value) and not isinstance(value, type):
            self._fields(value, label)
            self._beside_fields(value, label, names)
        elif not _is_array(value) and (not is_installed(value) or _is_plain_object(value)):
            self._attributes(value, label, names)

    def _read(self, label: str, get: Any, holder: Any, key: Any, names: frozenset[str]) -> None:
        value = self._note(label, get, holder, key)
        if value is not _MISSING:
            self.into(value, label, names)

    def _note(self, label: str, get: Any, holder: Any, key: Any) -> Any:
        value = get(holder, key)
        if value is not _MISSING:
            self.readings.append(Reading(label, get, holder, key, value, _token(value, label)))
        return value

    def _function(self, function: Function, label: str) -> None:
        names = _names_of(function)
        own = _written(function.__code__)
        if not is_installed(function):
            self._note(label or function.__qualname__, _attribute, function, "__code__")
        self.codes.append(function.__code__)
        for free, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            if not own.may_change(free, _cell(cell, None)):
                self._read(f"`{free}`", _cell, cell, None, names)
        for where in ("__defaults__", "__kwdefaults__"):
            if getattr(function, where):
                self._read(
                    f"a default of {function.__qualname__}", _attribute, function, where, names
                )
        if not is_installed(function):
            for name in sorted(names):
                value = function.__globals__.get(name, _MISSING)
                if value is not _MISSING and not own.may_change(name, value):
                    self._read(f"`{name}`", _entry, function.__globals__, name, names)

    def _fields(self, value: Any, label: str) -> None:
        """Fields of a callable dataclass; arrays in an Equinox module are data, not constants."""
        for field in fields(value):
            inside = getattr(value, field.name, None)
            if not (isinstance(value, eqx.Module) and _is_array(inside)):
                self._read(
                    f"{label}.{field.name}".lstrip("."), _attribute, value, field.name, _NONE
                )
        self._methods(value, label, ("__call__",))

    def _beside_fields(self, value: Any, label: str, names: frozenset[str]) -> None:
        """Methods and numbers of a dataclass that code asks for by name, and that are no fields."""
        own = {field.name for field in fields(value)}
        for name in sorted(names & {*_of_class(type(value))} - own):
            held = _method(value, name)
            if isinstance(held, Function | property):
                self._methods(value, label, (name,))
            elif isinstance(held, (*_PLAIN, *_CONTAINERS, np.ndarray, types.MethodType)):
                self._read(f"`{label.strip('`')}.{name}`", _method, value, name, names)

    def _attributes(self, holder: Any, label: str, names: frozenset[str]) -> None:
        """Attributes of an object, a class or a module that code asks for by name."""
        own = getattr(holder, "__dict__", {})
        if isinstance(holder, type):  # with what it inherits
            own = {**_of_class(holder), **own}
        kind = {} if isinstance(holder, types.ModuleType) else _of_class(type(holder))
        for name in sorted(names & ({*own} | {*kind})):
            if name not in own and isinstance(_method(holder, name), Function | property):
                self._methods(holder, label, (name,))
            else:
                self._read(f"`{label.strip('`')}.{name}`", _attribute, holder, name, names)
        self._methods(holder, label, [each for each in _OPERATORS if each in kind])

    def _methods(self, holder: Any, label: str, names: Iterable[str]) -> None:
        """What an object's class says it does, under names or, as operators, without them."""
        for name in names:
            written = _method(holder, name)
            code = written.fget if isinstance(written, property) else written
            if not isinstance(code, Function) or (id(holder), name) in self._seen:
                continue
            self._seen.add((id(holder), name))
            if not is_installed(code):
                self._note(f"`{label.strip('`')}.{name}`".replace("`.", "`"), _method, holder, name)
            self.into(code, label)
            if is_dataclass(holder) and not isinstance(holder, type):
                self._beside_fields(holder, label, _names_of(code))
            else:
                self._attributes(holder, label, _names_of(code))


_NONE: frozenset[str] = frozenset()


def _of_class(kind: type) -> dict[str, Any]:
    """What instances find in their class, by name; nothing of installed ones."""
    attributes: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        if not is_installed(each):
            attributes |= vars(each)
    return attributes


def _names_of(function: Any) -> frozenset[str]:
    code = getattr(function, "__code__", None)
    return frozenset() if code is None else frozenset(_names_in(code))


def _names_in(code: types.CodeType) -> Iterator[str]:
    """Names of globals and attributes in a piece of code, and in those within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


class _Written(NamedTuple):
    """Names from outside that a piece of code assigns to, and those on lines that write into them.

    What a function counts or collects while it is traced is its own business.
    """

    names: frozenset[str]
    contents: frozenset[str]

    def may_change(self, name: str, value: Any) -> bool:
        """Whether the code itself may change what stands under a name."""
        into = name in self.contents and isinstance(value, list | dict | set | np.ndarray)
        return into or name in self.names


def _line_of(step: dis.Instruction, before: int) -> int:
    """The line of an instruction; `starts_line` was a number up to Python 3.12, and is a truth."""
    number = getattr(step, "line_number", step.starts_line)
    return before if number is None else int(number)


@functools.lru_cache(maxsize=4096)
def _written(code: types.CodeType) -> _Written:
    lines: dict[int, set[str]] = {}
    writing: set[int] = set()
    names: set[str] = set()
    line = 0
    for step in dis.get_instructions(code):
        line = _line_of(step, line)
        if step.opname in _LOADS:
            lines.setdefault(line, set()).add(step.argval)
        elif step.opname in ("STORE_DEREF", "STORE_GLOBAL"):
            names.add(step.argval)
        elif step.opname in _STORES or (step.opname in _ASKS and step.argval in _MUTATORS):
            writing.add(line)
    inner = [_written(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    contents = {name for at in writing for name in lines.get(at, ())}
    return _Written(
        frozenset(names).union(*(each.names for each in inner)),
        frozenset(contents).union(*(each.contents for each in inner)),
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | jax.Array)


def _is_plain_object(value: Any) -> bool:
    """An object of an installed class that does no more than hold attributes."""
    return isinstance(value, types.SimpleNamespace | argparse.Namespace)


def is_installed(value: Any) -> bool:
    """Whether it belongs to Python, an installed package or this one."""
    if isinstance(value, types.ModuleType):
        return is_installed_module(value.__name__)
    module = getattr(value, "__module__", None)
    if not isinstance(module, str):
        module = type(value).__module__
    return is_installed_module(module)


@functools.cache
def is_installed_module(name: str) -> bool:
    top = name.partition(".")[0]
    if top == "__main__":
        return False
    if top in sys.stdlib_module_names or top == __name__.partition(".")[0]:
        return True
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    return any(part in file for part in _INSTALLED)
