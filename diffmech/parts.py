"""Of what a machine is put together: `dm.machine([dm.parts.RigidBody(...), ...], ...)`."""

from .model import (
    AbstractPart as AbstractPart,
    Damper as Damper,
    Gravity as Gravity,
    Particle as Particle,
    RigidBody as RigidBody,
    Spring as Spring,
    force as force,
    torque as torque,
)
