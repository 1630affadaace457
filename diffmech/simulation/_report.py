"""The trust report: why a run can be believed, and until when."""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._batches import in_batches
from .._checks import ROUNDINGS, in_force
from .._printing import aligned
from .._results import RESULTS, message, same
from .._typing import AnyArray, Params, Samples, Times
from ..model import ExplicitLaws, Laws
from ..motion import (
    Energy,
    force_of,
    is_definite,
    jacobian_of,
    mass_condition_of,
    mass_matrix_of,
    momentum_of,
)
from ._constraint_lines import constraint_lines
from ._constraint_record import ConstraintRecord
from ._judgement import answer, judge, verdict
from ._run_data import RunData
from ._second_run import Errors

_SMALL_MOMENTUM = 1e-3  # of the largest: below it a momentum may be nothing but rounding
_PROBES = 3  # random states at which a coordinate must be ignorable


class Report(eqx.Module):
    """What is known about the quality of a run. Printing it gives the lines a user reads.

    Attributes:
        imbalance: max|h − h₀ − W| / max(T_max, |W|_max), the energy that is not accounted for at
            the samples, of which those between two steps are interpolated; NaN if no energy is
            known. What is printed beside it is the same at the end, where a step ends.
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
        return aligned(self.lines)


@eqx.filter_jit
def _diagnose(
    laws: Laws, ts: Times, qs: Samples, qds: Samples, params: Params
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray]:
    """At k states: momenta (k, n), conditions (k,), forces on the coordinates (k, n), mass
    matrices (k, n, n), and the rows of the constraints (k, m, n)."""

    def at(t: AnyArray, q: AnyArray, qd: AnyArray) -> tuple[AnyArray, ...]:
        rows = jnp.zeros((0, q.size), q.dtype)
        if laws.constraints:
            rows = jacobian_of(laws, q, t, params)
        slope = jax.grad(laws.lagrangian)(q, qd, t, params)
        # A coordinate that a constraint can push is not ignorable.
        force = slope + force_of(laws, q, qd, t, params) + jnp.sum(jnp.abs(rows), axis=0)
        return (
            momentum_of(laws, q, qd, t, params),
            mass_condition_of(laws, q, qd, t, params),
            force,
            mass_matrix_of(laws, q, qd, t, params),
            rows,
        )

    return jax.vmap(at)(ts, qs, qds)


class _Balance(NamedTuple):
    """How well the energy balances: at the worst sample, and where the last step ends."""

    worst: float
    final: float
    resting: bool = False  # nothing moves but roundings, so there is nothing to measure them by


def _balance(run: RunData, energies: Energy, masses: np.ndarray) -> _Balance:
    """max|h − h₀ − W| / max(T_max, |W|_max); samples before the last may lie between steps.

    A machine without freedom, or at rest, has a T of nothing but rounding: of h, or of rates that
    the absolute tolerance takes for zero. No part of that is an imbalance.
    """
    total, work = np.asarray(energies.total), np.asarray(run.work)
    gaps = np.abs(total - total[0] - work)
    scale = max(float(np.max(np.abs(energies.kinetic))), float(np.max(np.abs(work))))
    rounding = ROUNDINGS * np.finfo(total.dtype).eps * float(np.max(np.abs(total)))
    slowest = 0.5 * float(run.settings.atol) ** 2 * float(np.max(np.abs(masses).sum((1, 2))))
    if max(scale, float(np.max(gaps))) <= max(rounding, slowest):
        return _Balance(0.0, 0.0, resting=True)
    worst, final = (_part(float(gap), scale) for gap in (np.max(gaps), gaps[-1]))
    return _Balance(worst, final)


def _part(gap: float, scale: float) -> float:
    return gap / scale if scale > 0 else (0.0 if gap == 0 else math.inf)


def _mechanics(run: RunData, energies: Energy) -> tuple[_Balance, dict[str, float], float, bool]:
    """Energy imbalance, drift of conserved momenta, worst condition, and whether M is definite."""
    laws = run.laws
    if not isinstance(laws, Laws):
        total = np.asarray(energies.total)
        change, scale = np.max(np.abs(total - total[0])), np.max(np.abs(total))
        part = float(change / scale) if scale > 0 else float(change)
        return _Balance(part, part), {}, float("nan"), True
    rng = np.random.default_rng(0)
    count = min(_PROBES, len(run.ts))
    spread = rng.normal(size=(2, count, run.system.n))
    ts, qs, qds = (np.asarray(x) for x in (run.ts, run.qs, run.qds))
    probes = (ts[:count], qs[-count:] + spread[0], qds[-count:] + spread[1])
    columns = [in_force(np.concatenate(pair)) for pair in zip((ts, qs, qds), probes, strict=True)]
    everywhere = in_batches(_diagnose, laws, columns, run.params)
    momenta, conditions, _, masses, rows = (x[: len(ts)] for x in everywhere)
    forces = everywhere[2]  # at the probes, too
    kept = {}
    for i, name in enumerate(run.system.coordinates):
        if np.all(forces[:, i] == 0):
            # A momentum that is zero but for rounding is judged by the others.
            size = max(np.max(np.abs(momenta[:, i])), _SMALL_MOMENTUM * np.max(np.abs(momenta)))
            drift = np.max(np.abs(momenta[:, i] - momenta[0, i]))
            kept[name] = float(drift / size) if size > 0 else float(drift)
    definite = bool(np.all(is_definite(masses, rows)))
    return _balance(run, energies, masses), kept, float(np.max(conditions)), definite


def assess(
    run: RunData,
    energies: Energy,
    constraints: ConstraintRecord,
    approaches: list[tuple[float, float]],
    errors: Errors,
) -> Report:
    """Judge a run by balance of energy, conserved momenta, constraints, and estimated errors.

    `approaches` are those to rank loss, (t, σ), as `closest_approaches` gives them.
    """
    system, settings = run.system, run.settings
    qs, ts = np.asarray(run.qs), np.asarray(run.ts)
    with np.errstate(all="ignore"):  # a motion that ran away may overflow here
        balance, momenta, condition, definite = _mechanics(run, energies)
    judgement = judge(run, errors.q)
    sentence = verdict(run, energies, judgement, errors.q, balance.worst, definite)

    compared = not np.all(np.isnan(errors.q))
    final = answer(run, errors.q, judgement.digits)
    step = (
        f"dt {float(settings.dt):.3g} s"
        if settings.dt is not None
        else f"rtol {float(settings.rtol):.0e}, atol {float(settings.atol):.0e}"
    )
    stats = run.stats
    lines = [
        (
            "run",
            f"{system.name}, {float(run.end.t) - float(ts[0]):.6g} s by {settings.method}, "
            f"{step}, {qs.dtype}, {len(ts)} samples",
        ),
        ("ended", _ending(run)),
        ("steps", f"{int(stats['accepted'])} accepted, {int(stats['rejected'])} rejected"),
        ("energy", _energy_line(run, energies, balance)),
    ]
    lines += constraint_lines(run, constraints, approaches)
    if momenta:
        kept = ", ".join(f"of {name} to {drift:.0e}" for name, drift in momenta.items())
        lines.append(("momentum", f"kept (ignorable coordinate): {kept}"))
    if not definite:
        lines.append(
            ("mass matrix", "not positive definite: a negative mass, or a kinetic term missing?")
        )
    elif condition > 1e6:
        lines.append(("mass matrix", f"came close to singular: condition {condition:.0e}"))
    lines += [
        ("answer", final + (f", against {errors.reference}" if compared else "")),
        ("verdict", sentence),
    ]
    return Report(
        imbalance=balance.worst,
        momenta=momenta,
        condition=condition,
        error=errors.q,
        rate_error=errors.qd,
        believable_until=judgement.until,
        reference=errors.reference,
        verdict=sentence,
        lines=tuple(lines),
    )


def _ending(run: RunData) -> str:
    if run.event is not None:
        return f"at t = {float(run.end.t):.9g} s by the event {run.event!r}"
    if same(run.status, RESULTS.successful):
        return "at the time asked for"
    return f"early, at t = {float(run.end.t):.6g} s: {message(run.status)}"


def _energy_line(run: RunData, energies: Energy, balance: _Balance) -> str:
    laws = run.laws
    if isinstance(laws, ExplicitLaws) and laws.energy is None:
        return "not known: the equations came without an energy function"
    if not np.isfinite(balance.worst):
        return "not finite: the motion ran away"
    if not isinstance(laws, Laws):
        return f"changed by {balance.worst:.1e} of its largest value (no work terms are known)"
    said = (
        "nothing moves, to rounding and tolerance"
        if balance.resting
        else f"imbalance {balance.worst:.1e} at the samples, {balance.final:.1e} at the end"
    )
    largest, work = float(np.max(energies.kinetic)), float(run.work[-1])
    return f"{said}; kinetic at most {largest:.3g} J, work done {work:.3g} J"
