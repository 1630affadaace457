"""What the symplectic solvers share: the machine behind the term, and the frame of a step.

They work in (q, p), though the state they are handed is (q, q̇, W): a step goes to momenta by
p = ∂L/∂q̇, moves there, and comes back by the Legendre transform, both exact to round-off. So the
map between steps is symplectic in (q, p) for any Lagrangian, separable or not, and these solvers
fit everything that takes a Diffrax solver.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import diffrax
import jax
import jax.numpy as jnp
from jax import lax

from .._typing import AnyArray, Params, Scalar, Truth, Vector
from ..model import Laws
from ..motion import Field, force_of, momentum_of, pack, unpack, velocity_of
from ._path import MotionPath, field_of, knot


def lagrangian_field(terms: Any) -> tuple[Field, Any]:
    """The field inside a Diffrax term and the direction of time, if it has a Lagrangian."""
    field, direction = field_of(terms)
    if not isinstance(field.laws, Laws):
        raise ValueError(
            "symplectic and variational methods need a Lagrangian: describe the machine as a "
            "`System`, or pick another `method` for explicit equations"
        )
    return field, direction


def slopes_of(
    laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params
) -> tuple[Vector, Vector]:
    """ṗ = ∂L/∂q + Q − ∂D/∂q̇ and p = ∂L/∂q̇."""
    slope, p = jax.grad(laws.lagrangian, argnums=(0, 1))(q, qd, t, params)
    return slope + force_of(laws, q, qd, t, params), p


class AbstractSymplectic(diffrax.AbstractSolver):
    """Fixed-step solver for Lagrangian systems; subclasses say how (q, p) moves over one step."""

    term_structure: ClassVar = diffrax.ODETerm
    interpolation_cls: ClassVar = MotionPath

    @abstractmethod
    def order(self, terms: Any) -> int:
        """Global order of convergence."""

    @abstractmethod
    def move(
        self,
        field: Field,
        t: Scalar,
        step: Scalar,
        start: AnyArray,
        params: Params,
    ) -> tuple[Vector, Vector, Vector, Truth]:
        """q, p and a guess of q̇ at the end of the step, and whether the equations were solved.

        `start` is the knot at `t`.
        """

    @abstractmethod
    def work(
        self,
        field: Field,
        t: Scalar,
        step: Scalar,
        path: MotionPath,
        params: Params,
    ) -> Scalar:
        """Work of the forces over the step, from the interpolated path."""

    def init(self, terms: Any, t0: Any, t1: Any, y0: AnyArray, args: Params) -> AnyArray:
        del t1
        field, direction = lagrangian_field(terms)
        return knot(field, jnp.asarray(t0 * direction, y0.dtype), y0, args)

    def func(self, terms: Any, t0: Any, y0: AnyArray, args: Params) -> Any:
        return terms.vf(t0, y0, args)

    def step(
        self,
        terms: Any,
        t0: Any,
        t1: Any,
        y0: AnyArray,
        args: Params,
        solver_state: AnyArray,
        made_jump: Any,
    ) -> tuple[AnyArray, None, dict[str, AnyArray], AnyArray, diffrax.RESULTS]:
        field, direction = lagrangian_field(terms)
        begin = jnp.asarray(t0 * direction, y0.dtype)
        end = jnp.asarray(t1 * direction, y0.dtype)
        step = end - begin
        start = solver_state
        if made_jump is not False:
            start = lax.cond(made_jump, lambda: knot(field, begin, y0, args), lambda: solver_state)
        q, p, guess, moved = self.move(field, begin, step, start, args)
        qd, inverted = velocity_of(field.laws, q, p, end, args, guess)  # pyright: ignore[reportArgumentType]

        # The path of (q, q̇) does not depend on W, so W can be integrated along it afterwards.
        finish = knot(field, end, pack(q, qd, jnp.zeros((), y0.dtype)), args)
        path = MotionPath(t0=begin, t1=end, start=start, end=finish)
        work = unpack(y0)[2] + self.work(field, begin, step, path, args)
        finish = finish.at[0, -1].set(work)
        result = diffrax.RESULTS.where(
            moved & inverted,
            diffrax.RESULTS.successful,
            diffrax.RESULTS.nonlinear_divergence,  # pyright: ignore[reportArgumentType]
        )
        return pack(q, qd, work), None, {"start": start, "end": finish}, finish, result


def start_momentum(
    field: Field, t: Scalar, start: AnyArray, params: Params
) -> tuple[Vector, Vector, Vector, Vector]:
    """q, q̇, q̈ and p at the knot a step starts from."""
    q, qd, qdd = start[:3, :-1]
    laws: Any = field.laws
    return q, qd, qdd, momentum_of(laws, q, qd, t, params)


def rate_scale(q: Vector, step: Scalar) -> Scalar:
    """A rate that moves the coordinates by their own size within a step.

    Newton's method judges rates by it where they pass through zero.
    """
    return jnp.max(jnp.abs(q)) / jnp.abs(step)
