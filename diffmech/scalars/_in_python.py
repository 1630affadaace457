"""Python, by NumPy's functions: of numbers, or of arrays of many lanes."""

import keyword

from ._language import ARITHMETIC, EVERYWHERE, Language, called, compared, decimal, of_two, same
from ._notation import COMPARISON, POWER, PRODUCT, SUM, Form


def _number(value: float | int | bool) -> str:
    return str(value) if isinstance(value, bool) else decimal(value, "inf", "nan")


_HELPERS = {
    "gathered": """def gathered(numbers, shape):
    numbers = broadcast_arrays(*numbers) if numbers else []
    return asarray(numbers, float).reshape(shape + numbers[0].shape if numbers else shape)
""",
    "signum": """def signum(x):
    return where(x == 0, x, sign(x))
""",
    "whole": """def whole(x):
    x = where(isnan(x), 0.0, x)
    limited = clip(x, -9.2e18, 9.2e18).astype(int)
    limits = (-9223372036854775808, 9223372036854775807)
    return where(x >= 2.0**63, limits[1], where(x < -(2.0**63), limits[0], limited))
""",
    "whole_quotient": """def whole_quotient(x, y):
    quotient = abs(x) // where(y == 0, 1, abs(y))
    return where(y == 0, -1, where((x < 0) == (y < 0), quotient, -quotient))
""",
    "whole_remainder": """def whole_remainder(x, y):
    return where(y == 0, x, sign(x) * (abs(x) % where(y == 0, 1, abs(y))))
""",
    "round_half_away": """def round_half_away(x):
    return where(abs(x - trunc(x)) >= 0.5, trunc(x) + copysign(1.0, x), trunc(x))
""",
    "error_function": """error_function = vectorize(math.erf, otypes=[float])
""",
    "complementary_error": """complementary_error = vectorize(math.erfc, otypes=[float])
""",
    "log_gamma": """def one_log_gamma(x):
    return math.inf if x <= 0 and x == x // 1 else math.lgamma(x)


log_gamma = vectorize(one_log_gamma, otypes=[float])
""",
}

_NUMPY = """arccos arccosh arcsin arcsinh arctan arctan2 arctanh asarray bitwise_and bitwise_or
bitwise_xor broadcast_arrays cbrt ceil clip copysign cos cosh errstate exp exp2 expm1 floor fmod
inf invert isfinite isnan log log1p logical_and logical_not logical_or logical_xor maximum
minimum nan power rint sign sin sinh sqrt tan tanh trunc vectorize where"""

PYTHON = Language(
    forms={
        **ARITHMETIC,
        **compared("==", "!="),
        **same(EVERYWHERE),
        **called(
            {
                **{f"a{f}": f"arc{f}" for f in ("cos", "cosh", "sin", "sinh", "tan", "tanh")},
                "abs": "abs",
                "exp2": "exp2",
                "is_finite": "isfinite",
                "round_even": "rint",
                "sign": "signum",
                "round_away": "round_half_away",
                "to_int": "whole",
                "erf": "error_function",
                "erfc": "complementary_error",
                "lgamma": "log_gamma",
                "not:bool": "logical_not",
                "not": "invert",
            }
        ),
        **of_two(
            {
                "max": "maximum",
                "min": "minimum",
                "pow": "power",
                "atan2": "arctan2",
                **{f"{f}:bool": f"logical_{f}" for f in ("and", "or", "xor")},
                **{f: f"bitwise_{f}" for f in ("and", "or", "xor")},
                "rem": "fmod",
                "rem:int": "whole_remainder",
                "div:int": "whole_quotient",
            }
        ),
        "select": Form("where({0}, {2}, {1})"),
        "to_bool": Form("{} != 0", COMPARISON, (SUM,)),
        "to_float": Form("1.0 * {}", PRODUCT, (POWER,)),
    },
    number=_number,
    declared=dict.fromkeys((float, int, bool), "{} = {}"),
    take="{0} = asarray({0}, float)",
    comment="# {}",
    head='@errstate(all="ignore")\ndef {}({}):',
    foot="",
    argument=("{}", "{}"),
    array="gathered([{}], {})",
    result="return {}",
    results=("return {{{}}}", '"{0}": {1}'),
    stored="",
    entry="{}[{}]",
    reserved=frozenset(
        {
            *(*keyword.kwlist, *keyword.softkwlist, *_NUMPY.split(), *_HELPERS),
            *("abs", "float", "int", "math", "numpy", "one_log_gamma"),
        }
    ),
    helpers=_HELPERS,
    imports="from numpy import {}\n",
    library=frozenset(_NUMPY.split()),
)
