"""What can a chain of links do?

Four cases from a student's report on N-link pendulums: nearly a single pendulum, calming down,
everything at once, and chaos. Pictures go to `results/`.
"""

from pathlib import Path

import numpy as np

import diffmech as dm

RESULTS = Path("results")


def draw(run: dm.Trajectory, name: str) -> float:
    """Save both sheets of a run; return its energy imbalance."""
    dm.viz.save_figure(dm.viz.overview(run), RESULTS / f"{name}.png", overwrite=True)
    dm.viz.save_figure(dm.viz.balance(run), RESULTS / f"{name}_energy.png", overwrite=True)
    gap = np.max(np.abs(run.energies.total - run.energies.total[0] - run.work))
    imbalance = float(gap / np.max(run.energies.kinetic))
    print(f"{name:12} {run.system.name:12} energy imbalance {imbalance:.0e}", end=", ")
    return imbalance


def main() -> None:
    RESULTS.mkdir(exist_ok=True)

    # Five links in line, the last one 100 times heavier: hardly more than one pendulum.
    heavy = dm.systems.n_link(n=5, masses=[1, 1, 1, 1, 100])
    run = dm.simulate(heavy, *heavy.starts["nice"], duration=20.0)
    draw(run, "heavy_end")
    apart = np.max(np.ptp(run.qs[:, :4], axis=1))
    print(f"the light links stay within {np.rad2deg(apart):.1f}° of each other")
    assert apart < np.deg2rad(12)

    # Three links with springs and friction calm down within 40 s.
    damped = dm.systems.n_link(n=3, stiffnesses=1.0, frictions=1.0)
    run = dm.simulate(damped, *damped.starts["chaotic"], duration=40.0)
    assert draw(run, "damped") < 1e-9
    print(f"friction took {-float(run.work[-1]):.1f} J")
    assert float(run.energies.kinetic[-1]) < 0.05 * float(np.max(run.energies.kinetic))

    # Eight links with springs, friction and a torque at every hinge.
    busy = dm.systems.n_link(n=8, stiffnesses=1.0, frictions=1.0, torques=1.0)
    run = dm.simulate(busy, *busy.starts["chaotic"], duration=20.0)
    assert draw(run, "everything") < 1e-9
    print(f"work done {float(run.work[-1]):.1f} J")

    # Fifteen links from a zigzag: chaos, with the energy kept all the same.
    long_chain = dm.systems.n_link(n=15)
    run = dm.simulate(long_chain, *long_chain.starts["chaotic"], duration=20.0)
    assert draw(run, "chaos") < 1e-9
    reach = np.ptp(run.qs[:, -1]) / (2 * np.pi)
    print(f"the last link turned over {reach:.0f} times")


if __name__ == "__main__":
    main()
