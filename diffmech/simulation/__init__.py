"""One run of a machine, and the record that says why it can be believed."""

from ._action import (
    ActionPath as ActionPath,
    action as action,
    action_gradient as action_gradient,
    motion_between as motion_between,
)
from ._events import Event as Event
from ._installation import installation as installation
from ._load import RUN_FILE as RUN_FILE, load_run as load_run
from ._methods import methods as methods
from ._report import Report as Report
from ._simulate import SimulationError as SimulationError, simulate as simulate
from ._system_on_file import SystemOnFile as SystemOnFile
from ._tournament import Entry as Entry, Tournament as Tournament, tournament as tournament
from ._trajectory import Trajectory as Trajectory
