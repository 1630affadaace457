"""How a machine must move at one instant: equations of motion, energy, momentum."""

# Public: `dm.<name>` or in a family, `dm.solvers`.
from ._body_states import (
    BodyState as BodyState,
    angular_momentum as angular_momentum,
    body_states as body_states,
    mass_centre as mass_centre,
)
from ._conservative import force_curl as force_curl
from ._energy import (
    Energy as Energy,
    energy as energy,
    momentum as momentum,
    power as power,
)
from ._euler_lagrange import (
    acceleration as acceleration,
    bias as bias,
    inverse_dynamics as inverse_dynamics,
    mass_condition as mass_condition,
    mass_matrix as mass_matrix,
)
from ._hamilton import (
    hamilton_equations as hamilton_equations,
    hamiltonian as hamiltonian,
    velocity as velocity,
)
from ._multipliers import (
    Violations as Violations,
    constraint_forces as constraint_forces,
    multipliers as multipliers,
    violations as violations,
)
from ._reactions import (
    Reaction as Reaction,
    reactions as reactions,
)
from ._stabilise import (
    baumgarte as baumgarte,
    penalty as penalty,
)

# isort: split
# What the rooms above build on.
from ._arguments import prepare as prepare
from ._body_states import (
    body_states_along as body_states_along,
    require_parts as require_parts,
)
from ._constrained import (
    CORRECTIONS as CORRECTIONS,
    Motion as Motion,
    corrector as corrector,
    independent_coordinates as independent_coordinates,
    nearest as nearest,
    scaled_rows as scaled_rows,
    wanted_of as wanted_of,
)
from ._constraint_rows import (
    is_holonomic as is_holonomic,
    jacobian_of as jacobian_of,
    rate_residual_of as rate_residual_of,
    residual_of as residual_of,
    rows_of as rows_of,
)
from ._definite import (
    INDEFINITE as INDEFINITE,
    is_definite as is_definite,
)
from ._energy import (
    energy_of as energy_of,
    momentum_of as momentum_of,
    power_of as power_of,
    power_with as power_with,
)
from ._equations_at import EquationsAt as EquationsAt, equations_at as equations_at
from ._euler_lagrange import (
    acceleration_of as acceleration_of,
    force_of as force_of,
    mass_and_bias_of as mass_and_bias_of,
    mass_condition_of as mass_condition_of,
    mass_matrix_of as mass_matrix_of,
    motion_of as motion_of,
    require_lagrangian as require_lagrangian,
)
from ._hamilton import velocity_of as velocity_of
from ._inverted import inverted as inverted
from ._kkt import (
    REFINEMENTS as REFINEMENTS,
    REGULARISATION as REGULARISATION,
)
from ._likeness import (
    Likeness as Likeness,
    likeness as likeness,
    params_like as params_like,
    require_alike as require_alike,
    require_same_coordinates as require_same_coordinates,
)
from ._multipliers import (
    multipliers_of as multipliers_of,
    require_constraints as require_constraints,
    violations_of as violations_of,
)
from ._newton import newton as newton
from ._rank import rank_distance as rank_distance
from ._reactions import (
    joint_loads_of as joint_loads_of,
    reactions_along as reactions_along,
)
from ._scalar_motion import ScalarMotion as ScalarMotion
from ._solve import max_condition as max_condition
from ._stabilise import (
    AbstractStabilisation as AbstractStabilisation,
    Baumgarte as Baumgarte,
    Nullspace as Nullspace,
    Penalty as Penalty,
    Projection as Projection,
    Unstabilised as Unstabilised,
    as_stabilisation as as_stabilisation,
    stabilisation_as_data as stabilisation_as_data,
)
from ._starts import (
    kept_at as kept_at,
    kept_of as kept_of,
    require_consistent as require_consistent,
)
from ._state import (
    Field as Field,
    pack as pack,
    unpack as unpack,
)
from ._symmetries import (
    SymmetryTrials as SymmetryTrials,
    typical_rate as typical_rate,
)
