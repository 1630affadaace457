"""What a fit has found, and how sure it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import ndtri

from .._typing import AnyArray
from .._units import rate_unit
from ..model import AbstractSystem, parameter_paths
from ._fit_text import met_exactly, summary_of, text_of, warnings_of
from ._intervals import Edge, allowed, edges_of, interval
from ._record import Record
from ._whiteness import Whiteness

SHARE = 1e-6  # of a direction nobody knows, from which on a number counts as not determined


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
        rows, limits: what intervals are found from: near the values found the cost is ½‖R d + e‖²,
            d their change in units of the starts, rows (R, e) of shape (p + 1, p + 1); and what
            must hold of z, values in these units, rows (a, b) of a·z ≥ b.
        starts: fitted state at each record's first time, shape (records, 2 n).
        records: what was fitted; `computed` the same values by the model, one array each.
        held: records that were held back; `predicted` their values by the model.
        noise: standard deviation of each channel; `noise_given` which were given.
        chi2: Σ r², r = (measured − computed)/σ, or Huber's function of r; `count` numbers measured,
            `unknowns` numbers fitted.
        condition: of the problem's matrix by what was free, each by its start.
        jump: the largest gap between neighbouring segments, relative to the size of the state.
        converged: whether the last step moved nothing by more than 1e-4 standard errors.
        whiteness: tests of the residuals.
        profiles: 95 % intervals found by fitting again with a number held, by name.
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
    rows: AnyArray
    limits: AnyArray
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
    profiles: dict[str, tuple[float, float]] = eqx.field(static=True)
    settings: dict[str, Any] = eqx.field(static=True)

    def __getitem__(self, name: str) -> float:
        """The value found for a free number."""
        return float(self.values[self._place(name)])

    def error(self, name: str) -> float:
        """Its standard error."""
        return float(self.errors[self._place(name)])

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Between which values a free number lies, one-sided where it ended on its limit.

        All values that are possible at a χ² of at most q² above the least, q the quantile of the
        normal distribution for `level`, in the linearised problem; the whole range that its limits
        leave where the data do not determine it.
        """
        if not 0 < level < 1:
            raise ValueError(f"`level` must be between 0 and 1, but is {level!r}")
        i, far = self._place(name), float(ndtri(0.5 + 0.5 * level))
        scale = np.array(self.settings["scale"])
        limits, z = np.asarray(self.limits), np.asarray(self.values) / scale
        if np.isinf(self.errors[i]):
            low, high = allowed(limits, i)
        elif len(self.unknown):  # directions that nothing holds; limits of others say no more
            reach = far * self.errors[i] / scale[i]
            low, high = max(z[i] - reach, allowed(limits, i)[0]), z[i] + reach
            high = min(high, allowed(limits, i)[1])
        else:
            low, high = interval(np.asarray(self.rows), limits, z, np.eye(len(z))[i], far)
        return float(low * scale[i]), float(high * scale[i])

    def edges(self, level: float = 0.95) -> tuple[Edge, ...]:
        """Limits of several numbers together on which the fit has ended, such as moments of a body.

        Each with the one-sided interval of what may not be negative there: from 0 to `most`.
        """
        scale = np.array(self.settings["scale"])
        z, far = np.asarray(self.values) / scale, float(ndtri(0.5 + 0.5 * level))
        return edges_of(np.asarray(self.rows), np.asarray(self.limits), z, scale, self.names, far)

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
        if lost > SHARE * np.linalg.norm(along):
            error = np.inf
        return float(value), error

    @property
    def known(self) -> dict[str, str]:
        """The parameters that were taken as they are, by path, as text: `[1., 1.]`."""
        return {
            path: np.array2string(np.asarray(value), separator=", ")
            for path, value in parameter_paths(self.system.params).items()
            if not any(name == path or name.startswith(f"{path}[") for name in self.names)
        }

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
        return tuple(channel_unit(self.system, channel) for channel in self.channels)

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
        if said:
            return f"To be used with care: {'; '.join(said)}."
        if met_exactly(self):
            return (
                "Believable: converged, and nothing is left but rounding: the data have no noise."
            )
        return "Believable: converged, and what is left looks like noise."

    def __str__(self) -> str:
        return text_of(self)

    def summary(self) -> dict[str, Any]:
        """All results but the samples as a dictionary that JSON can hold."""
        return summary_of(self)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the fit and its records to a checksummed `.npz`; `diffmech.load` reads it back."""
        from ._fit_files import save_fit  # the file format knows this record

        return save_fit(self, path, overwrite=overwrite)


def channel_unit(system: AbstractSystem, channel: str) -> str:
    units = dict(system.coordinates)
    units |= {f"{name}_dot": rate_unit(unit) for name, unit in units.items()}
    return units.get(channel, "")
