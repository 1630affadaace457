"""Axes of bodies' frames: x, y and z of each body, drawn from its mass centre."""

from typing import Any

import numpy as np

from ..motion import body_states_along, require_parts
from ..simulation import Trajectory
from ._drawing import move
from ._scene import Scene, states_at

_LENGTH = 0.16  # of the drawing's longest side
# Told apart in grey by their darkness and dashes.
_STYLES = (
    {"color": "#D55E00", "linestyle": "-"},
    {"color": "#009E73", "linestyle": "--"},
    {"color": "#0072B2", "linestyle": ":"},
)


class Triads:
    """The frames of all bodies at given times; `add_to` an Axes, then `place` them."""

    def __init__(self, run: Trajectory, scene: Scene, times: Any):
        parts = require_parts(run.system, "drawing frames")
        if not scene.space:
            raise ValueError(
                f"`frames` must be False for {run.system.name!r}, which is drawn in a plane"
            )
        qs, qds = states_at(run, np.asarray(times))
        bodies = body_states_along(parts, qs, qds, times, run.params)
        self._origins = np.stack([np.asarray(b.position) for b in bodies.values()], axis=1)
        self._axes = np.stack([np.asarray(b.rotation) for b in bodies.values()], axis=1)
        self._size = _LENGTH * float(np.max(scene.high - scene.low))
        self._lines: list[list[Any]] = []

    def add_to(self, ax: Any) -> None:
        """Make the lines."""
        for body in range(self._origins.shape[1]):
            lines = [
                ax.plot([], [], [], linewidth=1.8, zorder=30, label=name, **style)[0]
                for name, style in zip("xyz", _STYLES, strict=True)
            ]
            if body:
                for line in lines:
                    line.set_label("_again")
            self._lines.append(lines)

    @property
    def artists(self) -> list[Any]:
        """All lines."""
        return [line for lines in self._lines for line in lines]

    def place(self, index: int) -> None:
        """Move the lines to one of the times."""
        for body, lines in enumerate(self._lines):
            origin = self._origins[index, body]
            for i, line in enumerate(lines):
                tip = origin + self._size * self._axes[index, body][:, i]
                move(line, np.stack([origin, tip]))
