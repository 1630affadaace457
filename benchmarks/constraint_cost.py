"""What do constraints cost? Accelerations with multipliers against those without.

The same Lagrangian with its constraints and without, for the double pendulum in absolute (6
coordinates, 4 rows) and natural coordinates (4, 2), and for a chain of eight links in maximal ones
(24, 16). Times are minima over repeats that take turns; compilation is apart. "one call" is a
compiled call for one state, "in a loop" an evaluation inside a compiled loop, as an integrator
makes it, "batch" one of 1000 states at once. The last column splits the loop's time: M, b and the
rows of the constraints without solving for anything.

    python benchmarks/constraint_cost.py [--repeats 15] [--only double]
"""

import argparse
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from parts_cost import best_times

import diffmech as dm
from diffmech.motion import mass_and_bias_of, rows_of

LANES = 1_000
STEPS = 300


def _loop(step: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def advance(_: Any, state: Any) -> Any:
        q, qd = state
        return q + 1e-5 * qd, qd + 1e-5 * step(q, qd)

    return jax.jit(lambda q, qd: jax.lax.fori_loop(0, STEPS, advance, (q, qd)))


def _unsolved(system: dm.System) -> Callable[[Any, Any], Any]:
    """All that goes into the linear system, summed up so that nothing is left out."""

    def terms(q: Any, qd: Any) -> Any:
        t = jnp.zeros(())
        mass, bias = mass_and_bias_of(system.laws, q, qd, t, system.params)
        rows = rows_of(system.laws, q, qd, t, system.params)
        return mass @ bias + rows.drift @ rows.jacobian

    return terms


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of constraints")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", default="", help="machines whose name starts so")
    options = parser.parse_args()
    machines = {
        "double_pendulum_absolute": dm.systems.double_pendulum_absolute(),
        "double_pendulum_natural": dm.systems.double_pendulum_natural(),
        "n_link_maximal:n=8": dm.systems.n_link_maximal(8),
    }
    print(f"{'':26}{'':10}{'constrained':>14}{'free':>10}{'ratio':>7}{'unsolved':>11}")
    for name, held in machines.items():
        if not name.startswith(options.only):
            continue
        free = dm.System(
            held.lagrangian,
            held.coordinates,
            held.params,
            forces=held.forces,
            dissipation=held.dissipation,
        )
        q0, qd0 = held.starts["default"]
        rng = np.random.default_rng(0)
        q, qd = (jnp.asarray(x + 0.1 * rng.normal(size=(LANES, held.n))) for x in (q0, qd0))
        pair = [lambda q, qd, s=s: dm.acceleration(s, q, qd) for s in (held, free)]
        rows = {
            "one call": ([jax.jit(f) for f in pair], (q[0], qd[0]), 1000, 1),
            "in a loop": ([_loop(f) for f in [*pair, _unsolved(held)]], (q[0], qd[0]), 3, STEPS),
            "batch": ([jax.jit(jax.vmap(f)) for f in pair], (q, qd), 5, LANES),
        }
        for kind, (functions, arguments, count, share) in rows.items():
            bound = [lambda f=f, a=arguments: f(*a) for f in functions]
            times = [1e6 * t / share for t in best_times(bound, count, options.repeats)]
            rest = f"{times[2]:8.2f} us" if len(times) > 2 else ""
            print(
                f"{name:26}{kind:10}{times[0]:11.2f} us{times[1]:7.2f} us"
                f"{times[0] / times[1]:7.2f}{rest}"
            )


if __name__ == "__main__":
    main()
