"""Can fits of chaotic motion be believed? Error bars over many noise draws, and many starts.

Motions are made by SciPy from equations written out by hand, 100 samples a second with half a
degree of noise; nothing of them comes from this package. For every case:

- standard errors against the Cramér-Rao bound of the whole record (sensitivities by complex steps
  through SciPy's integrator),
- how many 95 % intervals hold the truth, and the spread of (estimate − truth)/error, over noise
  draws,
- how many fits arrive, from starts with every free parameter times a factor between 1/2 and 2.

    python benchmarks/fit_study.py [--case boot] [--draws 200] [--starts 100] [--figure FILE]

`--figure` draws where the fits from all starts end, those in a single shot beside them.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

import diffmech as dm

NOISE = np.deg2rad(0.5)
SURE = 1e-6  # of a start that is known


class Case(NamedTuple):
    """A motion to be found again."""

    system: Any
    rhs: Callable[..., list[Any]]
    truth: dict[str, float]
    known: dict[str, float]
    start: np.ndarray  # q, q̇
    duration: float
    seen: tuple[int, ...]
    told: dict[str, float]  # standard deviations of what is known of the start
    possible: Callable[[dict[str, float]], bool]
    combinations: dict[str, Callable[..., Any]]
    bounds: dict[str, tuple[float | None, float | None]] = {}  # noqa: RUF012
    guess: bool = True  # whether a fit could begin with accelerations

    @property
    def channels(self) -> tuple[str, ...]:
        names = tuple(self.system.coordinates)
        return tuple(names[i] for i in self.seen)


def boot_rhs(t: float, y: np.ndarray, p: dict[str, Any]) -> list[Any]:
    qA, qB, uA, uB = y
    inertia = p["IA"] + p["mA"] * p["LA"] ** 2 + p["mB"] * p["LB"] ** 2
    inertia = inertia + p["IBx"] * np.cos(qB) ** 2 + p["IBy"] * np.sin(qB) ** 2
    unlike = p["IBx"] - p["IBy"]
    both = np.sin(qB) * np.cos(qB) * unlike
    weight = (p["mA"] * p["LA"] + p["mB"] * p["LB"]) * p["g"]
    return [uA, uB, (2 * both * uA * uB - weight * np.sin(qA)) / inertia, -both * uA**2 / p["IBz"]]


def double_rhs(t: float, y: np.ndarray, p: dict[str, Any]) -> list[Any]:
    a, b, u, v = y
    m1, m2, l1, l2 = (p[name] for name in ("masses[0]", "masses[1]", "lengths[0]", "lengths[1]"))
    g = p["gravity"]
    c, s = np.cos(a - b), np.sin(a - b)
    first = -m2 * l1 * l2 * s * v**2 - (m1 + m2) * g * l1 * np.sin(a)
    second = m2 * l1 * l2 * s * u**2 - m2 * g * l2 * np.sin(b)
    m11, m12, m22 = (m1 + m2) * l1**2, m2 * l1 * l2 * c, m2 * l2**2
    det = m11 * m22 - m12**2
    return [u, v, (m22 * first - m12 * second) / det, (m11 * second - m12 * first) / det]


BOOT = {"g": 9.81, "LA": 0.075, "LB": 0.2, "mA": 0.01, "mB": 0.1, "IA": 5e-6}
PLATE = {"IBx": 2.3e-4, "IBy": 0.5e-4, "IBz": 2e-4}
AT_90_AND_1 = np.array([np.pi / 2, np.pi / 180, 0.0, 0.0])


def is_body(p: dict[str, float]) -> bool:
    x, y, z = p["IBx"], p["IBy"], p["IBz"]
    return bool(x <= y + z and y <= z + x and z <= x + y and x > y)


def combinations_of_boot() -> dict[str, Callable[..., Any]]:
    swing = BOOT["IA"] + BOOT["mA"] * BOOT["LA"] ** 2 + BOOT["mB"] * BOOT["LB"] ** 2
    weight = (BOOT["mA"] * BOOT["LA"] + BOOT["mB"] * BOOT["LB"]) * BOOT["g"]
    return {
        "(IA + mA LA^2 + mB LB^2 + IBx)/(IBx - IBy)": lambda x, y, z: (swing + x) / (x - y),
        "(mA LA + mB LB) g/(IBx - IBy)": lambda x, y, z: weight / (x - y),
        "(IBx - IBy)/IBz": lambda x, y, z: (x - y) / z,
    }


def boot(seen: tuple[int, ...], told: dict[str, float]) -> Case:
    return Case(
        dm.systems.babyboot(), boot_rhs, PLATE, BOOT, AT_90_AND_1, 10.0, seen, told, is_body,
        combinations_of_boot(), {} if len(seen) == 2 else {"IBx - IBy": (0, None)}, len(seen) == 2,
    )  # fmt: skip


def double() -> Case:
    known = {"masses[0]": 1.0, "gravity": 9.81}
    truth = {"masses[1]": 0.6, "lengths[0]": 0.5, "lengths[1]": 0.4}
    return Case(
        dm.systems.double_pendulum().with_params(known), double_rhs, truth, known,
        np.array([1.6, 1.2, 0.0, 0.0]), 10.0, (0,),
        {"theta2": np.deg2rad(5.0), "theta1_dot": SURE, "theta2_dot": SURE},
        lambda p: True, {}, {}, False,
    )  # fmt: skip


CASES: dict[str, Callable[[], Case]] = {
    "boot": lambda: boot((0, 1), {}),
    "first angle of a boot": lambda: boot(
        (0,), {"qB": np.deg2rad(5.0), "qA_dot": SURE, "qB_dot": SURE}
    ),
    "first angle of a double pendulum": double,
}


def solved(case: Case, ts: np.ndarray, start: Any, params: dict[str, Any]) -> np.ndarray:
    """(k, 2 n) by SciPy; complex numbers go through."""
    every = {**case.known, **params}
    solution = solve_ivp(
        partial(case.rhs, p=every), (0.0, ts[-1]), start, "DOP853", ts, rtol=1e-12, atol=1e-13
    )
    return solution.y.T


def bound(case: Case, ts: np.ndarray) -> np.ndarray:
    """Covariance of the free parameters at the Cramér-Rao bound, starts unknown but for `told`."""
    names = list(case.truth)
    columns = []
    for i in range(len(names) + len(case.start)):
        start, params = case.start.astype(complex), dict[str, Any](case.truth)
        scale = 1.0
        if i < len(names):
            scale = params[names[i]]
            params[names[i]] = scale * (1 + 1e-20j)
        else:
            start[i - len(names)] += 1e-20j
        along = np.imag(solved(case, ts, start, params)[:, case.seen]) / (1e-20 * scale)
        columns.append(along.ravel() / NOISE)
    rows = np.stack(columns, axis=1)
    states = [*case.system.coordinates, *(f"{name}_dot" for name in case.system.coordinates)]
    known = np.zeros((len(case.told), rows.shape[1]))
    for k, (name, spread) in enumerate(case.told.items()):
        known[k, len(names) + states.index(name)] = 1 / spread
    rows = np.concatenate([rows, known])
    size = np.sqrt(np.sum(rows**2, axis=0))
    inverse = np.linalg.pinv(rows / size)
    return ((inverse @ inverse.T) / np.outer(size, size))[: len(names), : len(names)]


def record_of(case: Case, ts: np.ndarray, states: np.ndarray, seed: int) -> dm.Record:
    rng = np.random.default_rng(seed)
    values = states[:, case.seen] + NOISE * rng.normal(size=(len(ts), len(case.seen)))
    return dm.Record(ts, values, case.channels, noise=NOISE)


def fitted(
    case: Case, record: dm.Record, guess: dict[str, float], seed: int, **options: Any
) -> Any:
    """A fit; what is known of the start is off by a draw of its own."""
    rng = np.random.default_rng(10_000 + seed)
    states = [*case.system.coordinates, *(f"{name}_dot" for name in case.system.coordinates)]
    starts = {
        name: (float(case.start[states.index(name)] + spread * rng.normal()), spread)
        for name, spread in case.told.items()
    }
    known = {"starts": starts, "bounds": case.bounds}
    return dm.fit(case.system, record, list(case.truth), guess=guess, **known, **options)


def guesses(case: Case, count: int) -> list[dict[str, float]]:
    rng = np.random.default_rng(1)
    found: list[dict[str, float]] = []
    while len(found) < count:
        guess = {name: value * 2.0 ** rng.uniform(-1, 1) for name, value in case.truth.items()}
        if case.possible(guess):
            found.append(guess)
    return found


def arrived(case: Case, found: Any) -> bool:
    if not found.converged:
        return False  # what has stopped on the way may have no errors
    sizes = np.array(list(case.truth.values()))
    away = (found.values - sizes) / sizes
    spread = found.covariance / np.outer(sizes, sizes)
    along = np.linalg.lstsq(spread, away)[0]
    if not np.allclose(spread @ along, away, rtol=0.0, atol=1e-6 * np.linalg.norm(away)):
        return False  # on an edge of what is possible, which the truth is not on
    return bool(np.sqrt(away @ along) < 5.0)


def study(name: str, case: Case, draws: int, starts: int) -> dict[str, list[Any]]:
    ts = np.linspace(0.0, case.duration, round(100 * case.duration) + 1)
    states = solved(case, ts, case.start, case.truth)
    least = bound(case, ts)
    truth = np.array(list(case.truth.values()))
    functions = case.combinations or {
        path: (lambda *x, i=i: x[i]) for i, path in enumerate(case.truth)
    }
    print(f"{name}: {len(ts)} samples of {', '.join(case.channels)}")
    first = fitted(case, record_of(case, ts, states, 0), dict(case.truth), 0)
    for label, function in functions.items():
        value, error = first.of(function)
        slope = _slope(function, truth)
        best = np.sqrt(slope @ least @ slope)
        print(
            f"  {label:44} {value:.6g} ± {error:.2g}, in truth {function(*truth):.6g}; "
            f"error / bound {error / best:.3f}"
        )
    if draws:
        _draw(case, ts, states, draws, functions, truth)
    return _start(case, ts, states, starts) if starts else {}


def _slope(function: Callable[..., Any], truth: np.ndarray) -> np.ndarray:
    steps = 1e-20j * truth
    return np.array([
        function(*[x + steps[i] * (i == j) for j, x in enumerate(truth)]).imag / steps[i].imag
        for i in range(len(truth))
    ])  # fmt: skip


def _draw(
    case: Case, ts: np.ndarray, states: np.ndarray, draws: int, functions: Any, truth: np.ndarray
) -> None:
    away: dict[str, list[float]] = {label: [] for label in functions}
    failed, clock = 0, time.process_time()
    for seed in range(draws):
        fit = fitted(case, record_of(case, ts, states, seed), dict(case.truth), seed)
        failed += not fit.converged
        for label, function in functions.items():
            value, error = fit.of(function)
            away[label].append((value - function(*truth)) / error)
    seconds = (time.process_time() - clock) / draws
    print(f"  {draws} noise draws, {seconds:.2f} CPU s each; ", end="")
    print(f"{failed} not converged")
    for label, each in away.items():
        inside = 100 * np.mean(np.abs(each) < 1.96)
        print(f"  {label:44} 95 % interval holds the truth in {inside:.1f} %", end="")
        print(f", (estimate - truth)/error has spread {np.std(each):.3f}, mean {np.mean(each):.3f}")


def _start(case: Case, ts: np.ndarray, states: np.ndarray, starts: int) -> dict[str, list[Any]]:
    """The fits from every start, each way; what is fitted are `starts` draws of noise."""
    single = {"segment": case.duration, "first_guess": False}
    ways: dict[str, dict[str, Any]] = (
        {
            "without first guess": {"first_guess": False},
            "with first guess": {},
            "in a single shot": single,
        }
        if case.guess
        else {"": {}}
    )
    ended: dict[str, list[Any]] = {label: [] for label in ways}
    for label, options in ways.items():
        lost, clock = [], time.process_time()
        for seed, guess in enumerate(guesses(case, starts)):
            record = record_of(case, ts, states, 1000 + seed)
            fit = fitted(case, record, guess, seed, **options)
            ended[label].append(fit)
            if not arrived(case, fit):
                lost.append(f"{seed} ({np.sqrt(fit.chi2 / fit.count):.3g})")
        seconds = (time.process_time() - clock) / starts
        good = starts - len(lost)
        rest = f"; not (misfit in units of the noise): {', '.join(lost)}" if lost else ""
        print(f"  starts {label}: {good} of {starts} arrive, {seconds:.2f} CPU s each{rest}")
    return ended


def draw(ended: dict[str, dict[str, list[Any]]], path: str) -> None:
    """Misfits of all fits over the first free number at their start."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(ended), figsize=(6.4 * len(ended), 4.2), squeeze=False)
    for ax, (name, ways) in zip(axes[0], ended.items(), strict=True):
        case = CASES[name]()
        path_of_first, truth = next(iter(case.truth.items()))
        for (label, fits), marker in zip(ways.items(), "o+x", strict=False):
            ratio = [guess[path_of_first] / truth for guess in guesses(case, len(fits))]
            misfit = [np.sqrt(found.chi2 / found.count) for found in fits]
            ax.plot(ratio, misfit, marker, fillstyle="none", label=label or "fit")
        ax.axhline(1.0, color="0.6", lw=0.8, zorder=0)
        ax.set(xscale="log", yscale="log", xlabel=f"{path_of_first} at the start / truth")
        ax.set(ylabel="misfit / noise", title=name)
        ax.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--case", choices=list(CASES), action="append")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--starts", type=int, default=100)
    parser.add_argument("--figure", help="where to draw the ends of all starts (.png, .pdf)")
    chosen = parser.parse_args()
    ended = {
        name: study(name, CASES[name](), chosen.draws, chosen.starts)
        for name in chosen.case or CASES
    }
    if chosen.figure and chosen.starts:
        draw(ended, chosen.figure)


if __name__ == "__main__":
    main()
