"""Methods that Diffrax lacks, for long runs with a constant step; ways to keep constraints.

dm.simulate(system, q0, duration=1e4, dt=0.01, method=dm.solvers.GaussLegendre4())
dm.simulate(linkage, q0, duration=10, stabilise=dm.solvers.baumgarte(omega=10, zeta=0.8))
"""

from .motion import baumgarte as baumgarte, penalty as penalty
from .simulation._gauss_legendre import (
    GaussLegendre4 as GaussLegendre4,
    GaussLegendre6 as GaussLegendre6,
    ImplicitMidpoint as ImplicitMidpoint,
)
from .simulation._variational import Variational as Variational
