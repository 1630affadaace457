"""Joints with a name: where a machine can be cut open to ask what holds it together."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax

from .._checks import require_kind
from ..geometry import Pose, from_rotation_vector

Slips = Mapping[str, tuple[Any, Any]]

_slips: ContextVar[Slips | None] = ContextVar("slips", default=None)
_met: ContextVar[dict[str, Pose] | None] = ContextVar("met", default=None)


def joint(name: str, pose: Pose) -> Pose:
    """The frame of a joint, unchanged, under a name; what hangs on it is built from the result.

        elbow = joint("elbow", upper @ revolute("x", q[1], at=[0, 0, -1]))

    `reactions(...)` then gives the force and the moment that the joint passes on, at the frame's
    origin, by asking what it takes to keep everything beyond from slipping there.

    Raises:
        ValueError: `pose` is not a `Pose`, or the machine has a joint of that name already.
    """
    require_kind(pose, Pose, "pose", "a `Pose`, such as `revolute` gives")
    met = _met.get()
    if met is not None:
        if name in met:
            raise ValueError(f"joints must have different names, but two are named {name!r}")
        met[name] = pose
    slip = (_slips.get() or {}).get(name)
    if slip is None:
        return pose
    shift, turn = slip
    return Pose(pose.position + shift, from_rotation_vector(turn) @ pose.rotation)


@contextmanager
def slipping(slips: Slips) -> Iterator[None]:
    """While open, joints are shifted [m] and turned [rad] in space by (shift, turn), by name."""
    token = _slips.set(slips)
    try:
        yield
    finally:
        _slips.reset(token)


def joint_poses(parts: Callable[..., Any], q: Any, t: Any, params: Any) -> dict[str, Pose]:
    """The frames of all named joints, in the order in which they are met."""
    met: dict[str, Any] = {}
    token = _met.set(met)
    try:
        parts(q, t, params)
    finally:
        _met.reset(token)
    return met


def joint_points(parts: Callable[..., Any], q: Any, t: Any, params: Any) -> dict[str, Any]:
    """The origins of all named joints, each of shape (3,) [m]."""
    return {name: pose.position for name, pose in joint_poses(parts, q, t, params).items()}


def joint_names(parts: Callable[..., Any], q: Any, t: Any, params: Any) -> tuple[str, ...]:
    """The names of all named joints, in the order in which they are met; nothing is computed."""
    names: list[str] = []

    def look(q: Any, t: Any, params: Any) -> Any:
        names.extend(joint_poses(parts, q, t, params))
        return q

    jax.eval_shape(look, q, t, params)
    return tuple(names)
