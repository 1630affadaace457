"""All ways of keeping constraints, run on the same machine and compared."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import numpy as np

from .._printing import tabled
from .._results import RESULTS, message, same
from .._typing import Coordinates, Number, Params
from ..model import AbstractSystem
from ..motion import (
    AbstractStabilisation,
    as_stabilisation,
    baumgarte,
    penalty,
    require_constraints,
)
from ._simulate import simulate
from ._trajectory import Trajectory

_REFERENCE_RTOL = 1e-12
# A penalty that is too stiff for its solver must not keep the others waiting.
_PENALTY_STEPS = 50_000


class Entry(eqx.Module):
    """One way of keeping constraints in a tournament.

    Attributes:
        name: of the way; `method`: of the solver.
        run: the `Trajectory`.
        residual, rate_residual: the largest |φ| and |φ̇| (or |A q̇ + a|) at the samples [unit of
            the row, that per second].
        imbalance: of the energy, max|h − h₀ − W| / max(T_max, |W|_max) [-], as in a report.
        error: max |q_i − q_i,reference| over coordinates and samples [unit of the coordinate].
        steps: accepted and rejected together.
        seconds: of a second run, compilation left out [s]; printed, never saved.
        ended: how, if not at the time asked for; then all numbers are those up to there.
    """

    name: str = eqx.field(static=True)
    method: str = eqx.field(static=True)
    run: Trajectory
    residual: float = eqx.field(static=True)
    rate_residual: float = eqx.field(static=True)
    imbalance: float = eqx.field(static=True)
    error: float = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    seconds: float = eqx.field(static=True)
    ended: str = eqx.field(static=True)


class Tournament(eqx.Module):
    """The table of a tournament; printing it aligns it. `viz.tournament` draws it.

    Attributes:
        entries: an `Entry` for each way, in the order in which they ran.
        reference: what errors are measured against, in words.

    `table["projection"]` is the entry of that way, or of the first with this name before its
    bracket, as in "baumgarte(...)"; `KeyError` if there is none.
    """

    entries: tuple[Entry, ...]
    reference: str = eqx.field(static=True)

    def __getitem__(self, name: str) -> Entry:
        for entry in self.entries:
            if name in (entry.name, entry.name.split("(")[0]):
                return entry
        names = ", ".join(entry.name for entry in self.entries)
        raise KeyError(f"there is no {name!r} in this tournament; it has {names}")

    def __str__(self) -> str:
        header = ("way", "method", "|φ|", "|φ̇|", "energy", "error", "steps", "time")
        rows: list[tuple[str, ...]] = [header]
        for e in self.entries:
            sizes = (e.residual, e.rate_residual, e.imbalance, e.error)
            numbers = [f"{x:.0e}" for x in sizes]
            rows.append((e.name, e.method, *numbers, str(e.steps), f"{1e3 * e.seconds:.3g} ms"))
        lines = tabled(rows, left=(0, 1)).splitlines()
        endings = ["", *(e.ended for e in self.entries)]
        lines = [f"{line}  {end}".rstrip() for line, end in zip(lines, endings, strict=True)]
        return "\n".join([*lines, f"error: against {self.reference}"])


def contenders() -> tuple[AbstractStabilisation, ...]:
    """All ways, the penalty with and without its φ̈ term."""
    return (
        *(as_stabilisation(name) for name in ("projection", "nullspace")),
        baumgarte(),
        penalty(),
        penalty(inertial=False),
        as_stabilisation("none"),
    )


def tournament(
    system: AbstractSystem,
    q0: Coordinates,
    qd0: Coordinates | None = None,
    *,
    duration: Number,
    ways: Sequence[str | AbstractStabilisation] | None = None,
    reference: Trajectory | None = None,
    params: Params = None,
    rtol: Number = 1e-8,
    samples: int = 201,
    **how: Any,
) -> Tournament:
    """Run one constrained machine under every way of keeping its constraints.

    Args:
        ways: names, or `baumgarte(...)` and `penalty(...)`; None means all of them. Pure penalties
            run with a stiff solver.
        reference: what errors are measured against, sampled at the same times; None means a run
            with projection at rtol 1e-12.
        rtol: tolerance of all contenders: loose enough that they differ.
        how: other arguments of `simulate`, for all; `method` does not apply to pure penalties.

    Returns:
        a `Tournament`: drift in place and in rates, energy imbalance, error, steps and time.
    """
    require_constraints(system, "tournaments")
    common: Mapping[str, Any] = {
        "duration": duration,
        "params": params,
        "samples": samples,
        "throw": False,
        **how,
    }
    text = "the run given"
    if reference is None:
        plain = {key: value for key, value in common.items() if key not in ("method", "dt")}
        reference = simulate(system, q0, qd0, rtol=_REFERENCE_RTOL, **plain)
        text = f"projection at rtol {_REFERENCE_RTOL:.0e}"
    entries = []
    for way in contenders() if ways is None else [as_stabilisation(way) for way in ways]:
        settings = {"max_steps": _PENALTY_STEPS, **common}
        stiff = way.name == "penalty" and not way.inertial  # pyright: ignore
        if stiff:
            settings["method"] = None  # a stiff one
        arguments = {"rtol": rtol, "stabilise": way, **settings}
        run = simulate(system, q0, qd0, **arguments)
        clock = time.perf_counter()
        run = simulate(system, q0, qd0, **arguments)
        entries.append(_entry(run, reference, time.perf_counter() - clock))
    return Tournament(tuple(entries), text)


def _entry(run: Trajectory, reference: Trajectory, seconds: float) -> Entry:
    count = len(run.ts)
    gap = np.abs(np.asarray(run.qs) - np.asarray(reference.qs)[:count])
    ended = ""
    if not same(run.status, RESULTS.successful):
        ended = f"ended at t = {float(run.end.t):.3g} s: {message(run.status).split(':')[0]}"
    return Entry(
        name=str(run.settings.stabilise),
        method=run.settings.method,
        run=run,
        residual=float(np.max(np.abs(run.constraints.residual))),
        rate_residual=float(np.max(np.abs(run.constraints.rate_residual))),
        imbalance=run.report(second_run=False).imbalance,
        error=float(np.max(gap)),
        steps=int(run.stats["accepted"]) + int(run.stats["rejected"]),
        seconds=seconds,
        ended=ended,
    )
