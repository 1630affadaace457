"""Why does a rolling coin not fall over?

It steers into the fall. A lean θ turns the heading of a rolling disc, φ̇ = 2 ψ̇ θ, and the curve
throws it upright again. For small leans from θ₀, rolling straight at v = r ψ̇,

    θ̈ = c (θ − (v/v*)² (θ − θ₀)),   c = 4 g/(5 r),   v*² = g r/3:

above v* the lean swings between θ₀ and θ₀ (v² + v*²)/(v² − v*²), below it grows like cosh until the
coin leans far over, turns sharply, and gets up again. Given a lean and a turn that fit, it runs in
a circle for good. Nothing of this is put in. The picture goes to `results/`.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import diffmech as dm
from diffmech.systems.rolling_disc import critical_speed, rolling_rates

LEAN = np.deg2rad(0.05)
coin = dm.systems.rolling_disc()
radius, gravity = float(coin.params.radius), float(coin.params.gravity)
critical = critical_speed(coin.params)


def rolled(ratio: float, duration: float):
    """A coin let go nearly upright at `ratio` of v*: its run, and leans by linear theory [rad]."""
    rates = rolling_rates(coin.params, 0.0, (0.0, 0.0, ratio * critical / radius))
    run = dm.simulate(coin, [0.0, 0.0, 0.0, LEAN, 0.0], rates, duration=duration)
    centre = LEAN * ratio**2 / (ratio**2 - 1)
    growth = np.sqrt(4 * gravity / (5 * radius) * (1 - ratio**2) + 0j)  # imaginary: it swings
    return run, centre + (LEAN - centre) * np.cosh(growth * run.ts).real


def main() -> None:
    print(f"v* = {critical:.6f} m/s, √(g r/3) = {np.sqrt(gravity * radius / 3):.6f} m/s")
    figure, (above, below) = plt.subplots(2, 1, figsize=(6.8, 6.0), layout="constrained")
    worst = {}
    for ratio, dash in ((1.2, "-"), (0.8, "--")):
        run, theory = rolled(ratio, 6.0)
        lean = np.rad2deg(run.qs[:, 3])
        small = np.maximum.accumulate(lean) < 2.0
        gap = np.abs(lean - np.rad2deg(theory))[small].max() / lean[small].max()
        worst[ratio] = np.abs(lean).max()
        print(f"at {ratio} v* it leans by {worst[ratio]:.2f}° at most; ", end="")
        print(f"while below 2°, {gap:.0e} from linear theory")
        above.plot(run.ts, lean, dash, label=f"$v = {ratio}\\,v^*$")
        below.plot(run.qs[:, 0], run.qs[:, 1], dash, label=f"$v = {ratio}\\,v^*$")
        assert gap < 0.01, "as linear theory says"
    run = dm.simulate(coin, *coin.starts["circle"], duration=20.0)
    _, _, turning, _, roll = run.qds[0]
    lean, circle = run.qs[:, 3], float(radius * roll / turning)
    away = np.abs(np.hypot(run.qs[:, 0], run.qs[:, 1] - circle) - circle).max()
    print(
        f"leaning by {np.rad2deg(lean[0]):.1f}° it rolls {float(roll) * 20 * radius:.0f} m ", end=""
    )
    print(f"in a circle of {circle:.4f} m and is off by {away:.0e} m")
    above.plot(run.ts, np.rad2deg(lean), "k:", label="steady circle")
    turn = run.ts < 2 * np.pi / turning
    below.plot(run.qs[turn, 0], run.qs[turn, 1], "k:", label="steady circle")
    above.set(xlabel="time [s]", ylabel="lean [deg]", xlim=(0.0, 6.0))
    below.set(xlabel="x of the contact [m]", ylabel="y [m]", aspect="equal")
    for ax in (above, below):
        ax.spines[["top", "right"]].set_visible(False)
    above.legend(frameon=False)
    Path("results").mkdir(exist_ok=True)
    dm.viz.save_figure(figure, "results/rolling_coin.png", overwrite=True)
    assert abs(critical**2 / (gravity * radius / 3) - 1) < 1e-12
    assert worst[1.2] < 0.5 < 10.0 < worst[0.8], "upright above v*, leaning over below"
    assert away < 1e-7 * circle, "the circle stays"
    assert np.ptp(lean) < 1e-8


if __name__ == "__main__":
    main()
