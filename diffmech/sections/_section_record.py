"""Crossings of a section, and how they print themselves."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from .._checks import require_kind
from .._printing import aligned
from .._records import write_csv
from .._results import Status
from .._typing import Params
from ..model import AbstractSystem
from ._sections import AbstractSection


class PoincareSection(eqx.Module):
    """Where motions crossed a section, lane by lane and in order of time.

        f(q, q̇, t, params) = 0,   f the section's function

    Attributes:
        times: of the crossings, shape (k,) [s].
        q, qd: the states there, shape (k, n) [unit of each, that per second].
        lanes: to which motion each belongs, shape (k,), whole numbers from 0.
        values: of f there, zero but for rounding, shape (k,) [unit of f].
        status: how each motion ended, shape (lanes,), as `Status`: EVENT if at `limit` crossings.
        ends: when, shape (lanes,) [s].
        section: what was crossed: a `Plane`, a `Strobe` or a `Surface`.
        rtol: the tolerance of the integration.
        params: of the machine, as given: leaves may vary from motion to motion.
        system: the machine.
    """

    times: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    lanes: np.ndarray
    values: np.ndarray
    status: np.ndarray
    ends: np.ndarray
    section: AbstractSection
    rtol: float = eqx.field(static=True)
    params: Params
    system: AbstractSystem

    @property
    def ok(self) -> np.ndarray:
        """Which motions ran to the end, or to the limit; shape (lanes,)."""
        return (self.status == Status.OK) | (self.status == Status.EVENT)

    @property
    def counts(self) -> np.ndarray:
        """Crossings of each motion, shape (lanes,)."""
        return np.bincount(self.lanes, minlength=len(self.status))

    def __len__(self) -> int:
        return len(self.times)

    def lane(self, index: int) -> "PoincareSection":
        """The crossings of one motion alone.

        Raises:
            ValueError: there is no such motion.
        """
        if not 0 <= index < len(self.status):
            raise ValueError(f"`index` must be from 0 to {len(self.status) - 1}, but is {index}")
        own = self.lanes == index
        return PoincareSection(
            times=self.times[own],
            q=self.q[own],
            qd=self.qd[own],
            lanes=np.zeros(int(np.sum(own)), int),
            values=self.values[own],
            status=self.status[index : index + 1],
            ends=self.ends[index : index + 1],
            section=self.section,
            rtol=self.rtol,
            params=self._params_of(index),
            system=self.system,
        )

    def _params_of(self, index: int) -> Params:
        def own(leaf: Any, usual: Any) -> Any:
            return leaf if np.shape(leaf) == np.shape(usual) else leaf[index]

        return jax.tree.map(own, self.params, self.system.params)

    @property
    def label(self) -> str:
        """What was crossed, in words."""
        return self.section.label(self.system)

    def __str__(self) -> str:
        counts, motions = self.counts, len(self.status)
        least, most = (counts.min(), counts.max()) if motions else (0, 0)
        rows = [
            ("section", self.label),
            ("motions", f"{motions}, with {least} to {most} crossings each"),
        ]
        if len(self):
            worst = np.max(np.abs(self.values))
            rows += [
                ("times", f"{self.times.min():.6g} to {self.times.max():.6g} s"),
                ("residual", f"{worst:.2g} at most; rtol = {self.rtol:g}"),
            ]
        else:
            rows.append(("times", f"none up to {self.ends.max(initial=0.0):g} s"))
        for kind in Status:
            count = int(np.sum(self.status == kind))
            if count and kind not in (Status.OK, Status.EVENT):
                rows.append((kind.name, f"{count} motions: {kind.sentence}"))
        return aligned(rows, f"{self.system.name}: {len(self)} crossings")

    def to_csv(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write lane, time, coordinates and rates as columns with a header."""
        names = list(self.system.coordinates)
        header = ["lane", "t", *names, *(f"{name}_dot" for name in names)]
        columns = [self.lanes, self.times, *self.q.T, *self.qd.T]
        return write_csv(path, header, columns, overwrite=overwrite)


def return_times(section: PoincareSection) -> np.ndarray:
    """Times between successive crossings of each motion [s], motion by motion.

        t_{i+1} − t_i   of crossings i, i + 1 of the same motion

    Args:
        section: what `poincare` returns, with k crossings.

    Returns:
        Shape (k − motions that crossed,) [s]; empty where no motion crossed twice.

    Raises:
        ValueError: `section` is no `PoincareSection`.
    """
    require_kind(section, PoincareSection, "section", "what `poincare` returns")
    same = np.diff(section.lanes) == 0
    return np.diff(section.times)[same]
