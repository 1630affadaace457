"""The verb: where in the space of starts, or of designs, is a machine stable by a criterion?"""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._checks import as_duration, as_scalar, float_dtype, require_concrete, trial_condition
from .._memory import require_memory
from .._progress import Progress
from .._results import Status
from .._suggest import quoted, suggestion
from .._typing import Number, Params
from ..model import (
    AbstractSystem,
    match_params,
    parameter_paths,
    require_finite_params,
    require_system,
    trial_arguments,
)
from ._abstract_criterion import AbstractCriterion, described, words_of
from ._axes import as_grid
from ._checkpoint import MapCheckpoint
from ._criteria import Leaves
from ._evaluate import Evaluator, Points
from ._map_record import StabilityMap
from ._refine import refined_edges
from ._verdicts import Verdict

# What is handed on to `ensemble`, and comes back among a map's settings.
OPTIONS = (
    *("method", "rtol", "atol", "dt", "t0", "stabilise"),
    *("fixed_params", "max_steps", "block", "devices"),
)
_CHUNK = 16384  # points from one look at Ctrl-C to the next: a fifth of a second for the babyboot
_BYTES_A_POINT = 18
# Of the energy that moves: a motion that loses more than this is not the machine's.
DEFAULT_TRUST = 1e-4

_INSTEAD = "it computes block after block and keeps them; `ensemble` runs under them"


def stability_map(
    system: AbstractSystem,
    axes: Any,
    criterion: Any,
    duration: Number,
    *,
    q0: Any = None,
    qd0: Any = None,
    params: Params = None,
    accuracy: Number | None = None,
    trust: Number = DEFAULT_TRUST,
    path: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> StabilityMap:
    """Judge a machine's motion at every point of a grid of starts or designs.

    **Main arguments:**

    - `axes`: one or two names with their values, an array, or (from, to, count):
      `{"qA": (0, np.pi, 1001)}`. A name is a coordinate's, a rate's (`qA_dot`) or a parameter's
      path (`mB`, `masses[1]`).
    - `criterion`: `Tumble`, `Spread`, `Ftle`, `MegnoBelow`, `SaliAbove`, `FloquetStable`, your own
      `AbstractCriterion`, or a function `(q, qd, t, params)` that says "unstable" by getting to
      zero or above.
    - `duration` of every motion [s].
    - `q0`, `qd0`: the rest of the start, shape (n,) or by name; what is left out is zero.

    **Other arguments:**

    - `accuracy`: bisect the edges between stable and unstable to this distance on the axis (maps
      with one axis); None leaves them at the grid. The error that the integration leaves in them
      comes on top: repeat the map with a smaller `rtol` to see it.
    - `trust`: a motion whose energy is off by more than this part is undecided (not for an
      `Explicit` machine, of whose energy nothing is known).
    - `path`: write the map there when it is done; on the way, what is done is kept beside it in
      `<path>.part`. `resume=True` goes on from there (with the same settings only), and the file
      in the end is the same to the byte. `overwrite=True` replaces both.
    - `progress`: show a bar; None means on a terminal, if it takes long. Ctrl-C keeps what is done:
      the other points are MISSING.
    - `options`: of `ensemble`: `method`, `rtol`, `atol`, `dt`, `t0`, `stabilise`, `fixed_params`,
      `max_steps`, `block`, `devices`.

    Motions that fail (blow up, meet a singularity, run out of steps) are FAILED, with the reason in
    `status`; the others are not disturbed.

    **Raises:** `ValueError` for a wrong call; `FileExistsError` where something is in the way.
    """
    began = time.perf_counter()
    evaluator = _evaluator(system, axes, criterion, duration, q0, qd0, params, trust, options)
    grid = evaluator.grid
    fine = None if accuracy is None else float(as_scalar(accuracy, "accuracy", positive=True))
    if fine is not None and len(grid.axes) != 1:
        raise ValueError("`accuracy` must be left out for a map with two axes: edges are curves")
    if fine is not None:
        _require_room(fine, grid.axes[0].grid)
    count = int(np.prod(grid.shape))
    require_memory(
        count * _BYTES_A_POINT, f"the results of {count} points", "take a coarser grid, or parts"
    )
    checkpoint = MapCheckpoint(path, resume=resume, overwrite=overwrite)
    with checkpoint.alone():
        record = _empty(evaluator, fine)
        record, done = checkpoint.earlier(record)
        if done:
            record = _with_settings(record, evaluator.ensemble_settings(), checkpoint)
        try:
            with Progress(count, progress, f"{system.name} map", "points") as bar:
                for start in range(done, count, _CHUNK):
                    stop = min(start + _CHUNK, count)
                    points = evaluator.evaluate(grid.places(start, stop))
                    record = _with_settings(record, points.settings, checkpoint)
                    _fill(record, points, start, stop)
                    indefinite = record.indefinite + int(np.sum(points.indefinite))
                    record = replace(record, indefinite=indefinite)
                    done = stop
                    checkpoint.keep(record, done)
                    bar.update(done)
            if fine is not None and record.edges is None:
                edges = refined_edges(grid.axes[0].grid, record.verdicts, fine, _judge(evaluator))
                record = replace(record, edges=edges)
            checkpoint.finish(record)
        except KeyboardInterrupt:
            if not done:
                raise
            checkpoint.pause(record, done)
            warnings.warn(
                f"{system.name}: interrupted after {done} of {count} points; these are kept, the "
                f"others are MISSING{checkpoint.way_on}",
                stacklevel=2,
            )
    return replace(record, running=time.perf_counter() - began)


def _evaluator(
    system: AbstractSystem,
    axes: Any,
    criterion: Any,
    duration: Any,
    q0: Any,
    qd0: Any,
    params: Any,
    trust: Any,
    options: dict[str, Any],
) -> Evaluator:
    """The call, checked."""
    require_system(system)
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise ValueError(
            f"there is no argument {quoted(unknown[0])}.{suggestion(unknown[0], OPTIONS)}"
        )
    if not isinstance(criterion, AbstractCriterion):
        if not callable(criterion):
            raise ValueError(
                "`criterion` must be a criterion such as Tumble('qB', bound=1.5), or a function of "
                f"(q, qd, t, params), but is {criterion!r}"
            )
        trial_condition(criterion, "criterion", *trial_arguments(system.n, system.params))
        criterion = Leaves(criterion)
    require_concrete("stability_map", _INSTEAD, duration, q0, qd0, params, trust, options)
    if params is not None:
        if isinstance(params, Mapping) and not isinstance(system.params, Mapping):
            system = system.with_params(params)
        else:
            params = match_params(params, system.params)
            require_finite_params(params)
            system = eqx.tree_at(lambda each: each.params, system, params)
    grid = as_grid(system, axes, q0, qd0)
    require_concrete("stability_map", _INSTEAD, jnp.zeros(()))  # nothing in it need be traced
    evaluator = Evaluator(
        system=system,
        grid=grid,
        criterion=criterion,
        duration=float(as_duration(duration)),
        trust=float(as_scalar(trust, "trust", positive=True)),
        options=options,
    )
    evaluator.require_apart()
    return evaluator


def _require_room(accuracy: float, grid: np.ndarray) -> None:
    """Refuse to bisect more finely than numbers lie."""
    far = np.max(np.abs(grid))
    least = float(np.spacing(far.astype(float_dtype())))
    if accuracy < least:
        raise ValueError(
            f"`accuracy` must be at least {least:.1e}, but is {accuracy:g}: closer to {far:g} "
            f"there is no number in {float_dtype().name}"
        )


def _empty(evaluator: Evaluator, accuracy: float | None) -> StabilityMap:
    """A map of which nothing is computed yet."""
    shape, system = evaluator.grid.shape, evaluator.system
    return StabilityMap(
        axes=evaluator.grid.axes,
        values=np.full(shape, np.nan),
        verdicts=np.full(shape, Verdict.MISSING, np.int8),
        energy_error=np.full(shape, np.nan),
        status=np.full(shape, Status.INTERRUPTED, np.int8),
        edges=None,
        settings={
            "duration": evaluator.duration,
            "criterion": described(evaluator.criterion),
            "q0": evaluator.grid.q0.tolist(),
            "qd0": evaluator.grid.qd0.tolist(),
            "params": {
                path: np.asarray(leaf).tolist()
                for path, leaf in parameter_paths(system.params).items()
            },
            "trust": evaluator.trust,
            "accuracy": accuracy,
        },
        system=system,
        criterion=evaluator.criterion,
        words=words_of(evaluator.criterion, evaluator.duration),
    )


def _with_settings(
    record: StabilityMap, settings: dict[str, Any], checkpoint: MapCheckpoint
) -> StabilityMap:
    """The map with the ensemble's settings, which are known after the first points."""
    settings = {**record.settings, **settings}
    del settings["why"]
    checkpoint.require_same(settings)
    return replace(record, settings=settings)


def _fill(record: StabilityMap, points: Points, start: int, stop: int) -> None:
    """Write what is known of points `start` to `stop` into the record's arrays."""
    for name in ("values", "verdicts", "energy_error", "status"):
        getattr(record, name).reshape(-1)[start:stop] = getattr(points, name)


def _judge(evaluator: Evaluator) -> Callable[[np.ndarray], np.ndarray]:
    return lambda places: evaluator.evaluate([places]).verdicts
