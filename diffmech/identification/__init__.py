"""From measured motion to parameters: what can be known, and what it is."""

from ._as_records import as_records as as_records
from ._compare import Comparison as Comparison, compare as compare
from ._csv import column_names as column_names, read_records as read_records
from ._fit import fit as fit
from ._fit_record import Fit as Fit, load_fit as load_fit
from ._forces_along import ForcesAlong as ForcesAlong, forces_along as forces_along
from ._frictions import compare_frictions as compare_frictions
from ._named import NamedNumbers as NamedNumbers, named_numbers as named_numbers
from ._record import Record as Record
from ._structure import Structure as Structure, identifiable as identifiable
