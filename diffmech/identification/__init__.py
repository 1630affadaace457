"""From measured motion to parameters: what can be known, and what it is."""

from ._named import NamedNumbers as NamedNumbers, named_numbers as named_numbers
from ._structure import Structure as Structure, structure as structure
