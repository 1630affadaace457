"""How do I bring a machine of my own?

Write its Lagrangian, name its coordinates, say where its points are: an elastic pendulum, a bob on
a spring. The command line takes it too: `diffmech animate examples/own_machine.py:spring_pendulum`.
"""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

import diffmech as dm


def lagrangian(q, qd, t, p):
    """L = 1/2 m (ṙ² + r² θ̇²) − 1/2 k (r − l)² + m g r cos θ  [J]."""
    r, theta = q
    kinetic = 0.5 * p["m"] * (qd[0] ** 2 + (r * qd[1]) ** 2)
    spring = 0.5 * p["k"] * (r - p["l"]) ** 2
    return kinetic - spring + p["m"] * p["g"] * r * jnp.cos(theta)


def landmarks(q, t, p):
    """Pivot and bob, shape (2, 2) [m]; x to the right, y up."""
    bob = q[0] * jnp.stack([jnp.sin(q[1]), -jnp.cos(q[1])])
    return jnp.stack([jnp.zeros(2), bob])


def spring_pendulum() -> dm.System:
    return dm.System(
        lagrangian,
        coordinates={"r": "m", "theta": "rad"},
        params={"m": 0.5, "k": 40.0, "l": 1.0, "g": 9.81},
        landmarks=landmarks,
        springs=[(0, 1)],
        starts={"default": ([1.2, 0.8], [0.0, 0.0])},
        name="spring pendulum",
    )


def frequency(ts: np.ndarray, values: np.ndarray) -> float:
    """From the upward crossings of the mean [rad/s]."""
    v = values - values.mean()
    up = np.flatnonzero((v[:-1] < 0) & (v[1:] >= 0))
    crossings = ts[up] - v[up] * (ts[up + 1] - ts[up]) / (v[up + 1] - v[up])
    return 2 * np.pi / np.mean(np.diff(crossings))


def main() -> None:
    machine = spring_pendulum()
    print(machine, "\n")
    run = dm.simulate(machine, *machine.starts["default"], duration=10.0)
    print(run, "\n")
    film = dm.viz.save_folder(run, Path("results"), film=True, overwrite=True) / "motion.gif"
    print(f"see it move: {film}\n")

    # A check nobody can argue with: small oscillations about hanging at rest, r₀ = l + m g/k.
    p = machine.params
    rest = float(p["l"] + p["m"] * p["g"] / p["k"])
    small = dm.simulate(machine, [rest + 1e-4, 1e-4], duration=20.0)
    for name, values, exact in (
        ("bounce", small.qs[:, 0], np.sqrt(p["k"] / p["m"])),
        ("swing", small.qs[:, 1], np.sqrt(p["g"] / rest)),
    ):
        measured = frequency(small.ts, values)
        print(f"{name}: {measured:.4f} rad/s, small-oscillation theory {float(exact):.4f}")
        assert abs(measured / exact - 1) < 1e-3


if __name__ == "__main__":
    main()
