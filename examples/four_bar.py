"""What does a pin of a four-bar feel?

A crank goes round and a rocker swings, held by the ground at a pin each. As a chain of three links
that must end at the rocker's pin, the linkage has that pin's force as its multipliers. Seen in a
mirror and from the other end, q → −q reversed, it ends at the crank's pin: another machine, with
other multipliers. Both pins and the weight together must change the momentum as Newton says. Twice
a turn crank and coupler are in line and the rocker stands still, a dead position: the motion takes
no notice. The picture goes to `results/`.
"""

from pathlib import Path

import jax
import numpy as np
from matplotlib import pyplot as plt

import diffmech as dm
from diffmech.systems.four_bar import landmarks

linkage = dm.systems.four_bar()
p = linkage.params
mirrored = dm.systems.four_bar(lengths=p.lengths[::-1], ground=p.ground)


def momentum(q, qd):
    """Of the links together [kg m/s]: masses times velocities of the middles."""
    joints = jax.jvp(lambda q: landmarks(q, 0.0, p), (q,), (qd,))[1]
    return p.masses @ (joints[:-1] + joints[1:]) / 2


@jax.jit
@jax.vmap
def newton(q, qd):
    """The rate of the momentum [N], and the force of the pin that the mirrored machine ends at."""
    rate = jax.jvp(momentum, (q, qd), (qd, dm.acceleration(linkage, q, qd)))[1]
    return rate, dm.multipliers(mirrored, -q[::-1], -qd[::-1])


def rocker_swing() -> float:
    """Between the rocker's dead positions [rad], by triangles: crank and coupler are one side."""
    reach = p.lengths[1] + np.array([-1, 1]) * p.lengths[0]
    cosine = (p.ground**2 + p.lengths[2] ** 2 - reach**2) / (2 * p.ground * p.lengths[2])
    return float(np.ptp(np.arccos(cosine)))


def main() -> None:
    q0, qd0 = linkage.starts["spinning"]
    once = {"a turn": lambda q, qd, t, params: q[0] - q0[0] - 2 * np.pi}
    run = dm.simulate(linkage, q0, qd0, duration=1.0, samples=2001, events=once)
    rate, reflected = (np.asarray(x) for x in newton(run.qs, run.qds))
    forces = {"rocker": np.asarray(run.multipliers), "crank": reflected * [-1.0, 1.0]}
    weight = np.array([0.0, -float(np.sum(p.masses) * p.gravity)])
    gap = np.abs(forces["rocker"] + forces["crank"] + weight - rate).max() / np.abs(rate).max()
    crank, dead = np.rad2deg(run.qs[:, 0]), np.flatnonzero(np.diff(np.sign(run.qds[:, 2])))
    swing, exact = np.ptp(run.qs[:, 2]), rocker_swing()
    print(f"one turn takes {float(run.end.t):.4f} s; the linkage weighs {-weight[1]:.1f} N")
    figure, ax = plt.subplots(figsize=(6.8, 3.8), layout="constrained")
    for (name, force), dash in zip(forces.items(), ("-", "--"), strict=True):
        size = np.hypot(*force.T)
        print(f"pin of the {name}: {size.min():.1f} to {size.max():.1f} N")
        ax.plot(crank, size, dash, label=f"pin of the {name}")
    ax.axhline(-weight[1], color="k", linestyle=":", label="weight of the linkage")
    ax.vlines(crank[dead], 0, 1000, "0.7", linewidth=3, zorder=0, label="dead positions")
    ax.set(xlabel="crank angle [deg]", ylabel="force [N]", xticks=range(60, 421, 60))
    ax.legend(frameon=False, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    Path("results").mkdir(exist_ok=True)
    dm.viz.save_figure(figure, "results/four_bar.png", overwrite=True)

    print(f"both pins and the weight change the momentum as they should, to {gap:.0e}")
    print(f"the rocker swings {np.rad2deg([swing, exact]).round(4)}°, by simulation and triangles")
    assert gap < 1e-10, "Newton's law of the whole linkage"
    assert len(dead) == 2
    assert abs(swing - exact) < 1e-5, "from one dead position to the other"
    assert "nothing was singular" in str(run.report(second_run=False))


if __name__ == "__main__":
    main()
