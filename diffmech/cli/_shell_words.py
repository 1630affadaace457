"""Assignments and names as a user types them, and sentences as the command line says them."""

import re
from collections.abc import Callable, Sequence

import click

from .._suggest import LONGEST_NAME, quoted, shortened, suggestion


def assignment(text: str, option: str, example: str) -> tuple[str, str]:
    """The two sides of `name=value`."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise click.UsageError(f"{option} must look like {example}, but is {quoted(text)}.")
    return name.strip(), value.strip()


def listed(text: str) -> list[str]:
    """Words between commas; those inside of brackets do not count."""
    return [part for part in between_commas(text) if part]


def between_commas(text: str) -> list[str]:
    """What commas separate, nothing between two of them included; those in brackets do not."""
    parts, depth = [""], 0
    for letter in text:
        depth = max(depth + (letter == "[") - (letter == "]"), 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def assignments(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Many `name=value`, by name; one that is given twice is refused."""
    given: dict[str, str] = {}
    for text in texts:
        name, value = assignment(text, option, example)
        if name in given:
            raise click.UsageError(
                f"{option} {shortened(name)} must be given once, but is given as "
                f"{quoted(given[name])} and as {quoted(value)}: leave one out."
            )
        given[name] = value
    return given


def require_known(word: str, kind: str, options: Sequence[str]) -> None:
    """Refuse a name that is not among the valid ones."""
    if word not in options:
        raise click.UsageError(f"there is no {kind} {quoted(word)}.{suggestion(word, options)}")


_SHELL = {
    "pass `overwrite=True`": "pass --force",
    "or `overwrite=True` to start anew": "or --force to start anew",
    "start anew with `overwrite=True`": "start anew with --force",
    "pass `resume=True`": "pass --resume",
    "raise `max_steps`": "raise --max-steps",
    "`max_steps` is": "--max-steps is",
    "than `max_steps` allows": "than --max-steps allows",
    "`max_steps` must": "--max-steps must",
    "lengthen `dt`": "lengthen --dt",
    "`dt` = ": "--dt ",
    "take `dt` of": "take --dt of",
    "try `method='Kvaerno5'`": "try --method Kvaerno5",
    "an implicit method such as 'Kvaerno5'": "an implicit method, --method Kvaerno5,",
    "`diffmech.load(path, system)`": "--system",
    "; `report(second_run=True)` makes one": "",
    "`assemble(system, q0, qd0)` gives": "--assemble starts from",
    "; `check_start=False` runs from this one all the same": "",
    "`assemble(system, q, qd)` gives": "`diffmech simulate SYSTEM --assemble` starts from",
    "; `System(..., constraints=...)` declares them": "",
    "`doctor` tells": "`diffmech doctor SYSTEM` tells",
    ", or `baumgarte(omega, zeta)` or `penalty(alpha, omega, zeta)`": "",
    "for others run `simulate` under `jax.vmap`": "`diffmech simulate` takes others",
    ", perhaps fewer with `fixed_params=True`": "",
    "; `diffmech.tune_cpu()` would be faster": "",
    ", or such a Diffrax solver": "",
    "`tune_cpu()`": "tuning",
    ", a number or a function of the parameters": "",
    "(`q0`, `qd0`, `period`)": "(--set, --period)",
    "`resume` goes on with a map and `overwrite`": "--resume goes on with a map and --force",
    "say `folder=`, or set XDG_CACHE_HOME": "set XDG_CACHE_HOME",
}
# Arguments of the library that are options of the commands.
_OPTIONS = {
    **{
        word: f"--{word}"
        for word in (
            "accuracy", "atol", "criterion", "dt", "duration", "family", "fps", "method", "names",
            "period", "points", "rtol", "samples", "span", "speed", "stabilise", "trail",
        )
    },
    "axes": "--axis",
    "symbols": "--symbol",
    "max_steps": "--max-steps",
}  # fmt: skip
_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"`names=\[(?P<names>[^\]]*)\]`"), lambda m: f"--names {_bare(m['names'])}"),
    (re.compile(r'`params="(?P<word>\w+)"`'), lambda m: f"--vary {m['word']}"),
    (re.compile(r"diagnoses need"), lambda m: "`diffmech doctor SYSTEM` examines"),
    (re.compile(r"assemblies need"), lambda m: "--assemble needs"),
    (re.compile(r"pass `method=`, the same [^,]*, to load it"), lambda m: "no option can name it"),
    (re.compile(r"`q0\[\d+\]` \((?P<name>\w+)\)"), lambda m: f"--set {m['name']}"),
    (re.compile(r"`qd0\[\d+\]` \((?P<name>\w+)\)"), lambda m: f"--set {m['name']}_dot"),
    (re.compile(r"`(?P<word>\w+)`"), lambda m: _OPTIONS.get(str(m["word"]), str(m[0]))),
)


def _bare(names: str) -> str:
    return names.replace("'", "").replace(" ", "")


def for_the_shell(text: str) -> str:
    """A sentence of the library with its ways out as the command line spells them."""
    for python, shell in _SHELL.items():
        text = text.replace(python, shell)
    for pattern, spelled in _PATTERNS:
        text = pattern.sub(spelled, text)
    return text


_LONGEST_PATH = 200  # characters; folders are long, and must be recognised


def brief(text: str, words: Sequence[str]) -> str:
    """A sentence in which the long words of a command line, and their parts, are cut."""
    parts = {part for word in words for part in (word, *re.split(r"[=:,]", word))}
    for part in sorted(parts, key=len, reverse=True):
        most = _LONGEST_PATH if "/" in part else LONGEST_NAME
        for spelled in (part, repr(part)[1:-1], " ".join(part.split())):
            if len(spelled) > most:
                text = text.replace(spelled, shortened(spelled, most))
    return text
