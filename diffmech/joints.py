"""Poses that joints give: `dm.joints.revolute("z", angle)`, one after another with `chained`.

Each is a `Pose`: the origin r [m] and the rotation R of the frame beyond the joint, seen from the
frame before it, x_before = r + R x_beyond. Angles are in radians, right-handed.
"""

from .geometry import (
    chained as chained,
    fixed as fixed,
    planar as planar,
    prismatic as prismatic,
    revolute as revolute,
    spherical as spherical,
    universal as universal,
)
