"""Poses that joints give: `dm.joints.revolute("z", angle)`, one after another with `chained`."""

from .geometry import (
    chained as chained,
    fixed as fixed,
    planar as planar,
    prismatic as prismatic,
    revolute as revolute,
    spherical as spherical,
    universal as universal,
)
