"""A tape copied so that its places stand in the order in which factors are to be read."""

from collections.abc import Sequence
from typing import Any

from ._tape import Place, Tape


def in_order(
    tape: Tape, places: Any, inputs: Sequence[Sequence[Place]]
) -> tuple[Tape, dict[Place, Place]]:
    """A new tape, and where everything that `places` need stands on it, all inputs included.

    What only the first group of inputs enters comes first, then what the second enters as well,
    and so on; of a sine and a cosine of one angle the sine comes first.
    """
    rank = {place: i for i, group in enumerate(inputs) for place in group}
    everything = [place for group in inputs for place in group]
    needed = sorted({*tape.needed_for(places), *everything})
    for place in needed:
        name, arguments = tape.operations[place]
        if place not in rank:
            inner = () if name == "constant" else arguments
            rank[place] = max((rank[argument] for argument in inner), default=0)
    waiting = set(needed)
    new, to = Tape(), dict[Place, Place]()
    first = {place: (rank[place], i) for i, place in enumerate(everything)}
    operation = {tape.operations[place]: place for place in needed}

    def copy(place: Place) -> None:
        if place not in waiting:
            return
        waiting.remove(place)
        name, arguments = tape.operations[place]
        if name == "cos":
            partner = operation.get(tape.operations[place]._replace(name="sin"))
            if partner is not None:
                copy(partner)
        if name == "input":
            to[place] = new.input()
        elif name == "constant":
            to[place] = new.constant(arguments[0])
        else:
            to[place] = new.operate(name, *(to[argument] for argument in arguments))

    for place in sorted(
        needed, key=lambda p: (rank[p], p not in first, first.get(p, (0, 0))[1], p)
    ):
        copy(place)
    return new, to
