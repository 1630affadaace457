"""Measured motions, and what a machine is made of according to them."""

from ._as_records import as_records as as_records
from ._csv import read_records as read_records
from ._record import Record as Record
