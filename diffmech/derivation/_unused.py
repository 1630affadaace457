"""Quantities that the motion depends on and the hand-written equations do not."""

from typing import Any

import numpy as np

from ._locate import Case
from ._states import VARIED
from ._symbols import parameter_entries
from ._truth import Points

_NOTHING = 1e-12  # of an equation's size
_STATES = 12
_CHANGE = 1.17  # times what is tried


def unused(case: Case, vary: str) -> list[str]:
    """Sentences about coordinates, rates, time and parameters that are ignored."""
    good = np.flatnonzero(case.rows.comparable)[:_STATES]
    points = case.points.kept(good)
    value = case.written.evaluate(points)
    size = case.rows.size[good]
    motions = case.truth.motions(points)
    ignored = []
    for name, changed in _changes(case, points, vary == VARIED):
        with np.errstate(all="ignore"):
            apart = np.abs(case.written.evaluate(changed) - value)
        if not np.all(apart <= _NOTHING * size):
            continue
        other = case.truth.motions(changed).qdd
        if np.any(
            np.abs(other - motions.qdd) > 1e-9 * (1e-9 + np.max(np.abs(motions.qdd), axis=0))
        ):
            ignored.append(name)
    if not ignored:
        return []
    many = "them" if len(ignored) > 1 else "it"
    return [
        f"the equations do not depend on {', '.join(ignored)}, but the machine's motion depends on "
        f"{many}"
    ]


def _changes(case: Case, points: Points, of_parameters: bool) -> list[tuple[str, Points]]:
    changes: list[tuple[str, Points]] = []
    free = not case.truth.m  # a single coordinate of a constrained machine cannot be moved
    for k, name in enumerate(case.symbols.coordinates if free else ()):
        for mark, field in (("", "q"), ("'", "qd")):
            array: Any = getattr(points, field).copy()
            array[:, k] = _CHANGE * array[:, k] + 0.1
            changes.append((name + mark, points._replace(**{field: array})))
    changes.append(("t", points._replace(t=points.t * _CHANGE + 0.1)))
    if of_parameters and free:
        for path, leaf, index in parameter_entries(case.truth.system.params):
            changes.append((path, points.with_number(leaf, index, _CHANGE)))
    return changes
