"""What the N-link project could not do: can a linkage run through its change points?

Run linkages past positions where links come into line. In a dead position two links are in line
and one angle stands still; the closure keeps its rank, and nothing is singular. In a change point
all links are in line; the closure loses rank and two motions are possible, of which the velocity
chooses one: straight on. A parallelogram and a kite have these. The picture goes to `results/`.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import diffmech as dm

RUN = {"duration": 20.0, "samples": 1001}


def judged(run, *, energy: float) -> None:
    """Print and assert that a run is believable."""
    closure = float(np.abs(run.residuals).max())
    print(f"{run.system.name}, by {run.settings.stabilise}: ", end="")
    print(f"energy balances to {energy:.0e}, closed to {closure:.0e} m")
    assert energy < 1e-7, "the energy balances"
    assert closure < 1e-10, "the linkage stays closed"


def main() -> None:
    figure, axes = plt.subplot_mosaic("ab;cc", figsize=(7.2, 5.6), layout="constrained")
    kinds = {"crank_rocker": "-", "parallelogram": "--", "kite": ":"}
    for kind, dash in kinds.items():
        machine = dm.systems.four_bar(kind)
        runs = []
        for way in ("projection", "nullspace"):
            run = dm.simulate(machine, *machine.starts["spinning"], stabilise=way, **RUN)
            report = run.report(second_run=False)
            judged(run, energy=report.imbalance)
            runs.append(run)
        rank = dict(report.lines)["rank"]
        print("    " + rank)
        turns = (run.qs[-1, 0] - run.qs[0, 0]) / (2 * np.pi)
        still = int(np.sum(np.diff(np.sign(run.qds[:, 2])) != 0))
        apart = np.abs(runs[0].qs - runs[1].qs).max()
        print(
            f"    {turns:.1f} turns of the crank; the last link stands still {still} times; ",
            end="",
        )
        print(f"both ways agree to {apart:.0e} rad")
        assert apart < 1e-5, "both ways take the same branch every time"
        if kind == "crank_rocker":
            assert still > 50
            assert "nothing was singular" in rank
        else:
            assert "change points" in rank
            ax = axes["a" if kind == "parallelogram" else "b"]
            dm.viz.stroboscope(run, 6, start=0.15, stop=0.55, ax=ax)
            ax.set_title(f"{kind}, 0.15 to 0.55 s", fontsize="medium")
        axes["c"].plot(run.ts, run.constraints.distance, dash, label=kind.replace("_", "-"))

    five = dm.systems.five_bar()
    run = dm.simulate(five, *five.starts["spinning"], **RUN)
    total = run.energies.total
    judged(run, energy=float(np.abs(total - total[0]).max() / run.energies.kinetic.max()))
    print(f"    σ at least {run.constraints.distance.min():.2f} (0 is rank loss)")
    axes["c"].set(xlabel="time [s]", ylabel="σ, 0 is rank loss [-]", xlim=(0, 3), ylim=(0, 0.8))
    axes["c"].legend(frameon=False, ncols=3, loc="upper center")
    axes["c"].spines[["top", "right"]].set_visible(False)
    Path("results").mkdir(exist_ok=True)
    dm.viz.save_figure(figure, "results/change_points.png", overwrite=True)


if __name__ == "__main__":
    main()
