"""Which program runs an ensemble: the one with the least compiling and running for its size.

Operations of one evaluation times stages of a step is the length of a loop body in which every
stage is written out. Measured with tuned options: 300 (the babyboot, Dopri8) compile in 3 s, 1400
(three links) in 8 s, 4000 (five links) in 16 s, and those with Tsit5, 1800, in 8 s, but these run
twice as long at equal errors; stages in a loop compile in 2 to 4 s and run about three times
longer. Without the options XLA computes shared values again and again in such a body, and needs
minutes.
"""

from typing import Any

import jax
import numpy as np
from jax.errors import TracerArrayConversionError

from .._checks import is_traced
from .._typing import Params
from ..model import ExplicitLaws, Laws
from ..motion import AbstractStabilisation
from ..scalars import NotScalar
from ..tuning import is_tuned
from ._lane_equations import Equations, Fixed, Layout
from ._program import Form, Program, equations_of
from ._tableau import Tableau, as_tableau

_LONGEST_BODY = 5000
_LONGEST_ACCURATE_BODY = 4000  # beyond, a method of six stages: 20 s of compiling are too many
_MOST_OPERATIONS = 5000
_MANY_OPERATIONS = 150  # general parts leave many that zeros and ones would take away


def choose_program(
    method: Tableau | None,
    laws: Laws | ExplicitLaws,
    layout: Layout,
    params: Params,
    stabilise: AbstractStabilisation | None,
    fixed: Fixed = (),
) -> tuple[Program, str]:
    """The program for these equations, and why this one.

    `method=None` leaves the method to the size of the equations; `fixed` are the parameters to be
    written in, () for none.
    """
    tableau, form, why = _chosen(method, laws, layout, params, stabilise, fixed)
    return Program(laws, layout, tableau, form, fixed), why


def _chosen(
    method: Tableau | None,
    laws: Laws | ExplicitLaws,
    layout: Layout,
    params: Params,
    stabilise: AbstractStabilisation | None,
    fixed: Fixed,
) -> tuple[Tableau, Form, str]:
    accurate = as_tableau("Dopri8")
    try:
        equations = equations_of(laws, layout, params, stabilise, fixed)
    except (NotScalar, TracerArrayConversionError) as error:
        return method or accurate, Form.ARRAYS, str(error).splitlines()[0]
    operations = equations.operations
    size = f"{operations} operations an evaluation"
    if fixed:
        size += ", parameters written in"
    elif operations > _MANY_OPERATIONS:
        size += ", perhaps fewer with `fixed_params=True`"
    if operations > _MOST_OPERATIONS:
        return method or accurate, Form.ARRAYS, f"{size}, too many for lanes"
    on_cpu = jax.default_backend() == "cpu"
    if on_cpu and not is_tuned():
        return method or accurate, Form.ROLLED, f"{size}; `diffmech.tune_cpu()` would be faster"
    if method is None:
        wide = _body(equations, accurate) > _LONGEST_ACCURATE_BODY
        method = as_tableau("Tsit5") if wide else accurate
    if not on_cpu or _body(equations, method) > _LONGEST_BODY:
        return method, Form.ROLLED, size
    return method, Form.UNROLLED, size


def _body(equations: Equations, method: Tableau) -> int:
    """Operations of a step with every stage written out; one that is projected takes one more."""
    again = equations.operations_of_target
    return equations.operations * (method.stages - 1 + (again > 0)) + again


def values_to_fix(params: Params, varies: Any) -> Fixed:
    """The parameters that lanes share, as numbers; None for those that vary or are traced."""
    leaves, marks = jax.tree.leaves(params), jax.tree.leaves(varies)
    return tuple(
        None if mark or is_traced(leaf) else tuple(np.ravel(leaf).tolist())
        for leaf, mark in zip(leaves, marks, strict=True)
    )


def worth_fixing(
    fixed: Fixed,
    laws: Laws | ExplicitLaws,
    layout: Layout,
    params: Params,
    stabilise: AbstractStabilisation | None,
) -> bool:
    """Whether the equations have fewer operations with these numbers written in."""
    try:
        held, free = (
            equations_of(laws, layout, params, stabilise, numbers).operations
            for numbers in (fixed, ())
        )
    except (NotScalar, TracerArrayConversionError):
        return False
    return held < free
