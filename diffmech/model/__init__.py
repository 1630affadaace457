"""Declarations: what the world is. Nothing here is solved."""

# Public: `dm.<name>` or in a family, `dm.parts`.
from ._abstract_system import AbstractSystem as AbstractSystem
from ._bodies import (
    Particle as Particle,
    RigidBody as RigidBody,
)
from ._constraints import (
    Holonomic as Holonomic,
    Pfaffian as Pfaffian,
)
from ._explicit import Explicit as Explicit
from ._holds import Hold as Hold
from ._joints import joint as joint
from ._loads import (
    Damper as Damper,
    Gravity as Gravity,
    Spring as Spring,
    force as force,
    torque as torque,
)
from ._machine import machine as machine
from ._parts import AbstractPart as AbstractPart
from ._recorded import Recorded as Recorded
from ._system import System as System

# isort: split
# What the rooms above build on.
from ._abstract_arguments import trial_arguments as trial_arguments
from ._abstract_system import (
    require_system as require_system,
    require_unconstrained as require_unconstrained,
)
from ._bodies import (
    PlacedBody as PlacedBody,
    PlacedParticle as PlacedParticle,
)
from ._constraints import AbstractConstraint as AbstractConstraint
from ._coordinates import (
    CoordinateUnits as CoordinateUnits,
    FixedMapping as FixedMapping,
)
from ._hold_constraints import HoldsOfParts as HoldsOfParts
from ._holds import AbstractHold as AbstractHold
from ._joints import (
    joint_names as joint_names,
    joint_points as joint_points,
    joint_poses as joint_poses,
    slipping as slipping,
)
from ._laws import (
    ExplicitLaws as ExplicitLaws,
    Laws as Laws,
)
from ._machine import (
    DrawingOfParts as DrawingOfParts,
    ForcesOfParts as ForcesOfParts,
    LagrangianOfParts as LagrangianOfParts,
    kinetic_of as kinetic_of,
    part_names as part_names,
    potential_of as potential_of,
    weight_of as weight_of,
)
from ._measures import (
    parameter_ranges as parameter_ranges,
    parameter_rules as parameter_rules,
    parameter_unit as parameter_unit,
    parameter_units as parameter_units,
    principal_moments as principal_moments,
)
from ._moving_entries import (
    MovingEntries as MovingEntries,
    Parts as Parts,
    placed as placed,
)
from ._parameters import (
    entry_name as entry_name,
    match_params as match_params,
    number_names as number_names,
    parameter_names as parameter_names,
    parameter_parts as parameter_parts,
    parameter_paths as parameter_paths,
    parameter_place as parameter_place,
    replace_params as replace_params,
    require_finite_params as require_finite_params,
)
from ._partial_starts import rest_zero as rest_zero
from ._parts import (
    Actions as Actions,
    Scenery as Scenery,
)
from ._rules import (
    Range as Range,
    acting_on as acting_on,
    gravity_field as gravity_field,
    inertia_field as inertia_field,
    length_field as length_field,
    mass_field as mass_field,
    number_field as number_field,
    place_field as place_field,
    require_sound_params as require_sound_params,
)
from ._solids import (
    Shape as Shape,
    box as box,
    disc as disc,
    plate as plate,
    rod as rod,
    together as together,
    top as top,
)
