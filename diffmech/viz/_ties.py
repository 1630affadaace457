"""Springs and dampers as lines: coils and dashpots between two points."""

import numpy as np

RADIUS = 0.026  # of a coil, of the drawing's size
_LEAD = 0.12  # straight wire at either end of a coil, of its length
_STEPS = 12  # points in a turn of a coil in space
_FEWEST, _MOST = 5, 11  # turns
_CUP = 0.7  # radius of a dashpot, of a coil's


def turns_of(lengths: np.ndarray, radius: float) -> int:
    """How many turns a spring of these lengths [m] is drawn with: steps about as long as wide."""
    return int(np.clip(np.mean(lengths) / (2.2 * radius), _FEWEST, _MOST))


def coil(
    a: np.ndarray, b: np.ndarray, turns: int, radius: float, sight: np.ndarray | None = None
) -> np.ndarray:
    """A spring from a to b, shape (k, 2 or 3) [m]: a zigzag in the plane, a helix in space.

    A helix starts across the line of sight, so that it turns smoothly from frame to frame.
    """
    along, (first, second) = b - a, _across(a, b, sight)
    if len(a) == 2:
        places = (np.arange(2 * turns) + 0.5) / (2 * turns)
        waves = np.where(np.arange(2 * turns) % 2, -1.0, 1.0)[:, None] * first
    else:
        places = np.linspace(0.0, 1.0, _STEPS * turns + 1)
        angles = 2 * np.pi * turns * places[:, None]
        waves = np.cos(angles) * first + np.sin(angles) * second
    on_axis = a + (_LEAD + (1 - 2 * _LEAD) * places[:, None]) * along
    start, end = a + _LEAD * along, b - _LEAD * along
    return np.vstack([a, start, on_axis + radius * waves, end, b])


def dashpot(
    a: np.ndarray, b: np.ndarray, radius: float, sight: np.ndarray | None = None
) -> np.ndarray:
    """A damper from a to b, shape (k, 2 or 3) [m]: a cup and a piston; gaps are rows of NaN.

    In space it is broadside to the line of sight.
    """
    along, wide = b - a, _CUP * radius * _across(a, b, sight)[0]
    length = float(np.linalg.norm(along))
    deep = along * min(0.25, 2 * radius / length) if length > 0 else along
    middle, gap = 0.5 * (a + b), np.full_like(a, np.nan)
    bottom, rim = middle - deep, middle + deep
    cup = [rim + wide, bottom + wide, bottom - wide, rim - wide]
    piston = [middle + 0.75 * wide, middle - 0.75 * wide]
    return np.vstack([a, bottom, gap, *cup, gap, *piston, gap, middle, b])


def abreast(
    a: np.ndarray, b: np.ndarray, shift: float, sight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of a wire that runs beside the line from a to b, `shift` [m] away from it."""
    aside, lead = shift * _across(a, b, sight)[0], 0.6 * _LEAD * (b - a)
    return a + lead + aside, b - lead + aside


def _across(
    a: np.ndarray, b: np.ndarray, sight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors across the line from a to b, in space the first across the sight as well."""
    size = float(np.linalg.norm(b - a))
    unit = (b - a) / size if size > 0 else np.eye(len(a))[0]
    if len(a) == 2:
        return np.array([-unit[1], unit[0]]), np.zeros(2)
    first = np.zeros(3) if sight is None else np.cross(unit, sight)
    if np.linalg.norm(first) < 1e-6:  # seen from the end, any direction will do
        first = np.cross(unit, np.eye(3)[np.argmin(np.abs(unit))])
    first = first / np.linalg.norm(first)
    return first, np.cross(unit, first)
