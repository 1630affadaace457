"""diffmech's own solvers: order, symplecticity, energy over long times, interpolation."""

from functools import cache
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import diffmech as dm
from diffmech.motion import Field
from diffmech.simulation._methods import as_solver

from ..by_tape import by_arrays
from ..conftest import machine
from ..tolerances import ORDER

METHODS = {
    "ImplicitMidpoint": 2,
    "GaussLegendre4": 4,
    "GaussLegendre6": 6,
    "Variational": 2,
    "Variational4": 4,
    "Variational6": 6,
}
# Step ranges in which the error falls with its order: small enough to be asymptotic, large enough
# that round-off (1e-14) does not show.
STEPS = {2: (0.02, 0.01, 0.005), 4: (0.08, 0.04, 0.02), 6: (0.1, 0.05, 0.025)}


# Numbers of the one machine that most tests share: what is not named is off.
OFF = dict.fromkeys(
    ("coupling", "gravity", "sway", "central", "stiffness", "load", "drive", "force", "friction"),
    0.0,
)
FORCED = OFF | {"coupling": 1.0, "gravity": 1.0, "drive": 0.2, "force": 0.1, "friction": 0.05}
DOUBLE_PENDULUM = OFF | {"coupling": 1.0, "gravity": 9.81}
PENDULUM = OFF | {"sway": 9.81}  # of a; b is at rest
CENTRAL = OFF | {"central": 1.0}  # a is a radius, b its angle, which is ignorable
SPRING = OFF | {"stiffness": 37.0 / 1.3, "load": 9.81, "friction": 1.0 / 1.3}


@cache
def shared_system() -> dm.System:
    """One program a method: non-separable, time-dependent, with friction and forces, by numbers."""

    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        a, b = q
        turning = p["coupling"] * (0.5 * qd[0] ** 2 + jnp.cos(a - b) * qd[0] * qd[1])
        kinetic = 0.5 * (qd[0] ** 2 + (1 + p["central"] * (a**2 - 1)) * qd[1] ** 2) + turning
        weights = p["gravity"] * (2 * jnp.cos(a) + jnp.cos(b)) + p["sway"] * jnp.cos(a)
        pull = p["central"] / jnp.sqrt(a**2 + 1 - p["central"]) - 0.5 * p["stiffness"] * a**2
        return kinetic + weights + pull + (p["load"] + p["drive"] * jnp.sin(2 * t)) * a

    def forces(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return p["force"] * jnp.stack([jnp.cos(t), q[0]])

    def dissipation(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return p["friction"] * qd @ qd

    return dm.System(lagrangian, ("a", "b"), FORCED, forces=forces, dissipation=dissipation)


def simulate(numbers: dict[str, float], *start: Any, **how: Any) -> dm.Trajectory:
    """A run of the shared machine."""
    return dm.simulate(shared_system(), *start, params=numbers, **how)


@pytest.mark.parametrize("method", METHODS, scope="module")
def test_order_of_convergence(method: str) -> None:
    start, duration = ([0.8, -0.3], [0.0, 0.4]), 4.0
    exact = simulate(FORCED, *start, duration=duration, rtol=5e-14, samples=2)
    truth = np.concatenate([exact.end.q, exact.end.qd, [exact.end.work]])
    errors = []
    for step in STEPS[METHODS[method]]:
        run = simulate(FORCED, *start, duration=duration, method=method, dt=step, samples=2)
        end = np.concatenate([run.end.q, run.end.qd, [run.end.work]])
        errors.append(np.abs(end - truth))
    errors = np.array(errors)
    state = np.max(errors[:, :4], axis=1)
    orders = np.log2(state[:-1] / state[1:])
    np.testing.assert_allclose(orders, METHODS[method], atol=ORDER)
    # The work is a quadrature along the path: at least of the method's order.
    assert np.log2(errors[0, 4] / errors[-1, 4]) / 2 > METHODS[method] - ORDER


@pytest.mark.parametrize("method", METHODS, scope="module")
def test_a_step_is_symplectic_in_q_and_p(method: str) -> None:
    system = dm.systems.double_pendulum()
    step = 0.1  # coarse on purpose: symplectic at any step, unlike an accurate method

    solver, term = as_solver(method), diffrax.ODETerm(Field(system.laws))

    @jax.jit
    def advance(x: Any, direction: Any) -> Any:
        """One step of the solver itself, which is less to trace than a run of one step."""

        def stepped(x: Any) -> Any:
            y = jnp.append(x, 0.0)
            state = solver.init(term, 0.0, step, y, system.params)
            y, *_ = solver.step(term, 0.0, step, y, system.params, state, made_jump=False)
            return y[:-1]

        return jax.jvp(stepped, (x,), (direction,))

    start = np.array([1.2, -0.7, 0.5, 0.9])
    columns = [advance(start, direction) for direction in np.eye(4)]
    end = np.asarray(columns[0][0])
    moved = np.stack([column for _, column in columns], axis=1)  # ∂(q₁, q̇₁)/∂(q₀, q̇₀)
    before, after = momentum_slopes(system, np.stack([start, end]))
    jacobian = after @ moved @ np.linalg.inv(before)
    form = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    np.testing.assert_allclose(jacobian.T @ form @ jacobian, form, atol=1e-11)


def momentum_slopes(system: dm.System, x: np.ndarray) -> np.ndarray:
    """∂(q, p)/∂(q, q̇) at each x = (q, q̇)."""
    return by_arrays(jax.jacfwd(lambda x: jnp.append(x[:2], dm.momentum(system, x[:2], x[2:]))), x)


@pytest.mark.parametrize(
    "method", ["ImplicitMidpoint", "GaussLegendre4", "Variational", "Variational6"], scope="module"
)
def test_energy_has_no_trend_over_three_hundred_periods(method: str) -> None:
    period = 2.36784194757623745  # from the horizontal
    step = period / {2: 60, 4: 30, 6: 15}[METHODS[method]]

    def energies(method: str) -> np.ndarray:
        """At 3001 samples, by runs of 100 periods that go on from each other."""
        start, found = ([np.pi / 2, 0.0], [0.0, 0.0]), []
        for _ in range(3):
            run = simulate(PENDULUM, *start, duration=100 * period, dt=step, method=method)
            start = (run.end.q, run.end.qd)
            found.append(np.asarray(run.energies.total)[bool(found) :])
        return np.concatenate(found) / 9.81

    error = energies(method)
    assert len(error) == 3001
    first, last = error[:600], error[-600:]
    amplitude = np.max(np.abs(first))
    assert np.max(np.abs(last)) < 1.2 * amplitude + 1e-12
    # A straight line through all of it rises by less than a twentieth of the oscillation.
    slope = np.polyfit(np.linspace(0, 1, len(error)), error, 1)[0]
    assert abs(slope) < 0.05 * amplitude + 1e-12
    # Dopri5 with the same steps is not symplectic, and shows it.
    if method == "GaussLegendre4":
        assert abs(energies("Dopri5")[-1]) > 2 * amplitude


@pytest.mark.parametrize(
    "method", ["ImplicitMidpoint", "GaussLegendre4", "Variational4"], scope="module"
)
def test_momentum_of_an_ignorable_coordinate_is_kept_to_round_off(method: str) -> None:
    run = simulate(CENTRAL, [1.0, 0.0], [0.0, 1.2], duration=20.0, dt=0.05, method=method)
    momenta = np.asarray(run.qs)[:, 0] ** 2 * np.asarray(run.qds)[:, 1]
    assert np.ptp(np.asarray(run.qs)[:, 0]) > 0.1, "the radius changes, and the rate with it"
    at_steps = momenta[::5]  # 1001 samples, 400 steps: every 5th sample is a step
    # Each step rounds p a few times, and a Newton residual of 1e-15 enters: 1e-14 a step.
    assert np.max(np.abs(at_steps - 1.2)) < 1e-14 * 400


@pytest.mark.parametrize(
    "method", ["ImplicitMidpoint", "GaussLegendre6", "Variational4"], scope="module"
)
def test_samples_between_steps_are_as_good_as_the_steps(method: str) -> None:
    start = dm.systems.double_pendulum().starts["default"]
    run = simulate(DOUBLE_PENDULUM, *start, duration=2.0, dt=0.1, method=method, samples=201)
    exact = simulate(DOUBLE_PENDULUM, *start, duration=2.0, rtol=1e-13, samples=201)
    error = np.max(np.abs(run.qs - exact.qs), axis=1)
    assert np.max(error) < 1.5 * np.max(error[::10])


def test_non_quadratic_lagrangians_run_symplectically() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return -jnp.sqrt(1 - qd @ qd) - 0.5 * q @ q

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        """p = q̇/√(1 − q̇²) and ṗ = −q."""
        return np.concatenate([y[2:] / np.sqrt(1 + y[2:] @ y[2:]), -y[:2]])

    system = dm.System(lagrangian, ("x", "y"))
    exact = final_state(rate, [1.0, 0.0, 0.0, 0.6 / np.sqrt(1 - 0.6**2)], 5.0)[:2]
    run = dm.simulate(
        system, [1.0, 0.0], [0.0, 0.6], duration=5.0, dt=0.05, method="GaussLegendre6"
    )
    np.testing.assert_allclose(run.end.q, exact, atol=1e-8)


def final_state(rate: Any, start: list[float], duration: float) -> np.ndarray:
    """By SciPy."""
    found = solve_ivp(rate, (0.0, duration), start, method="DOP853", rtol=1e-13, atol=1e-13)
    assert found.success
    return found.y[:, -1]


@pytest.mark.parametrize(
    "method", ["ImplicitMidpoint", "GaussLegendre6", "Variational4"], scope="module"
)
def test_coming_to_rest_does_not_stop_newtons_method(method: str) -> None:
    # Near rest all rates are rounding; and a rate may vanish in the middle of a step.
    rest = 1.3 * 9.81 / 37
    for start in (rest, 0.5):
        run = simulate(SPRING, [start, 0.0], duration=80.0, dt=0.05, method=method, samples=11)
        np.testing.assert_allclose(run.end.q, [rest, 0.0], atol=1e-9)
    step = 0.1
    turning = simulate(
        PENDULUM,
        [0.8, 0.0],
        [step / 2 * 9.81 * np.sin(0.8), 0.0],
        duration=1.0,
        dt=step,
        method=method,
        samples=11,
    )
    assert bool(turning.status == dm.RESULTS.successful)


@pytest.mark.parametrize("method", ["Kvaerno3", "Kvaerno5", "ImplicitEuler"])
def test_implicit_methods_run_with_a_fixed_step(method: str) -> None:
    run = dm.simulate(machine("pendulum"), [1.0], duration=1.0, dt=0.05, method=method, samples=5)
    assert bool(run.status == dm.RESULTS.successful)


def test_stiff_equations_run_with_an_implicit_method() -> None:
    # A pendulum on a spring of 1e8 N/m with its own damping: two very different times.
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        r, theta = q
        return (
            0.5 * (qd[0] ** 2 + (r * qd[1]) ** 2) + 9.81 * r * jnp.cos(theta) - 5e7 * (r - 1) ** 2
        )

    def dissipation(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 5e4 * qd[0] ** 2

    system = dm.System(lagrangian, {"r": "m", "theta": "rad"}, dissipation=dissipation)
    run = dm.simulate(system, [1.0, 0.5], duration=2.0, method="Kvaerno5", rtol=1e-8)
    rigid, _ = final_state(lambda t, y: [y[1], -9.81 * np.sin(y[0])], [0.5, 0.0], 2.0)
    np.testing.assert_allclose(run.end.q[1], rigid, atol=1e-5)
    assert int(run.stats["accepted"]) < 3000  # an explicit method needs over 50 000


def test_methods_are_found_by_any_case_and_refused_by_name() -> None:
    system = dm.systems.pendulum()
    run = dm.simulate(system, [0.3], duration=1.0, method="tsit5", samples=2)
    assert run.settings.method == "Tsit5"
    assert {"Dopri8", "Kvaerno5", "GaussLegendre4", "Variational"} <= set(dm.methods())
    with pytest.raises(ValueError, match="Did you mean 'Dopri8'"):
        dm.simulate(system, [0.3], duration=1.0, method="Dopri9")
    with pytest.raises(ValueError, match="'SemiImplicitEuler' splits the equations"):
        dm.simulate(system, [0.3], duration=1.0, method="SemiImplicitEuler")
    with pytest.raises(ValueError, match="`dt` must be given: the method 'GaussLegendre4'"):
        dm.simulate(system, [0.3], duration=1.0, method="GaussLegendre4")
    explicit = dm.Explicit(lambda q, qd, t, p: -q, ("x",))
    with pytest.raises(ValueError, match="needs a Lagrangian"):
        dm.simulate(explicit, [0.3], duration=1.0, method="Variational", dt=0.1)
    with pytest.raises(ValueError, match="`order` must be one of 2, 4, 6"):
        dm.solvers.Variational(order=3)
