"""A changed input never gives a stale answer."""

import functools
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech._fingerprint import version_of

HAS_CHANGED = "which has changed: what was compiled of it is dropped"


class Bag:
    """Things that a function reads, to be changed from outside."""

    k: Any
    inner: "Bag"
    read: Callable[[], Any]

    def __init__(self, **given: Any):
        self.__dict__.update(given)

    @property
    def doubled(self) -> Any:
        return 2 * self.k

    def tripled(self) -> Any:
        return 3 * self.k


@dataclass(frozen=True)
class Spring:
    stiffness: Callable[[], Any]

    def __call__(self, q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * qd[0] ** 2 - 0.5 * self.stiffness() * q[0] ** 2


# One function for each way in which a number can be read; `set_k(value)` changes it.
def by_global() -> tuple[Any, Any]:
    def set_k(value: float) -> None:
        globals()["_K"] = value

    set_k(1.0)
    return (lambda: _K), set_k  # pyright: ignore


def by_closure() -> tuple[Any, Any]:
    k = 1.0

    def set_k(value: float) -> None:
        nonlocal k
        k = value

    return (lambda: k), set_k


def by_array() -> tuple[Any, Any]:
    table = np.array([0.0, 1.0])
    return (lambda: table[1]), functools.partial(table.__setitem__, 1)


def by_jax_array() -> tuple[Any, Any]:
    bag = Bag(k=jnp.asarray(1.0))
    return (lambda: bag.k), lambda value: setattr(bag, "k", jnp.asarray(value))


def by_dictionary() -> tuple[Any, Any]:
    numbers = {"springs": [{"k": 1.0}]}
    return (lambda: numbers["springs"][0]["k"]), functools.partial(
        numbers["springs"][0].__setitem__, "k"
    )


def by_attribute() -> tuple[Any, Any]:
    bag = Bag(inner=Bag(k=1.0))
    return (lambda: bag.inner.k), functools.partial(setattr, bag.inner, "k")


def by_property() -> tuple[Any, Any]:
    bag = Bag(k=1.0)
    return (lambda: bag.doubled), functools.partial(setattr, bag, "k")


def by_method() -> tuple[Any, Any]:
    bag = Bag(k=1.0)
    return (lambda: bag.tripled()), functools.partial(setattr, bag, "k")


def by_bound_method() -> tuple[Any, Any]:
    bag = Bag(k=1.0)
    return bag.tripled, functools.partial(setattr, bag, "k")


def by_module() -> tuple[Any, Any]:
    constants = types.ModuleType("constants_of_mine")
    sys.modules[constants.__name__] = constants
    vars(constants)["k"] = 1.0
    return (lambda: constants.k), functools.partial(setattr, constants, "k")


def by_default() -> tuple[Any, Any]:
    table = np.array([1.0])

    def read(table: Any = table) -> Any:
        return table[0]

    return read, functools.partial(table.__setitem__, 0)


def by_partial() -> tuple[Any, Any]:
    bag = Bag(k=1.0)
    return functools.partial(lambda sign: sign * bag.k, 1), functools.partial(setattr, bag, "k")


def by_helper() -> tuple[Any, Any]:
    inner, set_k = by_closure()
    helper = jax.jit(lambda x: x * inner())
    return (lambda: jax.vmap(lambda x: helper(x))(jnp.ones(1))[0]), set_k


def by_loop_body() -> tuple[Any, Any]:
    inner, set_k = by_closure()

    def body(carry: Any, _: Any) -> Any:
        return carry + inner(), None

    return (lambda: jax.lax.scan(body, 0.0, None, length=1)[0]), set_k


def by_other_code() -> tuple[Any, Any]:
    bag = Bag(read=lambda: 1.0)

    def set_k(value: float) -> None:
        bag.read = {1.0: lambda: 1.0, 4.0: lambda: 4.0}[value]

    return (lambda: bag.read()), set_k


WAYS = [
    by_global, by_closure, by_array, by_jax_array, by_dictionary, by_attribute, by_property,
    by_method, by_bound_method, by_module, by_default, by_partial, by_helper, by_loop_body,
    by_other_code,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_whatever_way_a_number_is_read_its_change_is_noticed(
    way: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped: list[bool] = []
    monkeypatch.setattr(jax, "clear_caches", lambda: dropped.append(True))  # other tests' too
    read, set_k = way()

    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * qd[0] ** 2 - 0.5 * read() * q[0] ** 2

    system = dm.System(lagrangian, {"x": "m"})
    first = system.laws
    assert system.laws == first, "nothing has changed"
    if way not in (by_jax_array, by_other_code):  # which are other ones, though equal
        set_k(1.0)
        assert system.laws == first, "nothing but the object that holds the same number"
    parts = version_of(Spring(read))
    set_k(4.0)
    with pytest.warns(UserWarning, match=HAS_CHANGED):
        second = system.laws
    assert second != first
    assert system.laws == second, "said once"
    with pytest.warns(UserWarning, match=HAS_CHANGED):
        assert version_of(Spring(read)) != parts
    assert len(dropped) == 2


def test_every_verb_answers_with_the_new_number() -> None:
    read, set_k = by_loop_body()

    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * qd[0] ** 2 - 0.5 * read() * q[0] ** 2

    def answers() -> list[float]:
        system = dm.System(lagrangian, {"x": "m"})
        lanes = dm.ensemble(system, [[1.0]], duration=1.0).values["last"]
        run = dm.simulate(system, [1.0], duration=1.0, samples=2)
        return [
            float(dm.acceleration(system, [1.0], [0.0])[0]),
            float(run.end.q[0]),
            float(lanes[0][0, 0]),
        ]

    np.testing.assert_allclose(answers(), [-1.0, np.cos(1.0), np.cos(1.0)], rtol=1e-7)
    old = dm.simulate(dm.System(lagrangian, {"x": "m"}), [1.0], duration=1.0, samples=2)
    set_k(4.0)
    with pytest.warns(UserWarning, match=HAS_CHANGED):
        np.testing.assert_allclose(answers(), [-4.0, np.cos(2.0), np.cos(2.0)], rtol=1e-7)
    with pytest.raises(ValueError, match="have changed since this run"):
        old.report()


def test_conditions_and_reducers_are_looked_at_too() -> None:
    read, set_level = by_closure()
    system = dm.systems.pendulum()

    def passed(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 1.5 - 0.5 * read() - q[0]

    class Beyond(eqx.Module):
        offset: Any

        def __call__(self, *state: Any) -> Any:
            return passed(*state) + self.offset

    def times() -> list[float]:
        run = dm.simulate(system, [2.0], duration=2.0, events={"passed": passed})
        lanes = dm.ensemble(
            system, [[2.0]], duration=2.0, reduce={"first": dm.FirstTime(Beyond(np.zeros(())))}
        )
        return [float(run.end.t), float(lanes.values["first"][0])]

    before = times()
    set_level(2.0)
    with pytest.warns(UserWarning, match=HAS_CHANGED):
        after = times()
    np.testing.assert_allclose(before[0], before[1], rtol=1e-5)
    np.testing.assert_allclose(after[0], after[1], rtol=1e-5)
    assert after[0] > 1.1 * before[0], "a lower level is passed later"


def test_a_large_array_belongs_in_the_parameters() -> None:
    table = np.zeros(10_000)

    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * qd[0] ** 2 - table[3] * q[0]

    with pytest.raises(ValueError, match=r"`table` is an array of 0.08 MB.*pass it in `params`"):
        dm.simulate(dm.System(lagrangian, {"x": "m"}), [0.0], duration=1.0)


def test_many_functions_do_not_pile_up() -> None:
    from diffmech import _fingerprint

    for i in range(1500):
        version_of(functools.partial(pow, i))
    assert len(_fingerprint._known) <= 1024
