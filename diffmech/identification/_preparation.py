"""What a user passes to a fit, turned into rows and limits."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._checks import as_scalar
from .._defaults import FIT_RTOL, as_rtol
from .._suggest import quoted, suggestion
from ..model import AbstractSystem, require_finite_params, require_system
from ._free import Free
from ._guess import noise_of_channel
from ._record import Record
from ._residuals import Problem, Sensors
from ._structure import identifiable

_LEAST_NOISE = 1e-8  # of a channel's size


def require_machine(system: Any) -> None:
    require_system(system)
    if getattr(system, "constraints", ()):
        raise ValueError(
            f"`fit` must have a machine without constraints, but {system.name!r} has some: "
            "describe it by as many coordinates as it has freedoms"
        )
    require_finite_params(system.params)


def named_channels(names: Iterable[str], channels: tuple[str, ...], label: str) -> list[str]:
    """Names of channels, of which one alone need not be in a list."""
    names = (names,) if isinstance(names, str) else names
    for name in names:
        if name not in channels:
            raise ValueError(
                f"`{label}` names {quoted(name)}, which is not a channel."
                + suggestion(str(name), channels)
            )
    return list(names)


def counted_on(records: Iterable[Record], turning: Sequence[str]) -> tuple[Record, ...]:
    """Records with whole turns added to these channels alone: none of them where none is named."""
    return tuple(record.unwrapped(*turning) if turning else record for record in records)


def named_free(names: Sequence[str], free: tuple[str, ...]) -> tuple[str, ...]:
    """Names whose profile is wanted, each of which must be free."""
    wanted = (names,) if isinstance(names, str) else tuple(names)
    for name in wanted:
        if name not in free:
            raise ValueError(
                f"`profile` names {quoted(name)}, which is not free." + suggestion(str(name), free)
            )
    return wanted


def sensors_of(
    channels: tuple[str, ...],
    offsets: Sequence[str],
    scales: Sequence[str],
    delays: Mapping[str, float],
) -> tuple[Sensors, list[str], list[tuple[float, float, float]]]:
    """Indices of the sensors' numbers, their names, and each one's (start, low, high)."""
    names: list[str] = []
    extra: list[tuple[float, float, float]] = []
    indices = []
    kinds = (("offset", offsets, 0.0), ("scale", scales, 1.0), ("delay", delays, 0.0))
    for label, wanted, start in kinds:
        indices_here = np.full(len(channels), -1)
        for name in named_channels(wanted, channels, f"{label}s"):
            indices_here[channels.index(name)] = len(names)
            names.append(f"{label} of {name}")
            most = np.inf
            if label == "delay":
                most = float(as_scalar(delays[name], f"delays[{name!r}]", positive=True))
            low = 1e-3 if label == "scale" else -most
            extra.append((start, low, most))
        indices.append(indices_here)
    offset, scale, delay = indices
    return Sensors(offset, scale, delay, len(names)), names, extra


def all_limits(numbers: Free, extra: list[tuple[float, float, float]]) -> np.ndarray:
    """Limits of parameters and of sensors."""
    of_machine, more = len(numbers.names), len(extra)
    limits = numbers.limits
    rows = [
        np.concatenate(
            [limits[:, :of_machine], np.zeros((len(limits), more)), limits[:, of_machine:]], axis=1
        )
    ]
    for i, (_, low, high) in enumerate(extra):
        for sign, end in ((1.0, low), (-1.0, -high)):
            if np.isfinite(end):
                row = np.zeros(of_machine + more + 1)
                row[of_machine + i], row[-1] = sign, end
                rows.append(row[None])
    return np.concatenate(rows)


def determined(
    system: AbstractSystem,
    numbers: Free,
    priors: Mapping[str, tuple[float, float]],
    measured: bool,
    unknown: str,
) -> str:
    """What the equations determine of the free numbers, in words.

    A function of one's own that is measured may tell more; then nothing is refused.

    Raises:
        ValueError: not all of them, neither are there priors for the rest, and `unknown` is
            "refuse"; or none of them, whatever `unknown` is.
    """
    if unknown not in ("refuse", "keep"):
        raise ValueError(f"`unknown` must be 'refuse' or 'keep', but is {quoted(unknown)}")
    here = system.with_params(dict(zip(numbers.names, map(float, numbers.start), strict=True)))
    structure = identifiable(here, numbers.names)
    known = [numbers.names.index(path) for path in priors if path in numbers.names]
    lost = structure.null_space.shape[1]
    told = np.linalg.matrix_rank(structure.null_space[known], 1e-6) if known and lost else 0
    if told < lost and not measured and unknown == "refuse":
        raise ValueError(
            f"`free` must be determined by the equations, but {structure.words}: free fewer, give "
            "`priors`, or `unknown='keep'` to find what is determined"
        )
    if lost == len(numbers.names) and not told and not measured:
        raise ValueError(
            f"`free` must name something that changes the motion, but {structure.words}: free "
            "others, or give `priors`"
        )
    return structure.words


def as_tolerance(rtol: Any) -> float:
    """A relative tolerance of the integration that means something; None: by the precision."""
    tolerance = as_rtol(rtol, FIT_RTOL)
    if float(tolerance) >= 1:
        raise ValueError(f"`rtol` must be less than 1, but is {float(tolerance):g}")
    return float(tolerance)


def prior_rows(
    system: AbstractSystem, numbers: Free, priors: Mapping[str, tuple[float, float]], more: int
) -> np.ndarray:
    rows = []
    of_machine = len(numbers.names)
    for path, about in priors.items():
        if path not in numbers.names:
            raise ValueError(
                f"`priors` names {quoted(path)}, which is not free."
                + suggestion(path, numbers.names)
            )
        value, spread = _pair(about, f"priors[{path!r}]")
        i = numbers.names.index(path)
        row = np.zeros(of_machine + more + 1)
        row[i], row[-1] = numbers.scale[i] / spread, -value / spread
        rows.append(row)
    return np.array(rows).reshape(-1, of_machine + more + 1)


def _pair(about: Any, label: str) -> tuple[float, float]:
    try:
        value, spread = (float(x) for x in about)
    except (TypeError, ValueError):
        value, spread = np.nan, np.nan
    if not (np.isfinite(value) and spread > 0):
        raise ValueError(
            f"`{label}` must be (value, standard deviation) with the second above zero, but is "
            f"{quoted(about)}"
        )
    return value, spread


def start_rows(
    system: AbstractSystem, records: int, starts: Mapping[str, tuple[float, float]]
) -> np.ndarray:
    names = [*system.coordinates, *(f"{name}_dot" for name in system.coordinates)]
    rows = np.zeros((records, len(starts), len(names) + 1))
    for k, (name, about) in enumerate(starts.items()):
        if name not in names:
            raise ValueError(
                f"`starts` names {quoted(name)}, which is neither a coordinate nor a rate."
                + suggestion(name, names)
            )
        value, spread = _pair(about, f"starts[{name!r}]")
        rows[:, k, names.index(name)], rows[:, k, -1] = 1 / spread, -value / spread
    return rows


def begin_of(system: AbstractSystem, starts: Mapping[str, tuple[float, float]]) -> np.ndarray:
    """Where records start as far as is known, (q, q̇), zero elsewhere, shape (2 n,)."""
    names = [*system.coordinates, *(f"{name}_dot" for name in system.coordinates)]
    return np.array([float(starts[name][0]) if name in starts else 0.0 for name in names])


def spread_of(system: AbstractSystem, starts: Mapping[str, tuple[float, float]]) -> np.ndarray:
    """How well starts are known, (q, q̇), zero where nothing is said, shape (2 n,)."""
    names = [*system.coordinates, *(f"{name}_dot" for name in system.coordinates)]
    return np.array([float(starts[name][1]) if name in starts else 0.0 for name in names])


def divided(
    records: Sequence[Record], holdout: str | int | Sequence[str | int]
) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
    """Records that are fitted, and those held back; a name stands for one record."""
    names = [record.name for record in records]
    held = set()
    for one in (holdout,) if isinstance(holdout, str | int | np.integer) else holdout:
        if one in names:
            held.add(names.index(one))
        elif isinstance(one, int | np.integer) and 0 <= one < len(records):
            held.add(int(one))
        else:
            raise ValueError(f"`holdout` names {quoted(one)}, {_unknown(one, names)}")
    if len(held) == len(records):
        raise ValueError("`holdout` must leave at least one record to fit")
    return (
        tuple(record for i, record in enumerate(records) if i not in held),
        tuple(records[i] for i in sorted(held)),
    )


def _unknown(one: object, names: list[str]) -> str:
    """Why a word stands for no record: none is called so, or several were."""
    several = [name for name in names if re.fullmatch(rf"{re.escape(str(one))} \(\d+\)", name)]
    if len(several) > 1:
        numbers = " and ".join(str(names.index(name)) for name in several)
        return (
            f"which is the name of the records {numbers}: give a number, or the names that they "
            f"have here, {' and '.join(map(quoted, several))}"
        )
    return "which is not a record." + suggestion(str(one), names)


def least_noise(records: tuple[Record, ...], rtol: float) -> np.ndarray:
    """σ of every channel, shape (c,), below which nothing can be told.

    Exact data have no noise; motions are computed to `rtol`, and beyond it what they miss jumps
    about as steps fall otherwise: no descent settles there.
    """
    sizes = np.max([np.nanmax(np.abs(record.values), axis=0) for record in records], axis=0)
    return np.maximum(max(_LEAST_NOISE, rtol) * sizes, 1e-300)


def noise_of(
    records: tuple[Record, ...], channels: tuple[str, ...], given: Any, least: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """σ of every channel, and which were given; those that were not are not below `least`."""
    known = np.full(len(channels), np.nan)
    for record in records:
        if record.noise is not None:
            known = np.where(np.isnan(known), record.noise, known)
    if isinstance(given, Mapping):
        for name in named_channels(list(given), channels, "noise"):
            known[channels.index(name)] = as_scalar(given[name], f"noise[{name!r}]")
    elif given is not None:
        known[:] = as_scalar(given, "noise")
    wrong = ~np.isnan(known) & ~((known > 0) & np.isfinite(known))
    if np.any(wrong):
        raise ValueError(
            f"`noise` must be greater than zero, but is {known[wrong][0]:g} for "
            f"{quoted(channels[int(np.argmax(wrong))])}"
        )
    told = ~np.isnan(known)
    for c in np.flatnonzero(~told):
        known[c] = noise_of_channel(records, int(c))
        if np.isnan(known[c]):  # too few samples to tell
            known[c] = 1e-3 * (np.mean([np.nanstd(r.values[:, c]) for r in records]) or 1.0)
        known[c] = max(known[c], least[c])
    return known, told


def require_enough(problem: Problem) -> None:
    count = sum(int(np.sum(np.isfinite(record.values))) for record in problem.records)
    unknown = problem.p + len(problem.records) * problem.machine.size
    known = len(problem.priors) + problem.start_priors.shape[0] * problem.start_priors.shape[1]
    if count + known < unknown:
        raise ValueError(
            f"there must be at least as many data as unknowns, but there are {count} measured "
            f"numbers for {unknown}: {problem.p} that are free and {problem.machine.size} of each "
            "record's start"
        )
