"""When does a shaken pendulum stay up?

Shake a pendulum's pivot up and down, y = A cos Ωt. A small angle x from the vertical then obeys
Mathieu's equation in the time Ωt/2,

    x'' + (a − 2 q cos 2t) x = 0,   a = ±4g/(LΩ²),   q = 2A/L,

with + if it hangs and − if it stands. Shaken too hard, or at the wrong pace, the hanging one is
thrown about: tongues of instability grow from a = 1, 4, 9, ... Shaken well, the standing one stays
up: the wedge of stability that reaches to a < 0. The tongues' borders are known, `mathieu_a` and
`mathieu_b` of SciPy; a map by simulation sees the same, but for growth too slow to show in 100 s.
The picture goes to `results/`.
"""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
from matplotlib import pyplot as plt
from scipy.special import mathieu_a, mathieu_b

import diffmech as dm

DURATION, BOUND = 100.0, 1e3  # x is let go at 1; the equation is linear, so only the ratio counts


def lagrangian(x, v, t, params):
    """L = ½ x'² − ½ (a − 2 q cos 2t) x²."""
    stiffness = params["a"] - 2 * params["q"] * jnp.cos(2 * t)
    return 0.5 * v[0] ** 2 - 0.5 * stiffness * x[0] ** 2


def thrown(x, v, t, params):
    """Zero when x has grown to the bound."""
    return jnp.abs(x[0]) - BOUND


def borders(q) -> np.ndarray:
    """a₀ < b₁ < a₁ < b₂ < a₂ ...; stable from a₀ to b₁, from a₁ to b₂, and so on."""
    rest = [border(k, q) for k in range(1, 5) for border in (mathieu_b, mathieu_a)]
    return np.stack([mathieu_a(0, q), *rest])


def main() -> None:
    pendulum = dm.System(lagrangian, coordinates=("x",), params={"a": 1.0, "q": 1.0})
    edges = dm.band_edges(pendulum, "a", (-2.0, 17.0), period=np.pi)
    exact = borders(1.0)
    print("edges at q = 1\n  diffmech           SciPy          difference   da/dq")
    for ours, theirs, slope in zip(edges.values, exact, edges.derivatives["q"], strict=True):
        print(f"{ours:16.12f}{theirs:17.12f}{ours - theirs:12.1e}{slope:10.5f}")

    axes = {"a": (-2.0, 12.0, 281), "q": (0.0, 6.0, 121)}
    chart = dm.stability_map(pendulum, axes, thrown, DURATION, q0={"x": 1.0})
    print(f"\n{chart}")
    a, q = (axis.grid for axis in chart.axes)
    stable = np.sum(a[:, None] > borders(q)[:, None, :], axis=0) % 2 == 1
    seen = chart.verdicts == dm.Verdict.STABLE
    print(f"\nmap and theory agree at {np.mean(stable == seen):.1%} of the points; the rest lie in")
    print(f"a tongue, but grow less than {BOUND:g}-fold in {DURATION:g} s")

    figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    dm.viz.areas(chart, ax)
    ax.plot(borders(q).T, q, color="#D55E00", linewidth=1.0)
    ax.axvline(0.0, color="white", linewidth=0.8, linestyle=":")
    ax.text(1.0, 1.03, "lines: SciPy", color="#D55E00", ha="right", transform=ax.transAxes)
    ax.text(-0.1, 5.0, "upright", color="white", ha="right")
    ax.text(0.1, 5.0, "hanging", color="white")
    ax.set(xlim=(a[0], a[-1]), ylim=(q[0], q[-1]))
    Path("results").mkdir(exist_ok=True)
    figure.savefig("results/mathieu_tongues.png", dpi=200)

    assert np.max(np.abs(edges.values - exact)) < 1e-9
    assert np.all(seen[stable]), "nothing stable is ever called unstable"
    assert np.mean(stable == seen) > 0.97
    assert not np.any(seen[a < 0, 0]), "unshaken, it falls"
    assert np.any(seen[a < -1]), "shaken well, it stands"


if __name__ == "__main__":
    main()
