"""Why does a shopping cart straighten itself?

Its fixed wheels roll but do not slip sideways, and its mass is ahead of them: Chaplygin's sleigh.
Turning at θ̇, the mass is swung outwards, ahead: the speed u of the wheels grows, u̇ = d θ̇² ≥ 0,
and never falls. Energy is kept, so the turning must die out: forward and straight is all that is
left. Pushed backward the same law makes any small turn grow until the cart has swung round. And yet
nothing is lost on the way: the force of the wheels does no work. The picture goes to `results/`.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import diffmech as dm
from diffmech.systems.chaplygin_sleigh import closed_form

SPEED, TURNING = -1.0, 0.1  # backward [m/s], with a small turn [rad/s]


def main() -> None:
    cart = dm.systems.chaplygin_sleigh()
    mass, d = float(cart.params.sleigh.mass), float(cart.params.offset)
    inertia = float(cart.params.sleigh.inertia[2])
    run = dm.simulate(cart, *cart.starts["backward"], duration=8.0)  # 1001 samples
    ts, theta, turning = np.asarray(run.ts), np.asarray(run.qs[:, 2]), np.asarray(run.qds[:, 2])
    speed = np.asarray(run.qds[:, 0] * np.cos(theta) + run.qds[:, 1] * np.sin(theta))

    u, w = closed_form(cart, SPEED, TURNING, ts)
    gap = max(np.abs(speed - u).max(), np.abs(turning - w).max())
    force = mass * inertia / (inertia + mass * d**2) * u * w  # of the ground, to the left [N]
    gap_force = np.abs(run.multipliers[:, 0] - force).max()
    # θ̇ is k times the derivative of an arc sine: the whole turn from start to end is known.
    k = np.sqrt(inertia / mass + d**2) / d
    whole = k * (np.pi / 2 - np.arcsin(SPEED / np.hypot(SPEED, k * d * TURNING)))
    print(
        f"speed {speed[0]:+.4f} → {speed[-1]:+.4f} m/s, turning {w[0]:.2f} → {w.max():.2f} → ",
        end="",
    )
    print(f"{turning[-1]:.4f} rad/s: {gap:.0e} from the closed form")
    print(f"it swings round by {np.rad2deg(theta[-1]):.2f}°, {np.rad2deg(whole):.2f}° in the end")
    print(f"the ground pushes sideways with at most {np.abs(force).max():.3f} N, ", end="")
    print(f"to {gap_force:.0e} N as known")
    report = run.report(second_run=False)
    print(f"energy kept to {report.imbalance:.0e}")

    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.0), layout="constrained", width_ratios=(3, 2))
    ahead = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    wheels, now = np.asarray(run.qs)[:, :2] - d * ahead, slice(0, 626, 25)  # every 0.2 s to 5 s
    axes[0].plot(*wheels[:626].T, "C0", label="path of the wheels")
    axes[0].quiver(*wheels[now].T, *ahead[now].T, ts[now], cmap="Greys", clim=(-4, 5), width=0.008)
    axes[0].annotate("start", wheels[0], (-5, 12), textcoords="offset points", ha="center")
    axes[0].set(xlabel="x [m]", ylabel="y [m]", xlim=(-3.5, 0.2), ylim=(-2.7, 0.3), aspect="equal")
    axes[0].legend(frameon=False, loc="lower right", title="arrows: heading, every 0.2 s")
    axes[1].plot(ts, speed, "C0", label="speed [m/s]")
    axes[1].plot(ts, turning, "C1--", label="turning [rad/s]")
    axes[1].plot(ts[::50], u[::50], "ko", markersize=3, label="closed form")
    axes[1].plot(ts[::50], w[::50], "ko", markersize=3)
    axes[1].set(xlabel="time [s]", ylabel="speed [m/s], turning [rad/s]")
    axes[1].legend(frameon=False)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    Path("results").mkdir(exist_ok=True)
    dm.viz.save_figure(figure, "results/shopping_cart.png", overwrite=True)
    assert gap < 1e-8, "the closed form"
    assert gap_force < 1e-8
    assert np.all(np.diff(speed) > -1e-9), "the speed never falls"
    assert abs(theta[-1] - whole) < 0.01, "swung round"
    assert report.imbalance < 1e-9, "and no energy is lost"


if __name__ == "__main__":
    main()
