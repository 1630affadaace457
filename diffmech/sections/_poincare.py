"""Poincaré sections: the points at which motions cross a section of their phase space."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .._checks import (
    as_count,
    as_duration,
    as_scalar,
    require_concrete,
    warn_if_single_precision,
)
from .._defaults import SECTION_RTOL, as_rtol
from .._results import Status
from .._typing import Number, Params
from ..lanes import crossings
from ..model import AbstractSystem, require_system, rest_zero
from ._section_record import PoincareSection
from ._sections import AbstractSection, Strobe, as_section

_SLACK = 1e-6  # of a strobe's period


def poincare(
    system: AbstractSystem,
    q0s: Any,
    qd0s: Any = None,
    *,
    section: AbstractSection | str | Callable[..., Any],
    duration: Number,
    transient: Number = 0.0,
    limit: int | None = None,
    t0: Number = 0.0,
    params: Params = None,
    rtol: Number | None = None,
    progress: bool | None = None,
) -> PoincareSection:
    """Where motions cross a section, with the time and the state of every crossing.

    A crossing is noticed between the ends of a step of the integration and then solved for, by
    Newton's method, with steps of the same method from the step's start: it lies on the section to
    rounding, and on the motion to the integration's tolerance.

    **Main arguments:**

    - `q0s`, `qd0s`: initial states, shape (lanes, n), or (n,) for one motion; or mappings by name,
      as for `ensemble`. `qd0s=None` starts at rest.
    - `section`: `Plane("qA", 0.5, direction=-1)`, a coordinate or a rate has a value;
      `Strobe(period, phase)`, the instants phase + k period [s]; or `Surface(function)`, a function
      `(q, qd, t, params) -> number` is zero. "qA" is short for `Plane("qA")` (zero, rising), a
      function for its `Surface` (rising).
    - `duration` [s], of which crossings in the first `transient` [s] are not kept.
    - `limit`: crossings of a motion after which it ends; None keeps all.

    **Other arguments:**

    - `params`: as for `ensemble`: leaves may vary from motion to motion.
    - `rtol`: of the integration, per step; None means 1e-11 (1e-5 in float32).
    - `progress`: show a bar; None means on a terminal, if the run is long. Ctrl-C keeps what is
      done.

    A start on the section does not count. Two crossings within one step are noticed if the
    function's slopes at the step's ends tell of them; more are not, nor a graze that a cubic
    through these slopes misses: give `Surface` an `every` where its function is quicker than the
    motion. New numbers and numbers of motions do not compile anew.

    **Raises:** `ValueError` for a wrong call.
    """
    warn_if_single_precision()
    require_system(system)
    require_concrete(
        "poincare",
        "the number of crossings depends on the values",
        *(q0s, qd0s, section, duration, transient, t0, params, rtol),
    )
    section = as_section(section)
    function = section.function(system)
    start = float(as_scalar(t0, "t0"))
    length = float(as_duration(duration))
    before = float(as_scalar(transient, "transient"))
    if not 0 <= before < length:
        raise ValueError(
            f"`transient` must be at least 0 and less than the duration, {length:g} s, but is "
            f"{before:g}"
        )
    tolerance = float(as_rtol(rtol, SECTION_RTOL))
    # A strobe counts at the end, and not at the start, however these are rounded.
    slack = _SLACK * float(section.period) if isinstance(section, Strobe) else 0.0
    crossed = crossings(
        system,
        q0s,
        rest_zero(system, qd0s),
        function,
        direction=section.direction,
        duration=length + slack,
        since=start + before + slack,
        limit=None if limit is None else as_count(limit, "limit", 1),
        params=params,
        t0=start,
        rtol=tolerance,
        progress=progress,
    )
    if crossed.interrupted:
        done = int(np.sum(crossed.status != Status.INTERRUPTED))
        warnings.warn(
            f"{system.name}: interrupted after {done} of {len(crossed.status)} motions; the "
            "crossings found up to there are kept",
            stacklevel=2,
        )
    return PoincareSection(
        times=crossed.met.t,
        q=crossed.met.q,
        qd=crossed.met.qd,
        lanes=crossed.lanes,
        values=crossed.met.value,
        status=crossed.status,
        ends=crossed.ends,
        section=section,
        rtol=tolerance,
        params=crossed.params,
        system=system,
    )
