"""A tape copied so that its registers stand in the order in which factors are to be read."""

from collections.abc import Sequence
from typing import Any

from ._tape import Register, Tape


def in_order(
    tape: Tape, registers: Any, inputs: Sequence[Sequence[Register]]
) -> tuple[Tape, dict[Register, Register]]:
    """A new tape, and where everything that `registers` need stands on it, all inputs included.

    What only the first group of inputs enters comes first, then what the second enters as well,
    and so on; in each group the inputs, their sines and cosines, and what is made of them.
    """
    rank = {register: i for i, group in enumerate(inputs) for register in group}
    everything = [register for group in inputs for register in group]
    needed = sorted({*tape.needed_for(registers), *everything})
    for register in needed:
        name, arguments = tape.operations[register]
        if register not in rank:
            inner = () if name == "constant" else arguments
            rank[register] = max((rank[argument] for argument in inner), default=0)
    number = {register: i for i, register in enumerate(everything)}

    def key(register: Register) -> tuple[int, ...]:
        """Inputs, then sines and cosines of inputs, then what is made of them."""
        name, arguments = tape.operations[register]
        if register in number:
            return rank[register], 0, number[register], 0
        if name in ("sin", "cos") and arguments[0] in number:
            return rank[register], 1, number[arguments[0]], int(name == "cos")
        return rank[register], 2, register, 0

    new, to = Tape(), dict[Register, Register]()
    for register in sorted(needed, key=key):
        name, arguments = tape.operations[register]
        if name == "input":
            to[register] = new.input()
        elif name == "constant":
            to[register] = new.constant(arguments[0])
        else:
            to[register] = new.operate(name, *(to[argument] for argument in arguments))
    return new, to
