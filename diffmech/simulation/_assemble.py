"""Bring a machine into a state that its constraints allow, changing as little as possible."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

from .._checks import as_count
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Coordinates, Number, Params
from ..model import AbstractSystem
from ..motion import (
    Violations,
    corrector,
    mass_matrix_of,
    prepare,
    rate_residual_of,
    require_constraints,
    residual_of,
    scaled_rows,
    violations_of,
)

_CLOSED = 1e-9  # of the size of the coordinates: a violation below it counts as closed
_RATES = 1e-9  # likewise, of the size of the rates
_SEARCH = 400  # steps of the search for a closure
_POLISH = 150  # steps towards the nearest one
_DAMPING, _STRIDE = 0.7, 0.1  # of such a step, and its longest, of a coordinate
_TRIES = 48  # starts from which other ways to close are looked for
_SAME = 1e-5  # coordinates closer than this are the same


class Assembly(eqx.Module):
    """A consistent state, and what had to be changed to get there. Unpacks as `q, qd = assembly`.

    Attributes:
        q, qd: coordinates and rates that obey the constraints, shape (n,).
        moved, moved_rates: what was added to the state given, shape (n,).
        violations: what is left of φ and φ̇, shape (m,) each.
        before: the same of the state given.
        names: of the coordinates; rows: of the constraints.
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
        return "\n".join(
            [
                "place   " + _change(self.names, self.moved, "", self.before.place),
                "rates   " + _change(self.names, self.moved_rates, "_dot", self.before.rate),
                f"left    {_size(self.violations.place):.0e} in place, "
                f"{_size(self.violations.rate):.0e} in rates",
            ]
        )


def _size(values: Any) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def _change(names: tuple[str, ...], moved: Any, suffix: str, before: Any) -> str:
    moved = np.asarray(moved)
    if _size(before) < _CLOSED and _size(moved) < _CLOSED:
        return "was consistent; not changed"
    order = np.argsort(-np.abs(moved))[:4]
    parts = ", ".join(f"{names[i]}{suffix} by {moved[i]:+.3g}" for i in order if moved[i] != 0)
    return f"was off by {_size(before):.3g}; changed {parts or 'nothing'}"


@eqx.filter_jit
def _closed(laws: Any, q0: Any, q: Any, t: Any, params: Params, held: Any) -> tuple[Any, Any]:
    """The closure nearest to q0, in the metric of its masses, searched from q; and φ there."""
    still = jnp.zeros_like(q0)
    mass = mass_matrix_of(laws, q0, still, t, params)
    system = scaled_rows(laws, mass, q0, t, params)
    # Searched in units in which masses are one, so that "little" means the same for all.
    units = jnp.where(held, 0.0, 1.0 / jnp.sqrt(jnp.diagonal(system.mass)))

    def scaled_residual(x: Any, _: Any) -> Any:
        return system.roots * residual_of(laws, q + units * x, t, params)

    search = optx.LevenbergMarquardt(rtol=1e-10, atol=1e-12)
    found = optx.least_squares(
        scaled_residual, search, jnp.zeros_like(q), max_steps=_SEARCH, throw=False
    )
    q = q + units * found.value

    def polish(_: Any, q: Any) -> Any:
        rows = scaled_rows(laws, mass, q, t, params)
        step = corrector(rows, held)
        back = jnp.where(held, 0.0, q0 - q)
        # Towards the point of the tangent plane that is nearest to where the search began.
        jacobian = rows.rows / rows.roots[:, None]
        aim = _DAMPING * (back - step @ (jacobian @ back))
        aim = aim * jnp.minimum(1.0, _STRIDE / jnp.maximum(jnp.max(jnp.abs(aim)), 1e-300))
        there = q + aim
        for _ in range(6):
            there = there - step @ residual_of(laws, there, t, params)
        worse = _norm(system, laws, there, t, params) > 1e-6 + _norm(system, laws, q, t, params)
        plain = q - step @ residual_of(laws, q, t, params)
        return jnp.where(worse | ~jnp.all(jnp.isfinite(there)), plain, there)

    polished = jax.lax.fori_loop(0, _POLISH, polish, q)
    better = _norm(system, laws, polished, t, params) <= 1e-9 + _norm(system, laws, q, t, params)
    q = jnp.where(better & jnp.all(jnp.isfinite(polished)), polished, q)
    return q, residual_of(laws, q, t, params)


def _norm(system: Any, laws: Any, q: Any, t: Any, params: Params) -> Any:
    return jnp.linalg.norm(system.roots * residual_of(laws, q, t, params))


@eqx.filter_jit
def _rates(laws: Any, q: Any, qd: Any, t: Any, params: Params, held: Any) -> tuple[Any, Any]:
    mass = mass_matrix_of(laws, q, qd, t, params)
    step = corrector(scaled_rows(laws, mass, q, t, params), held)
    for _ in range(4):
        qd = qd - step @ rate_residual_of(laws, q, qd, t, params)
    return qd, rate_residual_of(laws, q, qd, t, params)


_violated = eqx.filter_jit(violations_of)


@eqx.filter_jit
def _mass_and_rows(laws: Any, q: Any, t: Any, params: Params) -> tuple[Any, Any]:
    """M of the machine at rest, and the scaled rows."""
    mass = mass_matrix_of(laws, q, jnp.zeros_like(q), t, params)
    return mass, scaled_rows(laws, mass, q, t, params).rows


def _held(system: AbstractSystem, fixed: Sequence[str]) -> np.ndarray:
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

    Nearest means the least change in the metric of the masses, δqᵀ M δq with M at the state given.

    **Arguments:**

    - `q0`, `qd0`: a guess; `qd0=None` means at rest.
    - `fixed`: names of coordinates that keep their value and their rate.
    - `branch`: 0 for the nearest way to close; 1, 2, ... for the other ways with the same `fixed`
      coordinates, by distance. They must leave no freedom: fix as many as the machine has.

    **Returns:** an `Assembly`; printing it says what was changed.

    **Raises:** `ValueError` if the machine cannot close, and by how much.
    """
    laws = require_constraints(system, "assemblies")
    branch = as_count(branch, "branch", 0)
    guess, rates, t_, params_ = prepare(system, t, params, q0=q0, qd0=qd0)
    held = _held(system, fixed)
    if branch:
        q, left = _other_branch(system, guess, t_, params_, held, branch)
    else:
        q, left = _closed(laws, guess, guess, t_, params_, held)
    _require_closed(system, q, left, held)
    qd, slipping = _rates(laws, q, rates, t_, params_, held)
    size = 1.0 + _size(qd)
    if not _size(slipping) < _RATES * size:
        row = int(np.argmax(np.abs(slipping)))
        raise ValueError(
            f"no rates of {system.name!r} obey all constraints{_with(system, held)}: "
            f"{system.rows[row]} is left with {float(slipping[row]):.3g}; "  # pyright: ignore
            "`doctor` tells which rows are in conflict"
        )
    return Assembly(
        q=np.asarray(q),
        qd=np.asarray(qd),
        moved=np.asarray(q) - np.asarray(guess),
        moved_rates=np.asarray(qd) - np.asarray(rates),
        violations=_violated(laws, q, qd, t_, params_),
        before=_violated(laws, guess, rates, t_, params_),
        names=tuple(system.coordinates),
        rows=system.rows,  # pyright: ignore[reportAttributeAccessIssue]
    )


def _with(system: AbstractSystem, held: np.ndarray) -> str:
    names = [name for name, fixed in zip(system.coordinates, held, strict=True) if fixed]
    return f" with {', '.join(names)} fixed" if names else ""


def is_closed(q: Any, residual: Any) -> bool:
    """Whether what is left of φ is rounding, for coordinates of this size."""
    return _size(residual) < _CLOSED * (1.0 + _size(q))


def _require_closed(system: AbstractSystem, q: Any, left: Any, held: np.ndarray) -> None:
    if is_closed(q, left):
        return
    order = np.argsort(-np.abs(left))[:3]
    gaps = ", ".join(f"{system.rows[i]} by {float(left[i]):.3g}" for i in order)  # pyright: ignore
    raise ValueError(
        f"{system.name!r} cannot close{_with(system, held)}: the nearest it comes misses {gaps}, "
        f"at q = {np.array2string(np.asarray(q), precision=4)}; check lengths, or start elsewhere"
    )


def _other_branch(
    system: AbstractSystem, guess: Any, t: Any, params: Params, held: np.ndarray, branch: int
) -> tuple[Any, Any]:
    """Another way to close, found from random starts with a fixed seed."""
    laws: Any = system.laws
    turning = np.array([unit == "rad" for unit in system.coordinates.values()])
    first, left = _closed(laws, guess, guess, t, params, held)
    _require_closed(system, first, left, held)
    mass, rows = (np.asarray(x) for x in _mass_and_rows(laws, first, t, params))
    if np.linalg.matrix_rank(rows[:, ~held], tol=1e-6) < int(np.sum(~held)):
        raise ValueError(
            f"`branch` needs coordinates `fixed` that leave {system.name!r} no freedom; then the "
            "ways to close can be counted"
        )
    rng = np.random.default_rng(0)
    spread = np.where(turning, np.pi, 1.0 + np.max(np.abs(guess)))
    found = [np.asarray(first)]
    for _ in range(_TRIES):
        start = np.where(held, guess, guess + spread * rng.uniform(-1, 1, guess.shape))
        q, left = _closed(laws, start, start, t, params, held)
        q = np.asarray(q)
        if not is_closed(q, left):
            continue
        near = np.where(turning, guess + np.remainder(q - guess + np.pi, 2 * np.pi) - np.pi, q)
        if all(np.max(np.abs(near - other)) > _SAME for other in found):
            found.append(near)
    found.sort(key=lambda q: float((q - guess) @ mass @ (q - guess)))
    if branch >= len(found):
        raise ValueError(
            f"`branch` must be below {len(found)}, but is {branch}: {len(found)} ways to close "
            f"{system.name!r} were found{_with(system, held)}"
        )
    q = found[branch]
    return q, _violated(laws, q, np.zeros_like(q), t, params).place
