"""What is refused says so at once, with its numbers; what failed names causes that are possible."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech.cli import run
from tests.conftest import machine


def test_more_samples_than_memory_holds_are_refused_with_the_numbers() -> None:
    sentence = r"1000000000000 samples of 1 coordinate and rates need \S+ GiB, but only"
    with pytest.raises(ValueError, match=sentence):
        dm.simulate(machine("pendulum"), [1.0], duration=1.0, samples=10**12)


def test_more_motions_than_memory_holds_are_refused_before_they_are_copied() -> None:
    pendulum, many = machine("pendulum"), np.broadcast_to(0.1, (10**11,))
    sentence = r"of 100000000000 motions need \S+ GiB, but only"
    calls: tuple[dict[str, Any], ...] = (
        {"q0s": many[:, None]},
        {"q0s": {"theta": many}},
        {"q0s": [0.1], "qd0s": many[:, None]},
        {"q0s": [0.1], "params": {"length": many}},
    )
    for call in calls:
        with pytest.raises(ValueError, match=sentence):
            dm.ensemble(pendulum, **call, duration=1.0)
    with pytest.raises(ValueError, match=r"10000000000000 values of axis `theta` need \S+ GiB"):
        dm.stability_map(pendulum, {"theta": (0, 1, 10**13)}, dm.criteria.Tumble("theta", 2.0), 1.0)


def test_more_coordinates_than_a_mass_matrix_has_room_for_are_refused_at_once() -> None:
    names = tuple(f"x{i}" for i in range(1_000_000))
    chain = dm.System(lambda q, qd, t, p: 0.5 * qd @ qd, names, name="dust")
    with pytest.raises(ValueError, match=r"mass matrix of 1000000 coordinates .* need \S+ GiB"):
        dm.simulate(chain, jnp.zeros(1_000_000), duration=1.0)


def test_more_constant_steps_than_allowed_are_refused_before_the_first() -> None:
    pendulum = machine("pendulum")
    sentence = r"`dt` = 1e-09 s makes 1e\+10 steps of a run of 10 s, but `max_steps` is 1000000"
    with pytest.raises(ValueError, match=sentence):
        dm.simulate(pendulum, [1.0], duration=10.0, dt=1e-9)
    with pytest.raises(ValueError, match=r"1e\+10 steps .*but `max_steps` is 2147483647"):
        dm.ensemble(pendulum, [1.0], duration=10.0, dt=1e-9)
    with pytest.raises(ValueError, match="`max_steps` must be at most 2147483647"):
        dm.simulate(pendulum, [1.0], duration=1.0, max_steps=2**31)


def test_more_samples_than_steps_can_pass_are_refused_before_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("it started to integrate")

    monkeypatch.setattr("diffmech.simulation._simulate.run_in_stretches", refuse)
    shaken = machine("kapitza")
    sentence = r"4000002 samples need 1e\+06 steps or more, 4 of them a step, but `max_steps` is"
    many: list[dict[str, Any]] = [
        {"duration": 1e-15, "samples": 4_000_002}, {"ts": np.arange(4_000_002.0)},
    ]  # fmt: skip
    for times in many:
        with pytest.raises(ValueError, match=sentence):
            dm.simulate(shaken, [0.1], max_steps=100, **times)
    event = {"down": lambda q, *_: q[0]}
    ways: list[dict[str, Any]] = [{"max_steps": 1_000_001}, {"dt": 0.1}, {"events": event}]
    for allowed in ways:
        with pytest.raises(AssertionError, match="it started to integrate"):
            dm.simulate(shaken, [0.1], duration=1.0, samples=4_000_002, **allowed)


def test_the_command_line_refuses_in_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "kapitza", "--duration", "1e-15", "--samples", "5000000"]) == 2
    said = capsys.readouterr().err
    assert "5000000 samples need 1.25e+06 steps or more, 4 of them a step, but --max-steps" in said
    assert "take at most 4000001 samples, or raise --max-steps" in said
    assert run(["simulate", "pendulum", "--dt", "1e-9"]) == 2
    said = capsys.readouterr().err
    assert "--dt 1e-09 s makes 1e+10 steps of a run of 10 s, but --max-steps is 1000000" in said
    assert "or raise `max_steps`" not in said


def _oscillator() -> dm.Explicit:
    return dm.Explicit(lambda q, qd, t, p: -q, ("x",), name="oscillator")


def test_a_very_long_run_says_how_many_steps_it_takes() -> None:
    with pytest.raises(dm.SimulationError) as caught:
        dm.simulate(_oscillator(), [1.0], duration=1e12, method="Tsit5", rtol=1e-4, samples=2)
    assert "needs more steps than `max_steps` allows" in str(caught.value)
    assert "so all of it takes about 1" in str(caught.value)
    assert "force jumps" not in str(caught.value)


def test_constant_steps_that_an_event_did_not_end_are_told_to_be_longer() -> None:
    with pytest.raises(dm.SimulationError) as caught:
        dm.simulate(
            _oscillator(),
            [1.0],
            duration=1.0,
            method="Tsit5",
            dt=1e-4,
            max_steps=100,
            events={"far": lambda q, qd, t, p: q[0] + 9.0},
        )
    assert "raise `max_steps`, shorten the run, or lengthen `dt`" in str(caught.value)
    assert "tolerance" not in str(caught.value)


def test_a_run_is_looked_up_under_a_trace_and_is_nan_beyond_its_ends() -> None:
    run = dm.simulate(_oscillator(), [1.0], duration=1.0, method="Tsit5", samples=11)
    times = np.array([0.0, 0.33, 1.0])
    found = jax.jit(lambda t: run(t))(np.append(times, [-0.1, 1.1]))
    for here, there in zip(found, run(times), strict=True):
        np.testing.assert_allclose(here[:3], there, rtol=1e-14)
        assert np.all(np.isnan(here[3:])), "extrapolated without a word"
    with pytest.raises(ValueError, match=r"`t` must lie within the run, 0 to 1 s, but is 1\.1"):
        run(1.1)


def _disc_on_a_line(named: bool) -> dm.System:
    """A disc that rolls in a plane; that it touches the line is said by its coordinates."""

    def parts(q: Any, t: Any, disc: Any) -> Any:
        contact = dm.joints.fixed([q[0], 0.0, 0.0])
        contact = dm.joint("ground", contact) if named else contact
        frame = contact @ dm.joints.revolute("z", q[1], at=(0.0, 0.3, 0.0))
        rolling = dm.Hold.rolling(frame, at=[q[0], 0.0, 0.0], along="x")
        down = dm.parts.Gravity(10.0, (0.0, -1.0, 0.0))
        return {"disc": disc.at(frame), "rolling": rolling, "gravity": down}

    return dm.machine(parts, ("x", "turn"), dm.parts.RigidBody.disc(2.0, 0.3))


def test_a_contact_force_that_coordinates_carry_is_not_zero_but_unknown() -> None:
    state = [0.0, 0.0], [0.3, -1.0]
    alone = dm.reactions(_disc_on_a_line(named=False), *state)["rolling"]
    np.testing.assert_allclose(alone.force, [0.0, np.nan, 0.0], atol=1e-12)
    both = dm.reactions(_disc_on_a_line(named=True), *state)
    whole = both["rolling"].force + both["ground"].force
    np.testing.assert_allclose(whole, [0.0, 20.0, 0.0], atol=1e-12)


def _swing(down: Any, turned: bool, by_pose: bool) -> dm.System:
    """A particle on a spring and a damper, as it is or with everything turned about x."""

    def parts(q: Any, t: Any, params: Any) -> Any:
        whole = dm.joints.revolute("x", 0.5 * np.pi if turned else 0.0)
        hook, bob = (
            whole @ dm.joints.fixed([0, 0, 0.2]),
            whole @ dm.joints.fixed([q[0], q[1], q[2]]),
        )
        a, b = (hook, bob) if by_pose else (hook.position, bob.position)
        return {
            "bob": dm.parts.Particle(2.0).at(b),
            "spring": dm.parts.Spring(30.0, 0.5).between(a, b),
            "damper": dm.parts.Damper(0.3).between(a, b),
            "drag": dm.parts.Damper(0.1).on(b),
            "push": dm.parts.force(whole.direction([0.1, 0.2, 0.3]), b),
            "gravity": dm.parts.Gravity(*down),
        }

    return dm.machine(parts, ("x", "y", "z"))


def test_poses_stand_for_their_origins_and_gravity_may_be_a_vector() -> None:
    state = [0.1, -0.2, -0.7], [0.4, 0.3, -0.2]
    plain = _swing((9.81,), turned=False, by_pose=False)
    other = _swing(([0, 9.81, 0],), turned=True, by_pose=True)  # −z turned by a quarter is +y
    for quantity in (dm.acceleration, dm.energy):
        np.testing.assert_allclose(
            quantity(other, *state), quantity(plain, *state), rtol=1e-13, atol=1e-13
        )


def test_what_is_no_gravity_is_refused_with_the_remedy() -> None:
    with pytest.raises(ValueError, match="`direction` must be left out"):
        dm.parts.Gravity([0, -9.81, 0], [0, -1, 0])
    with pytest.raises(ValueError, match=r"`strength` must have shape \(3,\)"):
        dm.parts.Gravity([0, -9.81])


def test_a_start_given_in_part_is_zero_elsewhere_and_the_family_is_not_asked_for() -> None:
    spring = machine("spring_pendulum")
    other, family = list(spring.coordinates)
    with pytest.raises(ValueError, match="`span` must be"):  # the start was accepted before
        dm.band_edges(spring, family, (0.2, 0.1), q0={other: 0.0}, qd0={family: 0.0})
    with pytest.raises(ValueError, match="which is not a coordinate"):
        dm.band_edges(spring, family, (0.1, 0.2), q0={"nothing": 0.0})


def test_an_undriven_motion_that_fades_comes_to_rest() -> None:
    fading = dm.Explicit(lambda q, qd, t, p: -4 * q - 0.5 * qd, {"x": "m"}, name="fading")
    found = dm.lyapunov(fading, [0.1], duration=30.0)
    assert not found.at_rest
    assert found.verdict.startswith("it comes to rest at a stable equilibrium")


def test_grids_of_two_parameters_are_shown_how_to_mesh() -> None:
    a, b = np.linspace(1, 2, 20), np.linspace(9, 10, 10)
    for grids in ({"length": a[:, None], "gravity": b[None]}, {"length": a, "gravity": b}):
        with pytest.raises(ValueError, match="For all combinations of length, gravity") as caught:
            dm.ensemble(machine("pendulum"), [1.0], duration=1.0, params=grids)
        names: dict[str, Any] = {"np": np, "length": a, "gravity": b}
        exec("\n".join(line.strip() for line in str(caught.value).splitlines()[1:]), names)
        assert [grid.shape for grid in names["params"].values()] == [(200,), (200,)]
