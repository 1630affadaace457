"""One jaxpr, many algebras: small-array functions as lists of scalar operations."""

from ._algebra import (
    AbstractAlgebra as AbstractAlgebra,
    Evaluation as Evaluation,
    independent_of as independent_of,
    varying_places as varying_places,
)
from ._arithmetic import elementwise as elementwise
from ._arrays import ArrayProgram as ArrayProgram, on_arrays as on_arrays
from ._collect import collected as collected
from ._interpret import unknowns as unknowns, write as write
from ._lanes import Lanes as Lanes
from ._shapes import Places as Places, constants as constants
from ._sincos import LARGEST_ANGLE as LARGEST_ANGLE, sincos as sincos
from ._solve import Factors as Factors
from ._tape import Place as Place, Tape as Tape
from ._unknown import NotScalar as NotScalar
