"""What scalar operations are called in a language: the form of a table, and what many share.

Every operation has a form; where whole numbers or truth values need another one than floats, it
stands under `name:int` or `name:bool`. What a language has no function for is defined by a helper,
which is printed along where it is used.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ._notation import ATOM, COMPARISON, POWER, PRODUCT, SUM, Form


class Language(NamedTuple):
    """How a language spells a function of numbers.

    Attributes:
        forms: by the operation's name on the tape.
        number: of any constant.
        declared: an assignment, by the kind of what is assigned: from name and value.
        take: what is done with an argument before use, from its name; "" for nothing.
        comment: from its text.
        head, foot: around the body, from the function's name and its arguments.
        argument: how one is declared, of a single number and of an array.
        array: how one is made of a list of all its numbers and its shape; "" for lists of lists.
        result, results: how one or several arrays are returned.
        stored: how one number of an array that is handed in is set; "" where arrays are returned.
        entry: how one number of an array is read.
        reserved: words that are not names.
        helpers: definitions by the names that forms use.
        imports: in front of everything, from the names of the library used; "" for none.
        library: those names, where they are imported one by one.
    """

    forms: Mapping[str, Form]
    number: Callable[[float | int | bool], str]
    declared: Mapping[type, str]
    take: str
    comment: str
    head: str
    foot: str
    argument: tuple[str, str]
    array: str
    result: str
    results: tuple[str, str]
    stored: str
    entry: str
    reserved: frozenset[str]
    helpers: Mapping[str, str]
    imports: str
    library: frozenset[str] = frozenset()


def same(names: str, prefix: str = "") -> dict[str, Form]:
    """Operations that are functions of the same name, of one number."""
    return {name: Form(f"{prefix}{name}({{}})") for name in names.split()}


def called(table: Mapping[str, str]) -> dict[str, Form]:
    """Operations that are functions of another name, of one number."""
    return {name: Form(f"{word}({{}})") for name, word in table.items()}


def of_two(table: Mapping[str, str]) -> dict[str, Form]:
    """Functions of two numbers."""
    return {name: Form(f"{word}({{}}, {{}})") for name, word in table.items()}


def compared(equal: str, different: str) -> dict[str, Form]:
    """The six comparisons."""
    signs = {"eq": equal, "ne": different, "ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
    return {name: Form(f"{{}} {sign} {{}}", COMPARISON, (SUM, SUM)) for name, sign in signs.items()}


# a − (b − c) and a/(b/c) keep their parentheses, and so do sums, whose rounding they decide.
ARITHMETIC = {
    "add": Form("{} + {}", SUM, (SUM, PRODUCT)),
    "sub": Form("{} - {}", SUM, (SUM, PRODUCT)),
    "mul": Form("{} * {}", PRODUCT, (PRODUCT, POWER)),
    "div": Form("{} / {}", PRODUCT, (PRODUCT, POWER)),
    "neg": Form("-{}", SUM, (PRODUCT,)),
    "rsqrt": Form("1.0 / sqrt({})", PRODUCT),
    "logistic": Form("1.0 / (1.0 + exp(-{}))", PRODUCT, (POWER,)),
}
EVERYWHERE = """acos acosh asin asinh atan atanh cbrt ceil cos cosh exp expm1 floor log log1p
sin sinh sqrt tan tanh"""
CHOICE = Form("({0} ? {2} : {1})", ATOM, (SUM, COMPARISON, COMPARISON))


def decimal(value: float | int | bool, infinite: str, nan: str) -> str:
    """Of numbers that are not truth values: as many digits as say it exactly."""
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return nan
    if math.isinf(value):
        return infinite if value > 0 else f"-{infinite}"
    return repr(value)
