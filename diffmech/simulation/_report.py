"""The trust report: why a run can be believed, and until when."""

import dataclasses
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import numpy as np

from .._checks import float_dtype, in_force
from .._results import RESULTS, message, same
from .._typing import AnyArray, Params, Samples, Times
from ..model import AbstractSystem, Laws
from ..motion import force_of, mass_condition_of, momentum_of, unpack
from ._run import Settings, run_in_stretches

if TYPE_CHECKING:
    from ._trajectory import Trajectory

_TIGHTER = 1e-3  # the second run's tolerance, relative to the first one's
_FLOOR_IN_EPS = 150.0  # tolerances below this many eps (3e-14) are beyond the arithmetic
_BELIEVABLE = 1e-2  # of a coordinate's range (at most of 1 rad for angles): two digits
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
            difference to a second run (`reference` says which).
        believable_until: the time until which two digits of every coordinate's range (of 1 rad for
            angles) are right [s].
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
    laws: Laws, ts: Times, qs: Samples, qds: Samples, probes: AnyArray, params: Params
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Momenta (k, n), conditions (k,), and the force on each coordinate at probe states."""
    momenta = jax.vmap(lambda t, q, qd: momentum_of(laws, q, qd, t, params))(ts, qs, qds)
    conditions = jax.vmap(lambda t, q, qd: mass_condition_of(laws, q, qd, t, params))(ts, qs, qds)

    def force_at(t: AnyArray, q: AnyArray, qd: AnyArray) -> AnyArray:
        slope = jax.grad(laws.lagrangian)(q, qd, t, params)
        return slope + force_of(laws, q, qd, t, params)

    count = probes.shape[0]
    return momenta, conditions, jax.vmap(force_at)(ts[:count], probes, qds[-count:])


def _mechanics(trajectory: "Trajectory") -> tuple[float, dict[str, float], float]:
    """Energy imbalance, drift of conserved momenta, and worst condition."""
    energies, work = trajectory.energies, np.asarray(trajectory.work)
    total = np.asarray(energies.total)
    laws = trajectory.system.laws
    if not isinstance(laws, Laws):
        change = np.max(np.abs(total - total[0]))
        scale = np.max(np.abs(total))
        return float(change / scale) if scale > 0 else float(change), {}, float("nan")
    scale = max(float(np.max(energies.kinetic)), float(np.max(np.abs(work))))
    gap = float(np.max(np.abs(total - total[0] - work)))
    imbalance = gap / scale if scale > 0 else 0.0
    rng = np.random.default_rng(0)
    count = min(_PROBES, len(trajectory.ts))
    probes = np.asarray(trajectory.qs)[-count:] + rng.normal(size=(count, trajectory.system.n))
    momenta, conditions, forces = _diagnose(
        laws,
        trajectory.ts,
        trajectory.qs,
        trajectory.qds,
        in_force(probes),
        trajectory.params,
    )
    momenta, forces = np.asarray(momenta), np.asarray(forces)
    kept = {}
    for i, name in enumerate(trajectory.system.coordinates):
        if np.all(forces[:, i] == 0):
            size = np.max(np.abs(momenta[:, i]))
            drift = np.max(np.abs(momenta[:, i] - momenta[0, i]))
            kept[name] = float(drift / size) if size > 0 else float(drift)
    return imbalance, kept, float(np.max(conditions))


def _second_settings(trajectory: "Trajectory") -> tuple[Settings, float, str]:
    """Settings of the comparison run, the factor from difference to error, and its description.

    A tighter tolerance alone is not enough: where the samples, not the errors, bound the steps,
    both runs would be the same to the last bit. So its steps are at most half as long, too.
    """
    settings = trajectory.settings
    plain = dataclasses.replace(settings, events=(), event_names=(), dense=False)
    if settings.dt is not None:
        order = settings.solver.order(None) or 1  # pyright: ignore[reportArgumentType]
        halved = dataclasses.replace(plain, dt=in_force(np.asarray(settings.dt) / 2))
        return halved, 1.0 / (1.0 - 0.5**order), "half the step"
    rtol = float(settings.rtol)
    finer = max(rtol * _TIGHTER, _FLOOR_IN_EPS * float(np.finfo(float_dtype()).eps))
    finer = min(finer, rtol)
    span = float(trajectory.ts[-1]) - float(trajectory.ts[0])
    other = dataclasses.replace(
        plain,
        rtol=in_force(np.asarray(finer)),
        atol=in_force(np.asarray(float(settings.atol) * finer / rtol)),
        longest=in_force(np.asarray(0.5 * span / max(int(trajectory.stats["accepted"]), 1))),
    )
    return other, 1.0, f"a run at rtol {finer:.0e}"


def _errors(trajectory: "Trajectory") -> tuple[np.ndarray, np.ndarray, str]:
    """Estimated errors of q and q̇ at the samples, and the name of the second run."""
    settings, factor, text = _second_settings(trajectory)
    start = np.concatenate([trajectory.qs[0], trajectory.qds[0], np.zeros(1)])
    second = run_in_stretches(
        trajectory.system,
        trajectory.params,
        start,
        trajectory.ts,
        trajectory.ts[-1],
        settings,
        progress=False,
    )
    error = np.full((2, *trajectory.qs.shape), np.inf)
    q, qd, _ = unpack(np.asarray(second.ys))
    count = len(q)
    error[0, :count] = factor * np.abs(q - np.asarray(trajectory.qs)[:count])
    error[1, :count] = factor * np.abs(qd - np.asarray(trajectory.qds)[:count])
    return error[0], error[1], text


def _believable_until(system: AbstractSystem, ts: Any, qs: Any, error: np.ndarray) -> float:
    spread = np.ptp(qs, axis=0)
    scale = np.where(spread > 0, spread, np.max(np.abs(qs), axis=0))
    angle = np.array([unit == "rad" for unit in system.coordinates.values()])
    scale = np.where(angle, np.minimum(np.where(scale > 0, scale, 1.0), 1.0), scale)
    scale = np.where(scale > 0, scale, np.inf)
    bad = np.flatnonzero(np.any(error > _BELIEVABLE * scale, axis=1))
    return float(ts[bad[0]] if bad.size else ts[-1])


def _digits(error: float, size: float) -> int:
    if error == 0:
        return 15
    return int(np.clip(np.floor(np.log10(max(size, 1e-300) / error)), 0, 15))


def _answer(system: AbstractSystem, ts: Any, qs: np.ndarray, error: np.ndarray) -> str:
    """The final coordinates with their errors; only the worst one of a long list."""
    size = np.max(np.abs(qs), axis=0)
    order = np.argsort(-error[-1] / np.where(size > 0, size, 1.0))
    shown = range(qs.shape[1]) if qs.shape[1] <= 2 else order[:1]
    parts = []
    for i in shown:
        name, unit = list(system.coordinates.items())[i]
        digits = _digits(error[-1, i], size[i])
        parts.append(
            f"{name} = {qs[-1, i]:.{max(digits, 1)}g} ± {error[-1, i]:.0e} {unit}".rstrip()
            + f" ({digits} digit{'s' * (digits != 1)})"
        )
    text = f"at t = {float(ts[-1]):g} s: " + ", ".join(parts)
    return text if qs.shape[1] <= 2 else text + f", the worst of {qs.shape[1]} coordinates"


def _verdict(
    trajectory: "Trajectory", imbalance: float, until: float, error: np.ndarray, checked: bool
) -> str:
    end = float(trajectory.ts[-1])
    status = trajectory.status
    prefix = ""
    if not same(status, RESULTS.successful, RESULTS.event_occurred):
        prefix = f"Stopped at t = {float(trajectory.end.t):g} s. "
    if checked and imbalance > _ENERGY_ALARM:
        return prefix + (
            f"Not believable: {imbalance:.0e} of the energy is unaccounted for; "
            "use a tighter tolerance or a smaller step."
        )
    if until < end:
        return prefix + (
            f"Believable until t = {until:.3g} s only; the coordinates at {end:g} s may be off by "
            f"{float(np.max(error[-1])):.1g}. Use a tighter tolerance, or do not trust the end."
        )
    size = np.max(np.abs(np.asarray(trajectory.qs)), axis=0)
    worst = min(_digits(e, s) for e, s in zip(error[-1], size, strict=True))
    return prefix + f"Believable to the end, there to about {worst} digit{'s' * (worst != 1)}."


def assess(trajectory: "Trajectory") -> Report:
    """Judge a run: balance of energy, conserved momenta, and a second run to compare with."""
    system, settings = trajectory.system, trajectory.settings
    qs, ts = np.asarray(trajectory.qs), np.asarray(trajectory.ts)
    imbalance, momenta, condition = _mechanics(trajectory)
    error, rate_error, text = _errors(trajectory)
    until = _believable_until(system, ts, qs, error)
    lagrangian = isinstance(system.laws, Laws)
    verdict = _verdict(trajectory, imbalance, until, error, lagrangian)

    step = (
        f"dt {float(settings.dt):.3g} s"
        if settings.dt is not None
        else f"rtol {float(settings.rtol):.0e}, atol {float(settings.atol):.0e}"
    )
    stats = trajectory.stats
    lines = [
        (
            "run",
            f"{system.name}, {float(ts[-1] - ts[0]):g} s by {settings.method}, "
            f"{step}, {qs.dtype}, {len(ts)} samples",
        ),
        ("ended", _ending(trajectory)),
        ("steps", f"{int(stats['accepted'])} accepted, {int(stats['rejected'])} rejected"),
        ("energy", _energy_line(trajectory, imbalance, lagrangian)),
    ]
    if momenta:
        kept = ", ".join(f"of {name} to {drift:.0e}" for name, drift in momenta.items())
        lines.append(("momentum", f"kept (ignorable coordinate): {kept}"))
    if condition > 1e6:
        lines.append(("mass matrix", f"came close to singular: condition {condition:.0e}"))
    lines += [
        ("answer", _answer(system, ts, qs, error) + f", against {text}"),
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
    if np.isnan(imbalance):
        return "not known: the equations came without an energy function"
    if not lagrangian:
        return f"changed by {imbalance:.1e} of its largest value (no work terms are known)"
    energies = trajectory.energies
    return (
        f"imbalance {imbalance:.1e}; kinetic at most {float(np.max(energies.kinetic)):.3g} J, "
        f"work done {float(trajectory.work[-1]):.3g} J"
    )
