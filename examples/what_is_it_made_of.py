"""What is my pendulum made of?

Free swings of a laboratory pendulum (`examples/data`): four pieces of one long swing, 100 Hz. Only
g/l_r, the reduced length, can be known of the rod, since mass and inertia appear nowhere else:

    θ'' + (g/l_r) sin θ = −(c + c₂ |θ'| + d/√(θ'² + w²)) θ'

but which friction is it? Five laws are fitted to three pieces, with the start of every piece and
the sensor's offset free; the fourth piece is predicted. No friction coefficient may be negative;
the width w is 2 % of the usual speed. The picture goes to `results/`.
"""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

import diffmech as dm

DATA = Path(__file__).parent / "data" / "single_pendulum_swing.csv"
LAWS = [
    "viscous",
    "viscous and dry",
    "viscous and quadratic",
    "dry and quadratic",
    "all three",
]
UNITS = {
    "stiffness": "1/s^2",
    "hinge.viscous": "1/s",
    "hinge.quadratic": "1",
    "hinge.coulomb": "1/s^2",
    "hinge.smoothing": "1/s",
}


def lagrangian(q, qd, t, params):
    """Per unit of inertia [1/s²]."""
    return 0.5 * qd[0] ** 2 + params["stiffness"] * jnp.cos(q[0])


def friction(q, qd, t, params):
    return jnp.array([params["hinge"].force(qd[0])])


def main() -> None:
    rod = dm.System(lagrangian, {"theta1": "rad"}, {"stiffness": 60.0, "hinge": dm.parts.Damper()},
                    forces=friction, units=UNITS, name="rod")  # fmt: skip
    pieces = dm.read_records(DATA, by="piece", channels=["theta1"], offset={"theta1": np.pi})
    comparison = dm.compare_frictions(rod, pieces, ["stiffness"], {"hinge": "theta1"}, laws=LAWS,
                                       offsets=["theta1"], holdout=["piece 3"])  # fmt: skip
    fits = {name: comparison[name] for name in LAWS}
    for name, fit in fits.items():
        print(f"{name}\n{fit}\n")
    print(comparison)

    best = fits["all three"]
    misses = {name: float(np.sqrt(np.mean(fit.rms() ** 2))) for name, fit in fits.items()}
    predicted = {name: float(fit.rms(held=True).max()) for name, fit in fits.items()}
    length, error = best.of(lambda stiffness, *frictions: 9.81 / stiffness)
    print(f"reduced length {1e3 * length:.3f} ± {1e3 * error:.3f} mm")
    Path("results").mkdir(exist_ok=True)
    dm.viz.fit_residuals(best).figure.savefig("results/what_is_it_made_of.png", dpi=200)

    assert misses["all three"] < 0.0015, "rad, over the pieces fitted"
    assert predicted["all three"] < 0.0015, "rad, the piece that was not"
    # The viscous part of all three comes out as nothing: what is left needs one number less.
    assert best["hinge.viscous"] < 1e-6 * fits["viscous"]["hinge.viscous"]
    assert set(sorted(misses, key=misses.__getitem__)[:2]) == {"all three", "dry and quadratic"}
    # With a quadratic law alone the fit gets better, and the prediction worse.
    assert predicted["viscous and quadratic"] > 3 * predicted["all three"]
    for fit in fits.values():
        assert np.all(fit.values[1:-1] >= 0), "friction never pushes"


if __name__ == "__main__":
    main()
