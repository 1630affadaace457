"""Units as text, "rad" or "kg m^2"; "1" is a pure number, "" unknown."""


def rate_unit(unit: str) -> str:
    """The unit of a coordinate's rate."""
    return f"{unit}/s" if unit not in ("", "1") else "1/s"


def unit_after(unit: str) -> str:
    """A unit as it stands after a number: " kg", and nothing for pure and unknown ones."""
    return "" if unit in ("", "1") else f" {unit}"
