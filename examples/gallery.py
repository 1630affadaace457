"""What does it look like?

Draws the pictures of the README and the guide into `results/gallery/`, or the folder given as
argument.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from own_machine import spring_pendulum

import diffmech as dm


def small(ax, name: str, folder: Path, size: tuple[float, float]) -> None:
    """Save a picture at a README's size."""
    figure = ax if isinstance(ax, Figure) else ax.figure
    figure.set_size_inches(*size)
    figure.savefig(folder / name, dpi=90)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    boot = dm.systems.babyboot()
    run = dm.simulate(boot, *boot.starts["chaotic"], duration=10.0)
    near = dm.simulate(boot, run.qs[0] + np.deg2rad([0.0, 1e-6]), duration=10.0)
    spring = spring_pendulum()
    bounce = dm.simulate(spring, *spring.starts["default"], duration=10.0)
    chain = dm.systems.n_link(n=5, frictions=0.1)
    sway = dm.simulate(chain, *chain.starts["chaotic"], duration=10.0)

    small(dm.viz.paths(bounce), "spring.png", folder, (4.2, 3.6))
    small(dm.viz.overview(run), "overview.png", folder, (9.0, 5.4))
    small(dm.viz.balance(sway), "energy.png", folder, (5.4, 4.2))
    small(dm.viz.stroboscope(sway, 14, stop=1.3), "stroboscope.png", folder, (4.2, 4.2))
    small(dm.viz.phase(run, "qB", wrapped=True), "phase.png", folder, (4.4, 3.6))
    small(dm.viz.distance(run, near), "distance.png", folder, (4.8, 3.2))

    slight, tumble = {"qB": np.deg2rad(1)}, dm.criteria.Tumble("qB")
    chart = dm.stability_map(boot, {"qA": (0, np.pi, 1801)}, tumble, 10.0, q0=slight)
    small(dm.viz.bands(chart), "bands.png", folder, (5.4, 2.6))
    area = {"qA": (0, np.pi, 271), "qB": (0, 0.4, 91)}
    small(dm.viz.areas(dm.stability_map(boot, area, tumble, 10.0)), "areas.png", folder, (4.8, 3.2))

    film = dm.viz.animate(dm.simulate(boot, run.qs[0], duration=6.0), fps=12.5)
    film.save(folder / "boot.gif", overwrite=True)

    names = sorted(path.name for path in folder.iterdir())
    print(f"{folder}: {', '.join(names)}")
    assert len(names) >= 9


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/gallery"))
