"""Shots: short stretches of motion, side by side in lanes, with exact derivatives.

Every record is cut into segments. Each starts from a state of its own, is integrated to where the
next one starts, and is measured on the way; one program gives what is measured, where the segment
ends, and the derivatives of both by its start, by the free parameters, and by time.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._fingerprint import version_of
from .._results import Status
from ..lanes import Samples, ensemble
from ..model import AbstractSystem, parameter_paths
from ._free import Free, in_programs, written_into

_LANES = 64  # of a block of an ensemble: programs are made for so many, or twice as many, ...
_MOST_LANES = 4096  # at once
_PROGRAMS = 16  # that are kept
# Of a segment. A fit tries numbers with which a machine is absurdly fast: not for minutes.
_MOST_STEPS = 3000


class Shots(NamedTuple):
    """What becomes of segments, shape (lanes, ...): k samples, c channels, states of size m.

    Attributes:
        measured: shape (lanes, k, c).
        ends: where segments end, shape (lanes, m).
        by_start, by_params, by_time: derivatives of `measured`, (lanes, k, c, m), (..., p), (...).
        flow, drift: of `ends` by start and by parameters, (lanes, m, m) and (lanes, m, p).
        failed: which motions did not reach their ends, shape (lanes,).
    """

    measured: np.ndarray
    ends: np.ndarray
    by_start: np.ndarray
    by_params: np.ndarray
    by_time: np.ndarray
    flow: np.ndarray
    drift: np.ndarray
    failed: np.ndarray


class Machine(NamedTuple):
    """A system as a fit sees it: what is free, what is measured, how exactly it is integrated."""

    system: AbstractSystem
    free: Free
    measure: Callable[..., Any]
    channels: int
    rtol: float
    lanes: int = _LANES  # that a program takes at once
    samples: int = 0  # of each, at least
    timed: bool = True  # whether derivatives by time are wanted, which delays ask for

    @property
    def size(self) -> int:
        """How many numbers a state (q, q̇) has: m = 2 n."""
        return 2 * self.system.n

    def shoot(
        self,
        starts: np.ndarray,
        z: np.ndarray,
        t0: np.ndarray,
        duration: np.ndarray,
        times: np.ndarray,
    ) -> Shots:
        """All segments, from starts (lanes, m) with z (lanes, p), from t0 for a duration (lanes,).

        They are measured at times of shape (lanes, k); where one is NaN, so is what is measured.
        """
        numbers = in_programs(self.free, self.system.params)
        program = _program(
            self.system.laws,
            self.measure,
            version_of(self.measure),
            numbers.leaves,
            _SystemByName(self.system),
            self.timed,
        )
        leaves = jax.tree.leaves(self.system.params)
        lanes, wide = starts.shape[0], self.lanes
        z, parts = numbers.filled(z), []
        for first in range(0, lanes, wide):
            cut = slice(first, first + wide)
            given = [_filled(x[cut], wide) for x in (starts, z, t0, duration, times)]
            part = program(leaves, self.rtol, numbers.scale, *given)
            count = min(wide, lanes - first)
            parts.append(jax.tree.map(lambda x, count=count: np.asarray(x)[:count], part))
        whole = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
        (measured, ends, status), (by, of_ends) = whole
        m = self.size
        return Shots(
            measured=measured,
            ends=ends,
            by_start=by[..., :m],
            by_params=by[..., m + numbers.indices],
            by_time=by[..., -1] if self.timed else np.zeros_like(measured),
            flow=of_ends[..., :m],
            drift=of_ends[..., m + numbers.indices],
            failed=status != Status.OK,
        )


def wide_enough(lanes: int) -> int:
    """How many lanes a program should take at once, for so many in all."""
    wide = _LANES
    while wide < min(lanes, _MOST_LANES):
        wide *= 2
    return wide


class _SystemByName:
    """A system that a program is made for; any one with the same laws will do."""

    def __init__(self, system: AbstractSystem):
        self.system = system

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SystemByName) and self.system.name == other.system.name


def _filled(array: np.ndarray, count: int) -> np.ndarray:
    """Lanes up to a fixed number; those that are added end at once."""
    missing = count - array.shape[0]
    if not missing:
        return array
    return np.concatenate([array, np.full((missing, *array.shape[1:]), np.nan)])


@lru_cache(maxsize=_PROGRAMS)
def _program(
    laws: Any,
    measure: Callable[..., Any],
    version: tuple[int, ...],
    free: tuple[Any, ...],
    example: _SystemByName,
    timed: bool,
) -> Callable[..., Any]:
    """Values, and derivatives by (start, z, time if it is `timed`), of a number of segments."""
    del laws, version  # others are other programs
    system = example.system
    m, p = 2 * system.n, len(free)
    structure, paths = jax.tree.structure(system.params), list(parameter_paths(system.params))

    def values(
        leaves: Any, rtol: Any, starts: Any, numbers: Any, t0: Any, duration: Any, times: Any
    ) -> Any:
        by_path = dict(zip(paths, leaves, strict=True))  # JAX would sort the keys of a mapping
        changed = written_into(by_path, free, numbers)
        run = ensemble(
            system,
            starts[:, : m // 2],
            starts[:, m // 2 :],
            t0=t0,
            duration=duration,
            params={**by_path, **changed},
            rtol=rtol,
            max_steps=_MOST_STEPS,
            reduce={"samples": Samples(times), "last": "last"},
        )
        q, qd = run.values["samples"]
        ends = jnp.concatenate(run.values["last"], axis=-1)

        def one(q: Any, qd: Any, times: Any, varying: dict[str, Any]) -> Any:
            every = jax.tree.unflatten(structure, list({**by_path, **varying}.values()))
            return jax.vmap(lambda q, qd, t: jnp.ravel(measure(q, qd, t, every)))(q, qd, times)

        return jax.vmap(one)(q, qd, times, changed), ends, run.status

    @jax.jit
    def both(
        leaves: Any, rtol: Any, scale: Any, starts: Any, z: Any, t0: Any, duration: Any, times: Any
    ) -> Any:
        def moved(change: Any) -> Any:
            start, numbers = starts + change[:m], (z + change[m : m + p]) * scale
            late = times + change[-1] if timed else times
            shot = values(leaves, rtol, start, numbers, t0, duration, late)
            return shot[:2], shot

        slopes, shot = jax.jacfwd(moved, has_aux=True)(jnp.zeros(m + p + timed))
        return shot, slopes

    return both
