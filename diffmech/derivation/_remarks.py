"""What else is to be said of equations than right or wrong."""

from collections.abc import Mapping

import jax
import numpy as np

from ..scalars import spelled
from ._factors import Meaning
from ._locate import Case
from ._rows import SAME, rows_at
from ._states import GIVEN, NONZERO, random_points

_FEW = 48  # states


def remarks_on(case: Case, comparable: int, lost: str, needed: int) -> list[str]:
    """What keeps equations from being right that all may hold."""
    states, m = case.rows.value.shape
    remarks = []
    if comparable < states:
        remarks.append(
            f"not finite at {states - comparable} of {states} states, so that it cannot be called "
            "right"
        )
    if m < needed:
        remarks.append(
            f"{needed} independent equations are needed for the motion of "
            f"{case.truth.system.name}, but {m} {'is' if m == 1 else 'are'} given"
        )
    if lost:
        remarks.append(lost)
    return remarks


def factors_of(meant: Mapping[int, Meaning]) -> set[float | None]:
    """The different numbers that equations are multiplied by."""
    return {None if one.factor is None else round(one.factor, 7) for one in meant.values()}


def on_factors(meant: Mapping[int, Meaning]) -> list[str]:
    """Whether a Lagrangian's equations have one factor in common."""
    if len(factors_of(meant)) < 2:
        return []
    return [
        "without forces it gives the same motion, but it is not the machine's Lagrangian times one "
        "factor plus a gauge term: forces would act differently"
    ]


def on_multipliers(case: Case) -> list[str]:
    """Whether equations would hold with multipliers that mean something else."""
    rows, n = case.rows, case.truth.n
    good = rows.comparable
    shares, value = rows.slope[good][:, :, n:], rows.value[good]
    change = np.einsum("skj,sj->sk", np.linalg.pinv(shares), value)
    left = value - np.einsum("sjk,sk->sj", shares, change)
    if not np.any(good) or np.max(np.abs(left) / rows.size[good]) > SAME:
        return []
    return [
        "with other multipliers the equations would hold: lam are the machine's own, which push "
        "along the gradients of its constraints (`dm.multipliers`); eliminate them, or scale yours"
    ]


def on_parameters(case: Case, vary: str) -> list[str]:
    """Whether what is wrong in general is right for the machine's own numbers."""
    rng = np.random.default_rng(0)
    for way, what in (
        (NONZERO, "where its parameters that are zero stay zero: {zeros}"),
        (GIVEN, "at the machine's own numbers alone"),
    ):
        if way == vary:
            continue
        try:
            points, motions = random_points(case.truth, _FEW, rng, way)
        except ValueError:  # its own numbers may leave the motion undetermined
            continue
        rows = rows_at(case.written, points, motions)
        if np.all(rows.comparable) and np.all(rows.holding()):
            zeros = ", ".join(_zeros(case))
            said = what.format(zeros=zeros)
            return [f'the equations are right {said} (`params="{way}"` checks so)']
    return []


def _zeros(case: Case) -> list[str]:
    leaves = jax.tree.leaves(case.truth.system.params)
    registers = jax.tree.leaves(case.truth.inputs.params)
    return [
        spelled(case.truth.tape, int(register), case.symbols.spelled)
        for leaf, where in zip(leaves, registers, strict=True)
        for value, register in zip(np.ravel(leaf), np.ravel(where), strict=True)
        if value == 0
    ]
