"""Do we get the babyboot's published digits?

Kane's chaotic pendulum, released from 90° with its plate turned by 1°, has been run to 10 s by
several programs; MotionGenesis printed 14 digits. Chaos multiplies an error of the plate's angle by
seven million on the way, so agreement here means agreement everywhere before.
"""

import numpy as np

import diffmech as dm

PUBLISHED = {  # MotionGenesis at error 1e-12; the spread is that of four published runs
    "qA [deg]": (-61.312983340691, 2e-6),
    "qB [deg]": (-929.47789677244, 2e-5),
    "qA' [rad/s]": (-6.7440081040646, 1e-6),
    "qB' [rad/s]": (-2.7795690128833, 1e-6),
}


def main() -> None:
    boot = dm.systems.babyboot()
    run = dm.simulate(boot, *boot.starts["chaotic"], duration=10.0, rtol=5e-14)
    ours = [*np.rad2deg(run.end.q), *run.end.qd]

    print("The babyboot at t = 10 s, released at rest from qA = 90°, qB = 1°\n")
    print(f"{'':14}{'published':>22}{'diffmech':>22}{'difference':>12}{'spread':>9}")
    for (name, (theirs, spread)), value in zip(PUBLISHED.items(), ours, strict=True):
        print(f"{name:14}{theirs:22.12f}{value:22.12f}{value - theirs:12.1e}{spread:9.0e}")
        assert abs(value - theirs) < spread, f"{name} is off by {value - theirs:.1e}"
    print(f"\nWhy it can be believed:\n\n{run}\n")

    loose = dm.simulate(boot, *boot.starts["chaotic"], duration=10.0, method="Tsit5", rtol=1e-5)
    print(f"And the same run done carelessly, which says so:\n\n{loose}")
    assert loose.report().believable_until < 10


if __name__ == "__main__":
    main()
