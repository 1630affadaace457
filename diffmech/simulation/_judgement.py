"""From estimated errors to a verdict, which is never better than they are."""

import math
from typing import NamedTuple

import numpy as np

from .._results import RESULTS, same
from ..model import Laws
from ..motion import Energy
from ._run_data import RunData

_BELIEVABLE = 1e-2  # of a coordinate's range (at most of 1 rad for angles): two digits
_HARDLY_MOVES = 1e-3  # range below this part of a coordinate's size that does not count as motion
_ENERGY_ROUNDING = 1e-9  # of the energy itself: a gap below it is not alarming
_ENERGY_ALARM = 1e-3  # imbalance that makes a run unbelievable whatever else holds
_ALL = 15  # digits of a float


class Judgement(NamedTuple):
    """What the errors of a run allow to say of it.

    Attributes:
        until: the time until which every coordinate is believable [s]; NaN if no errors are known.
        whole: whether that is the whole run.
        digits: how many digits of each coordinate are right at the end, shape (n,). −1 for one that
            is zero all along, to within the absolute tolerance: it has none to count.
    """

    until: float
    whole: bool
    digits: np.ndarray


def judge(run: RunData, error: np.ndarray) -> Judgement:
    """Judge a run by the errors of its coordinates, shape (k, n)."""
    if np.all(np.isnan(error)):
        return Judgement(math.nan, False, np.zeros(error.shape[1], int))
    qs, atol = np.asarray(run.qs), float(run.settings.atol)
    units = np.array(list(run.system.coordinates.values()))
    until, whole = _believable_until(np.asarray(run.ts), qs, error, units, atol)
    sizes = _sizes(qs, units)
    digits = [_digits(e, s, atol) for e, s in zip(error[-1], sizes, strict=True)]
    return Judgement(until, whole, np.array(digits))


def _largest_of_unit(values: np.ndarray, units: np.ndarray) -> np.ndarray:
    """For each coordinate the largest value among those in the same unit, shape (n,)."""
    return np.array([np.max(values[units == unit]) for unit in units])


def _believable_until(
    ts: np.ndarray, qs: np.ndarray, error: np.ndarray, units: np.ndarray, atol: float
) -> tuple[float, bool]:
    """The last time up to which two digits are right, and whether that is the whole run.

    The digits are of a coordinate's range, at most of 1 rad for an angle. A coordinate that hardly
    moves is judged by its size and by the range of others in the same unit; one that is zero all
    along, while they are, by the absolute tolerance.
    """
    spread = np.ptp(qs, axis=0)
    scale = np.where(units == "rad", np.minimum(spread, 1.0), spread)
    alike = np.maximum(np.max(np.abs(qs), axis=0), _largest_of_unit(spread, units))
    scale = np.maximum(scale, _HARDLY_MOVES * alike)
    allowed = np.where(scale > 0, _BELIEVABLE * scale, atol)
    bad = np.flatnonzero(~np.all(error <= allowed, axis=1))
    if not bad.size:
        return float(ts[-1]), True
    return float(ts[max(bad[0] - 1, 0)]), False


def _sizes(qs: np.ndarray, units: np.ndarray) -> np.ndarray:
    """What the digits of each coordinate are counted from, shape (n,).

    Its largest value; of one that hardly leaves zero, a thousandth of others in the same unit.
    """
    size = np.max(np.abs(qs), axis=0)
    return np.maximum(size, _HARDLY_MOVES * _largest_of_unit(size, units))


def _digits(error: float, size: float, atol: float) -> int:
    """How many digits of a number of that size are right; −1 if it is zero, and has none."""
    if size == 0:
        return -1 if error <= atol else 0
    if error == 0:
        return _ALL
    if not math.isfinite(error):
        return 0
    return int(np.clip(np.floor(np.log10(size / error)), 0, _ALL))


def answer(run: RunData, error: np.ndarray, digits: np.ndarray) -> str:
    """The final coordinates with their errors; only the worst one of a long list."""
    qs, coordinates = np.asarray(run.qs), list(run.system.coordinates.items())
    counted = np.where(digits < 0, _ALL + 1, digits)
    order = np.lexsort((-error[-1], counted))  # the fewest digits, then the largest error
    shown = range(len(coordinates)) if len(coordinates) <= 2 else order[:1]
    parts = []
    for i in shown:
        name, unit = coordinates[i]
        if math.isnan(error[-1, i]):
            parts.append(f"{name} = {qs[-1, i]:.6g} {unit}".rstrip())
            continue
        value = f"{qs[-1, i]:.{max(digits[i], 1)}g} ± {error[-1, i]:.0e}"
        parts.append(f"{name} = {value} {unit}".rstrip() + f" ({_counted(int(digits[i]))})")
    text = f"at t = {float(run.ts[-1]):g} s: " + ", ".join(parts)
    if len(coordinates) <= 2 or math.isnan(error[-1, 0]):
        return text
    return text + f", the worst of {len(coordinates)} coordinates"


def _counted(digits: int) -> str:
    if digits < 0:
        return "zero, to the tolerance"
    return f"{digits} digit{'s' * (digits != 1)}"


def _is_alarming(run: RunData, energies: Energy, imbalance: float) -> bool:
    """Whether energy is lost that neither rounding nor sampling at turning points explains."""
    if not isinstance(run.laws, Laws):
        return False
    total = np.asarray(energies.total)
    gap = np.max(np.abs(total - total[0] - np.asarray(run.work)))
    rounding = _ENERGY_ROUNDING * np.max(np.abs(total))
    return not imbalance <= _ENERGY_ALARM and not gap <= rounding


def verdict(
    run: RunData,
    energies: Energy,
    judgement: Judgement,
    error: np.ndarray,
    imbalance: float,
    definite: bool,
) -> str:
    """All of it in one sentence, or two."""
    end = float(run.ts[-1])
    failed = not same(run.status, RESULTS.successful, RESULTS.event_occurred)
    if failed and len(run.ts) < 2:
        return f"Stopped at t = {float(run.end.t):g} s, before the first sample."
    prefix = f"Stopped at t = {float(run.end.t):g} s. " if failed else ""
    if not definite:
        prefix += (
            "Not a motion of real masses: the mass matrix is not positive definite. As numbers: "
        )
    if _is_alarming(run, energies, imbalance):
        return prefix + (
            f"Not believable: {imbalance:.0e} of the energy is unaccounted for; "
            "use a tighter tolerance or a smaller step."
        )
    if math.isnan(judgement.until):
        return prefix + (
            "Not compared with a second run, so its errors are not known; `report(second_run=True)`"
            " makes one."
        )
    if not judgement.whole:
        return prefix + (
            f"Believable until t = {judgement.until:.3g} s only; the coordinates at {end:g} s may "
            f"be off by {float(np.max(error[-1])):.1g}. Use a tighter tolerance, or do not trust "
            "the end."
        )
    counted = judgement.digits[judgement.digits >= 0]
    if not counted.size:
        return prefix + "Believable to the end: nothing left zero by more than the tolerance."
    return prefix + f"Believable to the end, there to about {_counted(int(np.min(counted)))}."
