"""Band edges: where along a family of periodic motions stability changes, and how they move."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from .._checks import (
    WRONG_PRECISION,
    as_count,
    as_vector,
    float_dtype,
    in_force,
)
from .._defaults import ORBIT_RTOL, as_rtol
from .._suggest import quoted, suggestion
from .._typing import Coordinates, Number, Params
from ..model import (
    AbstractSystem,
    parameter_paths,
    parameter_place,
    parameter_unit,
    replace_params,
    require_system,
    require_unconstrained,
    rest_zero,
)
from ..motion import prepare
from ._band_edges_record import BandEdges
from ._brake_family import brake_family
from ._edge_functions import is_reciprocal, kinds_of, unstable_count
from ._edge_scan import Scan
from ._edge_search import Root, brackets_and_dips, fold, polish, resolve_dips
from ._forced_family import forced_family, with_value
from ._return_maps import Base, Family

_INSIDE = np.pi / 180  # how far from 0 and π an angle's amplitudes begin and end by default
_VANISHES = 1e-8  # an edge function below this on the whole grid: a further integral of motion
_MIRRORED = 1e-6  # of the amplitude: q(τ) = −q(0)


def band_edges(
    system: AbstractSystem,
    family: str,
    span: Sequence[Number] | None = None,
    *,
    q0: Coordinates | None = None,
    qd0: Coordinates | None = None,
    period: Number | Callable[[Any], Any] | None = None,
    t0: Number = 0.0,
    points: int = 181,
    half_turn: bool | None = None,
    params: Params = None,
    rtol: Number | None = None,
) -> BandEdges:
    """Where the periodic motions of a family lose and regain their stability.

    An edge is a value v at which multipliers μ of the return map M(v), the trivial ones left out,
    leave the unit circle: a zero of

        f₊ = det(M − 1),   f₋ = det(M + 1),   f_D = Π_{i<j} (a_i − a_j)²,   a_j = μ_j + 1/μ_j

    with f_NS = Π_{i<j} (μ_i μ_j − 1) for f_D where multipliers do not come in pairs μ, 1/μ; or a
    fold, beyond which there is no orbit. A zero of f moves with a parameter p by

        dv/dp = −(∂f/∂p) / (∂f/∂v),   f along the orbits, which close at every v and p

    **Main arguments:**

    - `family`: a coordinate, for the motions that start at rest with this coordinate at the
      family's value and come back to rest (brake orbits of a machine without losses); or a
      parameter's path, for the motion with the period of the drive while that parameter changes.
    - `span`: (low, high) of the family's value, in the unit of the coordinate or the parameter; for
      the amplitude of an angle 1° to 179° if None.
    - `q0`, `qd0`, shape (n,) or mappings by name: for a coordinate, where the others are (held
      there, if nothing moves them, else first guesses); for a parameter, the motion's state at
      `t0`, exact (an equilibrium that the drive leaves in place) or a first guess. What is left out
      is zero.
    - `period`: of the drive [s], a number or a function of the parameters (the same function each
      time: a new one compiles anew). For a coordinate, a guess; None means that it is looked for.

    **Other arguments:**

    - `points`: of the scan. Bands narrower than its spacing are found where they show as
      dips of a smooth function.
    - `half_turn`: False to decide by the map of the whole turn even for a symmetric machine.
    - `params`: another set of parameters. `rtol`: tolerance per step of the integrations; None
      means 1e-12. `t0`: time of the start [s].

    **Returns:** `BandEdges`, with the derivative of each edge with respect to every parameter by
    the implicit function theorem. If nothing changes in the span, there are no edges and one band.

    **Raises:** `ValueError` for a wrong call, a machine with constraints, in float32 (orbits do not
    close well enough to tell an edge), or a family that has no periodic motion.
    """
    require_system(system)
    require_unconstrained(system, "a band edge")
    if float_dtype() == np.float32:
        raise ValueError(f"a band edge is not found in six digits. {WRONG_PRECISION}")
    q, qd, t, params = prepare(
        system, t0, params, q0=_zeros(system, q0), qd0=rest_zero(system, qd0)
    )
    index, unit = _resolved(system, family, params)
    grid = _grid(span, index, unit, family, as_count(points, "points", 5), params)
    rtol = as_rtol(rtol, ORBIT_RTOL)
    base = Base(q, qd, t, in_force(np.asarray(1.0)), in_force(rtol))
    if index is None:
        motions, base, guess = forced_family(system, family, grid, base, period, params)
    else:
        motions, guess = brake_family(system, family, index, grid, base, period, half_turn, params)
    scan = _scanned(motions, grid, guess, base, params)
    return _record_of(system, scan, unit, params)


def _zeros(system: AbstractSystem, q0: Any) -> Any:
    return rest_zero(system, {} if q0 is None else q0)


def _resolved(system: AbstractSystem, family: str, params: Params) -> tuple[int | None, str]:
    """The index of the coordinate, or None for a parameter; the unit."""
    names, paths = list(system.coordinates), parameter_paths(params)
    if family in names:
        return names.index(family), system.coordinates[family]
    if not isinstance(family, str):
        raise ValueError(
            f"`family` must be a name, but is {quoted(family)}.{suggestion('', [*names, *paths])}"
        )
    try:
        leaf, entry = parameter_place(params, family)
    except ValueError as error:
        raise ValueError(
            f"`family` must name a coordinate or a parameter, but {quoted(family)} is neither."
            + suggestion(family, [*names, *paths])
        ) from error
    shape = np.shape(paths[leaf])
    if len(entry) != len(shape):
        raise ValueError(
            f"`family` must name a single number, but {family!r} has shape {shape}: name an entry, "
            f"as in '{family}[{','.join('0' for _ in shape)}]'"
        )
    return None, parameter_unit(system, family)


def _grid(
    span: Any, index: int | None, unit: str, family: str, points: int, params: Params
) -> np.ndarray:
    angle = index is not None and unit == "rad"
    if span is None:
        if not angle:
            raise ValueError(f"`span` must be given as (low, high) for the family {family!r}")
        span = (_INSIDE, np.pi - _INSIDE)
    low, high = (float(x) for x in as_vector(span, ("low", "high"), "span"))
    if not low < high:
        raise ValueError(f"`span` must be (low, high) with low < high, but is ({low:g}, {high:g})")
    if angle and (low <= -np.pi or high >= np.pi):
        raise ValueError(
            f"`span` must lie between −π and π for the angle {family!r}, but is ({low:g}, "
            f"{high:g}) rad: a pendulum released there is one released from the other side"
        )
    if index is None:
        for end in (low, high):
            replace_params(params, {family: end})
    return np.linspace(low, high, points)


def _scanned(
    family: Family, grid: np.ndarray, guess: np.ndarray, base: Base, params: Params
) -> Scan:
    """The scan, by the maps that turn out to be the right ones."""
    scan = Scan(family, grid, guess, base, params)
    orbits = scan.orbits
    closed = np.isfinite(orbits.error)
    if not np.any(closed):
        raise ValueError(
            f"no periodic motion was found along {family.label!r}: give a better guess (`q0`, "
            "`qd0`, `period`), or start the `span` where one is known"
        )
    better = family
    if family.half_turn:
        n = family.n
        asymmetry = np.max(np.abs(orbits.start[closed][:, :n] + orbits.end[closed][:, :n]))
        if asymmetry > _MIRRORED * np.max(np.abs(grid)):
            better = replace(better, half_turn=False)
    if not family.reciprocal and all(is_reciprocal(m, family.size) for m in orbits.map[closed]):
        better = replace(better, reciprocal=True)
    return scan if better == family else Scan(better, grid, guess, base, params)


def _record_of(system: AbstractSystem, scan: Scan, unit: str, params: Params) -> BandEdges:
    family, edges = scan.family, scan.orbits.edges
    kinds = kinds_of(family.reciprocal, family.size)
    with np.errstate(invalid="ignore"):
        varies = np.nanmax(np.abs(edges), axis=0) > _VANISHES
    live = [k for k in range(len(kinds)) if varies[k]]
    brackets, dips = brackets_and_dips(scan.grid, edges, live)
    narrow, touches = resolve_dips(scan, dips)
    roots = polish(scan, [*brackets, *narrow], len(kinds))
    end = fold(scan, len(kinds))
    bands, counts = _bands(scan, [root.value for root in roots], end, live)
    if end is not None:
        roots, counts = [*roots, end], [*counts, (0 if bands[-1][2] else 1, -1)]
    kept: list[Root] = []
    opens: list[bool] = []
    inner: list[float] = []
    idle = [value for value, _ in touches]
    for root, (before, after) in zip(roots, counts, strict=True):
        if (before == 0) != (after == 0):
            kept.append(root)
            opens.append(before == 0)
        else:
            (inner if before != after else idle).append(root.value)
    slopes = [parameter_paths(root.edge.slopes) for root in kept]
    half = family.index is not None
    return BandEdges(
        values=np.asarray([root.value for root in kept]),
        opens=np.asarray(opens, bool),
        kinds=tuple("fold" if root is end else kinds[root.kind] for root in kept),
        touches=np.sort(np.asarray(idle, float)),
        inner=np.asarray(inner, float),
        bands=bands,
        derivatives={
            path: np.asarray([one[path] for one in slopes]).reshape(len(kept), *np.shape(leaf))
            for path, leaf in parameter_paths(params).items()
        },
        family=family.label,
        unit=unit,
        map=("half turn" if family.half_turn else "whole turn") if half else "period",
        grid=scan.grid,
        edge_functions=edges,
        periods=np.asarray([_period(scan, root, params) for root in kept]),
        params=params,
        system=system,
        rtol=scan.base.rtol,
    )


def _period(scan: Scan, root: Root, params: Params) -> float:
    family = scan.family
    if family.index is not None:
        return 2 * float(root.edge.x[-1])
    if family.period is None:
        return float(scan.base.period)
    return float(family.period(with_value(params, family.label, root.value)))


def _bands(
    scan: Scan, roots: list[float], end: Root | None, live: list[int]
) -> tuple[tuple[tuple[float, float, bool], ...], list[tuple[int, int]]]:
    """(low, high, stable?) between the edges; unstable multipliers before and after each root.

    Decided in the middle between neighbouring roots. Values without an orbit part the bands.
    """
    closed = np.isfinite(scan.orbits.error)
    starts = np.flatnonzero(closed & ~np.concatenate([[False], closed[:-1]]))
    ends = np.flatnonzero(closed & ~np.concatenate([closed[1:], [False]]))
    stretches = [
        [scan.grid[i], *[r for r in roots if scan.grid[i] <= r <= scan.grid[j]], scan.grid[j]]
        for i, j in zip(starts, ends, strict=True)
    ]
    if end is not None:
        stretches[-1][-1] = end.value
    middles = [(a + b) / 2 for marks in stretches for a, b in pairwise(marks)]
    orbits = scan.at(np.asarray(middles))
    verdicts = iter(
        _unstable(scan.family, m, edges, live)
        for m, edges in zip(orbits.map, orbits.edges, strict=True)
    )
    bands: list[tuple[float, float, bool]] = []
    counts: list[tuple[int, int]] = []
    for marks in stretches:
        here = [next(verdicts) for _ in marks[1:]]
        counts += list(pairwise(here))
        for (a, b), count in zip(pairwise(marks), here, strict=True):
            a, b, stable = float(a), float(b), count == 0
            if bands and bands[-1][1] == a and bands[-1][2] == stable:
                bands[-1] = (bands[-1][0], b, stable)
            else:
                bands.append((a, b, stable))
    return tuple(bands), counts


def _unstable(family: Family, m: np.ndarray, edges: np.ndarray, live: list[int]) -> int:
    """How many multipliers are outside; for one pair the sign of f± says it to rounding."""
    if family.reciprocal and family.size == 2:
        return int(any(edges[k] < 0 for k in live))
    return unstable_count(m, family.reciprocal, family.size)
