"""Proof on paper: equations printed, derived by independent routes, and compared with one's own."""

from ._crosscheck import FORMULATIONS as FORMULATIONS, crosscheck as crosscheck
from ._crosscheck_record import Crosscheck as Crosscheck, Disagreement as Disagreement
from ._equations import Equations as Equations, equations as equations
from ._formulas import Formulas as Formulas
