"""How do you keep a rotation a rotation?

Euler's equations with the matrix itself, R' = R ŵ, have no pole; but a solver's steps do not know
that RᵀR = 1, and R drifts. Four ways, for 1000 turns of a free body by Runge and Kutta's fourth
order: do nothing; make the columns orthonormal after each step (Gram and Schmidt); take the nearest
rotation after each step (polar, by an SVD); pull R back, R' = R ŵ + c (G(R) − R), G being Gram and
Schmidt's (feedback). None makes R the right rotation, only steps do: here each way takes as many
per turn as the same computing time buys, short of rounding. The picture goes to `results/`.
"""

from functools import partial
from pathlib import Path
from timeit import repeat

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib import pyplot as plt

import diffmech as dm
from diffmech.geometry import angle_between, from_quaternion, gram_schmidt, hat, polar

TURNS, FEWEST, MOST, FINE = 1000, 40, 1600, 2000  # of 1 s; steps per turn, FINE of the truth
MOMENTS = np.array([1.0, 2.0, 3.0])  # [kg m²]
OMEGA, PULL = 2 * np.pi * np.array([0.15, 0.1, 1.0]), 10.0  # [rad/s], c [1/s]
WAYS = {"nothing": "k-", "Gram-Schmidt": "C1--", "polar": "C0:", "feedback": "C2-."}


def step(way, h, state):
    """(R, w) a step of h [s] later, w in body axes."""
    slopes, slope = [], (0.0, 0.0)
    for by in (0.0, h / 2, h / 2, h):
        R, w = state[0] + by * slope[0], state[1] + by * slope[1]
        pull = PULL * (gram_schmidt(R) - R) if way == "feedback" else 0.0
        slopes.append(slope := (R @ hat(w) + pull, jnp.cross(MOMENTS * w, w) / MOMENTS))
    R, w = jax.tree.map(lambda x, a, b, c, d: x + h / 6 * (a + 2 * b + 2 * c + d), state, *slopes)
    return {"Gram-Schmidt": gram_schmidt, "polar": polar}.get(way, lambda R: R)(R), w


@partial(jax.jit, static_argnames="way")
def spun(way, steps):
    """R after each turn, shape (turns, 3, 3)."""

    def turn(state, _):
        state = jax.lax.fori_loop(0, steps, lambda i, s: step(way, 1.0 / steps, s), state)
        return state, state[0]

    return jax.lax.scan(turn, (jnp.eye(3), jnp.asarray(OMEGA)), None, length=TURNS)[1]


def main() -> None:
    exact, body = spun("Gram-Schmidt", FINE), dm.systems.free_body("quaternion", MOMENTS, OMEGA)
    run = dm.simulate(body, *body.starts["default"], duration=20.0, rtol=1e-13)
    assert np.max(np.abs(exact[19] - from_quaternion(run.qs[-1]))) < 1e-8, "another solver agrees"
    angle = jax.vmap(lambda R, truth: angle_between(polar(R), truth))  # [rad]
    cost = {w: min(repeat(lambda w=w: np.asarray(spun(w, 20)), number=1, repeat=20)) for w in WAYS}
    ax = plt.figure(figsize=(6.4, 3.6), layout="constrained").add_subplot()
    shown, drift, same = np.unique(np.geomspace(1, TURNS, 60).astype(int)), {}, {}
    print(f"{'':15}µs/step  steps/turn  drift  error [rad]  error with {FEWEST} steps/turn [rad]")
    for way, style in WAYS.items():
        steps, time = round(FEWEST * max(cost.values()) / cost[way]), 1e6 * cost[way] / (20 * TURNS)
        steps = min(steps, MOST)
        R, same[way] = spun(way, steps), float(angle(spun(way, FEWEST), exact)[-1])
        drift[way] = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max(axis=(1, 2))
        end, error = drift[way][-1], float(angle(R, exact)[-1])
        print(f"{way:15}{time:7.2f}{steps:12}{end:7.0e}{error:13.1e}{same[way]:34.3f}")
        ax.loglog(shown, drift[way][shown - 1], style, label=f"{way}, {steps} steps/turn")
    ax.set(xlabel="turns [-]", ylabel=r"drift, max $|R^\mathsf{T} R - 1|$ [-]")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="center")
    Path("results").mkdir(exist_ok=True)
    dm.viz.save_figure(ax.figure, "results/keep_orthogonal.png", overwrite=True)
    assert drift["nothing"][-1] > 100 * drift["nothing"][0], "left alone, the drift grows"
    assert max(drift["Gram-Schmidt"].max(), drift["polar"].max()) < 1e-13, "round-off"
    assert drift["feedback"][500:].max() < 2 * drift["feedback"][:500].max(), "bounded"
    assert np.ptp(list(same.values())) < 0.1 * same["nothing"], "at equal steps, equally wrong"


if __name__ == "__main__":
    main()
