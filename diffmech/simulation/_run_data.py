"""What a run is, as plain data: samples and end, how it was made, and of which machine."""

from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import numpy as np

from .._results import Result
from .._typing import AnyArray, Params
from ..model import AbstractSystem, ExplicitLaws, Laws
from ..motion import AbstractStabilisation
from ._events import Event


class Settings(eqx.Module):
    """How a run is made: everything besides the system, its parameters and its start."""

    solver: diffrax.AbstractSolver = eqx.field(static=True)
    method: str = eqx.field(static=True)  # the solver's name
    rtol: AnyArray
    atol: AnyArray
    dt: AnyArray | None  # None: adaptive
    longest: AnyArray  # bound on adaptive steps [s]; infinite unless a second run must be finer
    events: tuple[Event, ...]
    event_names: tuple[str, ...] = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    dense: bool = eqx.field(static=True)
    gradient: str = eqx.field(static=True)
    stabilise: AbstractStabilisation | None = None  # None: there are no constraints

    @property
    def fixed(self) -> bool:
        """Whether the step is constant."""
        return self.dt is not None


class End(NamedTuple):
    """Where a run ended: time [s], coordinates (n,), rates (n,) [1/s] and work [J] there."""

    t: AnyArray
    q: AnyArray
    qd: AnyArray
    work: AnyArray


class RunData(eqx.Module):
    """The fields of a `Trajectory`, which says what they are, without anything computed from them.

    What judges, saves or sums up a run is a function of these.
    """

    ts: AnyArray
    qs: AnyArray
    qds: AnyArray
    work: AnyArray
    status: Result
    stats: dict[str, Any]
    params: Params
    system: AbstractSystem
    settings: Settings
    end: End
    goal: AnyArray  # time it was to end [s]
    event_index: AnyArray
    interpolation: diffrax.DenseInterpolation | None
    version: tuple[int, ...] = eqx.field(static=True, default=())  # of the machine's functions

    @property
    def laws(self) -> Laws | ExplicitLaws:
        """The machine's functions.

        Raises:
            ValueError: something that they read from outside has changed since the run.
        """
        laws = self.system.laws
        if self.version and laws.version != self.version:
            raise ValueError(
                f"{self.system.name!r} reads numbers from outside that have changed since this "
                "run, so nothing new can be computed from it: run it again"
            )
        return laws

    @property
    def event(self) -> str | None:
        """Name of the event that ended the run, or None."""
        if np.ndim(self.event_index) != 0:
            raise ValueError("this is a batch of runs: look at `event_index`, -1 means none")
        index = int(self.event_index)
        return self.settings.event_names[index] if index >= 0 else None
