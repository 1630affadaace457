"""Which numbers in a good report were off, and by how much?

A student's report on N-link pendulums (2017) solves the problem three ways, with taste. It holds
some slips that are easy to make; here each is a line of numbers.
"""

import jax
import jax.numpy as jnp
import numpy as np

import diffmech as dm
from diffmech.systems.n_link import lagrangian, mass_centres


def light_gravity(q, qd, t, p):
    """The report's maximal form: every link weighs m1 g, whatever its mass."""
    height = mass_centres(q, t, p)[:, 1]
    return lagrangian(q, qd, t, p) + jnp.sum((p.masses - p.masses[0]) * p.gravity * height)


def momentum_balance(q, qd, t, p):
    """The same uniform chain by angular momentum balance about each hinge, written out: q̈."""
    i = jnp.arange(len(q))
    reach = jnp.where(i[:, None] == i, p.centres[:, None], p.lengths)  # of link j to centre i
    reach = jnp.where(i[:, None] >= i, reach, 0.0)
    weight = (p.masses[:, None] * reach).sum(axis=0)
    coupling = jnp.einsum("i,ij,ik->jk", p.masses, reach, reach)
    matrix = coupling * jnp.cos(q[:, None] - q) + jnp.diag(p.inertias)
    right = -(coupling * jnp.sin(q[:, None] - q)) @ qd**2 - p.gravity * weight * jnp.sin(q)
    return jnp.linalg.solve(matrix, right)


def main() -> None:
    chain = dm.systems.n_link(n=3)
    q0 = chain.starts["chaotic"][0]

    # 1. `opts.reltol = 1e-8` is set in the main script but never reaches ode45.
    default = dm.simulate(chain, q0, duration=20.0, method="Dopri5", rtol=1e-3, atol=1e-6)
    meant = dm.simulate(chain, q0, duration=20.0, method="Dopri5", rtol=1e-8, atol=1e-8)
    drift = [run.report(second_run=False).imbalance for run in (default, meant)]
    print(f"tolerances     energy off by {drift[0]:.1e} as run, {drift[1]:.1e} as meant")
    assert drift[0] > 1e3 * drift[1]

    # 2. Its maximal form has m1 g for every link.
    heavy = dm.systems.n_link(n=3, masses=[1, 1, 10])
    slip = dm.System(light_gravity, heavy.coordinates, heavy.params)
    at = np.full(3, np.pi / 4)
    right, wrong = (float(dm.acceleration(s, at, np.zeros(3))[0]) for s in (heavy, slip))
    print(f"gravity        first link starts with {wrong:.2f} instead of {right:.2f} rad/s²")
    assert abs(wrong / right - 1) > 0.1

    # 3. Its initial velocities use l_i − d_i where the link above, i − 1, is meant.
    lengths, centres, rates = np.array([1.0, 0.4]), np.array([0.5, 0.2]), np.array([2.0, 0.0])
    two = dm.systems.n_link(n=2, lengths=lengths, centres=centres)
    exact = jax.jvp(lambda q: mass_centres(q, 0.0, two.params), (np.zeros(2),), (rates,))[1][1, 0]
    slipped = rates[0] * (centres[0] + lengths[1] - centres[1])
    print(f"velocities     second centre starts at {slipped:.2f} instead of {float(exact):.2f} m/s")
    assert abs(slipped - exact) > 0.1

    # 4. Its formula for E_p halves the weight and forgets g: 1/2 Σ [k (Δθ)² − m x].
    true = float(dm.energy(chain, at, np.zeros(3)).potential)
    printed = 0.5 * float(jnp.sum(chain.params.masses * mass_centres(at, 0.0, chain.params)[:, 1]))
    print(f"potential      {printed:.2f} J as printed, {true:.2f} J in truth")
    assert abs(true / printed - 2 * 9.81) < 1e-9

    # 5. "Unsimplified equations give other motions": they differ by tolerance and chaos alone.
    other = dm.Explicit(momentum_balance, chain.coordinates, chain.params)
    well, twin = (dm.simulate(s, q0, duration=8.0, rtol=1e-13).qs[-1] for s in (chain, other))
    badly = dm.simulate(chain, q0, duration=8.0, method="Dopri5", rtol=1e-3, atol=1e-6).qs[-1]
    gap, blur = np.max(np.abs(well - twin)), np.max(np.abs(well - badly))
    print(f"two forms      {gap:.0e} rad apart at 8 s if solved well; one, badly: {blur:.0e} off")
    assert gap < 1e-6 < 1e-2 < blur


if __name__ == "__main__":
    main()
