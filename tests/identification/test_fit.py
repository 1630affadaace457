"""Parameters from measured motion: a chaotic boot, its errors, limits, sensors, and wrong calls."""

import dataclasses
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import diffmech as dm
from diffmech._progress import Progress, forget_stop, request_stop
from diffmech.identification._as_records import as_records
from diffmech.identification._descent import Descent
from diffmech.identification._fit import _sieved_and_followed
from diffmech.identification._free import free_numbers
from diffmech.identification._measure import as_measure
from diffmech.identification._preparation import divided, named_channels, named_free, sensors_of
from diffmech.identification._residuals import Problem, Sensors, _start_rows, linearised
from diffmech.identification._segments import cut
from diffmech.identification._shots import Machine
from diffmech.identification._sieve import Sieved

NOISE = np.deg2rad(0.5)
FREE = ["IBx", "IBy", "IBz"]
TIMES = np.linspace(0.0, 5.0, 501)


def measured(seed: int, **numbers: float) -> dm.Record:
    """A chaotic boot by SciPy, from the source's own two equations, with noise."""
    p = {"IBx": 2.3e-4, "IBy": 0.5e-4, "IBz": 2e-4, **numbers}
    about_hinge, weight = 5e-6 + 0.01 * 0.075**2 + 0.1 * 0.2**2, (0.01 * 0.075 + 0.1 * 0.2) * 9.81

    def rates(t: float, y: Any) -> Any:
        del t
        swing, turn, u, w = y
        across = p["IBx"] - p["IBy"]
        inertia = about_hinge + p["IBx"] * np.cos(turn) ** 2 + p["IBy"] * np.sin(turn) ** 2
        both = np.sin(turn) * np.cos(turn) * across
        return [
            u,
            w,
            (2 * both * u * w - weight * np.sin(swing)) / inertia,
            -both * u**2 / p["IBz"],
        ]

    start = [*np.deg2rad([90.0, 1.0]), 0.0, 0.0]
    exact = solve_ivp(rates, (0, TIMES[-1]), start, "DOP853", TIMES, rtol=1e-12, atol=1e-12)
    noise = NOISE * np.random.default_rng(seed).normal(size=(len(TIMES), 2))
    return dm.Record(TIMES, exact.y[:2].T + noise, ("qA", "qB"))


@pytest.fixture(scope="module")
def boot() -> dm.System:
    return dm.systems.babyboot().with_params(IBx=3e-4, IBy=0.9e-4, IBz=2.9e-4)


@pytest.fixture(scope="module")
def found(boot: dm.System) -> dm.Fit:
    return dm.fit(boot, measured(0), FREE)


def test_a_chaotic_boot_is_found_within_its_errors(found: dm.Fit) -> None:
    assert found.converged
    truth = np.array([2.3e-4, 0.5e-4, 2e-4])
    # Four standard errors in each of three directions; over 4 % would not be chaotic information.
    assert np.all(np.abs(found.values - truth) < 4 * found.errors), found
    assert np.all(found.errors < 0.04 * truth)
    np.testing.assert_allclose(found.noise, NOISE, rtol=0.1)
    assert found.jump < 1e-10, "one motion from end to end"
    assert "Believable" in found.verdict
    assert "IBx" in str(found)


def test_a_function_of_what_was_found_has_its_error(found: dm.Fit) -> None:
    value, error = found.of(lambda x, y, z: (x - y) / z)
    assert abs(value - 0.9) < 4 * error
    # The ratio that the plate's motion shows is known far better than its parts.
    assert error / value < 0.2 * np.min(found.errors / found.values)


def test_the_fit_is_a_motion_of_the_machine_itself(found: dm.Fit) -> None:
    """The whole record in one shot from the fitted start, by `simulate`, shows the same."""
    start = found.starts[0]
    run = dm.simulate(found.system, start[:2], start[2:], ts=TIMES)
    np.testing.assert_allclose(run.qs, found.computed[0], rtol=0, atol=1e-4)


def test_exact_data_converge_and_are_said_to_be_exact(boot: dm.System) -> None:
    """A motion by `simulate` itself, met to rounding; no error is below single precision."""
    truth = {"IBx": 2.3e-4, "IBy": 0.5e-4, "IBz": 2e-4}
    run = dm.simulate(boot.with_params(truth), np.deg2rad([90.0, 1.0]), ts=TIMES)
    found = dm.fit(boot, run, FREE)
    assert found.converged, found
    assert np.all(found.misfit() < 1e-9)
    assert np.all(found.noise >= 1e-8), "the least that is told from none"
    assert np.all(np.abs(found.values - list(truth.values())) < 4 * found.errors)
    assert np.all(found.errors < 1e-5 * found.values)
    assert found.verdict.endswith("nothing is left but rounding: the data have no noise.")


def test_what_is_not_determined_is_said_and_what_is_has_its_error(
    boot: dm.System, found: dm.Fit
) -> None:
    free = [*FREE, "IA", "mA"]
    more = dm.fit(boot, measured(0), free, unknown="keep")
    assert np.all(np.isinf(more.errors)), "masses scale out, and IA hides behind the others"
    assert "not determined" in str(more)
    value, error = more.of(lambda x, y, z, rod, mass: (x - y) / z)
    exact, own = found.of(lambda x, y, z: (x - y) / z)
    np.testing.assert_allclose([value, error], [exact, own], rtol=0, atol=0.05 * own)
    assert np.isinf(more.of(lambda x, y, z, rod, mass: x / y)[1])


def test_a_guess_from_afar_without_help_ends_in_the_same_place(
    boot: dm.System, found: dm.Fit
) -> None:
    again = dm.fit(boot, measured(0), FREE, first_guess=False, noise=NOISE)
    np.testing.assert_allclose(again.values, found.values, rtol=0, atol=0.05 * np.min(found.errors))


def test_a_body_on_the_edge_of_the_possible_is_said_to_be(boot: dm.System) -> None:
    """The published plate is flat: IBx = IBy + IBz. Noise pushes the estimate beyond, a fit not."""
    beyond = [dm.fit(boot, measured(seed, IBx=2.5e-4), FREE) for seed in (1, 2, 3)]
    for each in beyond:
        x, y, z = each.values
        assert x <= (y + z) * (1 + 1e-12), "never an impossible body"
    on_edge = [each for each in beyond if each.limited]
    assert on_edge, "half of all noise pushes it there"
    assert "one-sided" in on_edge[0].verdict
    (edge,) = on_edge[0].edges()
    assert edge.text == "IBy + IBz - IBx"
    assert 0 < edge.most < 0.1 * on_edge[0]["IBx"], "the plate is flat to within that"


def test_profiles_and_other_guesses_need_no_new_program(boot: dm.System, found: dm.Fit) -> None:
    """Fitted again with a number held, the ends are those of the linearised problem, nearly."""
    compiled = []

    def note(event: str, duration_secs: float, **_: str | int) -> None:
        del duration_secs
        compiled.append(event)

    dm.fit(boot, measured(0), FREE)  # programs may have been forgotten since the first fit
    jax.monitoring.register_event_duration_secs_listener(note)
    guess = {"IBx": 2.6e-4, "IBy": 0.7e-4, "IBz": 2.5e-4}
    again = dm.fit(boot, measured(0), FREE, guess=guess, profile=["IBz"])
    jax.monitoring.unregister_event_duration_listener(note)
    assert not [name for name in compiled if name.endswith("backend_compile_duration")]
    np.testing.assert_allclose(again.values, found.values, rtol=0, atol=0.01 * np.min(found.errors))
    error = again.error("IBz")
    np.testing.assert_allclose(
        again.profiles["IBz"], again.interval("IBz"), rtol=0, atol=0.1 * error
    )
    assert again.profiles["IBz"] != again.interval("IBz"), "another way"
    assert "by profile 95 % from" in str(again)


def test_angles_that_jump_by_a_turn_are_counted_on(boot: dm.System, found: dm.Fit) -> None:
    straight = measured(0)
    values = np.array(straight.values)
    values[:, 1] = (values[:, 1] + np.pi) % (2 * np.pi) - np.pi
    jumping = dm.Record(TIMES, values, straight.channels)
    again = dm.fit(boot, jumping, FREE, wrap=["qB"])
    np.testing.assert_allclose(again.values, found.values, rtol=0, atol=0.01 * np.min(found.errors))


@pytest.mark.parametrize("while_", ["growing", "weighing", "predicting", "pressed"])
def test_a_fit_that_is_broken_off_keeps_the_best_so_far(
    boot: dm.System,
    found: dm.Fit,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    while_: str,
) -> None:
    """Asked to stop as the command line asks, or by Ctrl-C itself, at any time."""
    held = dataclasses.replace(measured(1), name="held")
    noises, calls = [], []

    def linear(problem: Problem, z: Any, states: Any) -> Any:
        noises.append(problem.noise[0])
        if {
            "growing": len(noises) == 3,
            "weighing": problem.noise[0] != noises[0],
            "predicting": problem.records[0].name == "held",
            "pressed": problem.noise[0] != noises[0],
        }[while_]:
            calls.append(1)
            if while_ == "pressed":
                raise KeyboardInterrupt
            request_stop()
        return linearised(problem, z, states)

    monkeypatch.setattr("diffmech.identification._descent.linearised", linear)
    try:
        ended = dm.fit(boot, [measured(0), held], FREE, holdout="held", profile="IBz")
    finally:
        forget_stop()
    assert len(calls) == 1, "it stops before the next step"
    assert ended.settings["interrupted"]
    assert "it was broken off: the numbers are the best so far" in ended.verdict
    assert np.all(np.isfinite(ended.values))
    assert np.all(np.isnan(ended.profiles["IBz"]))
    assert not ended.held
    if while_ != "growing":
        far = np.abs(ended.values - found.values)
        assert np.max(far / found.errors) < 0.05
    assert dm.load(ended.save(tmp_path / "fit.npz"), boot).summary() == ended.summary()


def linear_problem(boot: dm.System) -> tuple[Problem, np.ndarray, np.ndarray]:
    """All kinds of free numbers at once, next to a motion."""
    record = measured(4).between(0.0, 0.62)
    free = free_numbers(boot, FREE)
    measure = as_measure(boot, [record], None)
    segments = cut((record,), 0.08, 0.02, 0.02)
    machine = Machine(boot, free, measure.function, 2, 1e-12, samples=12)
    sensors = Sensors(np.array([0, -1]), np.array([-1, 1]), np.array([2, -1]), 3)
    none = np.zeros((0, 7))
    problem = Problem(
        machine, (record,), segments, sensors, np.full(2, 0.01), np.zeros(2, bool), none, none,
        np.zeros((1, 0, 5)),
    )  # fmt: skip
    z = np.array([1.1, 0.9, 0.95, 0.02, 1.1, 0.003])
    rng = np.random.default_rng(5)
    start = np.concatenate([record.values[::8][: len(segments.start)]])
    states = np.concatenate([start, rng.normal(size=start.shape)], axis=1)[: len(segments.start)]
    return problem, z, states


def test_derivatives_by_every_kind_of_number_are_those_of_differences(boot: dm.System) -> None:
    """Parameters, starts, offset, scale and delay: Richardson's extrapolation of differences."""
    problem, z, states = linear_problem(boot)
    rows = linearised(problem, z[None], states[None]).rows[0]
    lanes, m = len(states), 4

    def residuals(number: int, change: float) -> np.ndarray:
        moved, start = z.copy(), states.copy()
        if number < m:
            start[:, number] += change
        else:
            moved[number - m] += change
        return linearised(problem, moved[None], start[None]).residuals[0].reshape(lanes, -1)

    for number in range(m + len(z)):
        h = 1e-4 if number == m + 5 else 1e-3  # a delay of 1 ms would move samples over an edge
        near, far = (
            (residuals(number, s * h) - residuals(number, -s * h)) / (2 * s * h) for s in (1, 2)
        )
        exact = (4 * near - far) / 3
        size = np.max(np.abs(exact))
        np.testing.assert_allclose(rows[:, :, number], exact, rtol=0, atol=1e-7 * size)


def test_a_springs_errors_are_those_of_its_published_sensitivity() -> None:
    """x = cos ωt, ω² = k/m: the error of m is σ/|∂x/∂m|, of v and a likewise (Drake's figures).

    Metres, and 3 of them between two samples: a fit takes no number for an angle by itself.
    """

    def spring(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * p["m"] * qd[0] ** 2 - 0.5 * p["k"] * q[0] ** 2

    def seen(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return jnp.stack([q[0], qd[0], -p["k"] / p["m"] * q[0]])

    ts, w = np.linspace(0.0, 4.25, 18), 3.0
    c, s = np.cos(w * ts), np.sin(w * ts)
    slopes = w / 2 * np.stack([s * ts, s + w * ts * c, 2 * w * c - w**2 * ts * s])
    published = [1.164069483273479, 19.07735862673189, -1.627938326032988]
    np.testing.assert_allclose(slopes[:, -1], published, rtol=1e-14)
    record = dm.Record(ts, np.stack([c, -w * s, -(w**2) * c], axis=1), ("x", "v", "a"))
    system = dm.System(spring, {"x": "m"}, {"m": 1.0, "k": w**2})
    for i, channel in enumerate(record.channels):
        noise = dict.fromkeys(record.channels, 1e6) | {channel: 1e-3}
        found = dm.fit(
            system, record, "m", measure=seen, guess={"m": 1.05}, noise=noise, rtol=1e-12,
            starts={"x": (1.0, 1e-9), "x_dot": (0.0, 1e-9)},
        )  # fmt: skip
        assert found["m"] == pytest.approx(1.0, abs=1e-9)
        least = 1e-3 / np.sqrt(np.sum(slopes[i] ** 2))
        assert found.errors[0] == pytest.approx(least, rel=1e-7)


def test_what_is_known_of_starts_counts_for_every_record_and_guess(boot: dm.System) -> None:
    """Rows (q̇A − 0.5)/0.1 of two records, for three guesses."""
    problem, _, states = linear_problem(boot)
    known = np.zeros((2, 1, 5))
    known[:, :, 2], known[:, :, -1] = 10.0, -5.0
    record = np.where(np.arange(len(states)) < 3, 0, 1)
    problem = problem._replace(
        segments=problem.segments._replace(record=record), start_priors=known
    )
    every = np.stack([states, 2 * states, 3 * states])
    rows = _start_rows(problem, every)
    for guess in range(3):
        for segment in range(len(states)):
            first = segment in (0, 3)
            miss = 10 * every[guess, segment, 2] - 5 if first else 0.0
            assert rows[guess, segment, 0, -1] == pytest.approx(miss)
            assert rows[guess, segment, 0, 2] == (10.0 if first else 0.0)


def test_a_difference_may_be_bounded(boot: dm.System) -> None:
    found = free_numbers(boot, FREE, {"IBx - IBy": (0.0, 4e-4)})
    z = found.start / found.scale
    assert found.allowed(z)
    low, high = z.copy(), z.copy()
    low[0], high[0] = 0.8e-4 / 3e-4, 5e-4 / 3e-4  # IBx below IBy, and too far above it
    assert not found.allowed(low)
    assert not free_numbers(boot, ["IBx", "IBy"], {"IBx - IBy": (0.0, 1.0)}).allowed(low[:2])
    assert not found.allowed(high)
    with pytest.raises(ValueError, match="the start of a fit must be possible"):
        free_numbers(boot, FREE, {"IBx - IBy": (3e-4, None)})
    with pytest.raises(ValueError, match="one number or the difference of two"):
        free_numbers(boot, FREE, {"IBx - IBy - IBz": (0.0, None)})


def test_a_pendulum_of_which_one_angle_is_seen_is_found_with_the_other() -> None:
    """The second angle's start is known to 5°; equations by hand, integrated by SciPy."""
    m1, m2, l1, l2, g = 1.0, 0.6, 0.5, 0.4, 9.81

    def rates(t: float, y: Any) -> Any:
        del t
        a, b, u, v = y
        c, s = np.cos(a - b), np.sin(a - b)
        mass = [[(m1 + m2) * l1**2, m2 * l1 * l2 * c], [m2 * l1 * l2 * c, m2 * l2**2]]
        force = [
            -m2 * l1 * l2 * s * v**2 - (m1 + m2) * g * l1 * np.sin(a),
            m2 * l1 * l2 * s * u**2 - m2 * g * l2 * np.sin(b),
        ]
        return [u, v, *np.linalg.solve(mass, force)]

    exact = solve_ivp(rates, (0, 5), [1.6, 1.2, 0, 0], "DOP853", TIMES, rtol=1e-12, atol=1e-12)
    noise = NOISE * np.random.default_rng(8).normal(size=len(TIMES))
    record = dm.Record(TIMES, (exact.y[0] + noise)[:, None], ("theta1",), noise=NOISE)
    arms = dm.systems.double_pendulum().with_params(
        {"masses[0]": m1, "masses[1]": 0.4, "lengths[0]": 0.6, "lengths[1]": 0.5}
    )
    starts = {
        "theta2": (1.14, np.deg2rad(5.0)),
        "theta1_dot": (0.0, 1e-6),
        "theta2_dot": (0.0, 1e-6),
    }
    found = dm.fit(arms, record, ["masses[1]", "lengths"], starts=starts)
    assert found.converged, found
    truth = np.array([m2, l1, l2])
    assert np.all(np.abs(found.values - truth) < 4 * found.errors), found
    assert np.all(found.errors < 0.02 * truth)
    assert abs(found.starts[0, 1] - 1.2) < 0.02, "the angle that was not seen"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"free": "IB"}, "there is no parameter 'IB'"),
        ({"free": []}, "`free` must name parameters, but names none"),
        ({"free": [*FREE, "IA"]}, "but IBz is determined, of the others only IBx - IBy and"),
        ({"unknown": "guess"}, "'refuse' or 'keep'"),
        ({"bounds": {"IBx": (3e-4, 2e-4)}}, "low < high"),
        ({"bounds": {"IBx": (4e-4, 5e-4)}}, "inside its bounds, but IBx is not"),
        ({"guess": {"IBx": 9e-4}}, "must be possible"),
        ({"priors": {"IBx": (1e-4, 0.0)}}, "standard deviation"),
        ({"noise": -1.0}, "`noise` must be greater than zero"),
        ({"noise": np.nan}, "`noise` must be finite"),
        ({"noise": {"qA": np.inf}}, "`noise['qA']` must be finite"),
        ({"delays": {"qA": -1.0}}, "`delays['qA']` must be greater than zero"),
        ({"rtol": 2.0}, "`rtol` must be less than 1"),
        ({"rtol": 1e-20}, "`rtol` must be at least"),
        ({"segment": 1e-9}, "at least the time between samples, 0.01 s"),
        ({"offsets": "qC"}, "`offsets` names 'qC', which is not a channel"),
        ({"offsets": ["qC"]}, "`offsets` names 'qC', which is not a channel"),
        ({"profile": ["IA"]}, "`profile` names 'IA', which is not free"),
        ({"holdout": ["record"]}, "at least one record to fit"),
        ({"holdout": ["other"]}, "not a record"),
        ({"holdout": "other"}, "`holdout` names 'other', which is not a record"),
        ({"loss": "hubert"}, "Did you mean 'huber'?"),
        ({"starts": {"qC": (0.0, 1.0)}}, "neither a coordinate nor a rate"),
        ({"data": (TIMES[:3], np.zeros((3, 2)))}, "as many data as unknowns"),
        ({"data": dm.Record(TIMES, np.zeros((501, 1)), ("x",))}, "must be a coordinate or a rate"),
        ({"measure": lambda q, qd, t, p: q[0]}, "one number for each of the 2 channels"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_calls_get_a_sentence(boot: dm.System, change: dict[str, Any], words: str) -> None:
    given = {"system": boot, "data": measured(0), "free": FREE, **change}
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        dm.fit(given.pop("system"), given.pop("data"), given.pop("free"), **given)
    assert words in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("sieved", "alone", "follows", "kept"),
    [
        # (settled, cost, stopped) of the best that is sieved, of the guess alone; 248 numbers
        ((True, 130.0, False), (True, 100.0, False), False, 0),
        ((False, 1e9, True), (True, 100.0, False), False, 0),
        ((True, 250.0, False), (True, 130.0, False), True, 1),
        ((False, 10.0, False), (True, 130.0, False), True, 1),  # one that is torn fits anything
        ((True, 250.0, False), (True, 260.0, False), True, 0),
        ((True, 250.0, False), (False, 10.0, False), True, 0),
    ],
)
def test_the_guess_is_followed_where_sieved_ones_miss_by_more_than_the_noise(
    boot: dm.System,
    monkeypatch: pytest.MonkeyPatch,
    sieved: tuple[bool, float, bool],
    alone: tuple[bool, float, bool],
    follows: bool,
    kept: int,
    whole: bool,
) -> None:
    problem, z, states = linear_problem(boot)
    problem = problem._replace(records=(measured(0).between(0.0, 1.235),))
    assert np.sum(np.isfinite(problem.records[0].values)) == 248
    ends = []
    for settled, cost, stopped in (sieved, alone):
        none = np.zeros((1, len(z) + 1, len(z) + 1))
        state = np.array([cost]), np.zeros(1), np.array([settled])
        ends.append(Descent(z[None], states[None], *state, 1, none, stopped))
    began: list[tuple[str, np.ndarray]] = []
    valleys, starts = np.stack([2 * z, 3 * z]), np.ones((2, 1, 4))

    def carried_on(problem: Any, z: Any, starts: Any, *rest: Any) -> Descent:
        began.append(("carried on", z))
        return ends[0]

    def followed(problem: Any, z: Any, states: Any, *rest: Any, **more: Any) -> Descent:
        began.append(("followed", z))
        if len(began) == 1:  # from where records start to where the sieve came
            np.testing.assert_array_equal(states[:, 0], starts[:, 0])
            assert np.all(np.isnan(states[:, 1:]))
            assert more["reach"] == 3
        return ends[len(began) - 1]

    def sieve(*given: Any) -> Sieved:
        assert given[:3] == ("plain", 4, 3)
        until = float(np.mean(problem.segments.end[2:4]) - problem.segments.start[0])
        return Sieved(valleys, starts, until, whole, False, 1.0)

    room = "diffmech.identification._fit"
    for name, stand_in in (
        ("plain", lambda *_: "plain"),
        ("sieved_again", sieve),
        ("carried_on", carried_on),
        ("followed", followed),
    ):
        monkeypatch.setattr(f"{room}.{name}", stand_in)
    seen = as_measure(boot, problem.records, None)
    with Progress(1, False, "") as bar:
        found = _sieved_and_followed(
            problem, seen, z[None], states[None], np.ones((1, 2)), {}, 0.0, 3, bar
        )
    assert found is ends[kept]
    assert [way for way, _ in began] == ["carried on" if whole else "followed"] + [
        "followed"
    ] * follows
    np.testing.assert_array_equal(began[0][1], valleys)
    if follows:
        np.testing.assert_array_equal(began[1][1], z[None])


def test_a_single_name_need_not_be_in_a_list() -> None:
    channels = ("theta", "phi")
    alone = sensors_of(channels, "theta", "phi", {})
    assert alone[1] == ["offset of theta", "scale of phi"]
    np.testing.assert_equal(alone, sensors_of(channels, ["theta"], ["phi"], {}))
    assert named_channels("phi", channels, "wrap") == ["phi"]
    assert named_free("length", ("mass", "length")) == ("length",)


def test_a_name_that_two_records_share_names_neither_of_them() -> None:
    record = dm.Record([0.0, 1.0], {"theta": [0.0, 1.0]}, name="swing")
    other = dataclasses.replace(record, name="swing (2)")
    records = as_records([record, other, record])
    assert [each.name for each in records] == ["swing (1)", "swing (2)", "swing (3)"]
    with pytest.raises(ValueError, match="is the name of the records 0 and 1 and 2: give a number"):
        divided(records, ["swing"])
    for second in ("swing (2)", ["swing (2)"], 1, [1], [1, "swing (2)"]):
        fitted, held = divided(records, second)
        assert [each.name for each in held] == ["swing (2)"]
        assert [each.name for each in fitted] == ["swing (1)", "swing (3)"]


def test_what_changes_nothing_is_never_fitted() -> None:
    record = dm.Record(TIMES, {"theta": np.cos(3 * TIMES)})
    with pytest.raises(ValueError, match="must name something that changes the motion"):
        dm.fit(dm.systems.pendulum(), record, "mass", unknown="keep")


def test_constrained_machines_are_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match="as many coordinates as it has freedoms"):
        dm.fit(dm.systems.four_bar(), (TIMES, np.zeros((501, 3))), ["gravity"])
