"""Proof on paper: equations printed, derived by independent routes, and compared with one's own."""

from ._equations import Equations as Equations, equations as equations
from ._formulas import Formulas as Formulas
