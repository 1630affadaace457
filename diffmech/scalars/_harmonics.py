"""Products of sines and cosines as few as say it: sin(a + b) rather than its expansion.

A trigonometric polynomial has one Fourier form, a sum of number × sin or cos of a whole multiple
of angles, in which everything that cancels is gone. From there sums are made products again as long
as that is shorter:

    cos u + cos v = 2 cos ((u + v)/2) cos ((u − v)/2),   1 − cos 2u = 2 sin² u,   ...

The shortest of the polynomial as given, its Fourier form and what became of that is taken.
"""

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple, TypeAlias

from ._tape import Register, Tape

Angle: TypeAlias = tuple[int, ...]  # how often each of the basic angles is in it


class Wave(NamedTuple):
    """The sine or cosine of an angle."""

    name: str
    angle: Angle


Waves: TypeAlias = dict[tuple[Wave, ...], float]  # Σ number × product of waves, sorted

_MOST_WAVES = 80  # of a sum in which pairs are looked for
_MOST_FACTORS = 12  # of a product that becomes a sum
_SAME = 1e-12  # relative


def merged(polynomial: Waves, halves: bool = True) -> Waves:
    """The same function in as few operations as are found.

    `halves` asks for 2 sin u cos u where sin 2u is left, which is shorter: in other terms the waves
    of u are often there already.
    """
    if len(polynomial) == 1 and all(len(key) < 2 for key in polynomial):
        return polynomial
    if any(len(key) > _MOST_FACTORS for key in polynomial):
        return polynomial
    sum_of_waves = _fourier(polynomial)
    ways = [polynomial, sum_of_waves]
    if len(sum_of_waves) <= _MOST_WAVES:
        ways.append(_as_products(sum_of_waves))
    shortest = min(ways, key=cost)
    return _halved(shortest) if halves else _doubled(shortest)


def cost(polynomial: Waves) -> int:
    """How many operations it takes to write it."""
    return sum(_cost_of(key, number) for key, number in polynomial.items()) + len(polynomial)


def _cost_of(key: tuple[Wave, ...], number: float) -> int:
    waves = sum(2 + _cost_of_angle(wave.angle) for wave in set(key))
    powers = len([wave for wave in set(key) if key.count(wave) > 1])
    return waves + powers + (abs(number) != 1)


def _cost_of_angle(angle: Angle) -> int:
    return sum((times != 0) + (abs(times) > 1) for times in angle) - 1


def _fourier(polynomial: Waves) -> Waves:
    total: Waves = {}
    for key, number in polynomial.items():
        waves: Waves = {(): number}
        for factor in key:
            product: Waves = {}
            for one, value in waves.items():
                for new, sign in _product(one[0] if one else None, factor):
                    _add(product, new, sign * value)
            waves = product
        for new, value in waves.items():
            _add(total, new, value)
    largest = max(map(abs, total.values()), default=0.0)
    return {key: number for key, number in total.items() if abs(number) > _SAME * largest}


def _add(total: Waves, key: tuple[Wave, ...], number: float) -> None:
    total[key] = total.get(key, 0.0) + number


def _product(x: Wave | None, y: Wave) -> Iterable[tuple[tuple[Wave, ...], float]]:
    """Of two waves, as waves of the sum and of the difference."""
    if x is None:
        return [((y,), 1.0)]
    both = _turned(x.angle, y.angle, 1), _turned(x.angle, y.angle, -1)
    name = "cos" if x.name == y.name else "sin"
    signs = {"coscos": (0.5, 0.5), "sinsin": (-0.5, 0.5), "sincos": (0.5, 0.5)}
    pair = signs.get(x.name + y.name, (0.5, -0.5))
    return [_upright(name, angle, sign) for angle, sign in zip(both, pair, strict=True)]


def _turned(x: Angle, y: Angle, sign: int) -> Angle:
    return tuple(a + sign * b for a, b in zip(x, y, strict=True))


def _upright(name: str, angle: Angle, number: float) -> tuple[tuple[Wave, ...], float]:
    """The first multiple positive; no wave at all of no angle."""
    first = next((times for times in angle if times), 0)
    if first == 0:
        return (), number if name == "cos" else 0.0
    if first < 0:
        return (Wave(name, tuple(-times for times in angle)),), -number if name == "sin" else number
    return (Wave(name, angle),), number


def _as_products(waves: Waves) -> Waves:
    """Pairs of terms that differ in one wave made one term, the most saving pair first."""
    waves = dict(waves)
    while True:
        best: tuple[int, tuple[tuple[Wave, ...], ...], tuple[tuple[Wave, ...], float]] | None = None
        for one, other in combinations(waves, 2):
            if abs(abs(waves[one]) - abs(waves[other])) > _SAME * abs(waves[one]):
                continue
            for new in _pair(one, waves[one], other, waves[other]):
                before = _cost_of(one, waves[one]) + _cost_of(other, waves[other]) + 1
                saved = before - _cost_of(*new)
                if saved > 0 and new[0] not in waves and (best is None or saved > best[0]):
                    best = saved, (one, other), new
        if best is None:
            return waves
        for key in best[1]:
            del waves[key]
        key, number = best[2]
        waves[key] = number


def _pair(
    one: tuple[Wave, ...], number: float, other: tuple[Wave, ...], value: float
) -> Iterable[tuple[tuple[Wave, ...], float]]:
    """number × one + value × other as a single product, if they differ in one wave."""
    shared = _shared(one, other)
    rest, rest_of_other = _without(one, shared), _without(other, shared)
    if len(rest) > 1 or len(rest_of_other) > 1:
        return
    waves = [*rest, *rest_of_other]
    still = Wave("cos", tuple(0 for _ in waves[0].angle))  # cos 0 = 1
    u, v = (next(iter(part), still) for part in (rest, rest_of_other))
    if u.name != v.name:
        return
    halves = [_half(_turned(u.angle, v.angle, sign)) for sign in (1, -1)]
    alike = (number > 0) == (value > 0)
    names = {
        ("cos", True): ("cos", "cos", 2.0),
        ("cos", False): ("sin", "sin", -2.0),
        ("sin", True): ("sin", "cos", 2.0),
        ("sin", False): ("cos", "sin", 2.0),
    }
    first, second, factor = names[u.name, alike]
    if halves[0] is None or halves[1] is None:
        return
    (a, sign), (b, other_sign) = _upright(first, halves[0], 1.0), _upright(second, halves[1], 1.0)
    yield tuple(sorted((*shared, *a, *b))), factor * number * sign * other_sign


def _half(angle: Angle) -> Angle | None:
    return None if any(times % 2 for times in angle) else tuple(times // 2 for times in angle)


def _shared(one: tuple[Wave, ...], other: tuple[Wave, ...]) -> tuple[Wave, ...]:
    common: list[Wave] = []
    left = list(other)
    for wave in one:
        if wave in left:
            left.remove(wave)
            common.append(wave)
    return tuple(common)


def _without(key: tuple[Wave, ...], taken: tuple[Wave, ...]) -> tuple[Wave, ...]:
    left = list(key)
    for wave in taken:
        left.remove(wave)
    return tuple(left)


def _halved(waves: Waves) -> Waves:
    """sin 2u = 2 sin u cos u of basic angles u, whose waves are there already in other terms."""
    result: Waves = {}
    for key, number in waves.items():
        new, value = key, number
        for wave in key:
            half = _half(wave.angle)
            if wave.name == "sin" and half is not None and sum(map(abs, half)) == 1:
                pair = (Wave("sin", half), Wave("cos", half))
                new, value = tuple(sorted((*_without(new, (wave,)), *pair))), 2 * value
        _add(result, new, value)
    return result


def _doubled(waves: Waves) -> Waves:
    """2 sin u cos u = sin 2u wherever both are factors."""
    result: Waves = {}
    for key, number in waves.items():
        new, value = key, number
        for wave in key:
            partner = wave._replace(name="cos")
            if wave.name == "sin" and wave in new and partner in new:
                twice = Wave("sin", _turned(wave.angle, wave.angle, 1))
                new, value = tuple(sorted((*_without(new, (wave, partner)), twice))), value / 2
        _add(result, new, value)
    return result


def written_wave(tape: Tape, name: str, multiples: Iterable[tuple[Register, int]]) -> Register:
    """sin or cos of Σ multiple × register on a tape; a positive multiple first.

    cos(x − y), not cos(−y + x). There must be at least one multiple.
    """
    total: Register | None = None
    for register, multiple in sorted(multiples, key=lambda one: (one[1] < 0, one[0])):
        part = tape.operate("mul", tape.constant(float(abs(multiple))), register)
        if total is None:
            total = part if multiple > 0 else tape.operate("neg", part)
        else:
            total = tape.operate("add" if multiple > 0 else "sub", total, part)
    assert total is not None
    return tape.operate(name, total)
