"""A machine described by its parts: `parts(q, t, params)` says where everything is.

Kinetic and potential energy, generalised forces and the drawing follow from that one function.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp

from .._checks import is_traced, trial_trace
from .._typing import AnyArray, Params, Scalar, Vector
from ..geometry import dot, plus
from ._bodies import PlacedBody, PlacedParticle
from ._loads import Gravity
from ._parts import AbstractPart
from ._system import System, checked_description
from ._trial import trial_arguments

Parts = Mapping[str, AbstractPart]
_PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def placed(
    parts: Callable[..., Parts], q: Vector, qd: Vector, t: Scalar, params: Params
) -> tuple[Parts, dict[str, Any]]:
    """The parts at an instant, and the rates of their places: one forward derivative."""

    moving: list[list[bool]] = []

    def places(q: Vector, t: Scalar) -> tuple[list[Any], Parts]:
        made = parts(q, t, params)
        leaves = jax.tree.leaves({name: part.place for name, part in made.items()})
        moving.append([is_traced(leaf) for leaf in leaves])
        return [leaf for leaf in leaves if is_traced(leaf)], made

    _, rates, made = jax.jvp(places, (q, t), (qd, jnp.ones_like(t)), has_aux=True)
    # Entries that are plain numbers do not move: their rate is a plain zero.
    flowing = iter(rates)
    rates = [next(flowing) if moves else 0.0 for moves in moving[-1]]
    structure = jax.tree.structure({name: part.place for name, part in made.items()})
    return made, jax.tree.unflatten(structure, rates)


def weight_of(made: Parts) -> tuple[Any, ...]:
    """The acceleration of gravity on every body, the sum of all `Gravity` parts; three entries."""
    fields = [part.acceleration for part in made.values() if isinstance(part, Gravity)]
    return tuple(
        reduce(plus, components) for components in zip((0.0, 0.0, 0.0), *fields, strict=True)
    )


@dataclass(frozen=True)
class LagrangianOfParts:
    """L = Σ T − Σ V − Σ (−m g·r) over the parts [J]."""

    parts: Callable[..., Parts]

    def __call__(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
        made, rates = placed(self.parts, q, qd, t, params)
        down = weight_of(made)
        total = jnp.zeros((), q.dtype)
        for name, part in made.items():
            total = total + part.kinetic(rates[name]) - part.potential()
            if isinstance(part, PlacedBody | PlacedParticle):
                total = total + part.mass * dot(down, part.centre)
        return total


@dataclass(frozen=True)
class ForcesOfParts:
    """Q = Σ (∂place/∂q)ᵀ effort, and the machine's own generalised forces."""

    parts: Callable[..., Parts]
    extra: Callable[..., Any] | None

    def __call__(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
        made, rates = placed(self.parts, q, qd, t, params)
        efforts = {name: part.effort(rates[name]) for name, part in made.items()}
        acting = {name: effort for name, effort in efforts.items() if effort is not None}
        pushes = jax.tree.leaves(acting)
        moving: list[list[bool]] = []

        def places(q: Vector) -> list[Any]:
            made = self.parts(q, t, params)
            leaves = jax.tree.leaves({name: made[name].place for name in acting})
            moving.append([is_traced(leaf) for leaf in leaves])
            return [leaf for leaf in leaves if is_traced(leaf)]

        _, pull = jax.vjp(places, q)
        force = pull([push for push, moves in zip(pushes, moving[-1], strict=True) if moves])[0]
        return force if self.extra is None else force + self.extra(q, qd, t, params)


@dataclass(frozen=True)
class DrawingOfParts:
    """The points of every part's sketch in order, shape (k, 3), or (k, 2) in a plane [m]."""

    parts: Callable[..., Parts]
    plane: str | None

    def __call__(self, q: Vector, t: Scalar, params: Params) -> AnyArray:
        sketches = [part.sketch() for part in self.parts(q, t, params).values()]
        points = jnp.concatenate([sketch.points for sketch in sketches if sketch is not None])
        return points if self.plane is None else points[:, _PLANES[self.plane]]


def machine(
    parts: Callable[..., Parts],
    coordinates: Mapping[str, str] | Sequence[str],
    params: Params = (),
    *,
    forces: Callable[..., Any] | None = None,
    plane: str | None = None,
    starts: Mapping[str, tuple[Any, Any]] | None = None,
    name: str | None = None,
) -> System:
    """A machine described by its parts.

        def parts(q, t, params):
            rod = revolute("x", q[0])
            return {
                "rod": params["rod"].at(rod @ fixed([0, 0, -0.5])),
                "gravity": Gravity(9.81),
            }

    **Main arguments:**

    - `parts`: pure JAX function `(q, t, params) -> {name: part}`, where everything is when the
      coordinates are q: bodies and particles `.at(...)` their poses and points, `Gravity`, springs
      and dampers between points, `force`s and `torque`s.
    - `coordinates`, `params`, `starts`, `name`: as for `System`. Bodies, springs and dampers are
      parameters like any others.

    **Other arguments:**

    - `forces`: generalised forces beside those of the parts, `(q, qd, t, params) -> (n,)`.
    - `plane`: "xy", "xz" or "yz" to draw the machine in that plane instead of in space.

    **Returns:** a `System` whose Lagrangian, forces and drawing are those of the parts.

    **Raises:** `ValueError` if `parts` does not trace or returns something else.
    """
    if plane is not None and plane not in _PLANES:
        raise ValueError(f"`plane` must be one of {', '.join(_PLANES)}, but is {plane!r}")
    units, params, _ = checked_description(coordinates, params, starts)
    sketches, pushing = _tried(parts, len(units), params)
    links, faces, count = [], [], 0
    for sketch in sketches:
        links += [tuple(count + i for i in link) for link in sketch.links]
        faces += [tuple(count + i for i in face) for face in sketch.faces]
        count += sketch.points.shape[0]
    return System(
        LagrangianOfParts(parts),
        units,
        params,
        forces=ForcesOfParts(parts, forces) if pushing else forces,
        landmarks=DrawingOfParts(parts, plane) if count else None,
        links=links,
        faces=faces,
        starts=starts,
        name=name or getattr(parts, "__name__", "machine"),
        parts=parts,
    )


def _tried(parts: Callable[..., Parts], n: int, params: Params) -> tuple[list[Any], bool]:
    """The sketches of the parts, abstractly, and whether any of them pushes."""
    found: list[Any] = []
    pushing: list[bool] = []

    def attempt(q: Vector, qd: Vector, t: Scalar, params: Params) -> Any:
        made = parts(q, t, params)
        if not isinstance(made, Mapping) or not made:
            raise ValueError(f"it must return a mapping from names to parts, but returns {made!r}")
        for name, part in made.items():
            if not isinstance(part, AbstractPart):
                advice = "; place it with `.at(...)`" if hasattr(part, "at") else ""
                raise ValueError(f"part {name!r} is a {type(part).__name__}, not a part{advice}")
        _, rates = placed(parts, q, qd, t, params)
        efforts = [part.effort(rates[name]) for name, part in made.items()]
        pushing.append(any(effort is not None for effort in efforts))
        found.append([part.sketch() for part in made.values()])
        return jnp.zeros(())

    attempt.__qualname__ = getattr(parts, "__qualname__", type(parts).__name__)
    if not callable(parts):
        raise ValueError(f"`parts` must be a function of (q, t, params), but is {parts!r}")
    trial_trace(attempt, "parts", (), *trial_arguments(n, params))
    return [sketch for sketch in found[-1] if sketch is not None], pushing[-1]
