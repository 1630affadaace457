"""Can a chaotic boot be weighed by watching it?

Ten seconds of a tumbling babyboot, both angles a hundred times a second with half a degree of
noise. Chaos makes a single long shot useless for finding its moments: start and parameters have to
be right to many digits before it resembles the record at all. Cut into short shots that are tied
end to end, the same record gives them within a few per cent, and chaos has even helped: the ratio
κ = (IBx − IBy)/IBz comes out ten times as exactly as the moments. Mass and length scale out: the
fit says which combinations the equations contain. The picture goes to `results/`.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import diffmech as dm

NOISE = np.deg2rad(0.5)
FREE = ["IBx", "IBy", "IBz"]
TRUTH = {"IBx": 2.3e-4, "IBy": 0.5e-4, "IBz": 2e-4}


def long_shot(boot, record, factors):
    """How far single shots over the whole record miss it [deg], for IBx times each factor."""
    moments = {"IBx": TRUTH["IBx"] * factors}
    runs = dm.ensemble(boot, *boot.starts["chaotic"], duration=10.0, params=moments,
                       reduce=dm.reducers.Samples(record.ts))  # fmt: skip
    q, _ = runs.values["samples"]
    return np.rad2deg(np.sqrt(np.mean((q - record.values) ** 2, axis=(1, 2))))


def main() -> None:
    boot = dm.systems.babyboot().with_params(TRUTH)
    run = dm.simulate(boot, *boot.starts["chaotic"], duration=10.0)
    noise = NOISE * np.random.default_rng(0).normal(size=run.qs.shape)
    record = dm.Record(run.ts, np.asarray(run.qs) + noise, ("qA", "qB"), name="boot")

    print(dm.identifiable(boot, ["mA", "LA", "mB", "LB", "IA", *FREE, "g"]))
    wrong = boot.with_params(IBx=3e-4, IBy=0.9e-4, IBz=2.9e-4)
    fit = dm.fit(wrong, record, FREE)
    print(fit)
    kappa, error = fit.of(lambda x, y, z: (x - y) / z)
    print(f"κ = {kappa:.4f} ± {error:.4f}, in truth 0.9")

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.0), layout="constrained")
    factors = np.linspace(0.97, 1.03, 241)
    left.plot(100 * (factors - 1), long_shot(boot, record, factors), lw=0.8, color="#0072B2")
    left.set(xlabel="error of IBx [%]", ylabel="miss of one long shot [deg]", yscale="log")
    right.plot(record.ts, np.rad2deg(record.values[:, 1]), ".", ms=1.5, color="#999999")
    right.plot(record.ts, np.rad2deg(fit.computed[0][:, 1]), lw=0.9, color="#D55E00")
    right.set(xlabel="time [s]", ylabel="qB [deg]", title="measured, and as fitted")
    Path("results").mkdir(exist_ok=True)
    figure.savefig("results/fit_a_chaotic_boot.png", dpi=200)

    truth = np.array([TRUTH[name] for name in FREE])
    assert fit.converged
    assert np.all(np.abs(fit.values - truth) < 4 * fit.errors)
    assert abs(kappa - 0.9) < 4 * error < 0.005
    np.testing.assert_allclose(fit.noise, NOISE, rtol=0.1)


if __name__ == "__main__":
    main()
