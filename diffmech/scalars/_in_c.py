"""C (C99), with its mathematical library."""

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
from ._notation import ANY, ATOM, COMPARISON, POWER, SUM, Form


def _number(value: float | int | bool) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int) and value == -(2**63):
        return "(-9223372036854775807LL - 1)"
    text = decimal(value, "INFINITY", "NAN")
    return f"{text}LL" if isinstance(value, int) else text


_HELPERS = {
    "signum": """static double signum(double x) {
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}
""",
    "signum_whole": """static long long signum_whole(long long x) {
    return (x > 0) - (x < 0);
}
""",
    "larger": """static double larger(double x, double y) {
    return isnan(x) || x > y ? x : y;
}
""",
    "smaller": """static double smaller(double x, double y) {
    return isnan(x) || x < y ? x : y;
}
""",
    "whole": """static long long whole(double x) {
    if (isnan(x)) return 0;
    if (x >= 9223372036854775808.0) return 9223372036854775807LL;
    return x < -9223372036854775808.0 ? -9223372036854775807LL - 1 : (long long)x;
}
""",
    "whole_quotient": """static long long whole_quotient(long long x, long long y) {
    return y == 0 || y == -1 ? (y == 0 ? -1 : -x) : x / y;
}
""",
    "whole_remainder": """static long long whole_remainder(long long x, long long y) {
    return y == 0 ? x : (y == -1 ? 0 : x % y);
}
""",
    "whole_size": """static long long whole_size(long long x) {
    return x < 0 ? -x : x;
}
""",
}
_WORDS = """
auto break case char const continue default do double else enum extern float for goto
if inline int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while asm typeof bool true false nullptr alignas alignof constexpr
static_assert thread_local typeof_unqual linux unix i386 fabs fmod fmin fmax isnan isfinite
signbit signgam rint round pow atan2 exp2 erf erfc lgamma NAN INFINITY HUGE HUGE_VAL HUGE_VALF
HUGE_VALL MAXFLOAT M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI
M_SQRT2 M_SQRT1_2 FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL FP_ILOGB0 FP_ILOGBNAN
FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL MATH_ERRNO MATH_ERREXCEPT math_errhandling isinf isnormal
fpclassify isgreater isless isunordered main class new delete this template typename namespace
operator private public protected virtual friend using try catch throw and or not xor"""

C = Language(
    forms={
        **ARITHMETIC,
        **compared("==", "!="),
        **same(f"{EVERYWHERE} exp2 erf erfc lgamma"),
        **called(
            {
                "abs": "fabs",
                "abs:int": "whole_size",
                "is_finite": "isfinite",
                "sign": "signum",
                "sign:int": "signum_whole",
                "to_int": "whole",
                "round_even": "rint",
                "round_away": "round",
            }
        ),
        **of_two(
            {
                "max": "larger",
                "min": "smaller",
                "pow": "pow",
                "atan2": "atan2",
                "rem": "fmod",
                "rem:int": "whole_remainder",
                "div:int": "whole_quotient",
            }
        ),
        **{
            f"max:{kind}": Form("({0} > {1} ? {0} : {1})", ATOM, (ATOM, ATOM))
            for kind in ("int", "bool")
        },
        **{
            f"min:{kind}": Form("({0} < {1} ? {0} : {1})", ATOM, (ATOM, ATOM))
            for kind in ("int", "bool")
        },
        **{
            name: Form(f"{{}} {sign} {{}}", ANY, (ATOM, ATOM))
            for name, sign in {"and": "&", "or": "|", "xor": "^"}.items()
        },
        "not": Form("~{}", POWER, (ATOM,)),
        "not:bool": Form("!{}", POWER, (ATOM,)),
        "select": CHOICE,
        "to_bool": Form("{} != 0", COMPARISON, (SUM,)),
        "to_float": Form("(double){}", POWER, (ATOM,)),
        "to_int:bool": Form("(long long){}", POWER, (ATOM,)),
    },
    number=_number,
    declared={
        float: "const double {} = {};",
        int: "const long long {} = {};",
        bool: "const int {} = {};",
    },
    take="",
    comment="// {}",
    head="void {}({}) {{",
    foot="}",
    argument=("double {}", "const double *{}"),
    array="",
    result="",
    results=("", ""),
    stored="{}[{}] = {};",
    entry="{}[{}]",
    reserved=frozenset({*_WORDS.split(), *EVERYWHERE.split(), *_HELPERS}),
    helpers=_HELPERS,
    imports="#include <math.h>\n",
)
