"""What is compiled for a block of lanes: a machine's equations, their form, a method of steps.

Ensembles, crossings of sections and frames of tangents all run blocks of one `Program`; what they
compile around it (tiles, a look at every step, Gram and Schmidt) is theirs.
"""

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Params
from ..model import ExplicitLaws, Laws
from ..motion import AbstractStabilisation, Projection, kept_of
from ._block import Block, Role
from ._field import AbstractField, ArrayField, Lane, LaneParameters, ScalarField, State
from ._lane_equations import Equations, Fixed, Layout
from ._step import rolled_step, unrolled_step
from ._tableau import Tableau


class Form(Enum):
    """How equations stand in a program; the values are what records say of it."""

    UNROLLED = "lanes, unrolled"  # a scalar is an array of shape (lanes,); stages written out
    ROLLED = "lanes, rolled"  # the same, with the stages of a step in a loop
    ARRAYS = "arrays"  # small arrays under `vmap`, for what has no scalar form; stages in a loop


@dataclass(frozen=True)
class Program:
    """Everything a block of lanes is compiled for; hashable, and so a static argument of a `jit`.

    Attributes:
        laws: of the machine, and the `layout` of the states of its motions.
        tableau: the method of the steps; `form` that of the equations.
        fixed: the parameters written in as numbers; () if all are free.
    """

    laws: Laws | ExplicitLaws
    layout: Layout
    tableau: Tableau
    form: Form
    fixed: Fixed = ()

    def equations(self, params: Params, stabilise: AbstractStabilisation | None) -> Equations:
        """The equations on a tape, whatever the form; `params` of one lane.

        Raises:
            NotScalar: they have no scalar form.
        """
        return equations_of(self.laws, self.layout, params, stabilise, self.fixed)

    def field(self, parameters: LaneParameters, t: Lane, start: State) -> AbstractField:
        """The rates of lanes that start at `t` from `start`, 2n and more arrays of shape (lanes,).

        Rows of constraints are scaled by their sizes there.
        """
        if self.form is Form.ARRAYS:
            return ArrayField(self.laws, self.layout, parameters)
        one = jax.tree.map(
            lambda leaf, varies: leaf[..., 0] if varies else leaf,
            parameters.params,
            parameters.varies,
        )
        equations = self.equations(one, parameters.gains)
        return ScalarField(equations, self.layout, parameters, t, start)

    def block(
        self,
        parameters: LaneParameters,
        t: Lane,
        start: State,
        lanes: int,
        *,
        reducers: tuple[tuple[Any, Any], ...] = (),
        roles: tuple[Role, ...] = (),
        params: Params = (),
    ) -> Block:
        """A block of so many lanes; what reducers need, if there are any, is said in `Block`."""
        return Block(
            field=self.field(parameters, t, start),
            advance=unrolled_step if self.form is Form.UNROLLED else rolled_step,
            tableau=self.tableau,
            reducers=reducers,
            roles=roles,
            params=params,
            projecting=isinstance(parameters.gains, Projection),
            lanes=lanes,
        )

    def sound_starts(self, start: AnyArray, t: Lane, params: Params, varies: Any) -> Any:
        """Which lanes start from finite numbers and on their constraints, shape (lanes,).

        `start` is of shape (2n, lanes); `params` have the lanes' axis last where `varies`.
        """
        sound = jnp.all(jnp.isfinite(start), axis=0)
        for leaf, own in zip(jax.tree.leaves(params), jax.tree.leaves(varies), strict=True):
            if own:
                sound = sound & jnp.all(jnp.isfinite(leaf), axis=tuple(range(leaf.ndim - 1)))
        return sound & keeps_constraints(self.laws, start, t, params, varies)


def equations_of(
    laws: Laws | ExplicitLaws,
    layout: Layout,
    params: Params,
    stabilise: AbstractStabilisation | None,
    fixed: Fixed = (),
) -> Equations:
    """The equations on a tape; the last ones are kept."""
    leaves, structure = jax.tree.flatten((params, stabilise))
    return _equations(laws, layout, tuple(np.shape(leaf) for leaf in leaves), structure, fixed)


@lru_cache(maxsize=128)  # numbers written in make new ones
def _equations(
    laws: Laws | ExplicitLaws,
    layout: Layout,
    shapes: tuple[tuple[int, ...], ...],
    structure: Any,
    fixed: Fixed,
) -> Equations:
    params, stabilise = jax.tree.unflatten(structure, [np.zeros(shape) for shape in shapes])
    return Equations(laws, layout, params, stabilise, fixed)


def keeps_constraints(
    laws: Laws | ExplicitLaws, start: AnyArray, t: Lane, params: Params, varies: Any
) -> Any:
    """Which lanes start on their constraints, up to printed digits; `start` is (2n, lanes)."""
    n = start.shape[0] // 2
    if not isinstance(laws, Laws) or not laws.constraints:
        return True

    def kept(state: Any, t: Any, params: Params) -> Any:
        within = kept_of(laws, state[:n], state[n:], t, params)
        return jnp.all(within.place) & jnp.all(within.rate)

    axes = jax.tree.map(lambda varies: -1 if varies else None, varies)
    own = None if jnp.ndim(t) == 0 else -1
    return jax.vmap(kept, in_axes=(-1, own, axes))(start, t, params)
