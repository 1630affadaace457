"""Lyapunov exponents of a motion, and the record that judges it by them."""

from ._lyapunov import lyapunov as lyapunov
from ._lyapunov_record import Lyapunov as Lyapunov
