"""Equations derived by hand: whether they are the machine's, and which term is the mistake."""

from ._check import check_derivation as check_derivation
from ._check_record import DerivationCheck as DerivationCheck, EquationCheck as EquationCheck
from ._hand_written import Lagrangian as Lagrangian
from ._text import UnreadableTextError as UnreadableTextError
