"""What is my pendulum made of?

Free swings of a laboratory pendulum (`examples/data`): four pieces of one long swing, 100 Hz. Only
g/l_r, the reduced length, can be known of the rod, since mass and inertia appear nowhere else:

    θ'' + (g/l_r) sin θ = −(c θ' + c₂ |θ'| θ' + d θ'/√(θ'² + w²))

but which friction is it? Four laws are fitted to three pieces, with the start of every piece and
the sensor's offset free; the fourth piece is predicted. No friction coefficient may be negative.
The picture goes to `results/`.
"""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

import diffmech as dm

DATA = Path(__file__).parent / "data" / "single_pendulum_swing.csv"
LAWS = {
    "viscous": ["viscous"],
    "viscous and dry": ["viscous", "dry"],
    "viscous and quadratic": ["viscous", "quadratic"],
    "all three": ["viscous", "dry", "quadratic"],
}


def lagrangian(q, qd, t, params):
    """Per unit of inertia [1/s²]."""
    return 0.5 * qd[0] ** 2 + params["stiffness"] * jnp.cos(q[0])


def friction(q, qd, t, params):
    """Viscous, quadratic and dry, smooth below the speed `width`."""
    speed = jnp.sqrt(qd[0] ** 2 + params["width"] ** 2)
    by_speed = params["viscous"] + params["quadratic"] * speed + params["dry"] / speed
    return jnp.array([-by_speed * qd[0]])


def main() -> None:
    start = {"stiffness": 60.0, "viscous": 0.05, "quadratic": 0.0, "dry": 0.0, "width": 0.05}
    units = {
        "stiffness": "1/s^2",
        "viscous": "1/s",
        "quadratic": "1",
        "dry": "1/s^2",
        "width": "1/s",
    }
    never_pushes = dict.fromkeys(LAWS["all three"], (0.0, 10.0))
    rod = dm.System(lagrangian, {"theta1": "rad"}, start, forces=friction, units=units,
                    ranges=never_pushes, name="rod")  # fmt: skip
    pieces = dm.read_records(DATA, by="piece", channels=["theta1"], offset={"theta1": np.pi})
    fits = {}
    for name, laws in LAWS.items():
        free = ["stiffness", *laws]
        fits[name] = dm.fit(rod, pieces, free, offsets=["theta1"], holdout=["piece 3"])
        print(f"{name}\n{fits[name]}\n")
    print(dm.compare(fits))

    best = fits["all three"]
    misses = {name: float(np.sqrt(np.mean(fit.rms() ** 2))) for name, fit in fits.items()}
    predicted = {name: float(fit.rms(held=True).max()) for name, fit in fits.items()}
    length, error = best.of(lambda stiffness, *frictions: 9.81 / stiffness)
    print(f"reduced length {1e3 * length:.3f} ± {1e3 * error:.3f} mm")
    Path("results").mkdir(exist_ok=True)
    dm.viz.fit_residuals(best).figure.savefig("results/what_is_it_made_of.png", dpi=200)

    assert misses["all three"] < 0.0015, "rad, over the pieces fitted"
    assert predicted["all three"] < 0.0015, "rad, the piece that was not"
    assert min(misses, key=misses.__getitem__) == "all three"
    # With a quadratic law alone the fit gets better, and the prediction worse.
    assert predicted["viscous and quadratic"] > 3 * predicted["all three"]
    for fit in fits.values():
        assert np.all(fit.values[1:-1] >= 0), "friction never pushes"


if __name__ == "__main__":
    main()
