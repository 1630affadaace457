"""A fit in words: what it found, what to know before using it, and the same for other programs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._printing import aligned
from .._records import finite_or_none
from .._units import unit_after
from ._fit_numbers import AbstractFit
from ._limited import active
from ._record import Record

_EXACT = 0.1  # of a noise that was estimated: only exact data, which have a least one, miss less
_WORSE = 1.5  # times the error on fitted records: a model that does not carry over


def warnings_of(fit: AbstractFit) -> tuple[str, ...]:
    """What to know before using the numbers."""
    said = []
    if fit.settings.get("interrupted"):
        said.append("it was broken off: the numbers are the best so far")
    elif not fit.converged:
        said.append("it has not converged: the numbers are where it stopped")
    lost = [name for name, e in zip(fit.names, fit.errors, strict=True) if np.isinf(e)]
    if len(lost) > 1:  # combinations of them may be: `of` tells
        said.append(f"{_joined(lost)} are not each determined by these data")
    elif lost:
        said.append(f"{lost[0]} is not determined by these data")
    alone = _limited_alone(fit)
    if len(alone) > 1:
        said.append(f"{_joined(alone)} ended on their limits: their intervals are one-sided")
    elif alone:
        said.append(f"{alone[0]} ended on its limit: its interval is one-sided")
    for edge in fit.edges():
        said.append(
            f"it ended on the edge of what is possible, {edge.text} = 0, which the data tell to be "
            f"at most {edge.most:.2g} (95 %, one-sided); errors are those along the edge"
        )
    ratio = _times_the_noise(fit)
    if ratio is not None:
        said.append(
            f"the misfit is {ratio:.3g} times the noise given: the model lacks something, and "
            "errors are too small"
        )
    if not (fit.whiteness.white or _met_exactly(fit)):
        said.append(f"residuals are not noise: {fit.whiteness.sentence}")
    foreseen = fit.settings.get("foreseen", np.inf)
    if fit.converged and np.isfinite(foreseen):  # what has not arrived is no motion yet
        said.append(
            f"a single run from the fitted start shows this motion for {foreseen:.3g} s at most: "
            "it is chaotic, and rounding grows beyond the noise"
        )
    if fit.held:
        ours, theirs = fit.misfit(), fit.misfit(held=True)
        least = np.where(fit.noise_given, 0.0, _EXACT * fit.noise)
        if np.any(theirs > np.maximum(_WORSE * ours, least)):
            said.append(
                f"records held back are missed by {np.max(theirs / ours):.3g} times as much as "
                "those fitted: the model does not carry over"
            )
    return tuple(said)


def _met_exactly(fit: AbstractFit) -> bool:
    """Whether data are without noise, so that what is left is how they were computed."""
    return bool(not np.any(fit.noise_given) and np.all(fit.misfit() < _EXACT * fit.noise))


def _times_the_noise(fit: AbstractFit) -> float | None:
    """By how much the misfit exceeds the noise given, if by more than chance.

    With Huber's loss by the median, which outliers do not move.
    """
    spare = fit.count - fit.unknowns
    if not np.all(fit.noise_given) or spare <= 0:
        return None
    if fit.settings["loss"] == "squares":
        return (
            float(np.sqrt(fit.chi2 / spare)) if fit.chi2 > spare + 4 * np.sqrt(2 * spare) else None
        )
    apart = [np.asarray(r.values) - c for r, c in zip(fit.records, fit.computed, strict=True)]
    sizes = np.abs(np.concatenate(apart) / fit.noise)
    ratio = np.nanmedian(sizes) / 0.6745 * np.sqrt(fit.count / spare)  # of normal noise: 1
    return float(ratio) if ratio > 1 + 4 * 1.17 / np.sqrt(fit.count) else None


def _limited_alone(fit: AbstractFit) -> list[str]:
    """Numbers that ended on a limit of their own, not only on one that they share."""
    rows = np.asarray(fit.limits)[:, :-1]
    touched = active(np.asarray(fit.limits), np.asarray(fit.values) / fit.settings["scale"])
    single = touched & (np.sum(rows != 0, axis=1) == 1)
    return [name for i, name in enumerate(fit.names) if np.any(rows[single, i])]


def _joined(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def verdict_of(fit: AbstractFit) -> str:
    """How far to believe the numbers, in one sentence."""
    reservations = warnings_of(fit)
    if reservations:
        return f"To be used with care: {'; '.join(reservations)}."
    if _met_exactly(fit):
        return "Believable: converged, and nothing is left but rounding: the data have no noise."
    return "Believable: converged, and what is left looks like noise."


def text_of(fit: AbstractFit) -> str:
    """A line for every free number, misfits, and the verdict, aligned."""
    settings, alone = fit.settings, _limited_alone(fit)
    rows = [
        (
            "fit",
            f"{fit.system.name}, {fit.count} numbers of {counted(fit.records)}, "
            f"{settings['segments']} segments of {settings['segment']:.3g} s tied end to end",
        )
    ]
    for name, value, error, unit in zip(fit.names, fit.values, fit.errors, fit.units, strict=True):
        shown = f"{with_error(value, error)}{unit_after(unit)}"
        if name in alone:
            low, high = fit.interval(name)
            shown += f", on its limit: 95 % from {low:.4g} to {high:.4g}"
        if name in fit.profiles:
            low, high = fit.profiles[name]
            shown += f", by profile 95 % from {low:.4g} to {high:.4g}"
        rows.append((name, shown))
    rows.append(("misfit", f"{_by_channel(fit, fit.misfit())} (root mean square)"))
    if fit.held:
        theirs = _by_channel(fit, fit.misfit(held=True))
        rows.append(("held", f"{theirs} ({counted(fit.held)} held back)"))
    criteria = f"condition {fit.condition:.2g}, AIC {fit.aic:.6g}, BIC {fit.bic:.6g}"
    rows += [("known", settings["words"]), ("numbers", criteria), ("verdict", verdict_of(fit))]
    return aligned(rows)


def counted(records: tuple[Record, ...]) -> str:
    """How many records, in words."""
    return f"{len(records)} record{'s' * (len(records) != 1)}"


def _by_channel(fit: AbstractFit, values: np.ndarray) -> str:
    triples = zip(fit.channels, values, fit.channel_units, strict=True)
    return ", ".join(f"{name} {value:.3g}{unit_after(unit)}" for name, value, unit in triples)


def with_error(value: float, error: float) -> str:
    """A value to the digits that its error leaves."""
    if not np.isfinite(error):
        return f"{value:.4g} (not determined)"
    if error <= 0:
        return f"{value:.4g}"  # held by its limit
    digits = max(int(np.ceil(np.log10(abs(value) / error))) + 2, 2) if value else 2
    return f"{value:.{min(digits, 15)}g} ± {error:.2g}"


def summary_of(fit: AbstractFit) -> dict[str, Any]:
    """A fit in numbers and words that JSON can hold; what is not finite becomes None."""

    def by_channel(values: Any) -> dict[str, float | None]:
        return dict(zip(fit.channels, _plain(values), strict=True))

    def by_record(held: bool) -> list[dict[str, Any]]:
        return [
            {"name": record.name, "samples": len(record), "rms": by_channel(rms)}
            for record, rms in zip(
                fit.held if held else fit.records, fit.rms(held=held), strict=True
            )
        ]

    white = fit.whiteness
    return {
        "system": fit.system.name,
        "free": {
            name: {
                "value": finite_or_none(float(value)),
                "error": finite_or_none(float(error)),
                "interval": _plain(fit.interval(name)),
                "profile": _plain(fit.profiles[name]) if name in fit.profiles else None,
                "unit": unit,
                "limited": name in fit.limited,
            }
            for name, value, error, unit in zip(
                fit.names, fit.values, fit.errors, fit.units, strict=True
            )
        },
        "correlation": [_plain(row) for row in fit.correlation],
        "rms": by_channel(fit.misfit()),
        "held_rms": by_channel(fit.misfit(held=True)) if fit.held else None,
        "records": by_record(held=False),
        "held": by_record(held=True),
        "channel_units": dict(zip(fit.channels, fit.channel_units, strict=True)),
        "noise": by_channel(fit.noise),
        "noise_given": dict(zip(fit.channels, map(bool, fit.noise_given), strict=True)),
        "chi2": finite_or_none(fit.chi2),
        "count": fit.count,
        "unknowns": fit.unknowns,
        "condition": finite_or_none(fit.condition),
        "aic": finite_or_none(fit.aic),
        "bic": finite_or_none(fit.bic),
        "whiteness": {
            "white": white.white,
            "runs": by_channel(white.runs),
            "correlation": by_channel(white.correlation),
            "spread": by_channel(white.spread),
        },
        "warnings": list(warnings_of(fit)),
        "verdict": verdict_of(fit),
        "converged": fit.converged,
        "settings": {
            key: finite_or_none(value) if isinstance(value, float) else value
            for key, value in fit.settings.items()
        },
    }


def _plain(values: Any) -> list[float | None]:
    return [finite_or_none(float(value)) for value in np.asarray(values)]
