"""Independent formulations: they agree where a machine is right, and tell where it is wrong."""

import json
import re
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech._checks import is_traced
from diffmech.crosschecks import FORMULATIONS
from diffmech.crosschecks._by_angular_momentum import by_angular_momentum
from diffmech.crosschecks._by_kane import by_kane
from diffmech.crosschecks._by_lagrange import by_lagrange
from diffmech.crosschecks._problem import Problem
from diffmech.crosschecks._regimes import States, random_states

from ..conftest import jittered_params, machine
from ..equimomental import SkewSleigh
from ..tolerances import CHAIN_ROUND_OFF, ROUND_OFF

STATES = 12  # two of every regime; a script looks at fifty
# Differences of sixth order with steps of 1e-2 over the fastest rate, twice: 1e-12 of the third
# derivatives of positions, and more where the skate's force is far larger than accelerations.
DIFFERENCES = 1e-8


def _states_of(name: str, seed: int = 0) -> States:
    system = machine(name)
    return random_states(system, system.params, STATES, seed)


def test_all_formulations_agree_on_every_machine_of_the_catalogue(any_machine: dm.System) -> None:
    """With all springs, frictions and pushes on; nothing is compiled for it."""
    params = jittered_params(any_machine, seed=1)
    found = dm.crosscheck(any_machine, states=STATES, params=params)
    assert found.passed, str(found)
    assert len(found.formulations) >= (9 if any_machine.parts else 3)
    assert len(found.formulations) + len(found.skipped) == len(FORMULATIONS)
    assert found.compiled == ()
    assert all(np.all(np.isfinite(each)) for each in found.accelerations.values())
    if any_machine.constraints:
        assert np.all(found.unique), "no row of these is redundant at a random place"


def test_an_unseen_machine_moves_as_its_point_masses_say() -> None:
    """Bodies as six particles each, positions in NumPy, differences instead of derivatives."""
    sleigh = SkewSleigh()
    found = dm.crosscheck(sleigh.system, states=STATES, seed=3)
    assert found.passed, str(found)
    assert len(found.formulations) == len(FORMULATIONS)
    states = zip(found.q, found.qd, found.t, strict=True)
    expected = np.array([sleigh.acceleration(q, qd, float(t)) for q, qd, t in states])
    for name, each in found.accelerations.items():
        gap = np.max(np.abs(each - expected), axis=1) / np.max(np.abs(expected), axis=1)
        assert np.max(gap) < DIFFERENCES, name
    assert found.joints == ("shoulder", "elbow")
    worked, balanced = found.reactions.values()
    assert worked.shape == (STATES, 2, 6)
    assert np.max(np.abs(worked - balanced)) < CHAIN_ROUND_OFF * np.max(np.abs(worked)), (
        "all loads in it"
    )
    assert "reactions of shoulder, elbow" in str(found)


@pytest.mark.parametrize("name", ["rolling_disc", "free_body"])
def test_equations_without_a_lagrangian_are_checked_against_another_description(name: str) -> None:
    by_momentum = getattr(dm.systems, name)(route="momentum")
    found = dm.crosscheck(by_momentum, states=STATES, against=machine(name))
    assert found.passed, str(found)
    assert found.formulations[0] == by_momentum.name, "what simulate integrates comes first"
    assert len(found.formulations) == 1 + len(FORMULATIONS)


def test_equations_without_a_lagrangian_alone_are_unchecked() -> None:
    found = dm.crosscheck(dm.systems.free_body(route="quaternion"), states=STATES)
    assert not found.passed
    assert found.worst is None
    assert str(found).splitlines()[-1].startswith("Unchecked")
    assert found.as_dict()["worst"] is None


def test_parts_that_disagree_with_their_lagrangian_are_told_apart_and_the_coordinate_named() -> (
    None
):
    boot = machine("babyboot_of_bodies")

    def wrong(q: Any, qd: Any, t: Any, params: Any) -> Any:
        """A moment on the plate too much, 1e-6 N m: qA does not feel it."""
        return boot.lagrangian(q, qd, t, params) + 1e-6 * jnp.cos(q[1])

    bent = dm.System(wrong, boot.coordinates, boot.params, parts=boot.parts, starts=boot.starts)
    found = dm.crosscheck(bent, states=STATES)
    assert not found.passed
    worst = found.worst
    assert worst is not None
    assert (worst.kind, worst.of) == ("acceleration", "qB")
    ours = {"Lagrange", "Hamilton", "discrete action"}
    assert {frozenset(group) for group in found.groups} == {
        frozenset(ours),
        frozenset(set(found.formulations) - ours),
    }
    assert found.disagreement("Lagrange", "Kane").of == "qB"
    assert "by" in found.verdict
    assert "qB" in found.verdict
    assert found.as_dict()["passed"] is False


def _printed(inertia: str) -> Any:
    """The source's equations of the babyboot, divided by the plate's moment of that name."""

    def equations(q: Any, qd: Any, t: Any, p: Any) -> Any:
        sin, cos, flat = jnp.sin(q[1]), jnp.cos(q[1]), p.IBx - p.IBy
        swung = p.IA + p.mA * p.LA**2 + p.mB * p.LB**2 + p.IBx * cos**2 + p.IBy * sin**2
        pull = -p.g * jnp.sin(q[0]) * (p.mA * p.LA + p.mB * p.LB)
        swing = (2 * flat * sin * cos * qd[0] * qd[1] + pull) / swung
        return jnp.array([swing, -sin * cos * qd[0] ** 2 * flat / getattr(p, inertia)])

    return equations


@pytest.mark.parametrize("inertia", ["IBz", "IBx"])
def test_a_wrong_hand_derivation_is_caught_with_its_coordinate(inertia: str) -> None:
    boot = machine("babyboot")
    by_hand = dm.Explicit(_printed(inertia), boot.coordinates, boot.params, name="by hand")
    found = dm.crosscheck(by_hand, states=STATES, against=boot)
    assert found.passed == (inertia == "IBz"), str(found)
    if not found.passed:
        worst = found.worst
        assert worst is not None
        assert worst.of == "qB"
        assert "by hand" in worst.between
        assert found.groups == (("by hand",), ("Lagrange", "Hamilton", "discrete action"))
    assert "against" not in str(found.formulations)


def test_nan_never_counts_as_agreement() -> None:
    pendulum = machine("pendulum")

    def undefined(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return -9.81 * jnp.sin(q) + 1e-30 * jnp.sqrt(qd)

    odd = dm.Explicit(undefined, pendulum.coordinates, pendulum.params)
    for against in (pendulum, odd):
        found = dm.crosscheck(odd, states=STATES, against=against)
        assert not found.passed
        assert "NaN" in found.verdict
        json.dumps(found.as_dict(), allow_nan=False)


def test_multipliers_of_redundant_rows_are_not_compared() -> None:
    rod = machine("pendulum_dae")
    twice = dm.System(
        rod.lagrangian,
        rod.coordinates,
        rod.params,
        constraints=[*rod.constraints, *rod.constraints],
        starts=rod.starts,
    )
    found = dm.crosscheck(twice, states=STATES)
    assert found.passed, str(found)
    assert not np.any(found.unique)


def test_a_coordinate_without_inertia_has_no_momentum_and_is_still_checked() -> None:
    def massless(q: Any, qd: Any, t: Any, params: Any) -> Any:
        """A bead on a rod that a light frame carries: y has no inertia, x + y is held."""
        return 0.5 * qd[0] ** 2 - 9.81 * q[1]

    frame = dm.System(massless, {"x": "m", "y": "m"}, constraints=lambda q, t, p: q[0] + q[1] ** 3)
    found = dm.crosscheck(frame, states=STATES)
    assert "rates do not follow from momenta" in found.skipped["Hamilton"]
    assert found.formulations == ("Lagrange", "discrete action")
    assert found.passed, str(found)


def test_what_has_no_scalar_form_is_compiled_and_named() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        height = jnp.linalg.eigvalsh(jnp.array([[2.0, q[0]], [q[0], 3.0]]))[1]
        return 0.5 * qd[0] ** 2 - height

    found = dm.crosscheck(dm.System(lagrangian, {"x": "m"}), states=STATES)
    assert found.passed, str(found)
    assert set(found.compiled) == {"Lagrange", "Hamilton", "discrete action"}
    assert "no scalar form: Lagrange" in str(found)


def test_a_machine_that_does_not_accelerate_is_not_judged_by_rounding() -> None:
    def even(q: Any, qd: Any, t: Any, params: Any) -> Any:
        """The sum of sin² and cos² pulls at nothing."""
        return 0.5 * qd[0] ** 2 + 7 * jnp.sin(q[0]) ** 2 + 7 * jnp.cos(q[0]) ** 2

    found = dm.crosscheck(dm.System(even, {"x": "rad"}), states=STATES)
    assert found.passed, str(found)


def test_the_discrete_action_takes_steps_that_fit_a_state_next_to_a_singularity() -> None:
    """A planet at distances down to 1e-3, where 1/r² is a million times what it is at 1."""

    def kepler(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * (qd[0] ** 2 + (q[0] * qd[1]) ** 2) + 1 / jnp.abs(q[0])

    found = dm.crosscheck(dm.System(kepler, {"r": "m", "phi": "rad"}), states=60)
    assert found.passed, str(found)
    assert np.min(np.abs(found.q[:, 0])) < 5e-3


def _own_speeds(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A sleigh's speed ahead and its turning."""
    return jnp.array([qd[0] * jnp.cos(q[2]) + qd[1] * jnp.sin(q[2]), qd[2]])


def _all_speeds(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """The same beside what is not free, seen from a floor that moves."""
    return jnp.concatenate([_own_speeds(q, qd, t, params) + jnp.sin(t), qd[:1] - q[0]])


@pytest.mark.parametrize("speeds", [_own_speeds, _all_speeds])
def test_kanes_speeds_are_the_users_choice(speeds: Any) -> None:
    sleigh, (q, qd, t, *_) = machine("chaplygin_sleigh"), _states_of("chaplygin_sleigh")
    problem = Problem(sleigh, sleigh.params, q, qd, t, speeds=speeds)
    found, expected = by_kane(problem).qdd, by_lagrange(problem).qdd
    assert np.max(np.abs(found - expected)) < ROUND_OFF * np.max(np.abs(expected))
    drawn = by_kane(replace(problem, speeds=None)).qdd
    assert not np.array_equal(found, drawn), "other speeds, other rounding"


def _rod_end(q: Any, t: Any, params: Any) -> Any:
    return params.LB * jnp.array([0.0, jnp.sin(q[0]), -jnp.cos(q[0])])


def _rod_axis(q: Any, t: Any, params: Any) -> Any:
    return jnp.array([0.0, -jnp.sin(q[0]), jnp.cos(q[0])])


@pytest.mark.parametrize(
    "about",
    [
        [("bearing", "z"), ("hinge", "x")],  # as the source does
        [(["B"], _rod_end, _rod_axis), (["A", "B"], [0, 0, 0], "x")],
        [("bearing", [0, 0, 2.0]), (["A", "B"], [5.0, 0, 0], [-1.0, 0, 0])],
    ],
)
def test_balances_of_angular_momentum_are_about_the_users_points_and_axes(about: Any) -> None:
    boot, (q, qd, t, *_) = machine("babyboot_of_bodies"), _states_of("babyboot_of_bodies")
    found = by_angular_momentum(Problem(boot, boot.params, q, qd, t, about=about)).qdd
    expected = by_lagrange(Problem(boot, boot.params, q, qd, t)).qdd
    assert np.max(np.abs(found - expected)) < ROUND_OFF * np.max(np.abs(expected))


def _bent_speeds(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return qd**2


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"states": 0}, "`states` must be a whole number, at least 1"),
        ({"states": 10**9}, "1000000000 states need"),
        ({"seed": -1}, "`seed` must be a whole number"),
        ({"rtol": 0.0}, "`rtol` must be greater than zero"),
        ({"params": {"m": 1.0}}, "`params` must have the structure"),
        ({"speeds": lambda q, qd, t, p: qd[:1]}, "must return 2 generalised speeds"),
        ({"speeds": lambda q, qd, t, p: qd @ qd}, "in one row, shape (p,), but returns shape ()"),
        ({"speeds": lambda q, qd, t, p: [qd[5], 1]}, "`speeds`"),
        ({"speeds": _bent_speeds}, "must be linear in the rates"),
        ({"speeds": lambda q, qd, t, p: qd[:1] * jnp.ones(2)}, "two of them say the same"),
        ({"about": [("hinge", "x")]}, "as many balances"),
        ({"about": [("hinge", "x"), ("elbow", "z")]}, "there is no 'elbow'"),
        ({"about": [("hinge", "x"), ("bearing", "w")]}, "must be 'x', 'y', 'z' or three numbers"),
        ({"about": [("hinge", "x"), ("bearing", "y")]}, "`about[1]` must be a balance that"),
        ({"about": [("hinge", "x"), ("hinge", "x")]}, "two say the same"),
        ({"about": [("hinge", "x"), (["C"], [0, 0, 0], "x")]}, "there is no 'C'"),
        ({"about": [("hinge", "x"), (["A"], [0, 0], "x")]}, "`about[1][1]` must be three numbers"),
        ({"about": [("hinge", "x"), "bearing"]}, "must be (joint, axis)"),
        ({"against": dm.systems.pendulum()}, "`against` must have the coordinates"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        dm.crosscheck(machine("babyboot_of_bodies"), **{"states": STATES, **given})


def test_a_machine_that_has_no_equations_is_refused() -> None:
    nowhere = dm.System(lambda q, qd, t, p: jnp.sqrt(-1 - q[0] ** 2) * qd[0] ** 2, {"x": "m"})
    with pytest.raises(ValueError, match="must have equations of motion at most states"):
        dm.crosscheck(nowhere, states=STATES)


def test_states_are_of_all_regimes_and_follow_the_seed() -> None:
    one, same, other = (_states_of("heavy_top", seed) for seed in (1, 1, 2))
    assert np.array_equal(one.q, same.q)
    assert not np.array_equal(one.q, other.q)
    assert len(set(one.regimes)) == 6
    rates = {name: np.abs(qd).max() for name, qd in zip(one.regimes, one.qd, strict=True)}
    assert rates["at rest"] == 0
    assert rates["fast"] > 10
    poles = [
        abs(np.sin(q[1])) for name, q in zip(one.regimes, one.q, strict=True) if "pole" in name
    ]
    assert 1e-3 < min(poles) < 0.2, "near the pole, and not on it"


def test_constrained_states_obey_their_constraints() -> None:
    linkage, found = machine("four_bar"), _states_of("four_bar")
    for q, qd, t in zip(found.q, found.qd, found.t, strict=True):
        gap = dm.violations(linkage, q, qd, float(t))
        assert np.max(np.abs(gap.residual)) < ROUND_OFF
        assert np.max(np.abs(gap.rate_residual)) < CHAIN_ROUND_OFF, (
            "rounding of rates of some 30 rad/s"
        )


def test_nothing_is_traced_twice_for_one_question() -> None:
    """The functions of a machine are written down once each, however many states there are."""
    calls = []

    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        calls.append(is_traced(q))
        return 0.5 * qd[0] ** 2 + jnp.cos(q[0])

    system = dm.System(lagrangian, {"x": "rad"})
    calls.clear()
    dm.crosscheck(system, states=6)
    few = len(calls)
    dm.crosscheck(system, states=60)
    assert len(calls) == 2 * few
    assert all(calls)
