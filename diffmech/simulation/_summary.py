"""A run in a few numbers, as JSON can hold them."""

from typing import Any

import numpy as np

from .._records import finite_or_none
from .._results import name_of
from ._report import Report
from ._run_data import RunData


def summarise(run: RunData, report: Report) -> dict[str, Any]:
    """Where the run ended and why to believe it; numbers that are not finite become None."""
    names = list(run.system.coordinates)

    def by_name(values: Any) -> dict[str, float | None]:
        return dict(zip(names, map(finite_or_none, np.asarray(values).tolist()), strict=True))

    return {
        "system": run.system.name,
        "coordinates": dict(run.system.coordinates),
        "t": float(run.end.t),
        "final": {"q": by_name(run.end.q), "qd": by_name(run.end.qd)},
        "energy_imbalance": finite_or_none(report.imbalance),
        "report": {
            "verdict": report.verdict,
            "status": name_of(run.status),
            "event": run.event,
            "believable_until": finite_or_none(report.believable_until),
            "final_error": {"q": by_name(report.error[-1]), "qd": by_name(report.rate_error[-1])},
            "against": report.reference,
            "momenta": {key: finite_or_none(value) for key, value in report.momenta.items()},
            "mass_condition": finite_or_none(report.condition),
            "steps": {key: int(value) for key, value in run.stats.items()},
            "text": str(report).splitlines(),
        },
    }
