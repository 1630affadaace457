"""What is left of many motions, and how it prints itself."""

from typing import Any

import equinox as eqx
import numpy as np

from .._checks import is_traced
from .._printing import aligned
from .._results import Status
from .._typing import AnyArray
from ..model import AbstractSystem


class Ensemble(eqx.Module):
    """What is left of many motions.

    Attributes:
        values: by reducer; arrays with the lanes as leading axis. `values["last"]` is (q, q̇).
        status: how each motion ended, shape (lanes,), as `Status`.
        steps: accepted steps, shape (lanes,); `rejected` those taken back.
        ends: when each motion ended [s], shape (lanes,).
        settings: everything that influences the numbers.
        system: the machine.
        compiling, running: wall-clock times [s]; never saved.
        indefinite: which motions start with a mass matrix that is not positive definite for the
            rates that constraints admit, shape (lanes,): not motions of real masses. None under a
            transformation, and for an `Explicit`.
    """

    values: dict[str, Any]
    status: AnyArray
    steps: AnyArray
    rejected: AnyArray
    ends: AnyArray
    settings: dict[str, Any] = eqx.field(static=True)
    system: AbstractSystem
    compiling: float = eqx.field(static=True)
    running: float = eqx.field(static=True)
    indefinite: np.ndarray | None = None

    @property
    def ok(self) -> AnyArray:
        """Which motions ran to the end, or to where a reducer was done; shape (lanes,)."""
        return (self.status == Status.OK) | (self.status == Status.EVENT)

    def __len__(self) -> int:
        return self.status.shape[0]

    def __str__(self) -> str:
        if is_traced(self.status):
            return f"{self.system.name}: {len(self)} motions, under a JAX transformation"
        kinds = [kind for kind in Status if np.any(self.status == kind)]
        counts = {kind: int(np.sum(self.status == kind)) for kind in kinds}
        ends = ", ".join(f"{count} {kind.name}" for kind, count in counts.items())
        settings = self.settings
        steps = np.asarray(self.steps)
        each = 1e6 * self.running / max(len(self), 1)
        rows = [
            ("ended", ends or "none"),
            ("values", ", ".join(self.values)),
            (
                "steps",
                f"{steps.mean() if steps.size else 0:.0f} on average, {steps.max(initial=0)} at "
                f"most; {settings['method']}, {_accuracy(settings)}",
            ),
            (
                "program",
                f"{settings['form']} ({settings['why']}), blocks of {settings['block']} on "
                f"{settings['devices']} device{'s' * (settings['devices'] != 1)}",
            ),
            (
                "time",
                f"{self.compiling:.2f} s compiling, {self.running:.3g} s running ({each:.3g} us a "
                "motion)",
            ),
        ]
        rows += [
            (kind.name, kind.sentence) for kind in kinds if kind not in (Status.OK, Status.EVENT)
        ]
        if self.indefinite is not None:
            rows += indefinite_rows(int(np.sum(self.indefinite)))
        title = f"{self.system.name}: {len(self)} motions of {_span(settings['duration'])}"
        return aligned(rows, title)


def _span(duration: Any) -> str:
    """One duration, or the shortest and the longest."""
    low, high = (float(end) for end in (np.min(duration), np.max(duration)))
    return f"{low:g} s" if low == high else f"{low:g} to {high:g} s"


def indefinite_rows(count: int) -> list[tuple[str, str]]:
    """What a record prints of motions that start with an indefinite mass matrix, if any do."""
    if not count:
        return []
    start = "1 motion starts" if count == 1 else f"{count} motions start"
    return [
        (
            "masses",
            f"{start} with a mass matrix that is not positive definite: a negative mass, or a "
            "kinetic term missing?",
        )
    ]


def _accuracy(settings: dict[str, Any]) -> str:
    if settings["dt"] is not None:
        return f"dt = {settings['dt']:g} s"
    return f"rtol = {settings['rtol']:g}, atol = {settings['atol']:g}"
