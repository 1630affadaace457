"""The double pendulum of a laboratory, fitted by `dm.fit` and by SciPy, for `identification.py`.

The angles of both arms, pieces of 2.66 s at 100 Hz. Free are four numbers of the arms and two of
friction, what two offsets are, and the start of every piece; masses and gravity are as published
(only ratios of masses can be told).
"""

import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import lil_matrix

import diffmech as dm

DATA = Path(__file__).parents[1] / "examples/data/double_pendulum_swing.csv"
NOISE = 0.005  # [rad] about what a rigid model misses
CHANNELS = ["theta1", "theta2"]
FREE = ["lengths[0]", "centres[0]", "inertias", "frictions"]
MASSES = (0.0938439748, 0.1375959705)  # [kg]
RTOL = 1e-9
SAME = 1e-5  # of a cost: 0.03 here, a quarter of a standard error


def pendulum(near: bool) -> Any:
    """The published machine, or uniform rods with a little friction."""
    if not near:
        centres = (0.085, 0.1167790184)  # the second sets the scale of what is told
        return dm.systems.n_link(n=2, masses=MASSES, lengths=0.17, centres=centres, frictions=1e-4)
    return dm.systems.n_link(
        n=2, masses=MASSES, lengths=0.1727192038, centres=(0.1085652146, 0.1167790184),
        inertias=(4.37529430e-4, 1.268829393e-3), frictions=(2.371427827e-4, 1e-5),
        gravity=9.8085802,
    )  # fmt: skip


def pieces_of(count: int) -> list[dm.Record]:
    turned = dict.fromkeys(CHANNELS, np.pi)
    return list(dm.read_records(DATA, channels=CHANNELS, by="piece", offset=turned))[:count]


def fit_pendulum(near: bool, pieces: list[dm.Record]) -> dm.Fit:
    return dm.fit(pendulum(near), pieces, FREE, offsets=CHANNELS, noise=NOISE, rtol=RTOL)


def first_states(pieces: list[dm.Record]) -> np.ndarray:
    """(q, q̇) at the start of every piece, with the published rates, shape (pieces, 4)."""
    rows = np.genfromtxt(DATA, delimiter=",", names=True)
    first = np.unique(rows["piece"], return_index=True)[1][: len(pieces)]
    rates = np.stack([rows["omega1"], rows["omega2"]], axis=1)[first]
    return np.concatenate([np.stack([piece.values[0] for piece in pieces]), rates], axis=1)


def by_scipy(near: bool, pieces: list[dm.Record], goal: float, limit: float) -> dict[str, float]:
    """SciPy's seconds to the cost `goal`, compiled before; it is stopped after `limit` [s]."""
    machine, ts = pendulum(near), pieces[0].ts - pieces[0].ts[0]
    values = np.stack([piece.values for piece in pieces])
    near_params = machine.params
    scale = np.array(
        [
            near_params.lengths[0],
            near_params.centres[0],
            *near_params.inertias,
            *near_params.frictions,
        ]
    )

    def moved(z: Any, start: Any) -> Any:
        z = z * scale
        freed = lambda p: (p.lengths, p.centres, p.inertias, p.frictions)  # noqa: E731
        lengths, centres = (
            jnp.asarray(x).at[0].set(z[i])
            for i, x in enumerate((near_params.lengths, near_params.centres))
        )
        params = eqx.tree_at(freed, near_params, (lengths, centres, z[2:4], z[4:6]))
        return dm.simulate(machine, start[:2], start[2:], ts=ts, params=params, rtol=RTOL).qs

    program = jax.jit(jax.vmap(moved, (None, 0)))

    def residuals(x: np.ndarray) -> np.ndarray:
        shown = np.asarray(program(x[:6], x[8:].reshape(-1, 4))) + x[6:8]
        return np.nan_to_num((shown - values) / NOISE, nan=1e6).ravel()

    x = np.concatenate([np.ones(6), np.zeros(2), first_states(pieces).ravel()])
    each = residuals(x).size // len(pieces)
    pattern = lil_matrix((each * len(pieces), len(x)), dtype=int)
    pattern[:, :8] = 1
    for i in range(len(pieces)):
        pattern[i * each : (i + 1) * each, 8 + 4 * i : 12 + 4 * i] = 1
    lowest = np.concatenate([np.full(6, 1e-6), np.full(len(x) - 6, -np.inf)])
    clock, cpu = time.perf_counter(), time.process_time()

    def look(intermediate_result: Any) -> None:
        if intermediate_result.cost <= goal * (1 + SAME) or time.perf_counter() - clock > limit:
            raise StopIteration

    solution = least_squares(
        residuals, x, jac_sparsity=pattern, x_scale="jac", diff_step=1e-6, ftol=1e-15, xtol=1e-15,
        gtol=1e-15, max_nfev=10_000, bounds=(lowest, np.full(len(x), np.inf)), callback=look,
        tr_options={"regularize": False, "atol": 1e-12, "btol": 1e-12, "maxiter": 2000},
    )  # fmt: skip
    took = {"wall": time.perf_counter() - clock, "cpu": time.process_time() - cpu}
    return {**took, "cost": float(solution.cost), "jacobians": int(solution.njev or 0)}
