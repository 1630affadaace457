"""One jaxpr, many algebras: small-array functions as lists of scalar operations."""

from ._algebra import (
    AbstractAlgebra as AbstractAlgebra,
    Evaluation as Evaluation,
    independent_of as independent_of,
    varying_registers as varying_registers,
)
from ._arithmetic import elementwise as elementwise
from ._arrays import (
    ArrayProgram as ArrayProgram,
    Arrays as Arrays,
    gathered as gathered,
    given as given,
    on_arrays as on_arrays,
)
from ._collect import collected as collected
from ._harmonics import written_wave as written_wave
from ._identifiers import Identifiers as Identifiers, ascii_letters as ascii_letters
from ._interpret import unknowns as unknowns, write as write
from ._lanes import Lanes as Lanes
from ._notation import (
    ANY as ANY,
    ATOM as ATOM,
    COMPARISON as COMPARISON,
    POWER as POWER,
    PRODUCT as PRODUCT,
    SUM as SUM,
    TEXT as TEXT,
    Form as Form,
    Notation as Notation,
    as_quotient as as_quotient,
    spelled as spelled,
)
from ._ordered import in_order as in_order
from ._polynomials import (
    AbstractReader as AbstractReader,
    Monomial as Monomial,
    Polynomial as Polynomial,
    common_factors as common_factors,
    multiplied as multiplied,
    without_all as without_all,
)
from ._readable import Grouped as Grouped, OutOfTime as OutOfTime, Readable as Readable
from ._shapes import Registers as Registers, constants as constants
from ._sincos import LARGEST_ANGLE as LARGEST_ANGLE, sincos as sincos
from ._source import LANGUAGES as LANGUAGES, source as source
from ._symbolic import Symbolic as Symbolic, require_sympy as require_sympy
from ._tape import Register as Register, Tape as Tape
from ._terms import (
    Coefficient as Coefficient,
    Terms as Terms,
    terms as terms,
    written_coefficient as written_coefficient,
    written_product as written_product,
)
from ._unknown import NotScalar as NotScalar
from ._unrolled_solve import Factors as Factors
