"""How long until a double pendulum turns over?

Let it go at rest from every pair of angles, and watch for the first arm that passes the upright.
Where 2 cos θ₁ + cos θ₂ > 1 it never does: there is not enough energy to lift the lower bob over the
upper one. Elsewhere the map is torn to shreds, since neighbours part exponentially; islands remain
in which the motion is orderly and no arm ever turns. Motions that have turned over leave the run at
once, so that the map costs little more than its quiet parts. The picture goes to `results/`.
"""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
from matplotlib import pyplot as plt

import diffmech as dm

SIDE = 80  # starts along each angle; 1000 take about two minutes on two cores
DURATION = 10.0  # [s]


def over_the_top(q, qd, t, params):
    """Zero when the first arm passes the upright [rad]."""
    return jnp.max(jnp.abs(q)) - jnp.pi


def main() -> None:
    pendulum = dm.systems.double_pendulum()
    angles = np.linspace(-3.1, 3.1, SIDE)
    first, second = (grid.ravel() for grid in np.meshgrid(angles, angles))
    starts = {"theta1": first, "theta2": second}
    flips = dm.ensemble(
        pendulum, starts, duration=DURATION, reduce=dm.reducers.FirstTime(over_the_top), rtol=1e-7
    )
    print(flips)
    times = flips.values["first_time"]
    forbidden = 2 * np.cos(first) + np.cos(second) > 1
    quiet = np.isinf(times)
    print(f"{np.mean(~quiet):.1%} turn over within {DURATION:g} s, the first after ", end="")
    print(f"{times.min():.2f} s; {np.mean(forbidden):.1%} never can, {np.mean(quiet):.1%} did not")

    figure, ax = plt.subplots(figsize=(7.2, 5.4), layout="constrained")
    shown = np.where(quiet, np.nan, times).reshape(SIDE, SIDE)
    low, high = np.degrees(angles[[0, -1]]).tolist()
    picture = ax.imshow(
        shown, origin="lower", extent=(low, high, low, high), cmap="magma_r", vmin=0, vmax=DURATION
    )
    line = (2 * np.cos(first) + np.cos(second)).reshape(SIDE, SIDE)
    ax.contour(np.degrees(angles), np.degrees(angles), line, [1.0], colors="C0")
    ax.plot([], [], "C0", label="$2\\cos\\theta_1 + \\cos\\theta_2 = 1$:\nenergy forbids it inside")
    ax.legend(loc="center", fontsize="small")
    ax.set(xlabel=r"$\theta_1(0)$ [deg]", ylabel=r"$\theta_2(0)$ [deg]", facecolor="0.92")
    ax.set(xticks=range(-180, 181, 60), yticks=range(-180, 181, 60))
    figure.colorbar(picture, label="time of the first turn over [s]; grey: none in 10 s")
    Path("results").mkdir(exist_ok=True)
    figure.savefig("results/flip_times.png", dpi=150)

    assert np.all(flips.ok)
    assert np.all(quiet[forbidden]), "energy forbids it"
    assert np.mean(quiet[~forbidden]) < 0.5


if __name__ == "__main__":
    main()
