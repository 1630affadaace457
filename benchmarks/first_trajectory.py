"""How long until the first trajectory, and until the next? Against SymPy and SciPy.

For N-link pendulums, nice start, 10 s, rtol 1e-9, 1001 samples, each route in fresh processes:

    first   from the start of the process to a trajectory: imports, derivation, compilation, run
    next    the same call with other parameters, minimum of several

diffmech derives by autodiff and compiles by XLA. The other route derives with SymPy's
`LagrangesMethod` (parameters kept as symbols, so that they can change), turns mass matrix and
forcing into Python by `lambdify(cse=True)` and integrates with SciPy's DOP853. It gets a time limit
per N; "-" means that it was not done by then. Ratios above 1 are in our favour.

    python benchmarks/first_trajectory.py [--links 1 2 3] [--limit 150] [--json out.json]
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

LINKS = (1, 2, 3, 5, 8, 15, 30)
DURATION, RTOL, SAMPLES = 10.0, 1e-9, 1001


def run_diffmech(n: int, started: float) -> dict[str, object]:
    import numpy as np

    import diffmech as dm

    system = dm.systems.n_link(n=n)

    def run(length: float) -> list[float]:
        other = system.with_params(lengths=length, centres=length / 2, inertias=length**2 / 12)
        motion = dm.simulate(
            other, *system.starts["nice"], duration=DURATION, rtol=RTOL, samples=SAMPLES
        )
        return np.asarray(motion.qs[-1]).tolist()

    end = run(1.0)
    first = time.time() - started
    times = []
    for i in range(7):
        clock = time.perf_counter()
        run(1.0 + 0.01 * (i + 1))
        times.append(time.perf_counter() - clock)
    return {"first": first, "next": min(times), "end": end}


def run_sympy(n: int, started: float) -> dict[str, object]:
    import numpy as np
    import sympy as sp
    from scipy.integrate import solve_ivp
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    q = dynamicsymbols(f"q:{n}")
    t = dynamicsymbols._t  # pyright: ignore[reportFunctionMemberAccess]
    qd = [sp.diff(x, t) for x in q]
    mass, inertia, length, centre = (sp.symbols(f"{name}:{n}") for name in ("m", "I", "l", "d"))
    g = sp.Symbol("g")
    x = y = vx = vy = sp.Integer(0)
    lagrangian = sp.Integer(0)
    for i in range(n):
        sin, cos = sp.sin(q[i]), sp.cos(q[i])
        wx, wy = vx + centre[i] * cos * qd[i], vy + centre[i] * sin * qd[i]
        lagrangian += mass[i] * (wx**2 + wy**2) / 2 + inertia[i] * qd[i] ** 2 / 2
        lagrangian -= mass[i] * g * (y - centre[i] * cos)
        x, y = x + length[i] * sin, y - length[i] * cos
        vx, vy = vx + length[i] * cos * qd[i], vy + length[i] * sin * qd[i]
    method = LagrangesMethod(lagrangian, q)
    method.form_lagranges_equations()
    rates, positions = sp.symbols(f"u:{n}"), sp.symbols(f"p:{n}")
    names = {**dict(zip(qd, rates, strict=True)), **dict(zip(q, positions, strict=True))}
    equations = [method.mass_matrix.xreplace(names), method.forcing.xreplace(names)]
    arguments = [positions, rates, mass, inertia, length, centre, g]
    evaluate = sp.lambdify(arguments, equations, cse=True)

    def run(size: float) -> list[float]:
        ones = np.ones(n)
        numbers = (ones, ones * size**2 / 12, ones * size, ones * size / 2, 9.81)

        def rate(_t: float, state: np.ndarray) -> np.ndarray:
            m, f = evaluate(state[:n], state[n:], *numbers)
            return np.concatenate([state[n:], np.linalg.solve(m, f[:, 0])])

        motion = solve_ivp(
            rate,
            (0, DURATION),
            np.concatenate([np.full(n, np.pi / 4), np.zeros(n)]),
            method="DOP853",
            rtol=RTOL,
            atol=RTOL,
            t_eval=np.linspace(0, DURATION, SAMPLES),
        )
        return motion.y[:n, -1].tolist()

    end = run(1.0)
    first = time.time() - started
    times = []
    for i in range(3):
        clock = time.perf_counter()
        run(1.0 + 0.01 * (i + 1))
        times.append(time.perf_counter() - clock)
    return {"first": first, "next": min(times), "end": end}


ROUTES = {"diffmech": run_diffmech, "sympy": run_sympy}


def measure(route: str, n: int, limit: float, repeats: int) -> dict[str, float] | None:
    """The best of several fresh processes, or None if the time limit was passed."""
    best: dict[str, float] | None = None
    for _ in range(repeats):
        command = [sys.executable, __file__, "--one", route, str(n), repr(time.time())]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, check=True
            )
        except subprocess.TimeoutExpired:
            return best
        result = json.loads(done.stdout.splitlines()[-1])
        if best is None or result["first"] < best["first"]:
            best = result | {"next": min(result["next"], best["next"] if best else result["next"])}
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--links", nargs="+", type=int, default=list(LINKS))
    parser.add_argument("--limit", type=float, default=150.0, help="seconds per process")
    parser.add_argument("--repeats", type=int, default=2, help="fresh processes per route and N")
    parser.add_argument("--json", type=Path, help="write the table here as well")
    parser.add_argument("--one", nargs=3, metavar=("ROUTE", "N", "STARTED"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        route, n, started = options.one
        print(json.dumps(ROUTES[route](int(n), float(started))))
        return

    print("N-link pendulum, nice start, 10 s, rtol 1e-9, 1001 samples; seconds")
    print(f"time limit for SymPy: {options.limit:g} s per process\n")
    head = ("first: ours", "SymPy", "ratio", "next: ours", "SymPy", "ratio", "same end")
    print("   N" + "".join(f"{title:>13}" for title in head))
    rows = []
    for n in options.links:
        ours = measure("diffmech", n, options.limit, options.repeats)
        theirs = measure("sympy", n, options.limit, 1 if n > 5 else options.repeats)
        assert ours is not None, "diffmech itself passed the time limit"
        row: dict[str, object] = {"n": n, "ours": ours, "sympy": theirs}
        cells = [f"{ours['first']:.2f}", "-", "-", f"{ours['next']:.4f}", "-", "-", "-"]
        if theirs is not None:
            gap = max(abs(a - b) for a, b in zip(ours["end"], theirs["end"], strict=True))  # pyright: ignore[reportArgumentType]
            cells[1], cells[2] = f"{theirs['first']:.2f}", f"{theirs['first'] / ours['first']:.2f}"
            cells[4], cells[5] = f"{theirs['next']:.4f}", f"{theirs['next'] / ours['next']:.1f}"
            cells[6] = f"{gap:.0e}"
        rows.append(row)
        print(f"{n:4d}" + "".join(f"{cell:>13}" for cell in cells), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
