"""Where does the boot tumble, and why there?

Published: released from qA(0), it is stable up to 71.3°, unstable from 71.4° to 111.77°, stable
from 111.78° to 159.9°, unstable from 160°. Three questions hide in "unstable". Does an endlessly
small turn of the plate grow? Yes beyond 64.73°, up to 111.71°, and beyond 154.25° (Floquet); but
just beyond, it swings out to some degrees and back. Do neighbours part exponentially? Some degrees
further in. Does the plate turn over while we look? That depends on the start and on our patience:
the outer edges creep outwards as we wait, and are fractal; the middle one is sharp, and moves with
the start: 111.77° is linearly stable, a plate let go at 1° stays there, one let go at 3° tumbles.
So the table is a reading from a finite start in finite time. Pictures go to `results/`.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import ListedColormap

import diffmech as dm

TABLE = np.array([71.4, 111.77, 160.0])  # first and last unstable start, and the first again [deg]
STEPS = np.r_[0:60, np.r_[600:1100] / 10, np.r_[11000:11300] / 100, np.r_[1130:1801] / 10]  # [deg]
NEAR = STEPS[(abs(STEPS - 72) < 3) | (abs(STEPS - 111.6) < 0.5) | (abs(STEPS - 160) < 5)]


def tumble_times(boot, qA, qB, duration) -> np.ndarray:
    """When |qB| reaches 90° [s], infinite if it does not; shape (starts qA, starts qB)."""
    axes = {"qA": np.deg2rad(qA), "qB": np.deg2rad(qB)}
    return dm.stability_map(boot, axes, dm.criteria.Tumble("qB"), duration).values


def read(qA, unstable) -> np.ndarray:
    """First and last unstable start below 135°, first one above [deg]."""
    low, high = qA[unstable & (qA < 135)], qA[unstable & (qA > 135)]
    return np.array([low[0], low[-1], high[0]])


def bands(first, last, again) -> np.ndarray:
    return (first <= STEPS) & (last >= STEPS) | (again <= STEPS)  # which starts are unstable


def main() -> None:
    boot, slight = dm.systems.babyboot(), {"qB": np.deg2rad(1)}
    edges = np.rad2deg(dm.band_edges(boot, "qA").values)
    starts, waits = np.arange(2, 21) / 4, range(8, 31)  # [deg], [s]
    tumble = dm.criteria.Tumble("qB")
    chart = dm.stability_map(boot, {"qA": (0, np.pi, 1801)}, tumble, 10.0, q0=slight)
    chaos = dm.stability_map(boot, {"qA": np.deg2rad(STEPS)}, dm.criteria.Ftle(), 60.0, q0=slight)
    times, many = tumble_times(boot, STEPS, [0.5, 1, 3], 60), tumble_times(boot, NEAR, starts, 30)
    rows = {"published": bands(*TABLE), "linear (qB → 0)": bands(*edges)}
    rows["chaos, 1°, 60 s"] = chaos.verdicts == dm.Verdict.UNSTABLE
    for wait, i in ((wait, i) for wait in (10, 60) for i in range(3)):
        rows[f"tumbles, {(0.5, 1, 3)[i]}°, {wait} s"] = times[:, i] <= wait
    trials = {(i, wait): read(NEAR, many[:, i] <= wait) for i in range(19) for wait in waits}
    i, wait = best = min(trials, key=lambda key: np.max(np.abs(trials[key] - TABLE)))
    closest = tumble_times(boot, STEPS, starts[i : i + 1], wait)[:, 0] <= wait
    rows[f"closest: {starts[i]:g}°, {wait} s"] = closest
    print(f"{'unstable [deg]':26}from        to      from")
    for name, unstable in rows.items():
        print(f"{name:20}" + "".join(f"{x:10.2f}" for x in read(STEPS, unstable)))
    print(f"linear edges: {edges.round(8)}; the last row is the best of {len(trials)} trials")
    figure, (top, low) = plt.subplots(2, 1, figsize=(7.0, 5.0), sharex=True, layout="constrained")
    dm.viz.bands(chart, top)
    colours, count = ListedColormap(["#111111", "#2E9E4F"]), len(rows)
    low.pcolormesh(STEPS, range(count), list(rows.values()), cmap=colours, rasterized=True)
    low.set(yticks=range(count), yticklabels=rows, xlabel="qA [deg]", ylim=(count - 0.5, -0.5))
    low.vlines(TABLE, -0.5, count, color="#E69F00", linewidth=0.8)
    low.hlines(np.arange(count) + 0.5, 0, 180, color="white", linewidth=2)
    top.set_xlabel("")
    Path("results").mkdir(exist_ok=True)
    figure.savefig("results/babyboot_bands.png", dpi=200)
    axes = {"qA": (0, np.pi, 361), "qB": (0, np.pi / 6, 61)}
    ax = dm.viz.areas(dm.stability_map(boot, axes, tumble, 10.0))
    ax.figure.savefig("results/babyboot_map.png", dpi=200)
    assert np.max(np.abs(trials[best] - TABLE)) < 0.15
    assert abs(read(STEPS, rows["tumbles, 3°, 60 s"])[1] - TABLE[1]) < 0.02


if __name__ == "__main__":
    main()
