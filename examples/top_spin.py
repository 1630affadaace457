"""How fast must a top spin?

A top stands upright, asleep, if it spins fast enough. Small tilts of its axis, as one complex
number z, obey I1 z'' − i I3 w z' − m g h z = 0 (I1 about the tip), so they stay small if
I3² w² > 4 I1 m g h. Below this w* the top leans over, but not for good: it comes down to
2 arccos(w/w*) and gets up again. Nothing of this is put in: the equations of motion are linearised
by autodiff. The picture goes to `results/`.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib import pyplot as plt

import diffmech as dm
from diffmech.systems import tops

RESULTS = Path("results")
TILT = np.deg2rad(0.2)  # at the start of each run

top = dm.systems.heavy_top("XYZ")  # two tilts and the spin: no pole at the vertical


@jax.jit
def linearised(spin):
    """A of x' = A x about the upright spinning top, x = (two tilts, their rates)."""

    def rates(x):
        qdd = dm.acceleration(top, jnp.array([*x[:2], 0.0]), jnp.array([*x[2:], spin]))
        return jnp.concatenate([x[2:], qdd[:2]])

    return jax.jacfwd(rates)(jnp.zeros(4))


def growth(spin: float) -> float:
    """The largest real part of the eigenvalues [1/s]: above zero, tilts grow."""
    return float(np.real(np.linalg.eigvals(np.asarray(linearised(spin)))).max())


def lean(spin: float) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and angles from the vertical [deg] of a top let go with a small tilt."""
    run = dm.simulate(top, [TILT, 0.0, 0.0], [0.0, 0.0, spin], duration=20.0)
    axis = np.asarray(run.bodies()["top"].rotation)[:, :, 2]
    return np.asarray(run.ts), np.rad2deg(np.arctan2(np.hypot(*axis[:, :2].T), axis[:, 2]))


def main() -> None:
    RESULTS.mkdir(exist_ok=True)
    low, high = 10.0, 1000.0  # [rad/s]
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if growth(middle) > 1e-4 else (low, middle)
    exact = tops.sleeping_spin(top)
    print(f"asleep above w* = {high:.6f} rad/s by bisection, {exact:.6f} by I3² w² = 4 I1 m g h")
    assert abs(high / exact - 1) < 1e-8

    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained")
    spins = np.linspace(0.0, 1.5 * exact, 301)
    left.plot(spins, [growth(spin) for spin in spins])
    left.axvline(exact, color="k", linestyle=":", label=r"$w^*$: $I_3^2 w^2 = 4 I_1 m g h$")
    left.set(xlabel="spin [rad/s]", ylabel="growth of a tilt [1/s]")
    theory = {1.05: np.rad2deg(TILT) / np.sqrt(1 - 1.05**-2), 0.95: np.rad2deg(2 * np.arccos(0.95))}
    for (ratio, most), dash in zip(theory.items(), ("-", "--"), strict=True):
        ts, angles = lean(ratio * exact)
        right.plot(ts, angles, dash, label=f"$w = {ratio:.2f}\\,w^*$")
        print(f"at {ratio:.2f} w* the axis leans by {angles.max():.2f}°, {most:.2f}° by theory")
        assert abs(angles.max() / most - 1) < 0.01, "as far as theory says"
    right.set(xlabel="time [s]", ylabel="lean from the vertical [deg]", ylim=(-1.0, 50.0))
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
    dm.viz.save_figure(figure, RESULTS / "top_spin.png", overwrite=True)


if __name__ == "__main__":
    main()
