"""The equations of motion on paper: text, LaTeX, SymPy and source code of other languages."""

from ._equations import Equations as Equations, equations as equations
from ._formulas import Formulas as Formulas
