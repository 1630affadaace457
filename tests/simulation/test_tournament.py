"""Ways to keep constraints, run on one machine and compared."""

import numpy as np
import pytest

import diffmech as dm


def test_a_tournament_ranks_the_ways() -> None:
    system = dm.systems.pendulum_dae()
    record = dm.tournament(
        system, *system.starts["default"], duration=2.0, samples=41,
        ways=["projection", "nullspace", dm.solvers.baumgarte(10, 0.8), "penalty", "none"],
    )  # fmt: skip
    assert record["projection"].residual < 1e-14
    assert record["nullspace"].residual < 1e-14
    assert 1e-14 < record["baumgarte"].residual < record["none"].residual
    assert record["penalty"].residual > 1e-9
    assert all(entry.error < 1e-4 for entry in record.entries)
    assert "projection" in str(record).splitlines()[1]
    with pytest.raises(KeyError, match="magic"):
        record["magic"]


def test_a_stiff_penalty_runs_with_an_implicit_method() -> None:
    system = dm.systems.pendulum_dae()
    run = dm.simulate(
        system, *system.starts["default"], duration=0.5, samples=11, rtol=1e-7,
        stabilise=dm.solvers.penalty(inertial=False),
    )  # fmt: skip
    exact = dm.simulate(system, *system.starts["default"], duration=0.5, samples=11)
    assert run.settings.method == "Kvaerno5"
    # The rod gives way by force / (α ω²), at most 20 N / 1e5 N/m here.
    assert 1e-6 < float(np.max(np.abs(run.residuals))) < 3e-4
    np.testing.assert_allclose(run.qs, exact.qs, atol=1e-3)
