"""What a fit has found, and how sure it is: numbers, words and file."""

from pathlib import Path
from typing import Any

from ..model import AbstractSystem
from ._fit_files import fields_on_file, save_fit
from ._fit_numbers import AbstractFit
from ._fit_text import summary_of, text_of, verdict_of, warnings_of


class Fit(AbstractFit):
    """Parameters found from measured motion.

    Attributes:
        system: the machine with the parameters found.
        names, values, errors, units: of what was free, shape (p,), sensors' numbers last, each in
            its own unit; errors are standard errors, infinite for what the data do not determine.
        covariance: of `values`, shape (p, p) [units of the two, multiplied], in the directions that
            are determined.
        unknown: directions in which the data say nothing, shape (k, p), each of length 1 in units
            of the starts.
        limited: names of numbers that ended on a limit; their intervals are one-sided.
        rows, limits: what intervals are found from: near the values found the cost is ½‖R d + e‖²,
            d their change in units of the starts, rows (R, e) of shape (p + 1, p + 1); and what
            must hold of z, values in these units, rows (a, b) of a·z ≥ b.
        starts: fitted (q, q̇) at each record's first time, shape (records, 2 n) [unit of each
            coordinate, that per second].
        records: what was fitted; `computed` the same values by the model, one array each, shape
            (samples, c) [unit of the channel], NaN where nothing was measured.
        held: records that were held back; `predicted` their values by the model, likewise.
        noise: standard deviation σ of each channel, shape (c,), in its unit; `noise_given` which
            were given, shape (c,).
        chi2: Σ r² [-], r = (measured − computed)/σ, or Huber's function of r; `count` numbers
            measured, `unknowns` numbers fitted, starts included.
        condition: of the problem's matrix by what was free, each by its start [-], in the
            directions that are determined; infinite if none is.
        jump: the largest gap between neighbouring segments, relative to the size of the state [-].
        converged: whether the last step moved nothing by more than 1e-4 standard errors.
        whiteness: tests of the residuals.
        profiles: 95 % intervals (low, high) found by fitting again with a number held, by name [its
            unit]; NaN where not all numbers are determined, or the fit has not converged.
        settings: everything that influences the numbers.
    """

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before using the numbers."""
        return warnings_of(self)

    @property
    def verdict(self) -> str:
        """How far to believe the numbers, in one sentence."""
        return verdict_of(self)

    def __str__(self) -> str:
        return text_of(self)

    def summary(self) -> dict[str, Any]:
        """All results but the samples as a dictionary that JSON can hold."""
        return summary_of(self)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the fit and its records to a checksummed `.npz`; `diffmech.load` reads it back."""
        return save_fit(self, path, overwrite=overwrite)


def load_fit(path: str | Path, system: AbstractSystem | None = None) -> Fit:
    """Read a fit written by `Fit.save`.

        found = dm.load("fit.npz", dm.systems.n_link(n=2))

    Checksums are verified and nothing in the file is executed. Given the machine that was fitted,
    with any parameters, `found.system` is that machine with the parameters found; that it is the
    same machine is tried at three states. Without, all numbers and records are there.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file, or another machine; the reason is said.
    """
    return Fit(**fields_on_file(path, system))
