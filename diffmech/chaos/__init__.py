"""How fast neighbours of a motion part: Lyapunov's exponents, and what they say of it."""

from ._lyapunov import lyapunov as lyapunov
from ._lyapunov_record import Lyapunov as Lyapunov
