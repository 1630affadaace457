"""The holds of a machine of parts as its constraints."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from .._checks import trial_trace
from .._typing import AnyArray, Params, Scalar, Vector
from ..geometry import Pose, is_number
from ._abstract_arguments import trial_arguments
from ._constraints import AbstractConstraint
from ._holds import AbstractHold
from ._moving_entries import Parts, placed
from ._parts import AbstractPart

_APART = 1e-9  # [m or 1] a gap of plain numbers that is not rounding


def _checked(entries: tuple[Any, ...], name: str) -> list[Any]:
    """The rows that can vary; a row that cannot must be zero.

    Raises:
        ValueError: a row is a plain number other than zero, so that no state closes the hold.
    """
    for entry in entries:
        if is_number(entry) and abs(entry) > _APART:
            raise ValueError(
                f"the hold {name!r} cannot close: two of its frames are {entry:g} apart, whatever "
                "the coordinates"
            )
    return [jnp.asarray(entry) for entry in entries if not is_number(entry)]


@dataclass(frozen=True)
class HoldsOfParts(AbstractConstraint):
    """All holds of a machine of parts: of place if `holonomic`, else of rates."""

    parts: Callable[..., Parts]
    holonomic: bool

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        return ()

    def _rows(
        self, q: Vector, qd: Vector | None, t: Scalar, params: Params
    ) -> dict[str, list[Any]]:
        """The rows of every hold that has some, by name."""
        if qd is None:
            placed_parts = self.parts(q, t, params)
            holds = {
                n: p for n, p in placed_parts.items() if isinstance(p, AbstractHold) and p.holonomic
            }
            gaps = {name: hold.residual() for name, hold in holds.items()}
        else:
            holds, rates = rate_holds(self.parts, q, qd, t, params)
            gaps = {name: hold.slip(rates[name]) for name, hold in holds.items()}
        rows = {name: _checked(entries, name) for name, entries in gaps.items()}
        return {name: entries for name, entries in rows.items() if entries}

    def residual(self, q: Vector, t: Scalar, params: Params) -> AnyArray:
        if self.holonomic:
            return stack_rows(self._rows(q, None, t, params))
        return jnp.zeros_like(self.rate(q, jnp.zeros_like(q), t, params))

    def rate(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> AnyArray:
        if self.holonomic:
            return jax.jvp(
                lambda q, t: self.residual(q, t, params), (q, t), (qd, jnp.ones_like(t))
            )[1]
        return stack_rows(self._rows(q, qd, t, params))

    def counts(self, q: Any, t: Any, params: Params) -> dict[str, int]:
        """How many rows every hold has, by name; nothing is computed."""
        row_counts: dict[str, int] = {}

        def look(q: Any, t: Any, params: Params) -> Any:
            rows = self._rows(q, None if self.holonomic else q, t, params)
            row_counts.update({name: len(entries) for name, entries in rows.items()})
            return q

        jax.eval_shape(look, q, t, params)
        return row_counts

    def tried(self, n: int, params: Params, label: str) -> dict[str, int]:
        q, _, t, params = trial_arguments(n, params)
        trial_trace(self.residual, label, None, q, t, params)
        return self.counts(q, t, params)


def stack_rows(rows: dict[str, list[Any]]) -> AnyArray:
    """All rows in one vector, shape (m,)."""
    return jnp.stack([entry for entries in rows.values() for entry in entries])


def rate_holds(
    parts: Callable[..., Parts], q: Vector, qd: Vector, t: Scalar, params: Params
) -> tuple[dict[str, AbstractHold], dict[str, tuple[Pose, Pose]]]:
    """The holds that restrict rates only, and the rates of their frames, by name."""

    def only_frames(q: Vector, t: Scalar, params: Params) -> Parts:
        placed_parts = parts(q, t, params)
        holds = {n: p for n, p in placed_parts.items() if isinstance(p, AbstractHold)}
        return {n: _Frames(hold) for n, hold in holds.items() if not hold.holonomic}

    frames, rates = placed(only_frames, q, qd, t, params)
    return {name: frames[name].hold for name in frames}, rates  # pyright: ignore


class _Frames(AbstractPart):
    """A hold as a part: its place is the pair of its frames, so that `placed` gives their rates."""

    hold: AbstractHold

    @property
    def place(self) -> tuple[Pose, Pose]:
        return self.hold.frames
