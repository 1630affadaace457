"""Tolerances and limits where none are given: each said once, with its reason."""

from typing import NamedTuple

from ._checks import as_scalar, float_dtype, require_resolvable
from ._typing import AnyArray, Number


class ByPrecision(NamedTuple):
    """A number for each precision."""

    float64: float
    float32: float

    def now(self) -> float:
        """The one for the precision in force."""
        return self.float64 if float_dtype().name == "float64" else self.float32


def as_rtol(given: Number | None, usual: ByPrecision, *, resolvable: bool = True) -> AnyArray:
    """A relative tolerance per step: as given, checked, or the usual one.

    Raises:
        ValueError: it is not positive, or, if `resolvable`, finer than the arithmetic.
    """
    rtol = as_scalar(usual.now() if given is None else given, "rtol", positive=True)
    if resolvable:
        require_resolvable(rtol)
    return rtol


# Relative tolerances per step, of a motion that is
# looked at by itself: balances energy to 1e-10 in hard, chaotic cases too;
RUN_RTOL = ByPrecision(1e-11, 1e-5)
# one of very many: what is reduced of it (a maximum, a verdict) is wanted to five digits;
LANES_RTOL = ByPrecision(1e-8, 1e-4)
# closed into an orbit: orbits close, and multipliers come out, to about ten digits;
ORBIT_RTOL = ByPrecision(1e-12, 1e-5)
# cut by a section: crossings are as accurate as single runs;
SECTION_RTOL = ByPrecision(1e-11, 1e-5)
# followed with its neighbours for long: exponents converge to three digits, errors of steps do not
# show in them;
LYAPUNOV_RTOL = ByPrecision(1e-10, 1e-4)
# compared with measurements: below the noise of any sensor, in every shot of a fit.
FIT_RTOL = ByPrecision(1e-9, 1e-5)

# Attempted steps, of one run: half an hour of a small machine;
RUN_MAX_STEPS = 1_000_000
# of one lane: a lane that needs more holds up its whole block;
LANE_MAX_STEPS = 100_000
# of one flow from section to section of an orbit.
FLOW_MAX_STEPS = 100_000
