"""What does a machine of parts cost, against its Lagrangian written by hand?

The acceleration of the babyboot and of the double pendulum in space, each described by its bodies
and by a Lagrangian found on paper. Times are minima over repeats that take turns, so that noise of
the machine falls on both alike; compilation is apart. "one call" is a compiled call for one state,
"in a loop" an evaluation inside a compiled loop, as an integrator makes it, "batch" one of 10 000
states at once.

    python benchmarks/parts_cost.py [--repeats 15] [--only babyboot]
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import diffmech as dm

LANES = 10_000
STEPS = 1_000


def _turned(axis: Any, angle: Any) -> Any:
    """Rodrigues' formula, as one writes it by hand."""
    x, y, z = axis
    cross = jnp.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return jnp.eye(3) + jnp.sin(angle) * cross + (1 - jnp.cos(angle)) * (cross @ cross)


def by_hand(q: Any, qd: Any, t: Any, p: Any) -> Any:
    """T − V of the double pendulum in space, from angular velocities and levers."""
    del t
    first, second = (axis / jnp.sqrt(axis @ axis) for axis in p.axes)
    r1 = _turned(first, q[0])
    r2 = r1 @ _turned(second, q[1])
    w1 = first * qd[0]
    w2 = w1 + r1 @ second * qd[1]
    centre1, elbow, centre2 = r1 @ p.centres[0], r1 @ p.elbow, r2 @ p.centres[1]
    v1 = jnp.cross(w1, centre1)
    v2 = jnp.cross(w1, elbow) + jnp.cross(w2, centre2)
    spin1, spin2 = r1.T @ w1, r2.T @ w2
    kinetic = 0.5 * (p.upper.mass * v1 @ v1 + p.lower.mass * v2 @ v2)
    kinetic += 0.5 * (p.upper.inertia @ spin1**2 + p.lower.inertia @ spin2**2)
    height1, height2 = centre1[2], elbow[2] + centre2[2]
    return kinetic - p.gravity * (p.upper.mass * height1 + p.lower.mass * height2)


def best_times(functions: list[Callable[[], Any]], count: int, repeats: int) -> list[float]:
    """Seconds per call of each, the least over repeats that take turns."""
    for function in functions:
        jax.block_until_ready(function())
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            for _ in range(count - 1):
                function()
            jax.block_until_ready(function())
            best[i] = min(best[i], (time.perf_counter() - start) / count)
    return best


def _loop(system: dm.System) -> Callable[..., Any]:
    def step(_: Any, state: Any) -> Any:
        q, qd = state
        return q + 1e-4 * qd, qd + 1e-4 * dm.acceleration(system, q, qd)

    return jax.jit(lambda q, qd: jax.lax.fori_loop(0, STEPS, step, (q, qd)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of machines of parts")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", default="", help="the machine whose name starts so")
    options = parser.parse_args()
    space = dm.systems.double_pendulum_3d()
    pairs = {
        "babyboot": (dm.systems.babyboot_of_bodies(), dm.systems.babyboot()),
        "double pendulum 3-D": (space, dm.System(by_hand, space.coordinates, space.params)),
    }
    print(f"{'':20} {'':10} {'parts':>10} {'by hand':>10} {'ratio':>6}")
    for name, pair in pairs.items():
        if not name.startswith(options.only):
            continue
        q, qd = map(jnp.asarray, np.random.default_rng(0).normal(size=(2, LANES, 2)))
        calls = [jax.jit(lambda q, qd, s=s: dm.acceleration(s, q, qd)) for s in pair]
        loops = [_loop(s) for s in pair]
        batches = [jax.jit(jax.vmap(call)) for call in calls]
        gap = jnp.max(jnp.abs(batches[0](q, qd) - batches[1](q, qd)))
        assert float(gap) < 1e-9, gap
        rows = {
            "one call": (calls, (q[0], qd[0]), 1000, 1),
            "in a loop": (loops, (q[0], qd[0]), 3, STEPS),
            "batch": (batches, (q, qd), 5, LANES),
        }
        for kind, (functions, arguments, count, share) in rows.items():
            bound = [lambda f=f, a=arguments: f(*a) for f in functions]
            ours, theirs = (1e6 * t / share for t in best_times(bound, count, options.repeats))
            print(f"{name:20} {kind:10} {ours:7.2f} us {theirs:7.2f} us {ours / theirs:6.2f}")


if __name__ == "__main__":
    main()
