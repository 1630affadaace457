"""Machines held by constraints: published numbers, closed forms, and equations by hand in NumPy.

One object per machine serves all its tests: tracing and compiling cost more than computing.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import diffmech as dm
from diffmech.motion import motion_of, rate_residual_of, residual_of
from diffmech.systems.double_pendulum_absolute import double_pendulum_absolute
from diffmech.systems.double_pendulum_natural import double_pendulum_natural
from diffmech.systems.five_bar import five_bar
from diffmech.systems.four_bar import KINDS, four_bar
from diffmech.systems.n_four_bar import n_four_bar
from diffmech.systems.n_link import mass_centres, n_link
from diffmech.systems.n_link_maximal import n_link_maximal
from diffmech.systems.pendulum_dae import pendulum_dae
from diffmech.systems.pendulum_on_guide import pendulum_on_guide
from diffmech.systems.slider_crank import slider_crank

from ..by_tape import by_arrays
from ..conftest import imbalance, jittered_params, random_states
from ..tolerances import CHAIN_ROUND_OFF, ROUND_OFF

GRAVITY = np.array([0.0, -9.81])
# What a projected state leaves of its constraints [m]: roundings of metres and of 200 rad of way.
ON_CONSTRAINTS = 1e-13
# Energy imbalance of a run through dozens of change points, each passed in one step: 1e-10 found.
THROUGH_CHANGE_POINTS = 1e-8
WRITTEN_OUT = 9  # coordinates of a machine up to which its equations are carried out by NumPy


def assert_close(actual: Any, expected: Any, *, atol: Any) -> None:
    """Absolutely, entry by entry: NumPy would add a relative 1e-7."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


def motion(system: dm.System, qs: Any, qds: Any, ts: Any = 0.0, params: Any = None) -> Any:
    """Accelerations, shape (k, n), and multipliers, shape (k, m), at k states."""
    params = system.params if params is None else params
    states = (np.asarray(qs), np.asarray(qds), np.broadcast_to(np.asarray(ts, float), len(qs)))

    def at(q: Any, qd: Any, t: Any) -> Any:
        return motion_of(system.laws, q, qd, t, params)

    if system.n > WRITTEN_OUT:
        return tuple(np.asarray(x) for x in jax.jit(jax.vmap(at))(*states))
    # As `vmap` solves it: by arithmetic, which NumPy carries out.
    found = by_arrays(lambda *x: jax.vmap(at)(*(one[None] for one in x)), *states)
    return found.qdd[:, 0], found.multipliers[:, 0]


def violation(run: dm.Trajectory) -> float:
    """The largest residual of place at the samples."""
    laws: Any = run.system.laws
    found = by_arrays(
        lambda q, t: residual_of(laws, q, t, run.params), np.asarray(run.qs), np.asarray(run.ts)
    )
    return float(np.max(np.abs(found)))


def integrated(field: Any, start: Any, ts: Any, rtol: float = 1e-12) -> np.ndarray:
    """SciPy's DOP853 at the given times, shape (k, len(start))."""
    found = solve_ivp(
        field, (ts[0], ts[-1]), start, method="DOP853", t_eval=ts, rtol=rtol, atol=rtol
    )
    assert found.success
    return found.y.T


def along(angles: Any) -> np.ndarray:
    """Unit vectors from +x, shape (..., 2)."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def across(angles: Any) -> np.ndarray:
    """The same turned by 90° counter-clockwise."""
    return np.stack([-np.sin(angles), np.cos(angles)], axis=-1)


def cross(a: Any, b: Any) -> Any:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def machines() -> list[dm.System]:
    return [
        pendulum_dae(length=0.7),
        pendulum_on_guide(),
        double_pendulum_absolute(lengths=(1.0, 0.6)),
        double_pendulum_natural(),
        n_link_maximal(3, lengths=[1.0, 0.5, 2.0], centres=[0.3, 0.3, 0.8]),
        *(four_bar(kind) for kind in KINDS),
        four_bar(lengths=[2.0, 1.0, 1.5], ground=1.2),  # its first link cannot stand at 60°
        five_bar(),
        n_four_bar(3),
        slider_crank(),
    ]


def look(system: dm.System, q: Any, qd: Any) -> tuple[Any, Any, Any]:
    """φ, φ̇ and the points to draw."""
    laws, t, params = system.laws, np.zeros(()), system.params
    assert system.landmarks is not None
    rate = rate_residual_of(laws, q, qd, t, params)
    return residual_of(laws, q, t, params), rate, system.landmarks(q, t, params)


def test_every_start_obeys_its_constraints_and_every_machine_draws_itself_in_the_plane() -> None:
    for system in machines():
        q, qd = (np.array(x) for x in zip(*system.starts.values(), strict=True))
        places, rates, points = by_arrays(partial(look, system), q, qd)
        for label, place, rate in zip(system.starts, places, rates, strict=True):
            assert np.max(np.abs(place)) < 1e-14, f"{system.name}, {label}"
            if label != "source":  # its rates are wrong on purpose; the others are some 10/s
                assert np.max(np.abs(rate)) < 1e-13, f"{system.name}, {label}"
        assert points.shape[2] == 2, system.name
        assert np.all(np.isfinite(points)), system.name


# The simple pendulum and its moving pivot


def test_the_pendulum_in_cartesian_coordinates_meets_the_published_digits_and_its_rod_force() -> (
    None
):
    system = pendulum_dae()
    period = 2.36784194757623745
    ts = np.array([0.0, 0.3, period / 4, 0.6, 0.8, period, 5.0, 7.0, 10.0])
    run = dm.simulate(system, *system.starts["published"], ts=ts, rtol=1e-12)
    # 1e-10: a few hundred steps of 1e-12 each; the reference is exact.
    assert_close(run.qs[5], [-1.0, 0.0], atol=1e-10)
    assert_close(run.qs[6], [-0.942305435043757, -0.334754338414001], atol=1e-10)
    assert_close(run.qs[8], [-0.275087462576117, -0.961419205099125], atol=1e-10)
    assert violation(run) < ON_CONSTRAINTS
    # Released from the height of the pivot the tension is m v²/l − m g y/l = −3 m g y/l.
    _, rod = motion(system, run.qs, run.qds)
    assert_close(rod[:, 0], 3 * 9.81 * np.asarray(run.qs)[:, 1], atol=1e-8)


def test_a_pendulum_on_a_moved_pivot_is_the_one_angle_model_and_its_drive_does_the_work() -> None:
    system = pendulum_on_guide()
    p, ts = system.params, np.linspace(0.0, 6.0, 61)
    run = dm.simulate(system, *system.starts["default"], ts=ts)

    def field(t: float, y: np.ndarray) -> list[float]:
        drive = -p.amplitude * p.frequency**2 * np.sin(p.frequency * t)  # of the pivot [m/s²]
        return [y[1], -(p.gravity * np.sin(y[0]) + drive * np.cos(y[0])) / p.length]

    angle = integrated(field, [np.pi / 4, 0.0], ts)[:, 0]
    pivot = p.amplitude * np.sin(p.frequency * ts)
    x, y = pivot + p.length * np.sin(angle), -p.length * np.cos(angle)
    # 1e-8: both runs keep 1e-9 over some ten swings.
    assert_close(run.qs, np.stack([x, y], axis=1), atol=1e-8)
    assert violation(run) < ON_CONSTRAINTS
    assert imbalance(run) < 1e-9
    assert np.ptp(run.work) > 1.0  # the drive's work is as large as the energies [J]


# The double pendulum in absolute coordinates


@pytest.fixture(scope="module")
def rods() -> dm.System:
    return double_pendulum_absolute()


def two_rods(y: np.ndarray) -> np.ndarray:
    """Angular accelerations of two hinged uniform rods of 1 kg and 1 m, angles from +x."""
    (a, b), (da, db) = y[:2], y[2:]
    mass = np.array([[4 / 3, 0.5 * np.cos(a - b)], [0.5 * np.cos(a - b), 1 / 3]])
    right = [
        -0.5 * np.sin(a - b) * db**2 - 1.5 * 9.81 * np.cos(a),
        0.5 * np.sin(a - b) * da**2 - 0.5 * 9.81 * np.cos(b),
    ]
    return np.linalg.solve(mass, right)


def test_two_rods_in_absolute_coordinates_are_the_two_angle_model_with_its_reactions(
    rods: dm.System,
) -> None:
    ts = np.linspace(0.0, 5.0, 101)
    run = dm.simulate(rods, *rods.starts["default"], ts=ts, rtol=1e-12)
    angles = integrated(lambda t, y: [*y[2:], *two_rods(y)], np.zeros(4), ts, rtol=1e-13)
    # 1e-8 is what the source's digest asks for; round-off grows a few hundredfold in 5 s.
    assert_close(np.asarray(run.qs)[:, [2, 5]], angles[:, :2], atol=1e-8)
    assert_close(np.asarray(run.qds)[:, [2, 5]], angles[:, 2:], atol=1e-7)
    # Momentum balance: the second rod is held by the joint alone, the first by pivot and joint.
    turns = np.array([two_rods(y) for y in angles])
    ends = turns[:, :, None] * across(angles[:, :2]) - angles[:, 2:, None] ** 2 * along(
        angles[:, :2]
    )
    joint = ends[:, 0] + 0.5 * ends[:, 1] - GRAVITY
    pivot = 0.5 * ends[:, 0] - GRAVITY + joint
    _, found = motion(rods, run.qs, run.qds)
    scale = np.max(np.abs(pivot))
    assert_close(found, np.hstack([pivot, joint]), atol=1e-7 * scale)


def test_constraints_drift_without_correction_and_are_kept_to_round_off_by_projection(
    rods: dm.System,
) -> None:
    ts = np.linspace(0.0, 5.0, 101)  # as above: compiled already
    loose: dict[str, Any] = {"ts": ts, "rtol": 1e-6}
    drifting = dm.simulate(rods, *rods.starts["default"], stabilise="none", **loose)
    kept = dm.simulate(rods, *rods.starts["default"], stabilise="projection", **loose)
    assert violation(drifting) > 1e-7  # about the tolerance, and growing
    assert violation(kept) < ON_CONSTRAINTS


# The double pendulum in natural coordinates


@pytest.fixture(scope="module")
def natural() -> dm.System:
    return double_pendulum_natural()


MASS = np.array(
    [[14 / 3, 0, 0.15, 0], [0, 14 / 3, 0, 0.15], [0.15, 0, 0.315, 0], [0, 0.15, 0, 0.315]]
)
FORCES = np.array([-3.27, -27.795, 0.0, -1.4715])


def test_natural_coordinates_have_the_sources_mass_matrix_and_forces(natural: dm.System) -> None:
    mass, bias = by_arrays(
        lambda q: (dm.mass_matrix(natural, q), dm.bias(natural, q, np.ones(4))),
        random_states(4, 2, seed=5)[0],  # the same everywhere, on the constraints or not
    )
    assert_close(mass, np.broadcast_to(MASS, mass.shape), atol=ROUND_OFF)
    assert_close(-bias, np.broadcast_to(FORCES, bias.shape), atol=1e-11)


def _rows(q: np.ndarray) -> np.ndarray:
    return 2 * np.array([[q[0], q[1], 0.0, 0.0], [0.0, 0.0, q[2], q[3]]])


def test_the_sources_velocities_break_its_constraints_and_the_default_are_the_nearest_that_do_not(
    natural: dm.System,
) -> None:
    q, broken = (np.asarray(x) for x in natural.starts["source"])
    place, nearest = (np.asarray(x) for x in natural.starts["default"])
    np.testing.assert_array_equal(place, q)
    (rate,) = by_arrays(
        lambda q, qd: rate_residual_of(natural.laws, q, qd, np.zeros(()), natural.params),
        q[None],
        broken[None],
    )
    assert_close(rate / 2, [0.003, 0.01], atol=1e-15)
    # min (v − v₀)ᵀ M (v − v₀) with J v = 0.
    rows = _rows(q)
    push = np.linalg.solve(MASS, rows.T)
    expected = broken - push @ np.linalg.solve(rows @ push, rows @ broken)
    assert_close(nearest, expected, atol=1e-15)


def test_relaxed_multipliers_do_not_change_the_motion(natural: dm.System) -> None:
    """λ = γ + τ γ̇ with γ a state: q̈ and γ̇ come from one linear system at every instant.

    Whatever τ and γ are, M q̈ − Jᵀλ = F and the constraints fix q̈ and λ: τ only says how γ, which
    nothing else depends on, follows λ.
    """
    omega, zeta = 10.0, 0.8
    ts = np.linspace(0.0, 3.0, 61)

    def relaxed(tau: float) -> np.ndarray:
        def field(t: float, y: np.ndarray) -> np.ndarray:
            q, qd, gamma = y[:4], y[4:8], y[8:]
            rows = _rows(q)
            square = np.block([[MASS, -tau * rows.T], [rows, np.zeros((2, 2))]])
            place = np.array([q[:2] @ q[:2] - 0.09, q[2:] @ q[2:] - 1.0])
            drift = 2 * np.array([qd[:2] @ qd[:2], qd[2:] @ qd[2:]])
            feedback = 2 * zeta * omega * (rows @ qd) + omega**2 * place
            right = np.concatenate([FORCES + rows.T @ gamma, -drift - feedback])
            found = np.linalg.solve(square, right)
            return np.concatenate([qd, found])

        start = np.concatenate([*natural.starts["source"], np.zeros(2)])
        return integrated(field, start, ts, rtol=1e-10)

    slow, fast = relaxed(0.1), relaxed(0.02)
    # 1e-7: what a tolerance of 1e-10 leaves after 3 s.
    assert_close(slow[:, :8], fast[:, :8], atol=1e-7)
    assert np.max(np.abs(slow[:, 8:] - fast[:, 8:])) > 1.0  # γ itself does depend on τ
    ours = dm.simulate(
        natural,
        *natural.starts["source"],
        ts=ts,
        stabilise=dm.solvers.baumgarte(omega, zeta),
        check_start=False,
    )
    assert_close(np.hstack([ours.qs, ours.qds]), slow[:, :8], atol=1e-7)


# The chain of links


@pytest.mark.parametrize("n", [3, 8])
def test_a_chain_in_maximal_coordinates_accelerates_as_in_angles(n: int) -> None:
    minimal, maximal = n_link(n), n_link_maximal(n)
    params = jittered_params(minimal, seed=60 + n)  # springs, friction and torques are on
    theta, thetad, _ = random_states(n, 10, seed=60 + n)

    def by_angles(q: Any, qd: Any) -> Any:
        """Angles' accelerations, and what they make of places, velocities and accelerations."""
        qdd = dm.acceleration(minimal, q, qd, params=params)

        def velocity(q: Any, qd: Any) -> Any:
            return jax.jvp(lambda q: mass_centres(q, np.zeros(()), params), (q,), (qd,))

        (place, rate), (_, change) = jax.jvp(velocity, (q, qd), (qd, qdd))
        pairs = ((place, q), (rate, qd), (change, qdd))
        return [jnp.column_stack([points, angles]).reshape(-1) for points, angles in pairs]

    places, rates, expected = by_arrays(by_angles, theta, thetad)
    found, forces = motion(maximal, places, rates, params=params)
    scale = np.max(np.abs(expected), axis=1, keepdims=True)
    # 1e-10: a KKT matrix of condition 1e4 or so at the worst of these states.
    assert np.max(np.abs(found - expected) / scale) < 1e-10
    # A hinge carries everything below it: F_j = Σ_{i ≥ j} m_i (a_i − g).
    masses = np.asarray(params.masses)[:, None]
    down = np.array([0.0, -float(params.gravity)])
    loads = masses * (expected.reshape(-1, n, 3)[..., :2] - down)
    carried = np.cumsum(loads[:, ::-1], axis=1)[:, ::-1].reshape(len(loads), -1)
    assert np.max(np.abs(forces - carried) / scale) < 1e-10
    landmarks: Any = (minimal.landmarks, maximal.landmarks)
    drawn = [
        by_arrays(lambda q, points=points: points(q, np.zeros(()), params), q[None])[0]
        for points, q in zip(landmarks, (theta[0], places[0]), strict=True)
    ]
    assert_close(drawn[0], drawn[1], atol=ROUND_OFF * n)


# Closed chains


def by_virtual_power(
    angles: np.ndarray, rates: np.ndarray, lengths: np.ndarray, ground: float
) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of a closed chain of uniform links of 1 kg/m without multipliers, and its end's
    force from moment balances.

    Links 2 and 3 are solved from the closure, θ̈ = K u̇ + k for the rates u of the others; virtual
    power Σ (∂v/∂u)ᵀ m (a − g) + (∂ω/∂u)ᵀ I θ̈ = 0 then gives u̇.
    """
    n = len(angles)
    masses, inertias = lengths, lengths**3 / 12
    turned, centripetal = lengths * across(angles).T, -(lengths * rates**2) * along(angles).T
    others = [i for i in range(n) if i not in (1, 2)]
    basis, rest = np.zeros((n, len(others))), np.zeros(n)
    basis[others, range(len(others))] = 1.0
    closing = np.linalg.inv(turned[:, 1:3])
    basis[1:3] = -closing @ turned[:, others]
    rest[1:3] = -closing @ centripetal.sum(axis=1)
    lever = np.tril(np.ones((n, n)), -1) + 0.5 * np.eye(n)  # middle i = Σ lever[i, j] l_j e_j
    spread = np.einsum("ij,kj->ikj", lever, turned)  # of middle i with angle j
    drift = lever @ centripetal.T - GRAVITY
    mass = np.einsum("i,ika,ikb->ab", masses, spread @ basis, spread @ basis)
    mass += basis.T @ (inertias[:, None] * basis)
    right = np.einsum("i,ika,ik->a", masses, spread @ basis, spread @ rest + drift)
    right += basis.T @ (inertias * rest)
    turns = basis @ np.linalg.solve(mass, -right) + rest

    joints = np.cumsum(lengths[:, None] * along(angles), axis=0)
    middles = joints - 0.5 * lengths[:, None] * along(angles)
    loads = masses[:, None] * (spread @ turns + drift)
    last = joints[-2]
    moments = [
        np.sum(cross(middles, loads) + inertias * turns),
        cross(middles[-1] - last, loads[-1]) + inertias[-1] * turns[-1],
    ]
    arms = np.array([[0.0, ground], [-(joints[-1] - last)[1], (joints[-1] - last)[0]]])
    return turns, np.linalg.solve(arms, moments)


def closed_states(system: dm.System, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random states of a chain near its default start: its first and last link turned a little,
    links 2 and 3 by Newton's method on the closure, and their rates from it."""
    rng = np.random.default_rng(seed)
    lengths, ground = np.asarray(system.params.lengths), float(system.params.ground)
    states = []
    for _ in range(count):
        q = np.array(system.starts["default"][0])
        q[0] += rng.uniform(-0.6, 0.6)
        if len(q) == 4:
            q[3] += rng.uniform(-0.3, 0.3)
        for _ in range(20):
            gap = lengths @ along(q) - [ground, 0.0]
            q[1:3] -= np.linalg.solve((lengths[1:3, None] * across(q[1:3])).T, gap)
        assert_close(lengths @ along(q), [ground, 0.0], atol=1e-14 * np.sum(lengths))
        qd = rng.normal(scale=3.0, size=len(q))
        qd[1:3] = 0.0
        turned = lengths * across(q).T
        qd[1:3] = np.linalg.solve(turned[:, 1:3], -turned @ qd)
        states.append((q, qd))
    return tuple(np.array(x) for x in zip(*states, strict=True))  # pyright: ignore


@pytest.fixture(scope="module")
def linkages() -> dict[str, dm.System]:
    """All kinds of four-bars: they differ by numbers only, so one program serves them all."""
    return {kind: four_bar(kind) for kind in KINDS}


@pytest.mark.parametrize("bars", [4, 5])
def test_closed_chains_accelerate_as_by_virtual_power_without_multipliers(
    bars: int, linkages: dict[str, dm.System]
) -> None:
    system = linkages["crank_rocker"] if bars == 4 else five_bar()
    qs, qds = closed_states(system, 10, seed=bars)
    found, forces = motion(system, qs, qds)
    lengths, ground = np.asarray(system.params.lengths), float(system.params.ground)
    for q, qd, ours, force in zip(qs, qds, found, forces, strict=True):
        turns, held = by_virtual_power(q, qd, lengths, ground)
        assert np.max(np.abs(ours - turns)) < CHAIN_ROUND_OFF * np.max(np.abs(turns))
        assert np.max(np.abs(force - held)) < CHAIN_ROUND_OFF * np.max(np.abs(held))


TWENTY_SECONDS = np.linspace(0.0, 20.0, 201)


def test_a_crank_rocker_goes_round_through_its_dead_positions(
    linkages: dict[str, dm.System],
) -> None:
    system = linkages["crank_rocker"]
    run = dm.simulate(system, *system.starts["spinning"], ts=TWENTY_SECONDS)
    q = np.asarray(run.qs)
    assert q[-1, 0] - q[0, 0] > 20 * 2 * np.pi
    assert np.ptp(q[:, 2]) < np.pi  # the rocker only rocks
    # Crank and coupler fall in line twice a turn.
    assert np.sum(np.diff(np.sign(np.sin(q[:, 1] - q[:, 0]))) != 0) > 40
    assert imbalance(run) < 1e-9
    assert violation(run) < ON_CONSTRAINTS
    # The first two seconds against one angle by virtual power, integrated by SciPy.
    lengths, ground = np.asarray(system.params.lengths), float(system.params.ground)

    def field(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[3:], by_virtual_power(y[:3], y[3:], lengths, ground)[0]])

    theirs = integrated(field, np.concatenate(system.starts["spinning"]), TWENTY_SECONDS[:21])
    assert_close(q[:21], theirs[:, :3], atol=1e-8)


@pytest.mark.parametrize("stabilise", ["projection", "nullspace"])
@pytest.mark.parametrize("start", ["default", "spinning"])
def test_a_parallelogram_stays_one_through_its_change_points(
    start: str, stabilise: str, linkages: dict[str, dm.System]
) -> None:
    system = linkages["parallelogram"]
    q0, qd0 = system.starts[start]
    run = dm.simulate(system, q0, qd0, ts=TWENTY_SECONDS, stabilise=stabilise)
    q = np.asarray(run.qs)
    assert imbalance(run) < THROUGH_CHANGE_POINTS
    assert violation(run) < ON_CONSTRAINTS
    # The coupler only shifts: on the other branch, the crossed one, it turns.
    assert_close(np.sin(q[:, 1]), 0.0, atol=1e-9)
    # Then I θ̈ = −G cos θ with I = (1 + 1)/3 + 2 [kg m²] and G = (1/2 + 1/2 + 2) g [N m].
    theirs = integrated(
        lambda t, y: [y[1], -9 / 8 * 9.81 * np.cos(y[0])], [q0[0], qd0[0]], TWENTY_SECONDS
    )
    assert np.sum(np.diff(np.sign(np.sin(theirs[:, 0]))) != 0) > 10  # change points passed
    # 1e-7: 180 rad of way at a relative energy error of 1e-10.
    assert_close(q[:, 0], theirs[:, 0], atol=1e-7)


@pytest.mark.parametrize("stabilise", ["projection", "nullspace"])
@pytest.mark.parametrize("start", ["default", "spinning"])
def test_a_kite_stays_one_through_its_change_points(
    start: str, stabilise: str, linkages: dict[str, dm.System]
) -> None:
    system = linkages["kite"]
    run = dm.simulate(system, *system.starts[start], ts=TWENTY_SECONDS, stabilise=stabilise)
    q = np.asarray(run.qs)
    assert imbalance(run) < THROUGH_CHANGE_POINTS
    assert violation(run) < ON_CONSTRAINTS
    # A kite mirrors the first pivot in the line from the crank's tip to the second pivot; on the
    # other branch, folded, the coupler's end rests on the first pivot and the rocker on the ground.
    tip = along(q[:, 0])
    end = tip + along(q[:, 1])
    axis = np.array([2.0, 0.0]) - tip
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    mirrored = 2 * (tip - np.sum(tip * axis, axis=1, keepdims=True) * axis)
    assert_close(end, mirrored, atol=1e-9)
    assert np.max(np.linalg.norm(end, axis=1)) > 1.0
    assert np.sum(np.diff(np.sign(np.sin(q[:, 0]))) != 0) > 10  # change points passed


def test_a_row_of_parallelograms_swings_as_one_though_all_loops_lose_rank_together() -> None:
    n = 2
    system = n_four_bar(n)
    q0, qd0 = system.starts["spinning"]
    ts = np.linspace(0.0, 5.0, 51)
    run = dm.simulate(system, q0, qd0, ts=ts)
    assert imbalance(run) < THROUGH_CHANGE_POINTS
    assert violation(run) < ON_CONSTRAINTS
    inertia, weight = (n + 1) / 3 + 2 * n, (n + 1) / 2 + 2 * n  # 1 kg/m, cranks 1 m, couplers 2 m
    theirs = integrated(
        lambda t, y: [y[1], -weight / inertia * 9.81 * np.cos(y[0])], [q0[0], qd0[0]], ts
    )
    expected = np.zeros((len(ts), 2 * n + 1))
    expected[:, : n + 1] = theirs[:, :1]
    assert_close(run.qs, expected, atol=1e-7)


def test_a_slider_crank_obeys_its_one_angle_equation() -> None:
    system = slider_crank(crank=0.5, rod=1.2, crank_mass=0.8, rod_mass=1.3, slider_mass=2.0)
    r, length, mass_c, mass_r, mass_s = 0.5, 1.2, 0.8, 1.3, 2.0
    theta = np.linspace(0.1, 6.2, 9)
    rate = np.random.default_rng(7).normal(scale=5.0, size=9)
    sin, cos = np.sin(theta), np.cos(theta)
    # Connecting rod and slider as functions of the crank's angle, with two derivatives each.
    phi = -np.arcsin(r * sin / length)
    dphi = -r * cos / (length * np.cos(phi))
    ddphi = (r * sin + length * np.sin(phi) * dphi**2) / (length * np.cos(phi))
    x = r * cos + length * np.cos(phi)
    dx = -r * sin - length * np.sin(phi) * dphi
    ddx = -r * cos - length * (np.cos(phi) * dphi**2 + np.sin(phi) * ddphi)
    # The rod's middle is at (r cos θ + x, r sin θ)/2.
    middle = 0.5 * np.stack([dx - r * sin, r * cos], axis=1)
    dmiddle = 0.5 * np.stack([ddx - r * cos, -r * sin], axis=1)
    about = mass_r * length**2 / 12
    inertia = mass_c * r**2 / 3 + mass_r * np.sum(middle**2, axis=1) + about * dphi**2
    inertia += mass_s * dx**2
    half_slope = (
        mass_r * np.sum(middle * dmiddle, axis=1) + about * dphi * ddphi + mass_s * dx * ddx
    )
    moment = -9.81 * 0.5 * (mass_c + mass_r) * r * cos
    turn = (moment - half_slope * rate**2) / inertia
    expected = [turn, dphi * turn + ddphi * rate**2, dx * turn + ddx * rate**2]
    found, force = motion(
        system, np.stack([theta, phi, x], axis=1), np.stack([rate, dphi * rate, dx * rate], axis=1)
    )
    scale = np.max(np.abs(expected))
    assert_close(found, np.stack(expected, axis=1), atol=ROUND_OFF * scale)
    # The rod drags the slider along the guide, and is turned by the forces at its two ends.
    assert_close(force[:, 0], -mass_s * expected[2], atol=ROUND_OFF * scale)
    pushed = mass_r * (middle * turn[:, None] + dmiddle * rate[:, None] ** 2 - GRAVITY)
    half = 0.5 * length * along(phi)
    assert_close(
        about * expected[1],
        cross(half, force) - cross(half, pushed - force),
        atol=ROUND_OFF * scale,
    )


def test_linkages_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match=r"there is no four-bar 'kyte'\. Did you mean 'kite'"):
        four_bar("kyte")
    with pytest.raises(ValueError, match="`lengths` and `ground` must be given together"):
        four_bar(lengths=[1, 2, 3])
    with pytest.raises(ValueError, match="`lengths` must be three numbers"):
        four_bar(lengths=[1, 2], ground=1)
    with pytest.raises(ValueError, match="cannot close between pivots 9 m apart"):
        four_bar(lengths=[1, 2, 3], ground=9)
    with pytest.raises(ValueError, match=r"couplers of 0\.1 and 0\.1 m cannot close"):
        five_bar(lengths=[1, 0.1, 0.1, 1])
    with pytest.raises(ValueError, match="`rod` must be longer than the crank"):
        slider_crank(crank=1.0, rod=0.5)


def test_eight_links_in_maximal_coordinates_keep_their_hinges_and_energy_for_20_s() -> None:
    system = dm.systems.n_link_maximal(8)
    run = dm.simulate(system, *system.starts["chaotic"], ts=np.linspace(0.0, 20.0, 201))
    rates = by_arrays(
        lambda q, qd: rate_residual_of(system.laws, q, qd, np.zeros(()), system.params),
        np.asarray(run.qs),
        np.asarray(run.qds),
    )
    assert violation(run) < 1e-12
    assert np.max(np.abs(rates)) < 1e-12
    assert imbalance(run) < 1e-8
