"""JavaScript, as browsers and Node have it."""

from ._language import (
    ARITHMETIC,
    CHOICE,
    EVERYWHERE,
    Language,
    called,
    compared,
    decimal,
    of_two,
    same,
)
from ._notation import ANY, ATOM, COMPARISON, POWER, PRODUCT, SUM, Form


def _number(value: float | int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return decimal(value, "Infinity", "NaN")


_HELPERS = {
    "power": """function power(x, y) {
  return x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : Math.pow(x, y);
}
""",
    "whole": """function whole(x) {
  return Number.isNaN(x) ? 0 : Math.trunc(Math.min(Math.max(x, -(2 ** 63)), 2 ** 63));
}
""",
    "wholeQuotient": """function wholeQuotient(x, y) {
  return y === 0 ? -1 : Math.trunc(x / y);
}
""",
    "wholeRemainder": """function wholeRemainder(x, y) {
  return y === 0 ? x : x % y;
}
""",
    "roundHalfEven": """function roundHalfEven(x) {
  const low = Math.floor(x);
  const rest = x - low;
  return rest === 0.5 ? 2 * Math.round(low / 2) : rest > 0.5 ? low + 1 : low;
}
""",
    "roundHalfAway": """function roundHalfAway(x) {
  const low = Math.trunc(x);
  return Math.abs(x - low) >= 0.5 ? low + Math.sign(x) : low;
}
""",
}
_WORDS = """arguments async await break case catch class const continue debugger default
delete do else enum eval export extends false finally for function get if implements import in
instanceof interface let new null of package private protected public return set static super
switch this throw true try typeof undefined var void while with yield Infinity NaN Math Number
Object Array constructor prototype globalThis window document self"""

JAVASCRIPT = Language(
    forms={
        **{
            name: Form(
                form.template.replace("sqrt", "Math.sqrt").replace("exp(", "Math.exp("), *form[1:]
            )
            for name, form in ARITHMETIC.items()
        },
        **compared("===", "!=="),
        **same(f"{EVERYWHERE} abs sign", "Math."),
        **called(
            {
                "is_finite": "Number.isFinite",
                "to_float": "Number",
                "to_int": "whole",
                "round_even": "roundHalfEven",
                "round_away": "roundHalfAway",
            }
        ),
        **of_two({name: f"Math.{name}" for name in ("max", "min", "atan2")}),
        **of_two({"pow": "power", "rem:int": "wholeRemainder", "div:int": "wholeQuotient"}),
        **{
            f"{name}:bool": Form(f"{{}} {sign} {{}}", ANY, (ATOM, ATOM))
            for name, sign in {"and": "&&", "or": "||", "xor": "!=="}.items()
        },
        "exp2": Form("Math.pow(2.0, {})"),
        "rem": Form("{} % {}", PRODUCT, (PRODUCT, POWER)),
        "not:bool": Form("!{}", POWER, (ATOM,)),
        "select": CHOICE,
        "to_bool": Form("{} !== 0", COMPARISON, (SUM,)),
    },
    number=_number,
    declared=dict.fromkeys((float, int, bool), "const {} = {};"),
    take="",
    comment="// {}",
    head="function {}({}) {{",
    foot="}",
    argument=("{}", "{}"),
    array="",
    result="return {};",
    results=("return {{{}}};", '"{0}": {1}'),
    stored="",
    entry="{}[{}]",
    reserved=frozenset({*_WORDS.split(), *_HELPERS}),
    helpers=_HELPERS,
    imports="",
)
