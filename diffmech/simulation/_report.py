"""The trust report: why a run can be believed, and until when."""

import math
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._batches import in_batches
from .._checks import in_force
from .._results import RESULTS, message, same
from .._typing import AnyArray, Params, Samples, Times
from ..model import AbstractSystem, ExplicitLaws, Laws
from ..motion import (
    force_of,
    jacobian_of,
    mass_condition_of,
    mass_matrix_of,
    momentum_of,
)
from ._held import constraint_lines
from ._second_run import estimate_errors, unknown_errors

if TYPE_CHECKING:
    from ._trajectory import Trajectory

_BELIEVABLE = 1e-2  # of a coordinate's range (at most of 1 rad for angles): two digits
_HARDLY_MOVES = 1e-3  # range below this part of a coordinate's size that does not count as motion
_ENERGY_ROUNDING = 1e-9  # of the energy itself: a gap below it is not alarming
_ENERGY_ALARM = 1e-3  # imbalance that makes a run unbelievable whatever else holds
_PROBES = 3  # random states at which a coordinate must be ignorable


class Report(eqx.Module):
    """What is known about the quality of a run. Printing it gives the lines a user reads.

    Attributes:
        imbalance: max|h − h₀ − W| / max(T_max, |W|_max), the energy that is not accounted for;
            NaN if no energy is known.
        momenta: for each ignorable coordinate, the largest change of its momentum relative to the
            largest momentum.
        condition: largest condition estimate of the mass matrix on the way; NaN if there is none.
        error, rate_error: estimated errors of q and q̇ at the samples, shape (k, n), from the
            difference to a second run (`reference` says which); NaN if there was none.
        believable_until: the time until which two digits of every coordinate's range (of 1 rad for
            angles) are right [s]; NaN without a second run.
        verdict: all of it in one sentence.
    """

    imbalance: float = eqx.field(static=True)
    momenta: dict[str, float] = eqx.field(static=True)
    condition: float = eqx.field(static=True)
    error: np.ndarray
    rate_error: np.ndarray
    believable_until: float = eqx.field(static=True)
    reference: str = eqx.field(static=True)
    verdict: str = eqx.field(static=True)
    lines: tuple[tuple[str, str], ...] = eqx.field(static=True)

    @property
    def final_error(self) -> float:
        """Estimated error of the worst coordinate at the end of the run."""
        return float(np.max(self.error[-1]))

    def __str__(self) -> str:
        width = max(len(label) for label, _ in self.lines)
        return "\n".join(f"{label:<{width}}  {text}" for label, text in self.lines)


@eqx.filter_jit
def _diagnose(
    laws: Laws, ts: Times, qs: Samples, qds: Samples, params: Params
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Momenta (k, n), conditions (k,), forces on the coordinates (k, n), mass matrices (k, n, n)
    at k states."""

    def force_at(t: AnyArray, q: AnyArray, qd: AnyArray) -> AnyArray:
        slope = jax.grad(laws.lagrangian)(q, qd, t, params)
        force = slope + force_of(laws, q, qd, t, params)
        if laws.constraints:  # a coordinate that a constraint can push is not ignorable
            force = force + jnp.sum(jnp.abs(jacobian_of(laws, q, t, params)), axis=0)
        return force

    def at(t: AnyArray, q: AnyArray, qd: AnyArray) -> tuple[AnyArray, ...]:
        return (
            momentum_of(laws, q, qd, t, params),
            mass_condition_of(laws, q, qd, t, params),
            force_at(t, q, qd),
            mass_matrix_of(laws, q, qd, t, params),
        )

    return jax.vmap(at)(ts, qs, qds)


def _mechanics(trajectory: "Trajectory") -> tuple[float, dict[str, float], float, bool]:
    """Energy imbalance, drift of conserved momenta, worst condition, and whether M is definite."""
    energies, work = trajectory.energies, np.asarray(trajectory.work)
    total = np.asarray(energies.total)
    laws = trajectory.system.laws
    if not isinstance(laws, Laws):
        change, scale = np.max(np.abs(total - total[0])), np.max(np.abs(total))
        return float(change / scale) if scale > 0 else float(change), {}, float("nan"), True
    gap = float(np.max(np.abs(total - total[0] - work)))
    scale = max(float(np.max(np.abs(energies.kinetic))), float(np.max(np.abs(work))))
    imbalance = gap / scale if scale > 0 else (0.0 if gap == 0 else math.inf)
    rng = np.random.default_rng(0)
    count = min(_PROBES, len(trajectory.ts))
    spread = rng.normal(size=(2, count, trajectory.system.n))
    ts, qs, qds = (np.asarray(x) for x in (trajectory.ts, trajectory.qs, trajectory.qds))
    probes = (ts[:count], qs[-count:] + spread[0], qds[-count:] + spread[1])
    columns = [in_force(np.concatenate(pair)) for pair in zip((ts, qs, qds), probes, strict=True)]
    momenta, conditions, forces, masses = in_batches(_diagnose, laws, columns, trajectory.params)
    momenta, conditions, masses = (x[: len(ts)] for x in (momenta, conditions, masses))
    kept = {}
    for i, name in enumerate(trajectory.system.coordinates):
        if np.all(forces[:, i] == 0):
            # A momentum that is zero but for rounding is judged by the others.
            size = max(np.max(np.abs(momenta[:, i])), _HARDLY_MOVES * np.max(np.abs(momenta)))
            drift = np.max(np.abs(momenta[:, i] - momenta[0, i]))
            kept[name] = float(drift / size) if size > 0 else float(drift)
    seen = masses[np.all(np.isfinite(masses), axis=(1, 2))]
    if laws.constraints:  # then it need not be: only on the rates that they admit
        return imbalance, kept, float(np.max(conditions)), True
    definite = len(seen) == len(masses) and bool(np.all(np.linalg.eigvalsh(seen) > 0))
    return imbalance, kept, float(np.max(conditions)), definite


def _believable_until(
    system: AbstractSystem, ts: np.ndarray, qs: np.ndarray, error: np.ndarray
) -> tuple[float, bool]:
    """The last time up to which two digits are right, and whether that is the whole run.

    The digits are of a coordinate's range, at most of 1 rad for an angle. A coordinate that hardly
    moves is judged by its size and by the range of others in the same unit.
    """
    if np.all(np.isnan(error)):
        return math.nan, False
    spread = np.ptp(qs, axis=0)
    units = np.array(list(system.coordinates.values()))
    alike = np.array([np.max(spread[units == unit]) for unit in units])
    scale = np.where(units == "rad", np.minimum(spread, 1.0), spread)
    scale = np.maximum(scale, _HARDLY_MOVES * np.maximum(np.max(np.abs(qs), axis=0), alike))
    scale = np.where(scale > 0, scale, np.inf)
    bad = np.flatnonzero(~np.all(error <= _BELIEVABLE * scale, axis=1))
    if not bad.size:
        return float(ts[-1]), True
    return float(ts[max(bad[0] - 1, 0)]), False


def _digits(error: float, size: float) -> int:
    """How many digits of a number of that size are right."""
    if error == 0:
        return 15
    if not math.isfinite(error) or size == 0:
        return 0
    return int(np.clip(np.floor(np.log10(size / error)), 0, 15))


def _sizes(system: AbstractSystem, qs: np.ndarray) -> np.ndarray:
    """What the digits of each coordinate are counted from, shape (n,).

    Its largest value; of one that hardly leaves zero, a thousandth of others in the same unit.
    """
    size = np.max(np.abs(qs), axis=0)
    units = np.array(list(system.coordinates.values()))
    alike = np.array([np.max(size[units == unit]) for unit in units])
    return np.maximum(size, _HARDLY_MOVES * alike)


def _answer(system: AbstractSystem, ts: Any, qs: np.ndarray, error: np.ndarray) -> str:
    """The final coordinates with their errors; only the worst one of a long list."""
    size = _sizes(system, qs)
    order = np.argsort(-error[-1] / np.where(size > 0, size, 1.0))
    shown = range(qs.shape[1]) if qs.shape[1] <= 2 else order[:1]
    parts = []
    for i in shown:
        name, unit = list(system.coordinates.items())[i]
        if math.isnan(error[-1, i]):
            parts.append(f"{name} = {qs[-1, i]:.6g} {unit}".rstrip())
            continue
        digits = _digits(error[-1, i], size[i])
        parts.append(
            f"{name} = {qs[-1, i]:.{max(digits, 1)}g} ± {error[-1, i]:.0e} {unit}".rstrip()
            + f" ({digits} digit{'s' * (digits != 1)})"
        )
    text = f"at t = {float(ts[-1]):g} s: " + ", ".join(parts)
    if qs.shape[1] <= 2 or math.isnan(error[-1, 0]):
        return text
    return text + f", the worst of {qs.shape[1]} coordinates"


def _is_alarming(trajectory: "Trajectory", imbalance: float) -> bool:
    """Whether energy is lost that neither rounding nor sampling at turning points explains."""
    if not isinstance(trajectory.system.laws, Laws):
        return False
    total = np.asarray(trajectory.energies.total)
    gap = np.max(np.abs(total - total[0] - np.asarray(trajectory.work)))
    rounding = _ENERGY_ROUNDING * np.max(np.abs(total))
    return not imbalance <= _ENERGY_ALARM and not gap <= rounding


def _verdict(
    trajectory: "Trajectory", imbalance: float, until: float, whole: bool, error: np.ndarray
) -> str:
    end = float(trajectory.ts[-1])
    failed = not same(trajectory.status, RESULTS.successful, RESULTS.event_occurred)
    if failed and len(trajectory.ts) < 2:
        return f"Stopped at t = {float(trajectory.end.t):g} s, before the first sample."
    prefix = f"Stopped at t = {float(trajectory.end.t):g} s. " if failed else ""
    if _is_alarming(trajectory, imbalance):
        return prefix + (
            f"Not believable: {imbalance:.0e} of the energy is unaccounted for; "
            "use a tighter tolerance or a smaller step."
        )
    if math.isnan(until):
        return prefix + (
            "Not compared with a second run, so its errors are not known; `report(second_run=True)`"
            " makes one."
        )
    if not whole:
        return prefix + (
            f"Believable until t = {until:.3g} s only; the coordinates at {end:g} s may be off by "
            f"{float(np.max(error[-1])):.1g}. Use a tighter tolerance, or do not trust the end."
        )
    size = _sizes(trajectory.system, np.asarray(trajectory.qs))
    digits = [_digits(e, s) for e, s in zip(error[-1], size, strict=True) if s > 0]
    worst = min(digits, default=15)
    return prefix + f"Believable to the end, there to about {worst} digit{'s' * (worst != 1)}."


def assess(trajectory: "Trajectory", *, second_run: bool, progress: bool | None) -> Report:
    """Judge a run: balance of energy, conserved momenta, and a second run to compare with."""
    system, settings = trajectory.system, trajectory.settings
    qs, ts = np.asarray(trajectory.qs), np.asarray(trajectory.ts)
    with np.errstate(all="ignore"):  # a motion that ran away may overflow here
        imbalance, momenta, condition, definite = _mechanics(trajectory)
    if second_run:
        error, rate_error, text = estimate_errors(trajectory, progress)
    else:
        error, rate_error, text = unknown_errors(trajectory)
    until, whole = _believable_until(system, ts, qs, error)
    lagrangian = isinstance(system.laws, Laws)
    verdict = _verdict(trajectory, imbalance, until, whole, error)

    step = (
        f"dt {float(settings.dt):.3g} s"
        if settings.dt is not None
        else f"rtol {float(settings.rtol):.0e}, atol {float(settings.atol):.0e}"
    )
    stats = trajectory.stats
    lines = [
        (
            "run",
            f"{system.name}, {float(trajectory.end.t) - float(ts[0]):.6g} s by {settings.method}, "
            f"{step}, {qs.dtype}, {len(ts)} samples",
        ),
        ("ended", _ending(trajectory)),
        ("steps", f"{int(stats['accepted'])} accepted, {int(stats['rejected'])} rejected"),
        ("energy", _energy_line(trajectory, imbalance, lagrangian)),
    ]
    lines += constraint_lines(trajectory)
    if momenta:
        kept = ", ".join(f"of {name} to {drift:.0e}" for name, drift in momenta.items())
        lines.append(("momentum", f"kept (ignorable coordinate): {kept}"))
    if not definite:
        lines.append(("mass matrix", "not positive definite: is a kinetic term missing?"))
    elif condition > 1e6:
        lines.append(("mass matrix", f"came close to singular: condition {condition:.0e}"))
    lines += [
        ("answer", _answer(system, ts, qs, error) + (f", against {text}" if second_run else "")),
        ("verdict", verdict),
    ]
    return Report(
        imbalance=imbalance,
        momenta=momenta,
        condition=condition,
        error=error,
        rate_error=rate_error,
        believable_until=until,
        reference=text,
        verdict=verdict,
        lines=tuple(lines),
    )


def _ending(trajectory: "Trajectory") -> str:
    if trajectory.event is not None:
        return f"at t = {float(trajectory.end.t):.9g} s by the event {trajectory.event!r}"
    if same(trajectory.status, RESULTS.successful):
        return "at the time asked for"
    return f"early, at t = {float(trajectory.end.t):.6g} s: {message(trajectory.status)}"


def _energy_line(trajectory: "Trajectory", imbalance: float, lagrangian: bool) -> str:
    laws = trajectory.system.laws
    if isinstance(laws, ExplicitLaws) and laws.energy is None:
        return "not known: the equations came without an energy function"
    if not np.isfinite(imbalance):
        return "not finite: the motion ran away"
    if not lagrangian:
        return f"changed by {imbalance:.1e} of its largest value (no work terms are known)"
    energies = trajectory.energies
    return (
        f"imbalance {imbalance:.1e}; kinetic at most {float(np.max(energies.kinetic)):.3g} J, "
        f"work done {float(trajectory.work[-1]):.3g} J"
    )
