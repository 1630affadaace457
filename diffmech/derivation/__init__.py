"""Proof on paper: equations printed, derived by independent routes, and compared with one's own."""

from ._check import check_derivation as check_derivation
from ._check_record import DerivationCheck as DerivationCheck, EquationCheck as EquationCheck
from ._hand_written import Lagrangian as Lagrangian
from ._text import UnreadableTextError as UnreadableTextError
