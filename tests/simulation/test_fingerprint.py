"""A changed input never gives a stale answer."""

import collections
import functools
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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


def by_namespace() -> tuple[Any, Any]:
    held = [types.SimpleNamespace(k=1.0)]
    return (lambda: held[0].k), functools.partial(setattr, held[0], "k")


def by_function_attribute() -> tuple[Any, Any]:
    def store() -> None: ...

    vars(store)["k"] = 1.0
    return (lambda: store.k), functools.partial(setattr, store, "k")  # pyright: ignore


def by_argument_of_a_partial() -> tuple[Any, Any]:
    numbers = {"k": 1.0}
    return functools.partial(lambda held: held["k"], numbers), functools.partial(
        numbers.__setitem__, "k"
    )


def by_operator() -> tuple[Any, Any]:
    class Held:
        k = 1.0

        def __getitem__(self, i: int) -> Any:
            return self.k

        def __rmul__(self, other: Any) -> Any:
            return other * self.k

    held = Held()
    return (lambda: 2.0 * held + held[0]), functools.partial(setattr, held, "k")


def by_deque() -> tuple[Any, Any]:
    held = collections.deque([1.0])
    return (lambda: held[0]), functools.partial(held.__setitem__, 0)


def by_default_of_a_helper() -> tuple[Any, Any]:
    bag = Bag(read=lambda k=1.0: k)

    def set_k(value: float) -> None:
        bag.read = (lambda given: lambda k=given: k)(value)

    set_k(1.0)
    return (lambda: bag.read()), set_k


def by_base_class() -> tuple[Any, Any]:
    class Base:
        k = 1.0

    class Heir(Base):
        pass

    return (lambda: Heir.k), functools.partial(setattr, Base, "k")


def by_class_method() -> tuple[Any, Any]:
    class Base:
        k = 1.0

        @classmethod
        def read(cls) -> Any:
            return cls.k

    class Heir(Base):
        pass

    return (lambda: Heir.read()), functools.partial(setattr, Base, "k")


def put_in_place(kind: type, name: str) -> Callable[[float], None]:
    def set_k(value: float) -> None:
        setattr(kind, name, (lambda given: lambda self: given)(value))

    set_k(1.0)
    return set_k


def by_method_put_in_place() -> tuple[Any, Any]:
    class Held:
        read: Any

    held = Held()
    return (lambda: held.read()), put_in_place(Held, "read")


def by_call_put_in_place() -> tuple[Any, Any]:
    class Held:
        __call__: Any

    held = Held()
    return (lambda: held()), put_in_place(Held, "__call__")


def by_method_of_a_dataclass() -> tuple[Any, Any]:
    @dataclass
    class Held:
        scale: float = 1.0

        def read(self) -> Any:
            return self.scale

    held = Held()
    return (lambda: held.read()), put_in_place(Held, "read")


def by_method_on_the_object() -> tuple[Any, Any]:
    bag = Bag(k=1.0)

    def set_k(value: float) -> None:
        if value != 1.0:
            vars(bag)["tripled"] = lambda: value

    return (lambda: bag.tripled()), set_k


def by_code_put_in_place() -> tuple[Any, Any]:
    def read() -> Any:
        return 1.0

    def set_k(value: float) -> None:
        read.__code__ = {1.0: lambda: 1.0, 4.0: lambda: 4.0}[value].__code__

    return read, set_k


WAYS = [
    by_global, by_closure, by_array, by_jax_array, by_dictionary, by_attribute, by_property,
    by_method, by_bound_method, by_module, by_default, by_partial, by_helper, by_loop_body,
    by_other_code, by_namespace, by_function_attribute, by_argument_of_a_partial, by_operator,
    by_deque, by_default_of_a_helper, by_base_class, by_class_method, by_method_put_in_place,
    by_call_put_in_place, by_method_of_a_dataclass, by_method_on_the_object, by_code_put_in_place,
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
    others = (by_jax_array, by_other_code, by_code_put_in_place)  # other ones, though equal
    if way not in others:
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


def test_two_methods_that_call_each_other_are_followed_once() -> None:
    class Held:
        def one(self, left: int) -> float:
            return 1.0 if left == 0 else self.two(left - 1)

        def two(self, left: int) -> float:
            return 2.0 if left == 0 else self.one(left - 1)

    held = Held()

    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * qd[0] ** 2 - held.one(3) * q[0]

    assert version_of(lagrangian) == version_of(lagrangian)


def test_what_a_function_counts_while_it_is_traced_is_its_own_business() -> None:
    calls, seen, total = [0], [], 0

    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        nonlocal total
        calls[0] += 1
        seen.append(q.shape)
        total += 1
        return 0.5 * qd[0] ** 2

    system = dm.System(lagrangian, {"x": "m"})
    first = system.laws
    dm.System(lagrangian, {"x": "m"})
    assert calls[0] == total == len(seen) > 1
    assert system.laws == first


def test_a_large_array_belongs_in_the_parameters() -> None:
    table = np.zeros(10_000)

    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * qd[0] ** 2 - table[3] * q[0]

    with pytest.raises(ValueError, match=r"`table` is an array of 0.08 MB.*pass it in `params`"):
        dm.simulate(dm.System(lagrangian, {"x": "m"}), [0.0], duration=1.0)


def test_so_does_a_long_list() -> None:
    table = [0.0] * 2000

    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * qd[0] ** 2 - table[3] * q[0]

    with pytest.raises(ValueError, match=r"`table` has 2000 numbers.*pass them in `params`"):
        dm.acceleration(dm.System(lagrangian, {"x": "m"}), [0.0], [0.0])


def test_many_functions_do_not_pile_up() -> None:
    from diffmech import _fingerprint

    for i in range(1500):
        version_of(functools.partial(pow, i))
    assert len(_fingerprint._known) <= 1024
