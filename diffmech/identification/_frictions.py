"""Which friction do the data prefer?

    F = −(c + c₂ |v| + F_c/√(v² + v₀²)) v

Every law is some of the three terms, the others being zero; v₀, below which dry friction fades, is
scaled to the speeds that were measured.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._suggest import quoted, suggestion
from ..model import AbstractSystem, Damper, parameter_parts, replace_params
from ..motion import acceleration_of
from ._as_records import as_records
from ._compare import Comparison, compare
from ._fit import fit
from ._free import FRICTIONS
from ._guess import half_windows, smoothed
from ._measure import Measure, as_measure
from ._named import named_numbers
from ._preparation import (
    counted_on,
    divided,
    least_noise,
    named_channels,
    noise_of,
    require_machine,
)
from ._record import Record

_WIDTH = 0.02  # of the root-mean-square speed: v₀
_FIRST = 0.01  # of the root-mean-square acceleration: what each term makes at first
_LAWS = {
    "viscous": ("viscous",),
    "dry": ("coulomb",),
    "quadratic": ("quadratic",),
    "viscous and dry": ("viscous", "coulomb"),
    "viscous and quadratic": ("viscous", "quadratic"),
    "dry and quadratic": ("coulomb", "quadratic"),
    "all three": FRICTIONS,
}
_BY_PATH = ("guess", "bounds", "priors")  # options of `fit` that are about free numbers


def compare_frictions(
    system: AbstractSystem,
    data: Any,
    free: str | Sequence[str],
    dampers: Mapping[str, str],
    *,
    laws: str | Sequence[str] | None = None,
    **options: Any,
) -> Comparison:
    """Fit a machine with one law of friction after the other, and sort them.

        F = −(c + c₂ |v| + F_c/√(v² + v₀²)) v   [N, or N m about a hinge]
        dm.compare_frictions(rod, swings, ["length"], {"hinge": "theta"}, holdout=["swing 3"])

    Each law frees its coefficients in all `dampers`, none of which may become negative, and sets
    the others to zero. Dry friction fades below v₀, 2 % of the root mean square of the speed in the
    records that are fitted; `comparison["dry"].system.params` has it as `smoothing`.

    Args:
        system: a machine with a `Damper` among its parameters.
        data: as of `fit`.
        free: paths of what else is free, which may be nothing.
        dampers: the path of every `Damper` in question, and the coordinate or rate that it acts on:
            "theta" and "theta_dot" mean the same speed. One of both must be measured.
        laws: some of "viscous", "dry", "quadratic", "viscous and dry", "viscous and quadratic",
            "dry and quadratic" and "all three"; all of them if None.
        options: of `fit`: `holdout`, `offsets`, `noise`, ... What `guess`, `bounds` and `priors`
            say of a coefficient counts in the laws that have it.

    A coefficient starts at the machine's own value where that is above zero, else where its term
    accelerates the machine by 1 % of what was measured.

    Returns:
        A `Comparison` of one fit for each law, the preferred one first.

    Raises:
        ValueError: a path that is no `Damper`, a speed that is unknown, not measured or zero, an
            unknown law; and what `fit` refuses.
    """
    require_machine(system)
    chosen = _chosen(laws)
    records = as_records(data, tuple(system.coordinates))
    free = [free] if isinstance(free, str) else list(free)
    _require_dampers(system, dampers)
    _require_others(system, free, dampers)
    seen = as_measure(system, records, options.get("measure"))
    turning = named_channels(options.get("wrap", ()), records[0].channels, "wrap")
    fitted, _ = divided(counted_on(records, turning), options.get("holdout", ()))
    least = least_noise(fitted, 0.0)  # smoothing integrates nothing
    noise, _ = noise_of(fitted, fitted[0].channels, options.get("noise"), least)
    halves = half_windows(fitted, noise)
    first: dict[str, float] = {}
    for path, name in dampers.items():
        index = _coordinate(system, path, name)
        speed, change = _sizes(fitted, halves, seen, index, path, name)
        first |= _starts(system, path, _state(fitted[0], seen, index, speed), change)
        first[f"{path}.smoothing"] = _WIDTH * speed
    coefficients = [f"{path}.{term}" for path in dampers for term in FRICTIONS]
    fits = {}
    for law in chosen:
        freed = [f"{path}.{term}" for path in dampers for term in _LAWS[law]]
        others = [path for path in coefficients if path not in freed]
        one_fit = fit(
            system.with_params({**first, **dict.fromkeys(others, 0.0)}),
            list(records),
            [*free, *freed],
            **_without(options, others),
        )
        if one_fit.settings["interrupted"]:
            raise KeyboardInterrupt
        fits[law] = one_fit
    return compare(fits)


def _chosen(laws: str | Sequence[str] | None) -> list[str]:
    chosen = list(_LAWS) if laws is None else [laws] if isinstance(laws, str) else list(laws)
    for law in chosen:
        if law not in _LAWS:
            raise ValueError(
                f"`laws` names {quoted(law)}, which is not a law of friction."
                + suggestion(str(law), _LAWS)
            )
    if not chosen:
        raise ValueError(f"`laws` must name a law, but names none.{suggestion('', _LAWS)}")
    return chosen


def _require_dampers(system: AbstractSystem, dampers: Any) -> None:
    known = parameter_parts(system.params, Damper)
    if not isinstance(dampers, Mapping) or not dampers:
        raise ValueError(
            "`dampers` must be the speed that each damper acts on, by path, such as {'hinge': "
            f"'theta'}}, but is {quoted(dampers)}"
        )
    for path in dampers:
        if path not in known:
            has = suggestion(str(path), known) if known else " It has none: declare a `Damper`."
            raise ValueError(
                f"`dampers` must name dampers of {system.name!r}, but {quoted(path)} is none.{has}"
            )


def _require_others(system: AbstractSystem, free: list[str], dampers: Mapping[str, str]) -> None:
    """What a law decides is not free otherwise."""
    names = named_numbers(system.params, free).names if free else ()
    for name in names:
        path, _, term = name.rpartition(".")
        if path in dampers and term in (*FRICTIONS, "smoothing"):
            raise ValueError(
                f"`free` must leave friction to the laws, but names {quoted(name)}: leave it out"
            )


def _without(options: dict[str, Any], others: list[str]) -> dict[str, Any]:
    """Options without what they say of coefficients that are not free."""
    kept = dict(options)
    for key in _BY_PATH:
        if isinstance(kept.get(key), Mapping):
            kept[key] = {path: about for path, about in kept[key].items() if path not in others}
    return kept


def _coordinate(system: AbstractSystem, path: str, name: str) -> int:
    """Which coordinate a damper acts on the rate of."""
    names = list(system.coordinates)
    both = [*names, *(f"{each}_dot" for each in names)]
    if name not in both:
        raise ValueError(
            f"`dampers[{path!r}]` must be a coordinate or a rate of {system.name!r}, but is "
            f"{quoted(name)}.{suggestion(str(name), both)}"
        )
    return both.index(name) % len(names)


def _sizes(
    records: tuple[Record, ...],
    halves: np.ndarray,
    seen: Measure,
    index: int,
    path: str,
    name: str,
) -> tuple[float, float]:
    """Root mean squares of a coordinate's rate and of the rate's, by the smoothed samples."""
    direct = seen.rates[index] >= 0
    channel = seen.rates[index] if direct else seen.coordinates[index]
    if channel < 0:
        raise ValueError(
            f"`dampers[{path!r}]` must be measured, but the records do not show {quoted(name)} by "
            "name: give every law its own `fit`, with a `smoothing` of your choice, and `compare` "
            "them"
        )
    states = np.concatenate([
        smoothed(record, channel, np.asarray(record.ts), half)
        for record, half in zip(records, halves[:, channel], strict=True)
    ])  # fmt: skip
    speed, change = np.sqrt(np.nanmean(states**2, axis=0))[0 if direct else 1 :][:2]
    if not speed > 0:
        raise ValueError(
            f"`dampers[{path!r}]` must name what moves, but {quoted(name)} rests in all records "
            "that are fitted"
        )
    return float(speed), float(change)


def _state(record: Record, seen: Measure, index: int, speed: float) -> tuple[Any, Any]:
    """A state in which one coordinate moves at its usual speed, the others not."""
    values = np.asarray(record.values)
    q = [_first(values[:, c]) if c >= 0 else 0.0 for c in seen.coordinates]
    return jnp.array(q), jnp.zeros(len(q)).at[index].set(speed)


def _first(column: np.ndarray) -> float:
    return float(next(iter(column[np.isfinite(column)]), 0.0))


def _starts(
    system: AbstractSystem, path: str, state: tuple[Any, Any], change: float
) -> dict[str, float]:
    """Coefficients that are above zero: a damper's own, else such as make 1 % of `change`."""
    paths = [f"{path}.{term}" for term in FRICTIONS]

    def accelerated(values: Any) -> Any:
        params = replace_params(system.params, dict(zip(paths, values, strict=True)))
        return acceleration_of(system.laws, *state, jnp.zeros(()), params)

    by = np.abs(jax.jacfwd(accelerated)(jnp.zeros(len(paths)))).max(axis=0)
    present = named_numbers(system.params, paths).read(system.params)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = _FIRST * change / by
    scaled = np.where(np.isfinite(scaled) & (scaled > 0), scaled, 1.0)  # felt nowhere near
    return dict(zip(paths, map(float, np.where(present > 0, present, scaled)), strict=True))
