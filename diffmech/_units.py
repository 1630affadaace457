"""Units as text, "rad" or "kg m^2"; "1" is a pure number, "" unknown."""

import math

# What a number may be given in: the SI unit it is turned into, and how many of that it is.
_ANGLES = {"rad": 1.0, "deg": math.pi / 180, "°": math.pi / 180, "turn": 2 * math.pi}
_SIMPLE: dict[str, tuple[str, float]] = {
    **{name: ("rad", size) for name, size in _ANGLES.items()},
    "mm": ("m", 1e-3),
    "cm": ("m", 1e-2),
    "m": ("m", 1.0),
    "km": ("m", 1e3),
    "g": ("kg", 1e-3),
    "kg": ("kg", 1.0),
    "ms": ("s", 1e-3),
    "s": ("s", 1.0),
}
# Powers of kg, m and s.
_DIMENSIONS = {
    "1": (0, 0, 0),
    "rad": (0, 0, 0),
    "kg": (1, 0, 0),
    "m": (0, 1, 0),
    "s": (0, 0, 1),
    "N": (1, 1, -2),
    "J": (1, 2, -2),
    "W": (1, 2, -3),
}
CONVERTED = tuple(_SIMPLE)  # the words that `in_si` knows, each also per second


def in_si(word: str) -> tuple[str, float] | None:
    """What a unit is in SI, and how many of that: "deg/s" is ("rad/s", π/180); None if unknown."""
    simple, slash, per = word.partition("/")
    known = _SIMPLE.get(simple) or _SIMPLE.get(simple.lower() if simple.lower() in _ANGLES else "")
    if known is None or (slash and per != "s"):
        return None
    return (f"{known[0]}/s" if slash else known[0], known[1])


def rate_unit(unit: str) -> str:
    """The unit of a coordinate's rate."""
    return f"{unit}/s" if unit not in ("", "1") else "1/s"


def unit_after(unit: str) -> str:
    """A unit as it stands after a number: " kg", and nothing for pure and unknown ones."""
    return "" if unit in ("", "1") else f" {unit}"


def dimension(unit: str) -> tuple[int, int, int] | None:
    """Powers of kg, m and s in a unit, "N m/rad" is (1, 2, -2); None if there are other words."""
    if not unit:
        return None
    total = [0, 0, 0]
    for side, words in zip((1, -1), unit.split("/"), strict=False):
        for word in words.split():
            name, _, power = word.partition("^")
            powers = _DIMENSIONS.get(name)
            if powers is None or not (power or "1").isdigit():
                return None
            total = [x + side * int(power or 1) * y for x, y in zip(total, powers, strict=True)]
    mass, length, time = total
    return None if unit.count("/") > 1 else (mass, length, time)
