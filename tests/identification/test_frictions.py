"""Laws of friction: the damper's own formula, and which law a swing prefers."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import diffmech as dm
from diffmech.identification._free import free_numbers, in_programs
from diffmech.identification._shots import _program
from diffmech.model import parameter_units

TRUTH = {"stiffness": 40.0, "hinge.viscous": 0.12, "hinge.coulomb": 0.5}
NOISE = 2e-3  # rad
TIMES = np.linspace(0.0, 4.0, 161)
TERMS = ("viscous", "quadratic", "coulomb", "smoothing")


def swing(angle: float, name: str, seed: int) -> dm.Record:
    """θ'' = −k sin θ − c θ' − d θ'/√(θ'² + w²) by SciPy, with noise; w is far below all speeds."""

    def rates(t: float, y: Any) -> Any:
        del t
        dry = TRUTH["hinge.coulomb"] * y[1] / np.hypot(y[1], 0.03)
        return [y[1], -TRUTH["stiffness"] * np.sin(y[0]) - TRUTH["hinge.viscous"] * y[1] - dry]

    exact = solve_ivp(rates, (0, TIMES[-1]), [angle, 0.0], "DOP853", TIMES, rtol=1e-10, atol=1e-10)
    noise = NOISE * np.random.default_rng(seed).normal(size=len(TIMES))
    return dm.Record(TIMES, {"theta": exact.y[0] + noise}, name=name)


def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Per unit of inertia: L = 1/2 θ'² + k cos θ  [1/s²]."""
    del t
    return 0.5 * qd[0] ** 2 + params["stiffness"] * jnp.cos(q[0])


def friction(q: Any, qd: Any, t: Any, params: Any) -> Any:
    del q, t
    return jnp.array([params["hinge"].force(qd[0])])


@pytest.fixture(scope="module")
def rod() -> dm.System:
    params = {"stiffness": 35.0, "hinge": dm.parts.Damper()}
    return dm.System(
        lagrangian, {"theta": "rad"}, params, forces=friction, units={"hinge": "angle"}, name="rod"
    )


@pytest.fixture(scope="module")
def swings() -> list[dm.Record]:
    return [swing(1.5, "high", 0), swing(0.8, "low", 1), swing(1.1, "between", 2)]


@pytest.fixture(scope="module")
def found_and_programs(rod: dm.System, swings: list[dm.Record]) -> tuple[dm.Comparison, int]:
    """All laws that matter here, and how many programs were made for them."""
    before = _program.cache_info().misses
    laws = ["viscous", "viscous and dry", "viscous and quadratic", "all three"]
    more: dict[str, Any] = {"noise": NOISE, "guess": {"hinge.coulomb": 0.3}}
    found = dm.compare_frictions(
        rod, swings, "stiffness", {"hinge": "theta"}, laws=laws, holdout=["between"], **more
    )
    return found, _program.cache_info().misses - before


@pytest.fixture(scope="module")
def found(found_and_programs: tuple[dm.Comparison, int]) -> dm.Comparison:
    return found_and_programs[0]


def test_a_swing_prefers_the_law_it_was_made_with(found: dm.Comparison) -> None:
    assert found.by == "held"
    assert found.best in ("viscous and dry", "all three"), found
    for name in ("viscous", "viscous and quadratic"):
        assert found.differences[found.names.index(name)] > 0.05, found
    fit = found["viscous and dry"]
    assert fit.converged
    for name, value in TRUTH.items():
        assert abs(fit[name] - value) < 4 * fit.error(name), f"{name}: {fit}"
        assert fit.error(name) < 0.05 * value
    np.testing.assert_allclose(fit.misfit(), NOISE, rtol=0.1)


def test_the_width_of_dry_friction_is_scaled_to_the_speeds(
    found: dm.Comparison, swings: list[dm.Record]
) -> None:
    speeds = np.concatenate([np.gradient(r.values[:, 0], r.ts) for r in swings[:2]])
    for fit in found.fits:
        width = float(fit.system.params["hinge"].smoothing)
        # Differences of noisy samples, and their ends, are rough.
        np.testing.assert_allclose(width, 0.02 * np.sqrt(np.mean(speeds**2)), rtol=0.03)


def test_coefficients_that_a_law_lacks_are_zero_and_none_is_negative(found: dm.Comparison) -> None:
    only = found["viscous"].system.params["hinge"]
    assert (float(only.coulomb), float(only.quadratic)) == (0.0, 0.0)
    assert float(only.viscous) == found["viscous"]["hinge.viscous"] > 0
    for fit in found.fits:
        assert np.all(fit.values >= 0), fit
    # Friction that dry friction makes bends the other way than a quadratic one.
    assert found["viscous and quadratic"].limited == ("hinge.quadratic",)
    assert found["all three"].units[1:] == ("N m s/rad", "N m s^2/rad^2", "N m")


def test_all_laws_are_fitted_by_one_program(
    rod: dm.System, found_and_programs: tuple[dm.Comparison, int]
) -> None:
    """Whichever coefficients are free, and in whichever order: what is compiled is the same."""
    assert found_and_programs[1] == 1
    first, second = (
        in_programs(free_numbers(rod, free), rod.params)
        for free in (["stiffness", "hinge.coulomb"], ["hinge.viscous", "stiffness"])
    )
    assert first.leaves == second.leaves
    assert [first.leaves[i][0] for i in first.indices] == ["stiffness", "hinge.coulomb"]
    assert [second.leaves[i][0] for i in second.indices] == ["hinge.viscous", "stiffness"]
    assert len(first.leaves) == 4, "not the width"
    own = dm.systems.babyboot()
    assert len(in_programs(free_numbers(own, ["IBx"]), own.params).leaves) == 1


class Asked(Exception):  # noqa: N818
    """What `fit` was asked, instead of a fit."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The machine and the free numbers of the first fit that a comparison makes."""

    def stop(system: Any, data: Any, free: Any, **options: Any) -> None:
        del data, options
        raise Asked(system, free)

    def call(*arguments: Any, **options: Any) -> Any:
        with pytest.raises(Asked) as caught:
            dm.compare_frictions(*arguments, **options)
        return caught.value.args

    monkeypatch.setattr("diffmech.identification._frictions.fit", stop)
    return call


def test_a_speed_is_the_same_however_it_is_measured(
    rod: dm.System, asked: Callable[..., Any]
) -> None:
    angle, rate = 3 * np.sin(4 * TIMES), 12 * np.cos(4 * TIMES)
    wrapped = (angle + 1) % (2 * np.pi)
    for values, name, wrap in (
        ({"theta": angle}, "theta", []),
        ({"theta": wrapped}, "theta_dot", ["theta"]),
        ({"theta_dot": rate}, "theta", []),
        ({"theta": angle, "theta_dot": rate}, "theta_dot", []),
    ):
        record = dm.Record(TIMES, values)
        system, free = asked(rod, record, [], {"hinge": name}, laws="dry", wrap=wrap)
        width = 0.02 * np.sqrt(np.mean(rate**2))
        np.testing.assert_allclose(system.params["hinge"].smoothing, width, rtol=1e-3)
        assert free == ["hinge.coulomb"]
        # One per cent of the root mean square of the acceleration; dry friction has full size.
        start = 0.01 * 48 * np.sqrt(np.mean(np.sin(4 * TIMES) ** 2))
        np.testing.assert_allclose(system.params["hinge"].coulomb, start, rtol=0.01)


def test_every_damper_has_a_width_and_starts_of_its_own(asked: Callable[..., Any]) -> None:
    def two(q: Any, qd: Any, t: Any, params: Any) -> Any:
        del t, params
        return 0.5 * (qd[0] ** 2 + 4 * qd[1] ** 2) - 8 * q[0] ** 2 - 32 * q[1] ** 2

    def both(q: Any, qd: Any, t: Any, params: Any) -> Any:
        del q, t
        return jnp.stack([hinge.force(v) for hinge, v in zip(params["at"], qd, strict=True)])

    own = {"at": [dm.parts.Damper(0.3, coulomb=0.7), dm.parts.Damper()]}
    pair = dm.System(two, {"a": "m", "b": "m"}, own, forces=both)
    data = (TIMES, np.stack([np.sin(4 * TIMES), 5 * np.sin(4 * TIMES)], axis=1))
    dampers = {"at[0]": "a", "at[1]": "b_dot"}
    system, free = asked(pair, data, [], dampers, laws="viscous and dry")
    assert free == ["at[0].viscous", "at[0].coulomb", "at[1].viscous", "at[1].coulomb"]
    first, second = system.params["at"]
    assert (float(first.viscous), float(first.coulomb)) == (0.3, 0.7), "its own are kept"
    np.testing.assert_allclose(second.smoothing, 5 * first.smoothing, rtol=1e-6)
    speed = float(second.smoothing) / 0.02
    # A mass of 4 kg; friction at the usual speed makes 1 % of the usual acceleration.
    change = 0.01 * 4 * np.sqrt(np.mean((80 * np.sin(4 * TIMES)) ** 2))
    np.testing.assert_allclose(second.viscous, change / speed, rtol=0.01)
    np.testing.assert_allclose(second.coulomb, change, rtol=0.01)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dampers": {"hing": "theta"}}, "but 'hing' is none. Did you mean 'hinge'?"),
        ({"dampers": {"stiffness": "theta"}}, "but 'stiffness' is none. Valid names: hinge."),
        ({"dampers": {}}, "`dampers` must be the speed that each damper acts on, by path"),
        ({"dampers": {"hinge": "phi"}}, "must be a coordinate or a rate of 'rod', but is 'phi'."),
        ({"laws": ["dry", "wet"]}, "`laws` names 'wet', which is not a law of friction."),
        ({"laws": []}, "`laws` must name a law, but names none."),
        ({"free": ["stiffness", "hinge.viscous"]}, "`free` must leave friction to the laws, but"),
        ({"free": "hinge"}, "`free` must leave friction to the laws, but names 'hinge.viscous'"),
        ({"free": "mass"}, "there is no parameter 'mass'"),
        ({"data": (TIMES, np.zeros(len(TIMES)))}, "must name what moves, but 'theta' rests"),
        ({"wrap": ["phi"]}, "`wrap` names 'phi', which is not a channel"),
        (
            {"measure": lambda q, qd, t, params: q},
            "`dampers['hinge']` must be measured, but the records do not show 'theta' by name",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_calls_get_a_sentence(
    rod: dm.System, swings: list[dm.Record], change: dict[str, Any], words: str
) -> None:
    given = {"data": swings, "free": "stiffness", "dampers": {"hinge": "theta"}, **change}
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        dm.compare_frictions(
            rod, given.pop("data"), given.pop("free"), given.pop("dampers"), **given
        )
    assert words in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_a_machine_without_dampers_is_told_so() -> None:
    boot = dm.systems.babyboot()
    with pytest.raises(ValueError, match="It has none: declare a `Damper`"):
        dm.compare_frictions(boot, (TIMES, np.zeros((len(TIMES), 2))), "mA", {"hinge": "qA"})


@pytest.mark.parametrize("rate", [0.0, 1e-9, -0.3, 7.0, [0.3, -0.4, 1.2], [0.0, 0.0, 0.0]])
def test_a_dampers_force_is_the_formula(rate: Any) -> None:
    c, c2, dry, width = 0.2, 0.1, 0.3, 0.05
    v = np.asarray(rate)
    size = np.sqrt(np.sum(v**2))
    expected = -(c + c2 * size + dry / np.sqrt(size**2 + width**2)) * v
    force = dm.parts.Damper(c, quadratic=c2, coulomb=dry, smoothing=width).force(rate)
    assert force.shape == v.shape
    np.testing.assert_allclose(force, expected, rtol=1e-14, atol=0)


@jax.jit
def slopes(rate: Any, numbers: Any) -> Any:
    """∂F/∂v and ∂F/∂(c, c₂, F_c, v₀), forward and in reverse."""

    def force(rate: Any, numbers: Any) -> Any:
        return dm.parts.Damper(*numbers).force(rate)

    return [each(force, (0, 1))(rate, numbers) for each in (jax.jacfwd, jax.jacrev)]


@pytest.mark.parametrize("width", [1e-30, 1e-12, 1e-3])
def test_derivatives_of_friction_are_finite_and_right_at_rest(width: float) -> None:
    numbers = np.array([0.2, 0.1, 0.3, width])
    steep = -(0.2 + 0.3 / width)
    for by_rate, by_number in slopes(np.zeros(()), numbers):
        np.testing.assert_allclose(by_rate, steep, rtol=1e-14)
        np.testing.assert_array_equal(by_number, np.zeros(4))
    for by_rate, by_number in slopes(np.zeros(3), numbers):
        np.testing.assert_allclose(by_rate, steep * np.eye(3), rtol=1e-14, atol=0)
        np.testing.assert_array_equal(by_number, np.zeros((3, 4)))
    for by_rate, by_number in slopes(np.array(2.0), numbers):
        np.testing.assert_allclose(by_rate, -0.2 - 2 * 0.1 * 2, rtol=1e-6)  # dry: constant
        np.testing.assert_allclose(by_number[:3], [-2.0, -4.0, -2 / np.hypot(2, width)], rtol=1e-14)
        assert np.isfinite(by_number[3])


def test_a_part_says_what_it_acts_on_and_its_numbers_have_units(rod: dm.System) -> None:
    units = parameter_units(rod)
    assert [units[f"hinge.{term}"] for term in TERMS] == [
        "N m s/rad", "N m s^2/rad^2", "N m", "rad/s",
    ]  # fmt: skip
    declared = {"hinge.viscous": "1/s", "hinge": "length"}
    own = parameter_units(dm.System(lagrangian, {"theta": "rad"}, rod.params, units=declared))
    assert [own[f"hinge.{term}"] for term in TERMS] == ["1/s", "N s^2/m^2", "N", "m/s"]
    with pytest.raises(ValueError, match="`units` names 'hinge', which is not a parameter"):
        dm.System(lagrangian, {"theta": "rad"}, rod.params, units={"hinge": "area"})
