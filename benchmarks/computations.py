"""Ten runs, ensembles and maps, and some orbits: what must not change when the house does.

The names of the package are looked up where this version or an older one has them.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np


def runs_and_maps() -> dict[str, Any]:
    """Arrays, or trees of them, by name: the same bytes on one computer, whatever is changed."""
    import diffmech as dm

    reducers, criteria = getattr(dm, "reducers", dm), getattr(dm, "criteria", dm)
    boot, bar, chain = (getattr(dm.systems, name)() for name in ("babyboot", "four_bar", "n_link"))
    angles = np.radians(np.linspace(1, 179, 300))

    def run(machine: Any, **how: Any) -> Any:
        start = how.pop("start", machine.starts["default"])
        motion = dm.simulate(machine, *start, duration=2.0, samples=101, **how)
        return motion.qs, motion.qds, motion.work, motion.energies, motion.residuals

    def many(**how: Any) -> Any:
        motions = dm.ensemble(boot, {"qA": angles, "qB": 0.01}, duration=5.0, **how)
        return motions.values, motions.status, motions.steps

    def mapped(criterion: Any) -> Any:
        axes = {"qA": np.radians(np.linspace(0, 180, 61)), "qB": [0.01, 0.02]}
        chart = dm.stability_map(boot, axes, criterion, duration=5.0)
        return [np.asarray(getattr(chart, name)) for name in ("values", "verdicts", "status")]

    growth = {"g": reducers.Growth([1.0, 0, 0, 0]), "last": reducers.Last()}
    return {
        "babyboot": run(boot, start=boot.starts["chaotic"]),
        "babyboot, Tsit5": run(boot, method="Tsit5", rtol=1e-8),
        "babyboot, GaussLegendre4": run(boot, method="GaussLegendre4", dt=0.01),
        "four_bar": run(bar),
        "four_bar, nullspace": run(bar, stabilise="nullspace"),
        "n_link": run(chain, start=chain.starts["chaotic"]),
        "ensemble": many(),
        "ensemble, growth": many(reduce=growth),
        "map, tumble": mapped(criteria.Tumble("qB", np.pi / 2)),
        "map, ftle": mapped(criteria.Ftle(direction=(1.0, 0, 0, 0))),
    }


def orbits() -> Iterator[tuple[str, Any, float]]:
    """Name, numbers and CPU seconds of periodic motions: the same to 1e-10, and no slower."""
    import diffmech as dm

    boot, double = dm.systems.babyboot(), dm.systems.double_pendulum()
    pendulum, kapitza = dm.systems.pendulum(), dm.systems.kapitza()
    drive = 2 * np.pi / float(kapitza.params.frequency)

    def edges() -> Any:
        bands = dm.band_edges(boot, "qA")
        return bands.values, bands.touches

    def swing() -> Any:
        orbit = dm.periodic_orbit(pendulum, family="theta", amplitude=2.0)
        return orbit.q, orbit.period, dm.floquet(pendulum, orbit).monodromy

    def pair() -> Any:
        orbit = dm.periodic_orbit(double, family="theta1", amplitude=0.3)
        return orbit.q, orbit.period, np.sort_complex(dm.floquet(double, orbit).multipliers)

    def driven() -> Any:
        return dm.floquet(kapitza, ([np.pi], [0.0], drive)).monodromy

    for name, work in (
        ("band_edges of the boot", edges),
        ("swing of a pendulum", swing),
        ("double pendulum", pair),
        ("driven pendulum", driven),
    ):
        clock = time.process_time()
        numbers = work()
        yield name, numbers, time.process_time() - clock
