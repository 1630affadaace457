"""Why does a phone flip?

Spun about its long axis or like a frisbee, a thrown phone keeps its axis. Spun end over end it
turns over, however well it was thrown: that is its axis of middle moment. While it spins at w about
the axis of moment I1, a small disturbance δ of the other components obeys, by Euler's equations,

    δ'' = D δ,   D = w² (I3 − I1)(I1 − I2)/(I2 I3),

and D is positive only if I1 lies between the others. The picture goes to `results/`.
"""

from pathlib import Path

import jax
import numpy as np
from matplotlib import pyplot as plt

import diffmech as dm
from diffmech.geometry import angular_velocity, from_quaternion

RESULTS = Path("results")
WIDTH, HEIGHT, THICKNESS, MASS = 0.07, 0.15, 0.008, 0.18  # [m], [kg]
SPIN = 10.0  # [rad/s], a lively throw; with a height of 1.2 m it is in the air for 1 s
STYLES = ({"c": "#0072B2"}, {"c": "#E69F00", "ls": "--"}, {"c": "#000000", "ls": ":"})
THROWS = {"end over end": 0, "about the long axis": 1, "like a frisbee": 2}  # about x, y, z


def thrown(body, axis: int, disturbance: float, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and ω in body axes [rad/s], from a spin disturbed by a fraction of itself."""
    omega = SPIN * np.where(np.arange(3) == axis, 1.0, disturbance)
    start = ([1.0, 0.0, 0.0, 0.0], [0.0, *(0.5 * omega)])  # q' = ½ q ⊗ ω, from q = 1
    run = dm.simulate(body, *start, duration=duration, atol=1e-14)
    spin = jax.vmap(lambda q, qd: angular_velocity(from_quaternion, q, qd))
    return np.asarray(run.ts), np.asarray(spin(run.qs, run.qds))


def draw(flights: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """ω against time, a panel for each throw."""
    figure, panels = plt.subplots(3, 1, figsize=(6.4, 6.4), sharex=True, layout="constrained")
    for ax, (name, (ts, omegas)) in zip(panels, flights.items(), strict=True):
        for label, values, style in zip("xyz", omegas.T, STYLES, strict=True):
            ax.plot(ts, values, **style, label=f"$\\omega_{label}$")
        ax.set_title(name, fontsize=10)
        ax.set_ylim(-1.25 * SPIN, 1.25 * SPIN)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    panels[-1].set_xlabel("time [s]")
    figure.supylabel("angular velocity in body axes [rad/s]", fontsize=10)
    dm.viz.save_figure(figure, RESULTS / "phone_flip.png", overwrite=True)


def main() -> None:
    RESULTS.mkdir(exist_ok=True)
    phone = dm.parts.RigidBody.box(MASS, WIDTH, HEIGHT, THICKNESS)
    moments, flights = np.diag(phone.inertia), {}
    body = dm.systems.free_body("quaternion", moments)
    for name, axis in THROWS.items():
        flights[name] = thrown(body, axis, 0.03, duration=3.0)
        I1, I2, I3 = np.roll(moments, -axis)
        D = SPIN**2 * (I3 - I1) * (I1 - I2) / (I2 * I3)  # [1/s²]
        rate = np.sqrt(abs(D))  # ten e-folds of a disturbance so small that it stays small:
        ts, omegas = thrown(body, axis, 1e-7, duration=10 / rate)
        across = np.delete(omegas, axis, axis=1) / (1e-7 * SPIN)
        print(f"{name:20} I1 = {I1:.2e} kg m², D = {D:5.1f} 1/s²: ", end="")
        if D > 0:
            late = len(ts) // 2  # the part that decays has gone
            growth = np.polyfit(ts[late:], np.log(np.abs(across[late:, 0])), 1)[0]
            print(f"a disturbance grows by {growth:.4f} 1/s, √D = {rate:.4f} 1/s")
            assert abs(growth / rate - 1) < 1e-3, "growth at the rate √D"
            assert flights[name][1][:, axis].min() < -0.95 * SPIN, "the phone turns over"
        else:
            print(f"a disturbance stays below {np.abs(across).max():.1f} times itself")
            assert np.abs(across).max() < 5, "bounded"
            assert flights[name][1][:, axis].min() > 0.99 * SPIN, "the phone keeps its axis"
    draw(flights)


if __name__ == "__main__":
    main()
