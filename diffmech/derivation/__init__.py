"""Proof on paper: equations printed, derived by independent routes, and compared with one's own."""

from ._check import check_derivation as check_derivation
from ._check_record import DerivationCheck as DerivationCheck, EquationCheck as EquationCheck
from ._crosscheck import FORMULATIONS as FORMULATIONS, crosscheck as crosscheck
from ._crosscheck_record import Crosscheck as Crosscheck, Disagreement as Disagreement
from ._equations import Equations as Equations, equations as equations
from ._formulas import Formulas as Formulas
from ._hand_written import Lagrangian as Lagrangian
from ._text import UnreadableTextError as UnreadableTextError
