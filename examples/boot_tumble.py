"""When does the boot tumble?

Hold the babyboot's rod at an angle, turn its plate by 1°, let go. From 45° the plate stays where it
is and the boot swings like any pendulum; from 90° it starts to turn over, and what it does then
cannot be foretold for long. Pictures and two films go to `results/`.
"""

from pathlib import Path

import numpy as np

import diffmech as dm

RESULTS = Path("results")


def main() -> None:
    boot = dm.systems.babyboot()
    RESULTS.mkdir(exist_ok=True)
    turned = {}
    for start in ("regular", "chaotic"):
        run = dm.simulate(boot, *boot.starts[start], duration=6.0)
        turned[start] = np.rad2deg(np.max(np.abs(run.qs[:, 1])))
        from_ = np.rad2deg(run.qs[0, 0])
        print(f"{start:8} from {from_:.0f}°: the plate turns by {turned[start]:.1f}°")
        film = dm.viz.animate(run, fps=12.5)
        film.save(RESULTS / f"boot_{start}.gif", overwrite=True)

    # The same start, but for a millionth of a degree: how soon does it matter?
    q0, qd0 = boot.starts["chaotic"]
    run = dm.simulate(boot, q0, qd0, duration=10.0)
    near = dm.simulate(boot, q0 + np.deg2rad([0.0, 1e-6]), qd0, duration=10.0)
    ax = dm.viz.distance(run, near)
    dm.viz.save_figure(ax.figure, RESULTS / "boot_distance.png", overwrite=True)
    grown = np.abs(near.qs[-1, 1] - run.qs[-1, 1]) / np.deg2rad(1e-6)
    print(f"\nA millionth of a degree grows {grown:.0e}-fold in 10 s.\n\n{run}")

    assert turned["regular"] < 2.0, "a regular boot keeps its plate within 2°"
    assert turned["chaotic"] > 360.0, "a chaotic boot tumbles"
    assert grown > 1e4


if __name__ == "__main__":
    main()
