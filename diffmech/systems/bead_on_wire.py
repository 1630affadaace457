"""A bead sliding on a wire of any shape: m s̈ = F·e_t along the wire.

q = (s,): where on the curve r(s) the bead is. If s is the length along the wire, it is in metres;
any other parameter of the curve does as well.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._suggest import quoted, suggestion
from .._typing import AnyArray, Number, Numbers, Scalar, Vector
from ..model import (
    AbstractPart,
    Damper,
    Gravity,
    Particle,
    Scenery,
    System,
    acting_on,
    gravity_field,
    machine,
    number_field,
)

_DRAWN = np.linspace(-3.0, 3.0, 61)  # values of s at which the wire is drawn


class Params(eqx.Module):
    bead: Particle
    friction: Damper = acting_on("length")
    gravity: Scalar = gravity_field()  # [m/s^2]
    shape: AnyArray = number_field("m")  # numbers of the curve


def helix(s: Scalar, shape: Vector) -> tuple[Any, Any, Any]:
    """By length: radius and rise per radian, (R, h) [m]; it climbs along z."""
    angle = s / jnp.sqrt(shape[0] ** 2 + shape[1] ** 2)
    return shape[0] * jnp.cos(angle), shape[0] * jnp.sin(angle), shape[1] * angle


def circle(s: Scalar, shape: Vector) -> tuple[Any, Any, Any]:
    """By length, upright, from its lowest point: radius (R,) [m]."""
    angle = s / shape[0]
    return shape[0] * jnp.sin(angle), jnp.zeros_like(s), -shape[0] * jnp.cos(angle)


def parabola(s: Scalar, shape: Vector) -> tuple[Any, Any, Any]:
    """By x: z = x²/(2 R), radius of curvature (R,) at the bottom [m]."""
    return s, jnp.zeros_like(s), s**2 / (2 * shape[0])


def cycloid(s: Scalar, shape: Vector) -> tuple[Any, Any, Any]:
    """By length from its lowest point, radius (R,) [m]: the period does not depend on amplitude."""
    angle = 2 * jnp.arcsin(jnp.clip(s / (4 * shape[0]), -1.0, 1.0))
    return (
        shape[0] * (angle + jnp.sin(angle)),
        jnp.zeros_like(s),
        -shape[0] * (1 + jnp.cos(angle)),
    )


WIRES: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {
    "helix": (helix, (0.5, 0.1)),
    "circle": (circle, (1.0,)),
    "parabola": (parabola, (0.5,)),
    "cycloid": (cycloid, (1.0,)),
}


@dataclass(frozen=True)
class _Parts:
    """The bead, the friction along the wire and the wire to be seen."""

    curve: Callable[..., Any]

    def __call__(self, q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
        del t
        place = self.curve(q[0], params.shape)
        wire = jax.vmap(lambda s: jnp.stack(self.curve(s, params.shape)))(jnp.asarray(_DRAWN))
        return {
            "bead": params.bead.at(place),
            "friction": params.friction.on(place),
            "gravity": Gravity(params.gravity),
            "wire": Scenery(wire),
        }


def bead_on_wire(
    wire: str | Callable[..., Any] = "helix",
    shape: Numbers | None = None,
    mass: Annotated[Number, "kg"] = 1.0,
    gravity: Number = 9.81,
    friction: Annotated[Number, "N s/m"] = 0.0,
) -> System:
    """A bead on a `wire`: "helix", "circle", "parabola", "cycloid", or a function of one's own.

    A function `(s, shape) -> (x, y, z)` [m] in JAX operations gets the numbers `shape`. `friction`
    is viscous [N s/m]. Starts at s = 0.5 at rest.
    """
    if isinstance(wire, str):
        if wire not in WIRES:
            raise ValueError(f"there is no wire {quoted(wire)}.{suggestion(wire, WIRES)}")
        curve, numbers = WIRES[wire]
    else:
        curve, numbers = wire, ()
    return machine(
        _Parts(curve),
        coordinates={"s": "m"},
        params=Params(
            Particle(mass), Damper(friction), gravity, numbers if shape is None else shape
        ),
        starts={"default": ([0.5], [0.0])},
        units=None if isinstance(wire, str) else {"shape": ""},
        name="bead_on_wire" if wire == "helix" else f"bead_on_wire:wire={_name(wire)}",
    )


def _name(wire: Any) -> str:
    return wire if isinstance(wire, str) else getattr(wire, "__name__", "own")
