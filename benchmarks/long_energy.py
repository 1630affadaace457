"""Do the symplectic methods keep the energy over ten thousand periods?

A pendulum released from the horizontal, 10 000 periods. Per method: the largest energy error in the
first and in the last hundred periods, relative to m g l, the trend between them, and the time.
Dopri5 with the same step is there for contrast.

    python benchmarks/long_energy.py [--periods 10000] [--methods Variational,Dopri5]
"""

import argparse
import time

import numpy as np

import diffmech as dm

PERIOD = 2.36784194757623745  # of a 1 m pendulum from the horizontal, g = 9.81 m/s²
STEPS = {  # steps a period
    "ImplicitMidpoint": 60,
    "Variational": 60,
    "GaussLegendre4": 30,
    "Variational4": 30,
    "GaussLegendre6": 15,
    "Variational6": 15,
    "Dopri5": 30,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--periods", type=int, default=10_000)
    parser.add_argument("--methods", default=",".join(STEPS))
    arguments = parser.parse_args()
    periods = arguments.periods
    system = dm.systems.pendulum()
    print(f"{periods} periods; largest |energy error| / (m g l)\n")
    print(f"{'method':18}{'steps/period':>13}{'first 1 %':>12}{'last 1 %':>12}{'ratio':>8}{'s':>8}")
    for method in arguments.methods.split(","):
        steps = STEPS[method]
        clock = time.perf_counter()
        run = dm.simulate(
            system,
            [np.pi / 2],
            duration=periods * PERIOD,
            dt=PERIOD / steps,
            method=method,
            samples=41 * periods // 20 + 1,  # 41 phases of the oscillation, not the same two
            max_steps=10**8,
        )
        seconds = time.perf_counter() - clock
        error = np.abs(np.asarray(run.energies.total)) / 9.81
        count = max(len(error) // 100, 41)
        first, last = float(np.max(error[:count])), float(np.max(error[-count:]))
        print(
            f"{method:18}{steps:13d}{first:12.1e}{last:12.1e}{last / first:8.2f}{seconds:8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
