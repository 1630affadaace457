"""What a fit has found, and how sure it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray
from .._units import rate_unit
from ..model import AbstractSystem
from ._descent import Descent
from ._fit_text import summary_of, text_of, warnings_of
from ._limited import active
from ._record import Record
from ._residuals import Problem, linearised
from ._whiteness import Whiteness, whiteness

_DETERMINED = 1e-11  # of the largest singular value; below it is rounding
_SHARE = 1e-6  # of a direction nobody knows, from which on a number counts as not determined


class Fit(eqx.Module):
    """Parameters found from measured motion.

    Attributes:
        system: the machine with the parameters found.
        names, values, errors, units: of what was free, sensors' numbers last; errors are standard
            errors, infinite for what the data do not determine.
        covariance: of `values`, shape (p, p), in the directions that are determined.
        unknown: directions in which the data say nothing, shape (k, p), each of length 1 in units
            of the starts.
        limited: names of numbers that ended on a limit; their intervals are one-sided.
        starts: fitted state at each record's first time, shape (records, 2 n).
        records: what was fitted; `computed` the same values by the model, one array each.
        held: records that were held back; `predicted` their values by the model.
        noise: standard deviation of each channel; `noise_given` which were given.
        chi2: Σ (measured − computed)² / σ²; `count` numbers measured, `unknowns` numbers fitted.
        condition: of the problem's matrix by what was free, each by its start.
        jump: the largest gap between neighbouring segments, relative to the size of the state.
        converged: whether the last step moved nothing by more than 1e-4 standard errors.
        whiteness: tests of the residuals.
        settings: everything that influences the numbers.
    """

    system: AbstractSystem
    names: tuple[str, ...] = eqx.field(static=True)
    values: AnyArray
    errors: AnyArray
    units: tuple[str, ...] = eqx.field(static=True)
    covariance: AnyArray
    unknown: AnyArray
    limited: tuple[str, ...] = eqx.field(static=True)
    starts: AnyArray
    records: tuple[Record, ...]
    computed: tuple[AnyArray, ...]
    held: tuple[Record, ...]
    predicted: tuple[AnyArray, ...]
    noise: AnyArray
    noise_given: AnyArray
    chi2: float = eqx.field(static=True)
    count: int = eqx.field(static=True)
    unknowns: int = eqx.field(static=True)
    condition: float = eqx.field(static=True)
    jump: float = eqx.field(static=True)
    converged: bool = eqx.field(static=True)
    whiteness: Whiteness
    settings: dict[str, Any] = eqx.field(static=True)

    def __getitem__(self, name: str) -> float:
        """The value found for a free number."""
        return float(self.values[self._place(name)])

    def error(self, name: str) -> float:
        """Its standard error."""
        return float(self.errors[self._place(name)])

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"{name!r} was not free: {', '.join(self.names)} were")
        return self.names.index(name)

    @property
    def correlation(self) -> np.ndarray:
        """Of the values found, shape (p, p)."""
        size = np.sqrt(np.diag(self.covariance))
        size = np.where(size > 0, size, 1.0)
        return np.asarray(self.covariance) / np.outer(size, size)

    def of(self, function: Callable[..., Any]) -> tuple[float, float]:
        """A function of the free numbers, in order, as found; and its standard error.

        `fit.of(lambda length, gravity: gravity / length)`. Infinite error where the data do not
        determine it, though they may determine it where they do not determine its arguments.
        """
        values = [jnp.asarray(value) for value in self.values]
        value, slope = jax.value_and_grad(lambda x: jnp.asarray(function(*x), float))(values)
        slope = np.array(slope, float)
        error = float(np.sqrt(slope @ self.covariance @ slope))
        along = slope * np.array(self.settings["scale"])
        lost = np.max(np.abs(self.unknown @ along), initial=0.0)
        if lost > _SHARE * np.linalg.norm(along):
            error = np.inf
        return float(value), error

    def rms(self, held: bool = False) -> np.ndarray:
        """Root mean square of measured − computed, of each record and channel, (records, c)."""
        pairs = zip(
            self.held if held else self.records,
            self.predicted if held else self.computed,
            strict=True,
        )
        return np.array([
            np.sqrt(np.nanmean((np.asarray(r.values) - c) ** 2, axis=0)) for r, c in pairs
        ])  # fmt: skip

    def misfit(self, held: bool = False) -> np.ndarray:
        """Root mean square of measured − computed over all records, of each channel, (c,)."""
        records, shown = (self.held, self.predicted) if held else (self.records, self.computed)
        apart = [np.asarray(r.values) - c for r, c in zip(records, shown, strict=True)]
        return np.sqrt(np.nanmean(np.concatenate(apart) ** 2, axis=0))

    @property
    def channels(self) -> tuple[str, ...]:
        """What was measured, by name."""
        return self.records[0].channels

    @property
    def channel_units(self) -> tuple[str, ...]:
        """Of channels that are coordinates or rates by name; "" for others."""
        return tuple(_channel_unit(self.system, channel) for channel in self.channels)

    @property
    def log_likelihood(self) -> float:
        """ln of the density of the data, of normal noise."""
        total = 0.0
        for c, noise in enumerate(self.noise):
            count = sum(int(np.sum(np.isfinite(r.values[:, c]))) for r in self.records)
            total -= count * np.log(noise * np.sqrt(2 * np.pi))
        return float(total - 0.5 * self.chi2)

    @property
    def aic(self) -> float:
        """Akaike's criterion: 2 k − 2 ln L, with noise that was estimated among the unknowns."""
        return 2 * self._fitted() - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion: k ln N − 2 ln L."""
        return self._fitted() * np.log(self.count) - 2 * self.log_likelihood

    def _fitted(self) -> int:
        return self.unknowns + int(np.sum(~np.asarray(self.noise_given)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before using the numbers."""
        return warnings_of(self)

    @property
    def verdict(self) -> str:
        """In one sentence."""
        said = self.warnings
        if not said:
            return "Believable: converged, and what is left looks like noise."
        return f"To be used with care: {'; '.join(said)}."

    def __str__(self) -> str:
        return text_of(self)

    def summary(self) -> dict[str, Any]:
        """All results but the samples as a dictionary that JSON can hold."""
        return summary_of(self)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the fit and its records to a checksummed `.npz`; `load_fit` reads it back."""
        from ._fit_files import save_fit  # the file format knows this record

        return save_fit(self, path, overwrite=overwrite)


def made_of(
    problem: Problem,
    found: Descent,
    names: tuple[str, ...],
    given: np.ndarray,
    predicted: tuple[Problem, Descent] | None,
    settings: dict[str, Any],
) -> Fit:
    """The record of a fit that has come to an end."""
    z, free = found.z[0], problem.machine.free
    own = len(free.names)
    scale = np.concatenate([free.scale, np.ones(problem.sensors.size)])
    rows = np.concatenate([found.rows[0], problem.priors])[:, :-1]
    covariance, unknown, condition, limited = _spread(rows, problem.limits, z)
    values = z * scale
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0)) * scale
    if len(unknown):
        errors = np.where(np.max(np.abs(unknown), axis=0) > _SHARE, np.inf, errors)
    computed = _computed(problem, found)
    here = linearised(problem, found.z, found.states)
    first = np.unique(problem.segments.record, return_index=True)[1]
    count = sum(int(np.sum(np.isfinite(record.values))) for record in problem.records)
    units = list(free.units)
    units += [_sensor_unit(problem.machine.system, name) for name in names[own:]]
    return Fit(
        system=problem.machine.system.with_params(
            dict(zip(free.names, map(float, values[:own]), strict=True))
        ),
        names=names,
        values=values,
        errors=errors,
        units=tuple(units),
        covariance=covariance * np.outer(scale, scale),
        unknown=unknown,
        limited=tuple(name for name, hit in zip(names, limited, strict=True) if hit),
        starts=found.states[0][first],
        records=problem.records,
        computed=computed,
        held=() if predicted is None else predicted[0].records,
        predicted=() if predicted is None else _computed(*predicted),
        noise=problem.noise,
        noise_given=given,
        chi2=float(np.sum(here.residuals**2)),
        count=count,
        unknowns=problem.p + len(problem.records) * problem.machine.size,
        condition=condition,
        jump=float(found.jump[0]),
        converged=bool(found.settled[0]),
        whiteness=whiteness([
            (np.asarray(r.values) - c) / problem.noise
            for r, c in zip(problem.records, computed, strict=True)
        ]),
        settings={**settings, "scale": scale.tolist(), "steps": found.steps},
    )  # fmt: skip


def _channel_unit(system: AbstractSystem, channel: str) -> str:
    units = dict(system.coordinates)
    units |= {f"{name}_dot": rate_unit(unit) for name, unit in units.items()}
    return units.get(channel, "")


def _sensor_unit(system: AbstractSystem, name: str) -> str:
    """Of "offset of theta" and the like."""
    kind, _, channel = name.partition(" of ")
    return {"scale": "1", "delay": "s"}.get(kind) or _channel_unit(system, channel)


def _spread(
    rows: np.ndarray, limits: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """Covariance of z, directions nobody knows, condition, and which numbers are on a limit.

    Along an active limit there is no room: the covariance is that inside it.
    """
    p = rows.shape[1]
    held = limits[active(limits, z), :-1] if len(limits) else np.zeros((0, p))
    basis = np.eye(p)
    if len(held):
        basis = np.linalg.svd(held)[2][np.linalg.matrix_rank(held) :].T
    _, sizes, turned = np.linalg.svd(rows @ basis, full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(basis.shape[1] - len(sizes))])
    largest = np.max(sizes, initial=0.0)
    known = sizes > _DETERMINED * largest if largest > 0 else np.zeros(len(sizes), bool)
    inside = (turned[known].T / sizes[known] ** 2) @ turned[known]
    smallest = np.min(sizes[known], initial=np.inf)
    condition = float(largest / smallest) if np.any(known) else np.inf
    on_limit = np.any(np.abs(held) > 1e-9, axis=0)
    return basis @ inside @ basis.T, (basis @ turned[~known].T).T, condition, on_limit


def _computed(problem: Problem, found: Descent) -> tuple[np.ndarray, ...]:
    """What the model shows at every sample, sensors included; NaN where nothing was measured."""
    here = linearised(problem, found.z, found.states)
    dealt = problem.dealt(found.z[0])
    results = []
    for r, record in enumerate(problem.records):
        mine = problem.segments.record == r
        measured = np.asarray(record.values)
        counts = np.isfinite(measured)
        if record.weights is not None:
            counts &= np.asarray(record.weights) > 0
        values = np.full(measured.shape, np.nan)
        for c in range(len(problem.noise)):
            times, weights = dealt.times[mine], dealt.weights[mine][..., c]
            there = weights > 0
            order = np.argsort(times[there], kind="stable")
            miss = (here.residuals[0][mine][..., c][there] / weights[there])[order]
            seen = counts[:, c]
            values[seen, c] = measured[seen, c] + miss
        results.append(values)
    return tuple(results)
