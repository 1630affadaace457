"""A tape copied so that its places stand in the order in which factors are to be read."""

from collections.abc import Sequence
from typing import Any

from ._tape import Register, Tape


def in_order(
    tape: Tape, places: Any, inputs: Sequence[Sequence[Register]]
) -> tuple[Tape, dict[Register, Register]]:
    """A new tape, and where everything that `places` need stands on it, all inputs included.

    What only the first group of inputs enters comes first, then what the second enters as well,
    and so on; in each group the inputs, their sines and cosines, and what is made of them.
    """
    rank = {place: i for i, group in enumerate(inputs) for place in group}
    everything = [place for group in inputs for place in group]
    needed = sorted({*tape.needed_for(places), *everything})
    for place in needed:
        name, arguments = tape.operations[place]
        if place not in rank:
            inner = () if name == "constant" else arguments
            rank[place] = max((rank[argument] for argument in inner), default=0)
    number = {place: i for i, place in enumerate(everything)}

    def key(place: Register) -> tuple[int, ...]:
        """Inputs, then sines and cosines of inputs, then what is made of them."""
        name, arguments = tape.operations[place]
        if place in number:
            return rank[place], 0, number[place], 0
        if name in ("sin", "cos") and arguments[0] in number:
            return rank[place], 1, number[arguments[0]], int(name == "cos")
        return rank[place], 2, place, 0

    new, to = Tape(), dict[Register, Register]()
    for place in sorted(needed, key=key):
        name, arguments = tape.operations[place]
        if name == "input":
            to[place] = new.input()
        elif name == "constant":
            to[place] = new.constant(arguments[0])
        else:
            to[place] = new.operate(name, *(to[argument] for argument in arguments))
    return new, to
