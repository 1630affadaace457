"""What a fit has found, in numbers."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import ndtri

from .._typing import AnyArray
from .._units import rate_unit
from ..model import AbstractSystem, parameter_paths
from ._intervals import Edge, allowed, edges_of, interval
from ._record import Record
from ._whiteness import Whiteness

SHARE = 1e-6  # of a direction nobody knows, from which on a number counts as not determined


class AbstractFit(eqx.Module):
    """The numbers of a fit, which `Fit` explains, puts in words and writes to a file."""

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
        """The value found for a free number, by name, in its own unit."""
        return float(self.values[self._index(name)])

    def error(self, name: str) -> float:
        """The standard error of a free number, in its own unit; infinite if it is undetermined."""
        return float(self.errors[self._index(name)])

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Between which values a free number lies, one-sided where it ended on its limit.

        All values that are possible at a χ² of at most q² above the least, q the quantile of the
        normal distribution for `level`, in the linearised problem; the whole range that its limits
        leave where the data do not determine it.
        """
        if not 0 < level < 1:
            raise ValueError(f"`level` must be between 0 and 1, but is {level!r}")
        i, far = self._index(name), float(ndtri(0.5 + 0.5 * level))
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

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"{name!r} was not free: {', '.join(self.names)} were")
        return self.names.index(name)

    @property
    def correlation(self) -> np.ndarray:
        """Cᵢⱼ/√(Cᵢᵢ Cⱼⱼ) of the covariance C of the values found, shape (p, p)."""
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
        """ln L = −½ χ² − Σ ln(σ √(2π)) over all numbers measured: normal noise."""
        total = 0.0
        for c, noise in enumerate(self.noise):
            count = sum(int(np.sum(np.isfinite(r.values[:, c]))) for r in self.records)
            total -= count * np.log(noise * np.sqrt(2 * np.pi))
        return float(total - 0.5 * self.chi2)

    @property
    def aic(self) -> float:
        """Akaike's criterion: 2 k − 2 ln L, with noise that was estimated among the k unknowns.

        H. Akaike, IEEE Trans. Autom. Control 19 (1974) 716-723.
        """
        return 2 * self._fitted() - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion: k ln N − 2 ln L, of N numbers measured.

        G. Schwarz, Ann. Stat. 6 (1978) 461-464.
        """
        return self._fitted() * np.log(self.count) - 2 * self.log_likelihood

    def _fitted(self) -> int:
        return self.unknowns + int(np.sum(~np.asarray(self.noise_given)))


def channel_unit(system: AbstractSystem, channel: str) -> str:
    units = dict(system.coordinates)
    units |= {f"{name}_dot": rate_unit(unit) for name, unit in units.items()}
    return units.get(channel, "")
