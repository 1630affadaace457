"""Which plate survives a release from 90 degrees?

While the babyboot swings in its plane, a small turn δ of the plate obeys Hill's equation

    δ'' + κ q̇A(t)² δ = 0,   κ = (IBx − IBy) / IBz,

so that κ alone decides from which angles it may be let go, not gravity, lengths or masses. A thin
plate has IBx = IBy + IBz, hence κ = 1 and its first edge at 64.7°: none survives 90°. So make it a
block, and follow the gradient of the first edge to a block with that edge at 95°. For κ = 1/2, a
thickness of 1/√3 of the width, the edge is at 90° exactly (Lamé). The picture goes to `results/`.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib import pyplot as plt

import diffmech as dm

PLATE = np.sqrt(np.array([0.0, 2e-4, 0.5e-4]) * 12 / 0.1)  # thick, wide, high: the source's [m]


def moments(block):
    """Of a block of 0.1 kg that is (thick, wide, high) [kg m²]."""
    x, y, z = 0.1 / 12 * block**2
    return {"IBx": y + z, "IBy": x + z, "IBz": x + y}


def tumbling(boot) -> int:
    """How many of 141 releases from 80° to 94°, with the plate at 1°, tumble within 60 s."""
    axes, start = {"qA": np.deg2rad(np.linspace(80, 94, 141))}, {"qB": np.deg2rad(1)}
    chart = dm.stability_map(boot, axes, dm.criteria.Tumble("qB"), 60.0, q0=start)
    return chart.counts[dm.Verdict.UNSTABLE]


def main() -> None:
    thin = dm.systems.babyboot()
    before = dm.band_edges(thin, "qA")
    print(f"{before}\n\nthick, wide, high [mm]     first edge")
    block, missing, thick = jnp.array([0.01, *PLATE[1:]]), 1.0, thin
    while abs(missing) > 1e-9:
        thick = thin.with_params(moments(block))
        edges = dm.band_edges(thick, "qA")
        sizes = "".join(f"{1e3 * size:8.2f}" for size in block)
        print(f"{sizes}{np.rad2deg(edges.values[0]):15.8f}°")
        missing = np.deg2rad(95.0) - edges.values[0]
        slopes = jax.jacfwd(moments)(block)
        gradient = sum((edges.derivatives[name][0] * slopes[name] for name in slopes), 0 * block)
        step = missing * gradient / (gradient @ gradient)
        block = block + step * min(1.0, 0.03 / float(np.max(np.abs(step))))  # 3 cm at most
    lame = dm.band_edges(thin.with_params(moments(PLATE + [PLATE[1] / np.sqrt(3), 0, 0])), "qA")
    print(f"κ = 1/2: the edge is {np.rad2deg(lame.values[0]) - 90:+.1e}° from 90°")
    tumble = tumbling(thin), tumbling(thick)
    print("from 80° to 94°, of 141 releases {} (thin) and {} (block) tumble".format(*tumble))

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.0), layout="constrained")
    names, colours = [*before.derivatives], ("#0072B2", "#E69F00", "#000000")
    for i, angle in enumerate(np.rad2deg(before.values)):
        shift = [0.01 * getattr(thin.params, x) * before.derivatives[x][i] for x in names]
        at = np.arange(len(names)) + 0.27 * (i - 1)
        left.bar(at, np.rad2deg(shift), 0.27, color=colours[i], label=f"edge at {angle:.1f}°")
    left.set(xticks=range(len(names)), ylabel="shift [deg per 1 % more]")
    left.set_xticklabels(names, fontsize="small")
    for boot, label, colour in ((thin, "thin plate", colours[1]), (thick, "block", colours[0])):
        run = dm.simulate(boot, np.deg2rad([90.0, 1.0]), duration=10.0)
        right.plot(run.ts, np.rad2deg(run.qs[:, 1]), color=colour, label=label)
    right.set(xlabel="time [s]", ylabel="qB [deg]", title="released from qA = 90°")
    left.legend(frameon=False, fontsize="small")
    right.legend(frameon=False, fontsize="small")
    Path("results").mkdir(exist_ok=True)
    figure.savefig("results/tame_the_boot.png", dpi=200)
    assert abs(np.rad2deg(lame.values[0]) - 90) < 1e-7
    assert tumble[0] > 100
    assert tumble[1] == 0


if __name__ == "__main__":
    main()
