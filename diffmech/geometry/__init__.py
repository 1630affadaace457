"""The maths of space: rotations, their rates, and inertia. No physics of motion.

A rotation R takes components in the body to components in space; quaternions are (w, x, y, z);
angles are in radians, right-handed.
"""

from ._entries import (
    dot as dot,
    is_number as is_number,
    minus as minus,
    plus as plus,
    split as split,
    stacked as stacked,
    times as times,
    triple as triple,
)
from ._euler import (
    SEQUENCES as SEQUENCES,
    from_euler as from_euler,
    pole_distance as pole_distance,
    to_euler as to_euler,
)
from ._inertia import (
    ball as ball,
    box as box,
    composed as composed,
    cone as cone,
    cylinder as cylinder,
    disc as disc,
    dumbbell as dumbbell,
    ellipsoid as ellipsoid,
    hoop as hoop,
    jack as jack,
    jack_masses as jack_masses,
    lamina as lamina,
    parallel_axis as parallel_axis,
    plate as plate,
    point as point,
    principal as principal,
    require_inertia as require_inertia,
    rod as rod,
    rotated as rotated,
    tensor_of as tensor_of,
)
from ._pose import (
    Pose as Pose,
    chained as chained,
    fixed as fixed,
    gram_schmidt as gram_schmidt,
    planar as planar,
    polar as polar,
    prismatic as prismatic,
    revolute as revolute,
    spherical as spherical,
    universal as universal,
)
from ._rates import (
    angular_velocity as angular_velocity,
    quaternion_rates as quaternion_rates,
    rates_of as rates_of,
    rotation_rates as rotation_rates,
    rotation_vector_rates as rotation_vector_rates,
    velocity_matrix as velocity_matrix,
)
from ._rotations import (
    angle_between as angle_between,
    from_axis_angle as from_axis_angle,
    from_quaternion as from_quaternion,
    from_rotation_vector as from_rotation_vector,
    hat as hat,
    quaternion_inverse as quaternion_inverse,
    quaternion_product as quaternion_product,
    rotation_about as rotation_about,
    to_axis_angle as to_axis_angle,
    to_quaternion as to_quaternion,
    to_rotation_vector as to_rotation_vector,
    vee as vee,
)
from ._typing import shaped as shaped
