"""Printed programs, run: Python here, C from one library, JavaScript in one process."""

import ctypes
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
NODE = shutil.which("node")


def by_python(code: str) -> Callable[..., Any]:
    """The function that a source text defines: its last."""
    space: dict[str, Any] = {}
    exec(compile(code, "printed", "exec"), space)
    return space[re.findall(r"^def (\w+)", code, re.MULTILINE)[-1]]


def _renamed(code: str, function: str, name: str) -> str:
    return re.sub(rf"\b{function}\(", f"{name}(", code)


def compiled(sources: Sequence[str], folder: Path, *flags: str) -> list[Callable[..., None]]:
    """C functions, from one library; every one from a file of its own."""
    assert CC is not None
    files, names = [], []
    for i, code in enumerate(sources):
        function = re.findall(r"^void (\w+)\(", code, re.MULTILINE)[-1]
        names.append(f"{function}_{i}")
        files.append(folder / f"part{i}.c")
        files[-1].write_text(_renamed(code, function, names[-1]), encoding="utf-8")
    library = folder / "printed.so"
    subprocess.run(
        [CC, "-std=c99", *flags, "-shared", "-fPIC", "-o", library, *files, "-lm"],
        check=True,
        capture_output=True,
        timeout=600,
    )
    loaded = ctypes.CDLL(str(library))
    return [_taking_arrays(getattr(loaded, name)) for name in names]


def _taking_arrays(function: Any) -> Callable[..., None]:
    function.restype = None

    def call(*arguments: Any) -> None:
        given: list[Any] = []
        for x in arguments:
            held = np.ascontiguousarray(x, float)
            pointer = held.ctypes.data_as(ctypes.c_void_p)
            given.append(pointer if np.ndim(x) else ctypes.c_double(held.item()))
        function(*given)

    return call


def by_node(calls: Sequence[tuple[str, Sequence[Any]]], folder: Path) -> list[list[Any]]:
    """For each source text, the results for each tuple of arguments."""
    assert NODE is not None
    lines = ['"use strict";', "const results = [];"]
    for code, batch in calls:
        function = re.findall(r"^function (\w+)\(", code, re.MULTILINE)[-1]
        given = json.dumps([[np.asarray(x).tolist() for x in one] for one in batch])
        lines += [
            "results.push((() => {",
            code,
            f"return {given}.map((given) => {function}(...given));",
            "})());",
        ]
    lines.append(
        "const plain = (key, x) => typeof x === 'number' && !Number.isFinite(x) ? String(x) : x;"
    )
    lines.append("console.log(JSON.stringify(results, plain));")
    program = folder / "printed.js"
    program.write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run([NODE, program], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


_WORD = re.compile(r"\d[\d.]*(?:e[+-]?\d+)?|[A-Za-z_][\w.]*(?:\[[\d,]+\])?'{0,2}|\^")
_SAME_NAME = ("abs", "cos", "cosh", "exp", "floor", "log", "sign", "sin", "sinh", "sqrt", "tan")
_FUNCTIONS = {
    **{name: getattr(np, name) for name in (*_SAME_NAME, "tanh", "where")},
    **{f: getattr(np, f"logical_{f}") for f in ("and", "or", "not", "xor")},
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": lambda x, y: np.trunc(x / y).astype(int),
    "ceil": np.ceil,
    "is_finite": np.isfinite,
    "max": np.maximum,
    "min": np.minimum,
    "rem": np.fmod,
    "round_even": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "to_int": lambda x: np.asarray(x, int),
}


def value_of(text: str, values: Mapping[str, Any]) -> Any:
    """A printed formula, worked out: names are looked up, nothing else is there."""

    def python(found: re.Match[str]) -> str:
        word = found[0]
        if word == "^" or word[0].isdigit():
            return "**" if word == "^" else word
        return f"F[{word!r}]" if text[found.end() :].startswith("(") else f"V[{word!r}]"

    return eval(_WORD.sub(python, text), {"F": _FUNCTIONS, "V": values, "__builtins__": {}})
