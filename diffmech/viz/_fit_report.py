"""A fit as a folder: a report to read, its pictures, and the numbers."""

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from .._folders import staged_folder
from .._records import reason_of
from .._units import unit_after
from ..identification import Fit
from ._fits import correlations, fit as measured_and_model, fit_residuals
from ._pages import save_figure

REPORT, NUMBERS = "report.md", "fit.npz"
MEASURED, RESIDUALS, CORRELATIONS = "measured.png", "residuals.png", "correlations.png"
# The numbers move into place last: where they are, the rest belongs to them.
_MEMBERS = (REPORT, MEASURED, RESIDUALS, CORRELATIONS, NUMBERS)
_SPECIAL = re.compile(r"([\\`*_<>|$~#&]|\](?=\())")


@contextlib.contextmanager
def fit_folder(path: str | Path, *, overwrite: bool = False) -> Iterator[Callable[..., None]]:
    """Reserve a folder for a fit that is still to be made; gives the function that fills it.

    `write(fit, command=, data=)` takes the fit; `command` and `data` say in the report how it was
    made and of what. If the block fails, nothing appears, and an older fit there stays.

    Raises:
        FileExistsError: the folder holds a fit already and `overwrite` is not set.
    """
    with staged_folder(path, _MEMBERS, overwrite=overwrite) as stage:
        yield functools.partial(_fill, stage)


def save_fit_folder(fit: Fit, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fit's report, pictures and numbers into a folder, all of it or nothing.

    `report.md`, `measured.png`, `residuals.png`, `correlations.png`, and `fit.npz`, which
    `diffmech.load` reads.
    """
    with fit_folder(path, overwrite=overwrite) as write:
        write(fit)
    return Path(path)


def _fill(folder: Path, fit: Fit, *, command: str = "", data: str = "") -> None:
    try:
        _written(folder, fit, command, data)
    except OSError as error:
        reason = reason_of(error)
        if reason is None:  # it says so itself
            raise
        raise type(error)(
            f"cannot write in `{folder.parent}`: {reason}; this fit needs a few MB there"
        ) from error


def _written(folder: Path, fit: Fit, command: str, data: str) -> None:
    fit.save(folder / NUMBERS)
    pictures: list[tuple[str, Callable[[Fit], Any]]] = [
        (MEASURED, measured_and_model),
        (RESIDUALS, fit_residuals),
    ]
    if len(fit.names) > 1:
        pictures.append((CORRELATIONS, correlations))
    for name, draw in pictures:
        figure = draw(fit).figure
        save_figure(figure, folder / name)
        plt.close(figure)
    (folder / REPORT).write_text(_report(fit, command, data), encoding="utf-8")


def _report(fit: Fit, command: str, data: str) -> str:
    """The whole report in Markdown."""
    parts = [
        f"# What {_plain(fit.system.name)} is made of",
        _plain(fit.verdict),
        *_found(fit),
        *_motion(fit),
        *_left(fit),
        *_how(fit, command, data),
    ]
    return "\n\n".join(parts) + "\n"


def _found(fit: Fit) -> list[str]:
    rows = [("number", "value", "standard error", "95 % interval", "unit", "")]
    for name, value, error, unit in zip(fit.names, fit.values, fit.errors, fit.units, strict=True):
        remark = "not determined" if np.isinf(error) else ""
        remark = "on a limit" if name in fit.limited else remark
        digits = f"{value:.6g}" if error <= 0 or np.isinf(error) else _to_error(value, error)
        said = f"{error:.2g}" if 0 < error < np.inf else ""
        low, high = fit.profiles.get(name) or fit.interval(name)
        remark += " by profile" * (name in fit.profiles)
        span = f"{low:.5g} to {high:.5g}"
        rows.append((name, digits, said, span, unit_after(unit).strip(), remark.strip()))
    parts = ["## Found", _table(rows)]
    if len(fit.names) > 1:
        parts.append(f"![Correlations of the errors]({CORRELATIONS})")
    fixed = [f"{_plain(path)} = {value}" for path, value in fit.known.items()]
    words = fit.settings.get("words")
    if words:
        parts.append(f"What the equations determine: {_plain(words)}.")
    if fixed:
        parts.append(f"Taken as known: {'; '.join(fixed)}.")
    return parts


def _to_error(value: float, error: float) -> str:
    """A value with as many decimals as two digits of its error have."""
    decimals = 1 - int(np.floor(np.log10(error)))
    return f"{value:.{decimals}f}" if 0 <= decimals <= 12 else f"{value:.6g}"


def _motion(fit: Fit) -> list[str]:
    """Root mean squares of measured minus model, by record."""
    units = zip(fit.channels, fit.channel_units, strict=True)
    header = ("record", "samples", *(f"{c}{f' [{u}]' if u else ''}" for c, u in units))
    rows: list[Sequence[str]] = [header]
    for records, held in ((fit.records, False), (fit.held, True)):
        for record, rms in zip(records, fit.rms(held=held) if records else (), strict=True):
            name = f"{record.name}, held back" if held else record.name
            rows.append((name, str(len(record)), *(f"{x:.4g}" for x in rms)))
    everything = [("all that were fitted", *_numbers(fit.count, fit.misfit()))]
    if fit.held:
        held_count = sum(int(np.sum(np.isfinite(r.values))) for r in fit.held)
        everything.append(("all held back", *_numbers(held_count, fit.misfit(held=True))))
    return [
        "## Measured against model",
        f"![Measured against model]({MEASURED})",
        "Root mean square of measured − model:",
        _table([*rows, *everything]),
    ]


def _numbers(count: int, rms: np.ndarray) -> tuple[str, ...]:
    return (f"{count} numbers", *(f"{x:.4g}" for x in rms))


def _left(fit: Fit) -> list[str]:
    white = fit.whiteness
    rows = [("channel", "noise", "", "correlation of neighbours", "runs of one sign")]
    for c, (name, unit) in enumerate(zip(fit.channels, fit.channel_units, strict=True)):
        rows.append((
            name,
            f"{fit.noise[c]:.3g}{unit_after(unit)}",
            "given" if fit.noise_given[c] else "estimated",
            f"{white.correlation[c]:.3g} (noise: 0 ± {white.spread[c]:.2g})",
            f"{white.runs[c]:+.3g} standard deviations from chance",
        ))  # fmt: skip
    spare = max(fit.count - fit.unknowns, 1)
    return [
        "## What is left",
        f"![Residuals]({RESIDUALS})",
        _table(rows),
        f"χ² = {fit.chi2:.5g} for {spare} degrees of freedom ({fit.count} numbers, {fit.unknowns} "
        f"unknowns); AIC {fit.aic:.6g}, BIC {fit.bic:.6g}; condition {fit.condition:.3g}.",
    ]


def _how(fit: Fit, command: str, data: str) -> list[str]:
    settings = fit.settings
    parts = ["## How"]
    if data:
        parts.append(f"Data: {_plain(data)}.")
    parts.append(
        f"Starts of all records were fitted, too; {settings['segments']} segments of "
        f"{settings['segment']:.3g} s, tied end to end to {fit.jump:.1g}; loss "
        f"{settings['loss']}, rtol {settings['rtol']:g}; "
        f"{'converged' if fit.converged else 'not converged'}."
    )
    if command:
        fence = "`" * (3 + max(map(len, re.findall("`+", command)), default=0))
        parts.append(f"{fence}sh\n{command}\n{fence}")
    parts.append(f"`diffmech.load({NUMBERS!r}, system)` gives the fit back, records included.")
    return parts


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(map(_plain, row))} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])


def _plain(text: str) -> str:
    """Text as Markdown shows it unchanged."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))
