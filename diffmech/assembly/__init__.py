"""States that obey the constraints: the nearest one, and whether a machine closes at all."""

from ._assemble import Assembly as Assembly, assemble as assemble
from ._doctor import Diagnosis as Diagnosis, doctor as doctor
