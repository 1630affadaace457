"""Which of several models do the data prefer?"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import require_kind
from .._printing import tabled
from .._suggest import quoted
from .._units import unit_after
from ._fit_record import Fit
from ._record import Record

# Difference in AIC from which on a model has essentially no support: K. P. Burnham, D. R. Anderson,
# Model Selection and Multimodel Inference, 2nd ed., Springer, 2002, p. 70.
_CLEAR = 10.0
_WEAK = 2.0  # below it models are as good as each other
_NOTABLE = 0.01  # of the smallest error on records held back: what is closer is as good


class Comparison(eqx.Module):
    """Models of the same data, the preferred one first.

    Attributes:
        names: what the models are called, best first.
        fits: their fits, in the same order.
        by: what they are sorted by, "held" (error on records held back) or "AIC" (as `Fit.aic`).
    """

    names: tuple[str, ...] = eqx.field(static=True)
    fits: tuple[Fit, ...]
    by: str = eqx.field(static=True)

    @property
    def best(self) -> str:
        """The name of the model that the data prefer."""
        return self.names[0]

    def __getitem__(self, name: str) -> Fit:
        """The fit of a model, by name."""
        if name not in self.names:
            raise ValueError(f"{quoted(name)} was not compared: {', '.join(self.names)} were")
        return self.fits[self.names.index(name)]

    @property
    def differences(self) -> np.ndarray:
        """What each model is worse by than the best, in what they are sorted by, shape (k,).

        Errors on records held back are relative to the best one's; AIC is in its own units.
        """
        scores = np.array([_score(fit, self.by) for fit in self.fits])
        return scores / scores[0] - 1 if self.by == "held" else scores - scores[0]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before believing the order."""
        said = [
            f"{name} has not converged: its rank may change"
            for name, fit in zip(self.names, self.fits, strict=True)
            if not fit.converged
        ]
        trained = self.names[int(np.argmin([fit.aic for fit in self.fits]))]
        if self.by == "held" and trained != self.best and self._apart(trained):
            said.append(
                f"{trained} wins on the records fitted (AIC) and loses on those held back: what it "
                "gained does not carry over"
            )
        return tuple(said)

    def _apart(self, name: str) -> bool:
        """Whether a model is notably worse than the best."""
        least = _NOTABLE if self.by == "held" else _WEAK
        return bool(self.differences[self.names.index(name)] > least)

    @property
    def verdict(self) -> str:
        """Which model the data prefer, and by what, in one sentence."""
        if len(self.names) == 1:
            return f"There is nothing to compare {self.best} with."
        second, gap = self.names[1], float(self.differences[1])
        alike = [name for name in self.names if not self._apart(name)]
        if len(alike) > 1:
            same = "records held back" if self.by == "held" else "AIC"
            said = f"The data do not tell {', '.join(alike[:-1])} and {alike[-1]} apart by {same}"
            fewest = min(alike, key=lambda name: self[name].unknowns)
            if all(self[name].unknowns > self[fewest].unknowns for name in alike if name != fewest):
                said += f"; {fewest} needs the fewest numbers"
            return f"{said}."
        if self.by == "held":
            return (
                f"The data prefer {self.best}: it misses records held back by "
                f"{100 * gap / (1 + gap):.2g} % less than {second}."
            )
        strength = "clearly" if gap > _CLEAR else "by a little"
        return f"The data prefer {self.best} {strength}: its AIC is {gap:.3g} below {second}'s."

    def __str__(self) -> str:
        channels, units = self.fits[0].channels, self.fits[0].channel_units
        header = ["model", "free"]
        header += [
            f"rms {name}{_bracketed(unit)}" for name, unit in zip(channels, units, strict=True)
        ]
        if self.fits[0].held:
            header += [f"held {name}" for name in channels]
        header += ["AIC", "BIC", "worse by"]
        rows = [header]
        for name, fit, gap in zip(self.names, self.fits, self.differences, strict=True):
            cells = [name, str(len(fit.names)), *(f"{x:.4g}" for x in fit.misfit())]
            if fit.held:
                cells += [f"{x:.4g}" for x in fit.misfit(held=True)]
            worse = f"{100 * gap:.3g} %" if self.by == "held" else f"{gap:.4g}"
            rows.append([*cells, f"{fit.aic:.1f}", f"{fit.bic:.1f}", worse if gap else "-"])
        what = "error on records held back" if self.by == "held" else "AIC"
        warnings = [f"Beware: {warning}." for warning in self.warnings]
        return "\n".join([tabled(rows), f"Sorted by {what}. {self.verdict}", *warnings])


def _bracketed(unit: str) -> str:
    return f" [{unit_after(unit).strip()}]" if unit_after(unit) else ""


def _score(fit: Fit, by: str) -> float:
    """What the smallest of is best.

    On records held back, √(mean over channels of (error / standard deviation of the data)²), so
    that channels of different units add up.
    """
    if by == "AIC":
        return fit.aic
    spread = np.nanstd(np.concatenate([np.asarray(r.values) for r in fit.held]), axis=0)
    return float(np.sqrt(np.mean((fit.misfit(held=True) / np.where(spread > 0, spread, 1)) ** 2)))


def compare(fits: Mapping[str, Any] | Sequence[Any]) -> Comparison:
    """Sort fits of the same data by how well they explain them.

        print(dm.compare({"viscous": one, "dry": two}))

    By the error on records that were held back, where there are any, else by Akaike's criterion:

        √(mean over channels of (misfit / standard deviation of the data)²)   or   2 k − 2 ln L

    Both are pure numbers, and the smallest is best; the data are those held back, k counts the
    numbers fitted, starts and estimated noise included, L is the likelihood (`Fit.log_likelihood`).

    Args:
        fits: results of `fit` by name, or in a list, which are named "model 1", "model 2", ... All
            must be of the same records, the same records held back, and the same noise.

    Returns:
        A `Comparison`, the preferred model first; it prints as a table.

    Raises:
        ValueError: nothing to compare, what is no `Fit`, or fits of different data or noise; what
            differs is said.
    """
    if not isinstance(fits, Mapping):
        require_kind(fits, Sequence, "fits", "results of `fit`, by name or in a list")
        fits = {f"model {i + 1}": fit for i, fit in enumerate(fits)}
    if not fits:
        raise ValueError("`fits` must have at least one fit, but is empty")
    for name, fit in fits.items():
        if not isinstance(fit, Fit):
            raise ValueError(
                f"`fits` must be results of `fit`, but {quoted(name)} is a {type(fit).__name__}"
            )
    first = next(iter(fits))
    for name, fit in fits.items():
        for what, ours, theirs in (
            ("was fitted to", fits[first].records, fit.records),
            ("held back", fits[first].held, fit.held),
        ):
            reason = _difference(ours, theirs)
            if reason:
                raise ValueError(
                    f"`fits` must be of the same data, but what {quoted(name)} {what} differs from "
                    f"that of {quoted(first)}: {reason}"
                )
        _require_same_noise(first, fits[first], name, fit)
    by = "held" if fits[first].held else "AIC"
    order = sorted(fits, key=lambda name: _score(fits[name], by))
    return Comparison(tuple(map(str, order)), tuple(fits[name] for name in order), by)


def _require_same_noise(first: str, one: Fit, name: str, other: Fit) -> None:
    """Noise that was given to one and not to another, or another one, changes what AIC means."""
    given = np.asarray(one.noise_given), np.asarray(other.noise_given)
    noise = np.asarray(one.noise), np.asarray(other.noise)
    if np.any(given[0] != given[1]) or np.any(noise[0][given[0]] != noise[1][given[0]]):
        raise ValueError(
            f"`fits` must be made with the same noise, but {quoted(name)} and {quoted(first)} were "
            "not: give the same `noise` to both, or to none"
        )


def _difference(ours: Iterable[Record], theirs: Iterable[Record]) -> str:
    """Why records are not the same, or nothing."""
    ours, theirs = tuple(ours), tuple(theirs)
    if [record.name for record in ours] != [record.name for record in theirs]:
        names = (", ".join(r.name for r in each) or "nothing" for each in (theirs, ours))
        return "{} against {}".format(*names)
    for one, other in zip(ours, theirs, strict=True):
        if one.channels != other.channels:
            return (
                f"record {quoted(one.name)} has the channels {', '.join(other.channels)} against "
                f"{', '.join(one.channels)}"
            )
        if len(one) != len(other):
            return f"record {quoted(one.name)} has {len(other)} samples against {len(one)}"
        if not np.array_equal(one.ts, other.ts):
            return f"record {quoted(one.name)} has other times"
        if not np.array_equal(one.values, other.values, equal_nan=True):
            return f"record {quoted(one.name)} has other values"
    return ""
