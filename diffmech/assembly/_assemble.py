"""Bring a machine into a state that its constraints allow, changing as little as possible."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import ROUNDINGS, as_count, float_dtype, is_traced, numbers_stay_numbers
from .._printing import aligned
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Coordinates, Number, Params
from .._void import void
from ..model import AbstractSystem
from ..motion import (
    Violations,
    mass_matrix_of,
    prepare,
    rate_residual_of,
    require_constraints,
    residual_of,
    violations_of,
)
from ._closure import closed_near, mass_and_rows, rates_near
from ._nearest_derivative import with_derivative

_CLOSED = 1e-9  # of the size of the coordinates, or of the rates: closed, but for rounding
_TRIES = 48  # starts from which other ways to close are looked for
_SAME = 1e-5  # coordinates closer than this are the same


class Assembly(eqx.Module):
    """A consistent state, and what had to be changed to get there. Unpacks as `q, qd = assembly`.

    Attributes:
        q, qd: coordinates and rates that obey the constraints, shape (n,) [unit of each, that per
            second].
        moved, moved_rates: q − q0 and q̇ − q̇0, shape (n,), in the same units.
        violations: what is left of φ(q, t) and of φ̇ (or A q̇ + a), shape (m,) each [unit of the
            row, that per second].
        before: the same of the state given.
        names: of the coordinates, n; rows: of the constraints, m.
    """

    q: AnyArray
    qd: AnyArray
    moved: AnyArray
    moved_rates: AnyArray
    violations: Violations
    before: Violations
    names: tuple[str, ...] = eqx.field(static=True)
    rows: tuple[str, ...] = eqx.field(static=True)

    def __iter__(self) -> Any:
        return iter((self.q, self.qd))

    def __str__(self) -> str:
        left, rate_left = (_size(each) for each in self.violations)
        return aligned(
            [
                ("place", _change(self.names, self.moved, "", self.before.residual)),
                ("rates", _change(self.names, self.moved_rates, "_dot", self.before.rate_residual)),
                ("left", f"{left:.0e} in place, {rate_left:.0e} in rates"),
            ]
        )


def _closed() -> float:
    """The same in the precision in force."""
    return max(_CLOSED, ROUNDINGS * float(np.finfo(float_dtype()).eps))


def _size(values: Any) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def _change(names: tuple[str, ...], moved: Any, suffix: str, before: Any) -> str:
    moved = np.asarray(moved)
    if _size(before) < _closed() and _size(moved) < _closed():
        return "was consistent; not changed"
    order = np.argsort(-np.abs(moved))[:4]
    parts = ", ".join(f"{names[i]}{suffix} by {moved[i]:+.3g}" for i in order if moved[i] != 0)
    return f"was off by {_size(before):.3g}; changed {parts or 'nothing'}"


_violated = eqx.filter_jit(violations_of)


def _fixed_mask(system: AbstractSystem, fixed: Sequence[str]) -> np.ndarray:
    """Which coordinates are named, shape (n,)."""
    names = list(system.coordinates)
    if isinstance(fixed, str):
        fixed = (fixed,)
    for name in fixed:
        if name not in names:
            raise ValueError(
                f"`fixed` names {quoted(name)}, which is not a coordinate."
                + suggestion(str(name), names)
            )
    return np.array([name in fixed for name in names])


def assemble(
    system: AbstractSystem,
    q0: Coordinates,
    qd0: Coordinates | None = None,
    *,
    fixed: Sequence[str] = (),
    branch: int = 0,
    t: Number = 0.0,
    params: Params = None,
) -> Assembly:
    """The consistent state nearest to (q0, qd0): φ(q, t) = 0, then φ̇ = 0.

        q, qd = assemble(four_bar, {"theta1": 1.0, "theta2": 0.2, "theta3": -1.2})

    Nearest means the least change in the metric of the masses, M at q0 for the first and at q for
    the second:

        min (q − q0)ᵀ M (q − q0)     among φ(q, t) = 0
        min (q̇ − q̇0)ᵀ M (q̇ − q̇0)     among (∂φ/∂q) q̇ + ∂φ/∂t = 0,  A q̇ + a = 0

    The search is local: it starts from q0.

    **Arguments:**

    - `q0`, `qd0`: a guess, shape (n,), or mappings by name [unit of each, that per second];
      `qd0=None` means at rest.
    - `fixed`: names of coordinates that keep their value and their rate.
    - `branch`: 0 for the nearest way to close; 1, 2, ... for the other ways with the same `fixed`
      coordinates, by distance. They must leave no freedom: fix as many as the machine has. They are
      looked for from random starts with a fixed seed, so that one may be missed.
    - `t`: time [s]. `params`: another set of parameters.

    Works under `jit`, `vmap`, `grad` and `jacfwd`, with the derivatives of the nearest state by
    the implicit function theorem. There a machine that cannot close gives NaN.

    **Returns:** an `Assembly`; printing it says what was changed.

    **Raises:** `ValueError` if the machine cannot close or no rates obey all rows, and by how much;
    for a machine without constraints, a row that is not finite at this state, a wrong call; and for
    a `branch` that is not there, that cannot be counted, or under a transformation.
    """
    require_constraints(system, "assemblies")
    branch = as_count(branch, "branch", 0)
    guess, rates, t_, params_ = prepare(system, t, params, q0=q0, qd0=qd0)
    mask = _fixed_mask(system, fixed)
    if is_traced(guess, rates, t_, params_):
        return _traced(system, guess, rates, t_, params_, mask, branch)
    with numbers_stay_numbers():
        return _searched(system, guess, rates, t_, params_, mask, branch)


def _searched(
    system: AbstractSystem, guess: Any, rates: Any, t: Any, params: Params, fixed: Any, branch: int
) -> Assembly:
    """Searched for from numbers; what cannot be found is refused with the reason."""
    laws: Any = system.laws
    if branch:
        q, left = _other_branch(system, guess, t, params, fixed, branch)
    else:
        q, left = closed_near(laws, guess, guess, t, params, fixed)
    if not np.all(np.isfinite(left)):
        _, jacobian = mass_and_rows(laws, guess, t, params)
        place = _violated(laws, guess, rates, t, params).residual
        require_defined(system, guess, place, jacobian)
    _require_closed(system, q, left, fixed)
    qd, slipping = rates_near(laws, q, rates, t, params, fixed)
    size = 1.0 + _size(qd)
    if not _size(slipping) < _closed() * size:
        row = int(np.argmax(np.abs(slipping)))
        raise ValueError(
            f"no rates of {system.name!r} obey all constraints{_with(system, fixed)}: "
            f"{system.rows[row]} is left with {float(slipping[row]):.3g}; "  # pyright: ignore
            "`doctor` tells which rows are in conflict"
        )
    return Assembly(
        q=np.asarray(q),
        qd=np.asarray(qd),
        moved=np.asarray(q) - np.asarray(guess),
        moved_rates=np.asarray(qd) - np.asarray(rates),
        violations=_violated(laws, q, qd, t, params),
        before=_violated(laws, guess, rates, t, params),
        names=tuple(system.coordinates),
        rows=system.rows,  # pyright: ignore[reportAttributeAccessIssue]
    )


def _traced(
    system: AbstractSystem, guess: Any, rates: Any, t: Any, params: Params, fixed: Any, branch: int
) -> Assembly:
    """The same under a transformation of JAX's: differentiable, and NaN where nothing closes."""
    if branch:
        raise ValueError(
            "`branch` must be 0 under `jit`, `grad` and `vmap`: find the state before, and "
            "assemble from there"
        )
    laws: Any = system.laws
    plain = jax.lax.stop_gradient((guess, t, params))
    q, left = closed_near(laws, plain[0], *plain, fixed)
    mass = mass_matrix_of(laws, guess, jnp.zeros_like(guess), t, params)
    q = with_derivative(q, guess, mass, lambda x: residual_of(laws, x, t, params), fixed)
    qd, slipping = rates_near(laws, *jax.lax.stop_gradient((q, rates, t, params)), fixed)
    mass = mass_matrix_of(laws, q, rates, t, params)
    qd = with_derivative(qd, rates, mass, lambda x: rate_residual_of(laws, q, x, t, params), fixed)
    sound = _biggest(left) < _closed() * (1.0 + _biggest(q))
    sound &= _biggest(slipping) < _closed() * (1.0 + _biggest(qd))
    q, qd = void(q, ~sound), void(qd, ~sound)
    return Assembly(
        q=q,
        qd=qd,
        moved=q - guess,
        moved_rates=qd - rates,
        violations=violations_of(laws, q, qd, t, params),
        before=violations_of(laws, guess, rates, t, params),
        names=tuple(system.coordinates),
        rows=system.rows,  # pyright: ignore[reportAttributeAccessIssue]
    )


def _biggest(values: Any) -> Any:
    return jnp.max(jnp.abs(values), initial=0.0)


def _with(system: AbstractSystem, fixed: np.ndarray) -> str:
    names = [name for name, own in zip(system.coordinates, fixed, strict=True) if own]
    return f" with {', '.join(names)} fixed" if names else ""


def require_defined(system: AbstractSystem, q: Any, place: Any, jacobian: Any) -> None:
    """Refuse a state at which a constraint has no finite value or gradient; the row is named."""
    finite = np.isfinite(np.asarray(place)), np.all(np.isfinite(np.asarray(jacobian)), axis=1)
    for what, sound in zip(("value", "gradient"), finite, strict=True):
        if not np.all(sound):
            rows = [name for name, fine in zip(system.rows, sound, strict=True) if not fine]  # pyright: ignore
            at = ", ".join(f"{x:g}" for x in np.asarray(q))
            raise ValueError(
                f"{' and '.join(rows)} of {system.name!r} must have a finite {what}, but "
                f"{'has' if len(rows) == 1 else 'have'} none at q = [{at}]: give another state"
            )


def is_closed(q: Any, residual: Any) -> bool:
    """Whether what is left of φ is rounding, for coordinates of this size."""
    return _size(residual) < _closed() * (1.0 + _size(q))


def _require_closed(system: AbstractSystem, q: Any, left: Any, fixed: np.ndarray) -> None:
    if is_closed(q, left):
        return
    order = np.argsort(-np.abs(left))[:3]
    gaps = ", ".join(f"{system.rows[i]} by {float(left[i]):.3g}" for i in order)  # pyright: ignore
    raise ValueError(
        f"{system.name!r} cannot close{_with(system, fixed)}: the nearest it comes misses {gaps}, "
        f"at q = {np.array2string(np.asarray(q), precision=4)}; check lengths, or start elsewhere"
    )


def _other_branch(
    system: AbstractSystem, guess: Any, t: Any, params: Params, fixed: np.ndarray, branch: int
) -> tuple[Any, Any]:
    """Another way to close, found from random starts with a fixed seed."""
    laws: Any = system.laws
    turning = np.array([unit == "rad" for unit in system.coordinates.values()])
    first, left = closed_near(laws, guess, guess, t, params, fixed)
    _require_closed(system, first, left, fixed)
    mass, rows = (np.asarray(x) for x in mass_and_rows(laws, first, t, params))
    if np.linalg.matrix_rank(rows[:, ~fixed], tol=1e-6) < int(np.sum(~fixed)):
        raise ValueError(
            f"`branch` needs coordinates `fixed` that leave {system.name!r} no freedom; then the "
            "ways to close can be counted"
        )
    rng = np.random.default_rng(0)
    spread = np.where(turning, np.pi, 1.0 + np.max(np.abs(guess)))
    branches = [np.asarray(first)]
    for _ in range(_TRIES):
        start = np.where(fixed, guess, guess + spread * rng.uniform(-1, 1, guess.shape))
        q, left = closed_near(laws, start, start, t, params, fixed)
        q = np.asarray(q)
        if not is_closed(q, left):
            continue
        near = np.where(turning, guess + np.remainder(q - guess + np.pi, 2 * np.pi) - np.pi, q)
        if all(np.max(np.abs(near - other)) > _SAME for other in branches):
            branches.append(near)
    branches.sort(key=lambda q: float((q - guess) @ mass @ (q - guess)))
    if branch >= len(branches):
        raise ValueError(
            f"`branch` must be below {len(branches)}, but is {branch}: {len(branches)} ways to "
            f"close {system.name!r} were found{_with(system, fixed)}"
        )
    q = branches[branch]
    return q, _violated(laws, q, np.zeros_like(q), t, params).residual
