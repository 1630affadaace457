"""Is a wrong derivation found out, and is the mistake found? Mutants of six machines.

The equations of each machine are printed as sums of terms, and one mistake is made in them: a
sign, a factor 2, a parameter for another, a velocity term forgotten, sine for cosine, gravity
reversed, a parallel-axis term m l² dropped, an angle taken as relative. Sixty such mutants a seed,
and sixty rewritings that are right: SymPy's expand, trigsimp and solve, invertible combinations,
other orders, other factors. For each seed it is counted how many mutants are called wrong, how
many rewritings right, and how often the term named is the one that was changed. With `--disguise`
mutants are rewritten as well, so that the mistake has spread over all equations.

    python benchmarks/derivation_mutants.py 1 2 3 4 5 [--count 60] [--disguise] [--show]
"""

import argparse
import contextlib
import re
import signal
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
import sympy

import diffmech as dm
from diffmech.derivation._openings import openings
from diffmech.derivation._read_text import read_text
from diffmech.derivation._states import random_points
from diffmech.derivation._symbols import Symbols
from diffmech.derivation._truth import Truth
from diffmech.model import parameter_unit
from diffmech.scalars import spelled, written_coefficient, written_product

MACHINES: dict[str, Any] = {
    "babyboot": lambda: dm.systems.babyboot(),
    "double_pendulum": lambda: dm.systems.double_pendulum(),
    "cart_pole": lambda: dm.systems.cart_pole(),
    "spherical_pendulum": lambda: dm.systems.spherical_pendulum(),
    "n_link:n=2": lambda: dm.systems.n_link(n=2),
    "rolling_disc": lambda: dm.systems.rolling_disc(),
}
KINDS = (
    *("sign", "factor", "swapped", "forgotten velocity", "sin for cos"),
    *("gravity reversed", "parallel axis", "relative"),
)
_PATIENCE = 10  # [s] for SymPy; then a combination is taken instead
NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*|\[[\d,]+\])*"


class Term(NamedTuple):
    """One term of one equation: its text, what it is made of."""

    row: int
    text: str
    rates: int  # how many rates are multiplied
    second: bool  # whether it has an acceleration


class Machine(NamedTuple):
    """A machine and its equations, term by term."""

    system: Any
    truth: Truth
    symbols: Symbols
    terms: list[Term]

    def text(self, terms: list[Term]) -> list[str]:
        rows = sorted({term.row for term in self.terms})
        return [" + ".join(f"({t.text})" for t in terms if t.row == row) + " = 0" for row in rows]


class Mutant(NamedTuple):
    """Equations with a mistake, the term that has it, and the words that must be said."""

    kind: str
    equations: list[str]
    term: str
    row: int
    words: tuple[str, ...]


def machine(name: str) -> Machine:
    """The terms of each equation in the form that has the fewest."""
    system = MACHINES[name]()
    truth = Truth(system)
    symbols = Symbols(system, truth.inputs)
    assert truth.registers is not None
    tape, rows = truth.tape, [int(p) for p in truth.registers["rows"]]
    forms = openings(tape, rows, sorted(symbols.parameters.values()))
    rates = set(truth.inputs.qd.tolist())
    seconds = set(truth.inputs.qdd.tolist())
    terms = []
    for row in range(len(rows)):
        shortest = min((form[row] for form in forms), key=len)
        for hot, coefficient in shortest.items():
            register = tape.operate(
                "mul", written_coefficient(tape, coefficient), written_product(tape, hot)
            )
            text = spelled(tape, register, symbols.spelled)
            moving = sum(factor in rates for factor in hot)
            terms.append(Term(row, text, moving, any(factor in seconds for factor in hot)))
    return Machine(system, truth, symbols, terms)


def swapped(text: str, one: str, other: str) -> str:
    return re.sub(NAME + r"'*", lambda m: other if m[0] == one else m[0], text)


def mutant(of: Machine, kind: str, rng: np.random.Generator) -> Mutant | None:
    """Equations with one mistake of a kind, if the machine has a place for it."""
    terms = of.terms
    gravity = [p for p in of.symbols.parameters if parameter_unit(of.system, p) == "m/s^2"]
    angles = [name for name, unit in of.system.coordinates.items() if unit == "rad"]

    def changed(term: Term, text: str | None, words: tuple[str, ...]) -> Mutant:
        rest = [
            t if t is not term else t._replace(text=text or "") for t in terms
            if t is not term or text is not None
        ]  # fmt: skip
        return Mutant(kind, of.text(rest), term.text, term.row, words)

    def some(which: list[Term]) -> Term | None:
        return which[rng.integers(len(which))] if which else None

    if kind == "gravity reversed":
        texts = [t._replace(text=swapped(t.text, g, f"(-{g})")) for t in terms for g in gravity[:1]]
        reversed_ = [t for t, new in zip(terms, texts, strict=False) if t.text != new.text]
        if not reversed_:
            return None
        return Mutant(kind, of.text(texts), "", -1, ("gravity",))
    if kind == "relative":
        if len(angles) < 2:
            return None
        a, b = rng.permutation(angles)[:2]
        sign = "+-"[rng.integers(2)]

        def put(text: str) -> str:
            return re.sub(
                NAME + r"'*",
                lambda m: f"({m[0]} {sign} {b}{m[0][len(a) :]})" if m[0].rstrip("'") == a else m[0],
                text,
            )

        texts = [t._replace(text=put(t.text)) for t in terms]
        if [t.text for t in texts] == [t.text for t in terms]:
            return None
        return Mutant(kind, of.text(texts), "", -1, (str(a), "angle"))
    if kind == "sign":
        term = some(terms)
        return term and changed(term, f"-({term.text})", ("sign",))
    if kind == "factor":
        term = some(terms)
        factor = ("2*", "0.5*")[rng.integers(2)]
        return term and changed(term, f"{factor}({term.text})", ("factor 2",))
    if kind == "forgotten velocity":
        term = some([t for t in terms if t.rates and not t.second])
        return term and changed(term, None, ("missing",))
    if kind == "parallel axis":
        term = some([
            t for t in terms
            if t.second and re.search(r"(length|LA|LB|radius|centre)\w*(\[\d\])?\^2", t.text)
        ])  # fmt: skip
        return term and changed(term, None, ("missing",))
    if kind == "sin for cos":
        term = some([t for t in terms if re.search(r"\b(sin|cos)\(", t.text)])
        if term is None:
            return None
        at = [m.start() for m in re.finditer(r"\b(sin|cos)\(", term.text)]
        at = at[rng.integers(len(at))]
        other = "cos" if term.text[at : at + 3] == "sin" else "sin"
        return changed(term, term.text[:at] + other + term.text[at + 3 :], ("sin",))
    parameters = list(of.symbols.parameters)
    units = {p: parameter_unit(of.system, p) for p in parameters}
    pairs = [
        (t, p, other)
        for t in terms
        for p in parameters
        if swapped(t.text, p, "?") != t.text
        for other in parameters
        if other != p and units[other] == units[p]
    ]
    if not pairs:
        return None
    term, one, other = pairs[rng.integers(len(pairs))]
    return changed(term, swapped(term.text, one, other), (one, other))


def rewriting(
    of: Machine, rng: np.random.Generator, texts: list[str] | None = None
) -> tuple[str, list[str]]:
    """The right equations in other words, or others."""
    kind = ("expand", "trigsimp", "solve", "combination", "reordered", "scaled")[rng.integers(6)]
    if kind in ("expand", "trigsimp", "solve"):
        with contextlib.suppress(TimeoutError), limited(_PATIENCE):
            found = by_sympy(of, kind, of.text(of.terms) if texts is None else texts)
            if found is not None:
                return kind, found
        kind = "combination"
    if texts is None:
        texts = of.text(of.terms)
    elif kind == "reordered":
        return kind, [texts[i] for i in rng.permutation(len(texts))]
    left = [text.removesuffix(" = 0") for text in texts]
    if kind == "reordered":
        terms = [of.terms[i] for i in rng.permutation(len(of.terms))]
        return kind, [of.text(terms)[i] for i in rng.permutation(len(left))]
    if kind == "scaled":
        parameters = [*of.symbols.parameters]
        factors = [
            f"{rng.uniform(-3, 3):.3f}*{parameters[rng.integers(len(parameters))]}" for _ in left
        ]
        return kind, [f"{f}*({one}) = 0" for f, one in zip(factors, left, strict=True)]
    matrix = rng.normal(size=(len(left), len(left)))
    return kind, [
        " + ".join(f"({x:.3f})*({one})" for x, one in zip(row, left, strict=True)) + " = 0"
        for row in matrix
    ]


def by_sympy(of: Machine, kind: str, texts: list[str]) -> list[str] | None:
    """Expanded, simplified or solved by SymPy; None for machines that take it too long."""
    if len(of.terms) > 30 or of.truth.m or any("where" in term.text for term in of.terms):
        return None
    letters: dict[str, str] = {}

    def letter(match: re.Match[str]) -> str:
        name = match[0]
        if name in ("sin", "cos", "sqrt"):
            return name
        return letters.setdefault(name, f"x{len(letters)}x")

    sides = [text.removesuffix(" = 0") for text in texts]
    sides = [re.sub(NAME + r"'*", letter, side).replace("^", "**") for side in sides]
    symbols = {short: sympy.Symbol(short, real=True) for short in letters.values()}
    equations = [sympy.parse_expr(side, local_dict=symbols) for side in sides]
    back = {short: name for name, short in letters.items()}

    def text(expression: Any) -> str:
        written = re.sub(r"x\d+x", lambda m: back[m[0]], str(expression))
        return written.replace("**", "^")

    if kind == "solve":
        seconds = [symbols[letters[f"{q}''"]] for q in of.system.coordinates]
        (solved,) = sympy.linsolve(equations, seconds)
        names, expressions = list(of.system.coordinates), list(solved)  # pyright: ignore[reportArgumentType]
        return [f"{q}'' = {text(one)}" for q, one in zip(names, expressions, strict=True)]
    change = sympy.expand if kind == "expand" else sympy.trigsimp
    return [f"{text(change(one))} = 0" for one in equations]


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Stop what takes longer."""

    def stop(*details: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again, if a callback swallows the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def is_named(of: Machine, found: Any, wanted: Mutant) -> bool:
    """Whether the verdict names the changed term: the same function of the state, and what for."""
    wrong = [one for one in found.equations if one.verdict == "wrong"]
    if not wrong:
        return False
    if wanted.row < 0:
        return any(all(word in one.guess for word in wanted.words) for one in wrong)
    return any(_is_named_in(of, one, wanted) for one in wrong)


def _is_named_in(of: Machine, one: Any, wanted: Mutant) -> bool:
    if not one.term or not any(word in one.guess for word in wanted.words):
        return False
    truth = of.truth
    try:
        registers = [
            read_text(f"{text} = 0", truth.tape, of.symbols).equations[0].register
            for text in (one.term, wanted.term)
        ]
    except ValueError:
        return False
    rng = np.random.default_rng(0)
    points, _ = random_points(truth, 40, rng, "varied")
    params = jax.tree.map(lambda leaf: np.repeat(leaf[:1], len(leaf), axis=0), points.params)
    points = points._replace(params=params)
    named, changed = truth.of(points, np.array(registers)).T
    with np.errstate(all="ignore"):
        ratio = named / changed
    middle = np.median(ratio)
    return bool(np.isfinite(middle) and np.mean(np.abs(ratio / middle - 1) < 1e-6) > 0.9)


def study(seed: int, count: int, disguise: bool, show: bool) -> None:
    rng = np.random.default_rng(seed)
    machines = {name: machine(name) for name in MACHINES}
    names = list(machines)
    seen = named = kept = 0
    longest = 0.0
    for k in range(count):
        made, name = None, names[0]
        while made is None:
            name = names[int(rng.integers(len(names)))]
            made = mutant(machines[name], KINDS[int(rng.integers(len(KINDS)))], rng)
        of, form = machines[name], "printed"
        if disguise:
            form, equations = rewriting(of, rng, made.equations)
            made = made._replace(equations=equations)
        begun = time.process_time()
        found = dm.check_derivation(of.system, "\n".join(made.equations), "varied", seed=k)
        longest = max(longest, time.process_time() - begun)
        seen += not found.right
        good = not found.right and is_named(of, found, made)
        named += good
        if show and not good:
            print(f"\n{name}, {form}, {made.kind}: {made.term} {made.words}")
            for one in found.equations:
                if one.verdict != "right":
                    print(f"    {one.verdict} {one.number}: {one.guess[:300]}")
    for k in range(count):
        name = names[int(rng.integers(len(names)))]
        kind, equations = rewriting(machines[name], rng)
        begun = time.process_time()
        found = dm.check_derivation(machines[name].system, "\n".join(equations), "varied", seed=k)
        longest = max(longest, time.process_time() - begun)
        kept += found.right
        if show and not found.right:
            print(f"\n{name}, {kind}\n{found}")
    print(
        f"seed {seed:<6}detected {seen}/{count}   rewritings accepted {kept}/{count}   "
        f"term named {named}/{count}   longest check {longest:.2f} CPU s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("seeds", nargs="+", type=int)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--disguise", action="store_true", help="rewrite the mutants, too")
    parser.add_argument("--show", action="store_true", help="print what was not found")
    given = parser.parse_args()
    for seed in given.seeds:
        study(seed, given.count, given.disguise, given.show)


if __name__ == "__main__":
    main()
