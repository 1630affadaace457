"""Declarations: what the world is. Nothing here is solved."""

from ._coordinates import CoordinateUnits as CoordinateUnits
from ._explicit import Explicit as Explicit
from ._laws import ExplicitLaws as ExplicitLaws, Laws as Laws
from ._parameters import (
    match_params as match_params,
    parameter_names as parameter_names,
    parameter_paths as parameter_paths,
    replace_params as replace_params,
    require_finite_params as require_finite_params,
)
from ._system import AbstractSystem as AbstractSystem, System as System
