"""Of what a machine is put together, where `parts(q, t, params)` of `dm.machine` puts it.

Numbers first, as parameters (`rod = dm.parts.RigidBody.rod(1.0, 0.5)`, [kg], [m]); then placed in
space by `rod.at(pose)`, `spring.between(a, b)`, `damper.turning(a, b)`.
"""

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
