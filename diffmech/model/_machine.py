"""A machine described by its parts: `parts(q, t, params)` says where everything is.

Kinetic and potential energy, generalised forces and the drawing follow from that one function.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp

from .._checks import trial_trace
from .._typing import AnyArray, Params, Scalar, Vector
from ..geometry import dot, plus, times
from ._abstract_arguments import depends, trial_arguments
from ._abstract_system import checked_description
from ._bodies import PlacedBody, PlacedParticle
from ._constraints import AbstractConstraint, Constraints, Holonomic
from ._hold_constraints import HoldsOfParts
from ._holds import AbstractHold
from ._loads import Gravity
from ._moving_entries import MovingEntries, Parts, placed
from ._naming import name_after
from ._parts import AbstractPart
from ._solids import Shape, together
from ._system import System

_PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def part_names(parts: Callable[..., Parts], q: Any, t: Any, params: Params) -> list[str]:
    """The names of all parts in the order of their declaration; nothing is computed.

    What comes out of a compiled function is in alphabetical order.
    """
    names: list[str] = []

    def look(q: Any, t: Any, params: Params) -> Any:
        names.extend(parts(q, t, params))
        return q

    jax.eval_shape(look, q, t, params)
    return names


def weight_of(placed_parts: Parts) -> tuple[Any, ...]:
    """The acceleration of gravity on every body, the sum of all `Gravity` parts; three entries."""
    fields = [part.acceleration for part in placed_parts.values() if isinstance(part, Gravity)]
    return tuple(
        reduce(plus, components) for components in zip((0.0, 0.0, 0.0), *fields, strict=True)
    )


def kinetic_of(placed_parts: Parts, rates: Mapping[str, Any]) -> Scalar:
    """Σ T over the parts [J]."""
    return sum(part.kinetic(rates[name]) for name, part in placed_parts.items())


def potential_of(placed_parts: Parts) -> Scalar:
    """Σ V over the parts, weights included: −Σ m g·r [J]."""
    down = weight_of(placed_parts)
    total = sum(part.potential() for part in placed_parts.values())
    for part in placed_parts.values():
        if isinstance(part, PlacedBody | PlacedParticle):
            total = total - times(part.mass, dot(down, part.centre))
    return jnp.asarray(total)


@dataclass(frozen=True)
class LagrangianOfParts:
    """L = Σ T − Σ V over the parts [J]."""

    parts: Callable[..., Parts]

    def __call__(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
        placed_parts, rates = placed(self.parts, q, qd, t, params)
        return kinetic_of(placed_parts, rates) - potential_of(placed_parts)


@dataclass(frozen=True)
class ForcesOfParts:
    """Q = Σ (∂place/∂q)ᵀ effort, and the machine's own generalised forces."""

    parts: Callable[..., Parts]
    extra: Callable[..., Any] | None

    def __call__(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
        placed_parts, rates = placed(self.parts, q, qd, t, params)
        efforts = {name: part.effort(rates[name]) for name, part in placed_parts.items()}
        acting = {
            name: jax.tree.map(jnp.zeros_like, placed_parts[name].place)
            if effort is None
            else effort
            for name, effort in efforts.items()
        }
        moving = MovingEntries(self.parts, params)
        _, pull = jax.vjp(lambda q: moving(q, t)[0], q)
        force = pull(moving.entries(jax.tree.leaves(acting)))[0]
        return force if self.extra is None else force + self.extra(q, qd, t, params)


@dataclass(frozen=True)
class DrawingOfParts:
    """The points of every part's sketch in order, shape (k, 3), or (k, 2) in a plane [m]."""

    parts: Callable[..., Parts]
    plane: str | None

    def __call__(self, q: Vector, t: Scalar, params: Params) -> AnyArray:
        sketch = _sketched(self.parts(q, t, params))
        assert sketch is not None
        points = sketch.points
        return points if self.plane is None else points[:, _PLANES[self.plane]]

    def labels(self, q: Any, t: Any, params: Params) -> tuple[str, ...]:
        """The name of the part that each point belongs to; nothing is computed."""
        names: list[str] = []

        def look(q: Any, t: Any, params: Params) -> Any:
            for name, part in self.parts(q, t, params).items():
                sketch = part.sketch()
                names.extend([name] * (0 if sketch is None else sketch.points.shape[0]))
            return q

        jax.eval_shape(look, q, t, params)
        return tuple(names)


def machine(
    parts: Callable[..., Parts],
    coordinates: Mapping[str, str] | Sequence[str],
    params: Params = (),
    *,
    forces: Callable[..., Any] | None = None,
    constraints: Constraints = (),
    plane: str | None = None,
    starts: Mapping[str, tuple[Any, Any]] | None = None,
    name: str | None = None,
    units: Mapping[str, str] | None = None,
    ranges: Mapping[str, Any] | None = None,
) -> System:
    """A machine described by its parts.

        def parts(q, t, params):
            rod = revolute("x", q[0])
            return {
                "rod": params["rod"].at(rod @ fixed([0, 0, -0.5])),
                "gravity": Gravity(9.81),
            }

    The motion is that of the `System` with

        L = Σ T − Σ V,   Q_i = Σ effort·∂place/∂q_i + forces_i

    over the parts: T [J] of bodies and particles, V [J] of gravity and springs, the efforts those
    of dampers, `force`s and `torque`s.

    **Main arguments:**

    - `parts`: pure JAX function `(q, t, params) -> {name: part}`, where everything is when the
      coordinates are q, shape (n,), at the time t [s]: bodies and particles `.at(...)` their poses
      and points [m], `Gravity`, springs and dampers between points, `force`s [N] and `torque`s
      [N m], and `Hold`s between bodies whose poses are free.
    - `coordinates`, `params`, `starts`, `name`, `units`, `ranges`: as for `System`. Bodies, springs
      and dampers are parameters like any others; bodies know their units.

    **Other arguments:**

    - `forces`: generalised forces beside those of the parts, `(q, qd, t, params) -> (n,)` [J per
      unit of the coordinate].
    - `constraints`: beside the holds among the parts, as for `System`; the rows of the holds come
      first.
    - `plane`: "xy", "xz" or "yz" to draw the machine in that plane; if None, pictures of a run that
      stays in one of these planes are flat as well, and others are in space.

    **Returns:** a `System` whose Lagrangian, forces and drawing are those of the parts.

    **Raises:** `ValueError` if `parts` does not trace or returns something else than placed parts
    by name, if a mass or inertia changes with q or t, if a hold cannot close, and for another
    `plane`.
    """
    if plane is not None and plane not in _PLANES:
        raise ValueError(f"`plane` must be one of {', '.join(_PLANES)}, but is {plane!r}")
    named, params, _ = checked_description(coordinates, params, starts)
    sketch, pushing, holds = _trial_of_parts(parts, len(named), params)
    return System(
        LagrangianOfParts(parts),
        named,
        params,
        forces=ForcesOfParts(parts, forces) if pushing else forces,
        constraints=[*holds, *_listed(constraints)],
        landmarks=DrawingOfParts(parts, plane) if sketch else None,
        links=sketch.links if sketch else (),
        springs=sketch.springs if sketch else (),
        dampers=sketch.dampers if sketch else (),
        faces=sketch.faces if sketch else (),
        starts=starts,
        name=name or name_after(parts, "machine"),
        parts=parts,
        units=units,
        ranges=ranges,
    )


def _sketched(placed_parts: Parts) -> Shape | None:
    """The sketches of all parts as one; None if there is nothing to draw."""
    sketches = [part.sketch() for part in placed_parts.values()]
    seen = [sketch for sketch in sketches if sketch is not None]
    return together(*seen) if seen else None


def _listed(constraints: Constraints) -> list[Any]:
    """Constraints as a list; names given by a mapping go into them."""
    if isinstance(constraints, Mapping):
        return [
            replace(one if isinstance(one, AbstractConstraint) else Holonomic(one), name=name)  # pyright: ignore
            for name, one in constraints.items()
        ]
    return [constraints] if callable(constraints) else list(constraints)  # pyright: ignore


def _trial_of_parts(
    parts: Callable[..., Parts], n: int, params: Params
) -> tuple[Shape | None, bool, list[HoldsOfParts]]:
    """The sketch of all parts, for its links and faces, whether any of them pushes, the holds."""
    sketches: list[Shape | None] = []
    pushing: list[bool] = []
    holding: set[bool] = set()

    def attempt(q: Vector, qd: Vector, t: Scalar, params: Params) -> Any:
        placed_parts = parts(q, t, params)
        if not isinstance(placed_parts, Mapping) or not placed_parts:
            raise ValueError(
                f"it must return a mapping from names to parts, but returns {placed_parts!r}"
            )
        for name, part in placed_parts.items():
            if not isinstance(part, AbstractPart):
                advice = "; place it with `.at(...)`" if hasattr(part, "at") else ""
                raise ValueError(f"part {name!r} is a {type(part).__name__}, not a part{advice}")
        _, rates = placed(parts, q, qd, t, params)
        holding.update(
            part.holonomic for part in placed_parts.values() if isinstance(part, AbstractHold)
        )
        efforts = [part.effort(rates[name]) for name, part in placed_parts.items()]
        pushing.append(any(effort is not None for effort in efforts))
        sketches.append(_sketched(placed_parts))
        return jnp.zeros(())

    attempt.__qualname__ = getattr(parts, "__qualname__", type(parts).__name__)
    if not callable(parts):
        raise ValueError(f"`parts` must be a function of (q, t, params), but is {parts!r}")
    q, qd, t, abstract = trial_arguments(n, params)
    trial_trace(attempt, "parts", (), q, qd, t, abstract)

    def inertia(q: Vector, t: Scalar, params: Params) -> list[Any]:
        bodies = parts(q, t, params).values()
        return [(getattr(part, "mass", 0.0), getattr(part, "inertia", 0.0)) for part in bodies]

    if depends(inertia, q, t, abstract):
        raise ValueError(
            f"`parts` ({attempt.__qualname__}) gives a body a mass or inertia that changes with "
            "the coordinates or with time: bodies keep theirs; write such a machine as a "
            "Lagrangian, with what the mass carries away among the forces"
        )
    holds = [HoldsOfParts(parts, kind) for kind in sorted(holding, reverse=True)]
    return sketches[-1], pushing[-1], holds
