"""A machine described by its parts: `parts(q, t, params)` says where everything is.

Kinetic and potential energy, generalised forces and the drawing follow from that one function.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import is_traced, trial_trace
from .._typing import AnyArray, Params, Scalar, Vector
from ..geometry import dot, is_number, plus, times
from ._bodies import PlacedBody, PlacedParticle
from ._loads import Gravity
from ._parts import AbstractPart
from ._shapes import Shape, together
from ._system import System, checked_description
from ._trial import trial_arguments

Parts = Mapping[str, AbstractPart]
_PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


class Places:
    """The entries of all parts' places that move, as a function of q and t.

    Entries that are plain numbers are left out; `whole` puts plain zeros back as their rates, so
    that they take no part in what follows.
    """

    def __init__(self, parts: Callable[..., Parts], params: Params):
        self._parts, self._params = parts, params

    def __call__(self, q: Vector, t: Scalar) -> tuple[list[Any], Parts]:
        """The moving entries, and the parts themselves."""
        made = self._parts(q, t, self._params)
        leaves, self._structure = jax.tree.flatten(
            {name: part.place for name, part in made.items()}
        )
        self._leaves = [leaf if is_number(leaf) else np.zeros(leaf.shape) for leaf in leaves]
        self._moving = [is_traced(leaf) for leaf in leaves]
        return self.entries(leaves), made

    def entries(self, leaves: list[Any]) -> list[Any]:
        """Of all entries, those that move."""
        return [leaf for leaf, moves in zip(leaves, self._moving, strict=True) if moves]

    def whole(self, rates: list[Any]) -> dict[str, Any]:
        """Rates of the moving entries as rates of the places, by name."""
        flowing = iter(rates)
        full = [
            next(flowing) if moves else 0.0 if is_number(leaf) else jnp.zeros_like(leaf)
            for leaf, moves in zip(self._leaves, self._moving, strict=True)
        ]
        return jax.tree.unflatten(self._structure, full)


def placed(
    parts: Callable[..., Parts], q: Vector, qd: Vector, t: Scalar, params: Params
) -> tuple[Parts, dict[str, Any]]:
    """The parts at an instant, and the rates of their places: one forward derivative."""
    places = Places(parts, params)
    _, rates, made = jax.jvp(places, (q, t), (qd, jnp.ones_like(t)), has_aux=True)
    return made, places.whole(rates)


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


def weight_of(made: Parts) -> tuple[Any, ...]:
    """The acceleration of gravity on every body, the sum of all `Gravity` parts; three entries."""
    fields = [part.acceleration for part in made.values() if isinstance(part, Gravity)]
    return tuple(
        reduce(plus, components) for components in zip((0.0, 0.0, 0.0), *fields, strict=True)
    )


def kinetic_of(made: Parts, rates: Mapping[str, Any]) -> Scalar:
    """Σ T over the parts [J]."""
    return sum(part.kinetic(rates[name]) for name, part in made.items())


def potential_of(made: Parts) -> Scalar:
    """Σ V over the parts, weights included: −Σ m g·r [J]."""
    down = weight_of(made)
    total = sum(part.potential() for part in made.values())
    for part in made.values():
        if isinstance(part, PlacedBody | PlacedParticle):
            total = total - times(part.mass, dot(down, part.centre))
    return jnp.asarray(total)


@dataclass(frozen=True)
class LagrangianOfParts:
    """L = Σ T − Σ V over the parts [J]."""

    parts: Callable[..., Parts]

    def __call__(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
        made, rates = placed(self.parts, q, qd, t, params)
        return kinetic_of(made, rates) - potential_of(made)


@dataclass(frozen=True)
class ForcesOfParts:
    """Q = Σ (∂place/∂q)ᵀ effort, and the machine's own generalised forces."""

    parts: Callable[..., Parts]
    extra: Callable[..., Any] | None

    def __call__(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
        made, rates = placed(self.parts, q, qd, t, params)
        efforts = {name: part.effort(rates[name]) for name, part in made.items()}
        acting = {
            name: jax.tree.map(jnp.zeros_like, made[name].place) if effort is None else effort
            for name, effort in efforts.items()
        }
        places = Places(self.parts, params)
        _, pull = jax.vjp(lambda q: places(q, t)[0], q)
        force = pull(places.entries(jax.tree.leaves(acting)))[0]
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
    sketch, pushing = _tried(parts, len(units), params)
    return System(
        LagrangianOfParts(parts),
        units,
        params,
        forces=ForcesOfParts(parts, forces) if pushing else forces,
        landmarks=DrawingOfParts(parts, plane) if sketch else None,
        links=sketch.links if sketch else (),
        faces=sketch.faces if sketch else (),
        starts=starts,
        name=name or getattr(parts, "__name__", "machine"),
        parts=parts,
    )


def _sketched(made: Parts) -> Shape | None:
    """The sketches of all parts as one; None if there is nothing to draw."""
    sketches = [part.sketch() for part in made.values()]
    seen = [sketch for sketch in sketches if sketch is not None]
    return together(*seen) if seen else None


def _tried(parts: Callable[..., Parts], n: int, params: Params) -> tuple[Shape | None, bool]:
    """The sketch of all parts, for its links and faces, and whether any of them pushes."""
    found: list[Shape | None] = []
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
        found.append(_sketched(made))
        return jnp.zeros(())

    attempt.__qualname__ = getattr(parts, "__qualname__", type(parts).__name__)
    if not callable(parts):
        raise ValueError(f"`parts` must be a function of (q, t, params), but is {parts!r}")
    trial_trace(attempt, "parts", (), *trial_arguments(n, params))
    return found[-1], pushing[-1]
