"""The generalised forces that a measured motion asks for."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from .._batches import in_batches
from .._checks import as_count, as_scalar
from .._printing import aligned
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Number, Params, Samples, Times
from .._units import unit_after
from ..model import AbstractSystem
from ..motion import mass_and_bias_of, prepare, require_lagrangian
from ._as_records import as_records
from ._derivatives import chosen_half, local_polynomials, noise_of
from ._measure import require_units
from ._record import Record

_FORCE_UNITS = {"rad": "N m", "m": "N"}


class ForcesAlong(eqx.Module):
    """The forces that a record asks for, beyond those that the machine declares.

    Attributes:
        ts: times of the record, shape (k,) [s].
        qs, qds, qdds: coordinates, rates, accelerations by local polynomials, each of shape (k, n);
            NaN near ends and gaps.
        forces: Q = M q̈ + b, shape (k, n), the unit of L over that of the coordinate.
        errors: standard errors of the forces, shape (k, n).
        qs_errors, qds_errors, qdds_errors: those of the estimates, each of shape (k, n).
        noise: standard deviation of each coordinate's samples, given or estimated, shape (n,).
        windows: length of the polynomials' windows, shape (n,) [s].
        degree: of the polynomials.
        estimated: whether the noise is estimated, for each coordinate.
        coordinates: their names and units.
        name: the record's.

    Neighbours share samples: errors of forces less than a window apart are alike.
    """

    ts: AnyArray
    qs: AnyArray
    qds: AnyArray
    qdds: AnyArray
    forces: AnyArray
    errors: AnyArray
    qs_errors: AnyArray
    qds_errors: AnyArray
    qdds_errors: AnyArray
    noise: AnyArray
    windows: AnyArray
    degree: int = eqx.field(static=True)
    estimated: tuple[bool, ...] = eqx.field(static=True)
    coordinates: tuple[tuple[str, str], ...] = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __str__(self) -> str:
        known = np.all(np.isfinite(self.forces), axis=1)
        rows = []
        for i, (name, unit) in enumerate(self.coordinates):
            column, error = self.forces[known, i], self.errors[known, i]
            how = "estimated" if self.estimated[i] else "given"
            size = f"rms {np.sqrt(np.mean(column**2)):.3g} ± {np.median(error):.2g}"
            shown = (
                f"{size if len(column) else 'unknown'}{unit_after(_FORCE_UNITS.get(unit, ''))}; "
                f"noise {self.noise[i]:.3g}{unit_after(unit)} ({how}), degree {self.degree} over "
                f"{self.windows[i]:.3g} s"
            )
            rows.append((name, shown))
        lacking = f"{np.sum(~known)} too near to ends and gaps"
        return aligned(rows, f"forces along {self.name}: {len(self.ts)} samples, {lacking}")


def _asked(
    laws: Any, ts: Times, qs: Samples, qds: Samples, qdds: Samples, params: Params
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Q, ∂Q/∂q, ∂Q/∂q̇ and M = ∂Q/∂q̈ at every sample."""

    def at(t: AnyArray, q: AnyArray, qd: AnyArray, qdd: AnyArray) -> Any:
        def force(q: AnyArray, qd: AnyArray) -> tuple[AnyArray, tuple[AnyArray, AnyArray]]:
            mass, bias = mass_and_bias_of(laws, q, qd, t, params)
            total = mass @ qdd + bias
            return total, (total, mass)

        (by_q, by_qd), (total, mass) = jax.jacfwd(force, argnums=(0, 1), has_aux=True)(q, qd)
        return total, by_q, by_qd, mass

    return jax.vmap(at)(ts, qs, qds, qdds)


_forces_at = eqx.filter_jit(_asked)


def forces_along(
    system: AbstractSystem,
    record: Any,
    params: Params = None,
    *,
    window: Number | None = None,
    degree: int = 4,
) -> ForcesAlong:
    """The generalised forces that a measured motion asks for, with their standard errors.

        Q(t) = M q̈ + b   at the measured q and its estimated rates

    Zero within errors where the machine's own forces explain the motion; else what is missing:
    friction, a motor, a push. Rates and accelerations come from polynomials fitted to the samples
    around each time; near ends and gaps, where a window is not full, all is NaN.

    Args:
        system: a machine with a Lagrangian.
        record: a `Record` of all its coordinates, or what makes one: arrays `(ts, qs)` of shapes
            (k,) [s] and (k, n), a mapping, a `Trajectory` or a file.
        params: the system's own if None.
        window: length of the windows [s]; None chooses it for each coordinate, as long as the
            polynomials follow the motion within its noise.
        degree: of the polynomials, at least 2. Even degrees are best.

    Errors are those of noise that is independent from sample to sample, as the record gives it
    (`noise`), or as the residuals show. They leave out what a window that is too long rounds off.

    Returns:
        A `ForcesAlong`: Q and its errors, shape (k, n) [N for a length, N m for an angle].

    Raises:
        ValueError: a coordinate is not measured, or no window has enough samples.
    """
    laws = require_lagrangian(system, "forces along a motion")
    names = tuple(system.coordinates)
    degree = as_count(degree, "degree", 2)
    measured = _one_record(record, names)
    require_units(system, [measured])
    *_, values = prepare(system, 0.0, params, q=np.zeros(len(names)))
    states, covariances, noise, windows, given = _derivatives(measured, names, window, degree)

    q, qd, qdd = np.moveaxis(states, -1, 0)
    columns = (measured.ts, q, qd, qdd)
    total, *slopes = in_batches(_forces_at, laws, columns, values)
    by_state = np.stack(slopes, axis=-1)  # (k, force, coordinate, derivative)
    variance = np.einsum("kaji,kjil,kajl->ka", by_state, covariances, by_state)
    spread = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))
    return ForcesAlong(
        ts=measured.ts,
        qs=q,
        qds=qd,
        qdds=qdd,
        forces=total,
        errors=np.sqrt(variance),
        qs_errors=spread[..., 0],
        qds_errors=spread[..., 1],
        qdds_errors=spread[..., 2],
        noise=noise,
        windows=windows,
        degree=degree,
        estimated=tuple(not known for known in given),
        coordinates=tuple(system.coordinates.items()),
        name=measured.name,
    )


def _one_record(data: Any, names: tuple[str, ...]) -> Record:
    record, *others = as_records(data, names)
    if others:
        raise ValueError(
            f"`record` must be one motion, but there are {1 + len(others)}: take them one by one"
        )
    for name in names:
        if name not in record.channels:
            raise ValueError(
                f"record {quoted(record.name)} must have every coordinate measured to tell forces, "
                f"but has no {name!r}.{suggestion(name, record.channels)}"
            )
    return record


def _derivatives(
    record: Record, names: tuple[str, ...], window: Number | None, degree: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(q, q̇, q̈), shape (k, n, 3), their covariances, noise, windows, and which noise was given."""
    wanted = None if window is None else float(as_scalar(window, "window", positive=True))
    levels = np.full(len(record.channels), np.nan) if record.noise is None else record.noise
    levels = levels[[record.channels.index(name) for name in names]]
    states, covariances, noises, halves = [], [], [], []
    for name, level in zip(names, levels, strict=True):
        column = record.channel(name)
        known = None if np.isnan(level) else float(level)
        half, noise = chosen_half(record.ts, column, known, degree)
        half = half if wanted is None else wanted / 2
        local = local_polynomials(record.ts, column, record.ts, half, degree)
        if np.isnan(noise):  # only the window that was asked for has enough samples
            noise = noise_of(local) if known is None else known
        if np.isnan(noise) or np.all(np.isnan(local.squares)):
            raise ValueError(
                f"record {quoted(record.name)} must have {degree + 2} samples of {name!r} in some "
                f"window without a hole, but has none: take a lower `degree`"
                + ("" if wanted is None else f", or a `window` longer than {wanted:g} s")
            )
        states.append(local.states)
        covariances.append(noise**2 * local.covariances)
        noises.append(noise)
        halves.append(half)
    return (
        np.stack(states, axis=1),
        np.stack(covariances, axis=1),
        np.array(noises),
        2 * np.array(halves),
        ~np.isnan(levels),
    )
