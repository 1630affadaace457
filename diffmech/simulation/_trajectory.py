"""The record of one run."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._batches import in_batches
from .._checks import as_array, in_force, is_traced
from .._records import require_writable, write_csv
from .._results import RESULTS, same
from .._typing import AnyArray, Number, Params, Samples, Times
from .._void import void
from ..motion import (
    BodyState,
    Energy,
    Reaction,
    body_states_along,
    energy_of,
    reactions_along,
    require_parts,
    unpack,
)
from ._between import knots_along, states_between
from ._constraint_record import (
    ConstraintRecord,
    closest_approaches,
    constraints_along,
    restricts_rates_only,
)
from ._report import Report, assess
from ._run_data import RunData
from ._run_file import RunOnFile, write_run
from ._second_run import estimate_errors, unknown_errors
from ._summary import summarise

_T = TypeVar("_T")
_REPORTS = ("report with errors", "report without errors")
_SAMPLED = ("ts", "qs", "qds", "work")


@jax.tree_util.register_pytree_node_class
class _Memo:
    """Things computed once per record; to JAX it is empty, so a transformed copy starts anew."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def get(self, key: str, compute: Callable[[], _T]) -> _T:
        if key not in self._values:
            value = compute()
            if is_traced(value):
                return value
            self._values[key] = value
        return self._values[key]

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def tree_flatten(self) -> tuple[tuple[()], None]:
        return (), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: tuple[()]) -> "_Memo":
        del aux, children
        return cls()


@eqx.filter_jit
def _energies(laws: Any, ts: Times, qs: Samples, qds: Samples, params: Params) -> Energy:
    return jax.vmap(lambda t, q, qd: energy_of(laws, q, qd, t, params))(ts, qs, qds)


class Trajectory(RunData):
    """A motion, and the reasons to believe it.

    Attributes:
        ts: sample times, shape (k,) [s].
        qs: coordinates, shape (k, n).
        qds: their rates, shape (k, n) [1/s].
        work: work done by forces, dissipation and explicit time dependence since the start,
            shape (k,) [J].
        residuals: what is left of the constraints at the samples, φ(q, t) and for rows that
            restrict rates A q̇ + a, shape (k, m); m = 0 without constraints.
        multipliers: λ at the samples, shape (k, m), columns named by `system.rows`; NaN where it
            is not unique.
        constraints: `ConstraintRecord(residual, rate_residual, multipliers, distance)`, all that
            is known of the constraints.
        status: how the run ended, a member of `RESULTS`.
        event: name of the event that ended the run, or None.
        energies: total, kinetic and potential energy at the samples.
        end: `End(t, q, qd, work)`, where the run ended; under a transformation too.
        stats: steps accepted and rejected.
        params, system: what was simulated.
        settings: how.

    Calling it, `trajectory(t)`, gives (q, q̇) between the samples. Printing it gives the report of
    `report()`, which makes a second, finer run the first time. Under a transformation (`jit`,
    `grad`, `vmap`) the arrays are there, the report is not; samples after an event or a failure
    are NaN, and so is the end of a run that failed.
    """

    _memo: _Memo = eqx.field(default_factory=_Memo)

    @classmethod
    def of(cls, data: RunData) -> "Trajectory":
        """A record of these samples."""
        return cls(**{field.name: getattr(data, field.name) for field in dataclasses.fields(data)})

    def single_run(self) -> "Trajectory":
        """This run, if it is a single one outside of transformations, without their padding."""
        if is_traced(self.qs, self.params):
            raise ValueError("this needs numbers: use it outside of `jit`, `grad` and `vmap`")
        if np.ndim(self.qs) != 2:
            raise ValueError(
                f"this is a batch of runs, qs has shape {self.qs.shape}: take one of them with "
                "`jax.tree.map(lambda x: x[0], batch)`"
            )
        kept = np.isfinite(np.asarray(self.ts))
        if kept.all():
            return self
        arrays = {name: np.asarray(getattr(self, name))[kept] for name in _SAMPLED}
        if self.event is not None:
            end = {"ts": self.end.t, "qs": self.end.q, "qds": self.end.qd, "work": self.end.work}
            arrays |= {name: np.append(arrays[name], [x], axis=0) for name, x in end.items()}
        return dataclasses.replace(self, **arrays, _memo=_Memo())

    @property
    def energies(self) -> Energy:
        """Total, kinetic and potential energy at the samples, each of shape (k,) [J]."""
        if np.ndim(self.qs) != 2:
            self.single_run()
        return self._memo.get(
            "energies",
            lambda: in_batches(_energies, self.laws, (self.ts, self.qs, self.qds), self.params),
        )

    @property
    def constraints(self) -> ConstraintRecord:
        """Residuals, multipliers and distance from rank loss at the samples."""
        if np.ndim(self.qs) != 2:
            self.single_run()
        return self._memo.get(
            "constraints",
            lambda: constraints_along(self.laws, self.ts, self.qs, self.qds, self.params),
        )

    @property
    def residuals(self) -> AnyArray:
        """φ at the samples, or A q̇ + a of rows that restrict rates only; shape (k, m)."""
        left, rate_left = self.constraints[:2]
        return jnp.where(left == 0, jnp.where(restricts_rates_only(self), rate_left, 0.0), left)

    @property
    def multipliers(self) -> AnyArray:
        """λ in M q̈ + b = Jᵀλ at the samples, shape (k, m); NaN where it is not unique."""
        return self.constraints.multipliers

    def bodies(self) -> dict[str, BodyState]:
        """Every body of a machine of parts along the run, by name; arrays of shape (k, ...)."""
        parts = require_parts(self.system, "the motion of single bodies")
        run = self.single_run()
        return body_states_along(parts, run.qs, run.qds, run.ts, run.params)

    def reactions(self) -> dict[str, Reaction]:
        """Force and moment of every named joint along the run, by name; arrays of shape (k, 3)."""
        run = self.single_run()
        return reactions_along(run.system, run.qs, run.qds, run.ts, run.params)

    def __call__(self, t: Number) -> tuple[AnyArray, AnyArray]:
        """(q, q̇) at a time, or at an array of times, within the run.

        With `simulate(dense=True)` this is the solver's own interpolation; otherwise a polynomial
        of degree 7 through coordinates, rates, accelerations and their rates at the two samples
        around each time, whose error falls with the seventh power of their distance.

        Under `jit`, `grad` and `vmap` a time outside the run gives NaN.

        Raises:
            ValueError: a time outside the run.
        """
        try:
            times = in_force(as_array(t))
        except (TypeError, ValueError) as error:
            raise ValueError(f"`t` must be a time or an array of times, but {error}") from error
        first, last = self.ts[0], self.goal
        if not is_traced(self.ts, self.qs):
            if np.ndim(self.qs) != 2 or not np.isfinite(np.asarray(self.ts[-1])):
                return self.single_run()(times)
            if len(self.ts) < 2:
                raise ValueError("the run has a single sample, so there is nothing in between")
            last = self.ts[-1]
        inside = (times >= first) & (times <= last)
        if not is_traced(inside) and not np.all(inside):
            raise ValueError(
                f"`t` must lie within the run, {float(first):g} to {float(last):g} s, but is {t}"
            )
        flat = times.reshape(-1)
        dense = self.interpolation is not None
        knots = None if dense else self._memo.get("knots", lambda: knots_along(self))
        ys = states_between(self, flat, knots)
        if is_traced(inside):
            ys = void(ys, ~inside.reshape(-1))
        q, qd, _ = unpack(ys)
        shape = (*times.shape, self.qs.shape[1])
        return q.reshape(shape), qd.reshape(shape)

    def report(self, *, second_run: bool | None = None, progress: bool | None = None) -> Report:
        """Why this run can be believed, and for how long; made once, on first use.

        The errors come from a second, finer run, which takes a few times as long as the first.
        `second_run=False` does without and leaves them unknown (NaN). None means the report that
        has been made already; else one with errors, unless the run was interrupted. `progress` is
        that of `simulate`.
        """
        run = self.single_run()
        if second_run is None:
            with_errors, without = (key in self._memo for key in _REPORTS)
            interrupted = same(run.status, RESULTS.interrupted)
            second_run = with_errors or not (without or interrupted)
        key = _REPORTS[0 if second_run else 1]

        def assessed() -> Report:
            errors = estimate_errors(run, progress) if second_run else unknown_errors(run)
            approaches = closest_approaches(run, run.constraints, run)
            return assess(run, run.energies, run.constraints, approaches, errors)

        return self._memo.get(key, assessed)

    def __str__(self) -> str:
        if is_traced(self.qs, self.params):
            return f"Trajectory of {self.system.name} under a JAX transformation"
        if np.ndim(self.qs) != 2:
            return f"Trajectory of {self.system.name}, batched: qs has shape {self.qs.shape}"
        return str(self.report())

    def summary(self) -> dict[str, Any]:
        """The final state and the report as a dictionary that JSON can hold."""
        run = self.single_run()
        return summarise(run, run.report())

    def remembering(
        self, report: Report, energies: Energy, constraints: ConstraintRecord
    ) -> "Trajectory":
        """The same run with what is computed from it known already, as when read from a file."""
        compared = not np.all(np.isnan(report.error))
        self._memo.get(_REPORTS[0 if compared else 1], lambda: report)
        self._memo.get("energies", lambda: energies)
        self._memo.get("constraints", lambda: constraints)
        return self

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the run and its report to a checksummed `.npz`, all of it or nothing.

        `diffmech.load` reads it back. Functions are not written: `load` takes the machine again,
        and a method that has no name; of events their names are kept. Dense output is not written.
        """
        require_writable(path, overwrite=overwrite)
        run = self.single_run()
        kept = RunOnFile(run, run.report(), run.energies, run.constraints)
        return write_run(kept, path, overwrite=overwrite)

    def to_csv(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write time, coordinates, rates, energy, work and multipliers as columns with a header."""
        run = self.single_run()
        names = list(run.system.coordinates)
        rows = [f"lambda_{row}" for row in getattr(run.system, "rows", ())]
        header = ["t", *names, *(f"{name}_dot" for name in names), "energy", "work", *rows]
        columns = [run.ts, *run.qs.T, *run.qds.T, run.energies.total, run.work]
        columns += list(run.multipliers.T)
        return write_csv(path, header, [np.asarray(c) for c in columns], overwrite=overwrite)
