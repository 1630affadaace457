"""One machine by nine independent formulations, compared at random states of all regimes."""

from ._crosscheck import FORMULATIONS as FORMULATIONS, crosscheck as crosscheck
from ._crosscheck_record import Crosscheck as Crosscheck, Disagreement as Disagreement
