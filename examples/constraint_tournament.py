"""Which way of keeping constraints is best?

A double pendulum in natural coordinates: the joint B and a unit vector u₂, held by |B| = l and
|u₂| = 1. Solving for accelerations keeps φ̈ = 0 only. What is left of φ and φ̇ is treated in six ways
over the source's 3 s: pulled back (Baumgarte's φ̈ + 2ζω φ̇ + ω² φ = 0), left alone, held by springs
and dampers with and without inertia (penalties), removed after each step by projection onto the
nearest state, or avoided by independent coordinates (null space). The source's start is flawed,
its velocities stretch the arm and u₂: the doctor says so, `assemble` mends it, and both are run.
The picture goes to `results/`.
"""

from pathlib import Path

import numpy as np

import diffmech as dm

WAYS = [
    dm.solvers.baumgarte(omega=10.0, zeta=0.8),
    "none",
    dm.solvers.penalty(alpha=1e8, omega=10.0, zeta=0.7),
    dm.solvers.penalty(inertial=False),  # stiff: an implicit solver
    "projection",
    "nullspace",
]


def main() -> None:
    pendulum = dm.systems.double_pendulum_natural()
    q, qd = pendulum.starts["source"]
    print("the source's start, says the doctor:")
    diagnosis = dm.doctor(pendulum, q, qd)
    print("".join(f"    {label:9}{text}\n" for label, text in diagnosis.lines[1:]))
    mended = dm.assemble(pendulum, q, qd)
    print("assembled:\n    " + str(mended).replace("\n", "\n    "))
    assert diagnosis.consistent == (True, False)
    assert np.allclose(diagnosis.violations.rate_residual, [0.006, 0.02], atol=1e-12)
    assert np.abs(mended.violations.rate_residual).max() < 1e-14

    record = dm.tournament(pendulum, *mended, duration=3.0, ways=WAYS)
    print(f"\n3 s from there:\n{record}")
    Path("results").mkdir(exist_ok=True)
    figure = dm.viz.tournament(record)
    dm.viz.save_figure(figure, "results/constraint_tournament.png", overwrite=True)
    pulled, nothing, springs, soft, projection, nullspace = record.entries
    for entry in (projection, nullspace):
        assert max(entry.residual, entry.rate_residual) < 1e-12, "to rounding"
        assert entry.steps < 1.5 * nothing.steps, "in about as many steps as doing nothing"
    assert 1e-12 < pulled.residual < nothing.residual < soft.residual, "others drift or give way"
    assert springs.error > 10 * projection.error, "springs are not quite rods"
    assert soft.steps > 5 * projection.steps, "and stiff ones are dear"
    print("best: projection and null space, exact for no more steps than doing nothing takes")

    # The source's velocities kept, compared with the motion of the mended ones.
    kept = {"check_start": False, "reference": projection.run}
    flawed = dm.tournament(pendulum, q, qd, duration=3.0, ways=WAYS[:2], **kept)
    print(f"\n3 s with the source's velocities:\n{flawed} from the mended start")
    pulled, nothing = (np.asarray(entry.run.constraints.residual) for entry in flawed.entries)
    print(f"the arm and u₂ have grown, φ = {nothing[-1].round(6)}; pulled back they had not")
    assert np.allclose(nothing[-1], 3.0 * np.array([0.006, 0.02]), atol=1e-5), "φ̈ = 0: φ = φ̇₀ t"
    assert np.abs(pulled[-1]).max() < 1e-6


if __name__ == "__main__":
    main()
