"""Machines and Lagrangians as scalar operations: the same equations of motion as JAX's."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend.core import jaxpr_as_fun

import diffmech as dm
from diffmech.model import ExplicitLaws, Laws
from diffmech.motion import energy_of, mass_and_bias_of, rows_of
from diffmech.scalars import (
    AbstractAlgebra,
    Arrays,
    Evaluation,
    Factors,
    Lanes,
    Tape,
    collected,
    gathered,
    given,
    independent_of,
    unknowns,
    write,
)

from ..conftest import jittered_params, random_states
from ..scalar_lagrangians import LAGRANGIANS
from ..tolerances import CHAIN_ROUND_OFF, ROUND_OFF

LANES = 5


def _everything(laws: Any, q: Any, qd: Any, t: Any, params: Any) -> dict[str, Any]:
    """All that an integrator of many runs asks of a machine at one instant."""
    energy = energy_of(laws, q, qd, t, params)
    if isinstance(laws, ExplicitLaws):
        return {"acceleration": laws.acceleration(q, qd, t, params), "energy": energy.total}
    mass, bias = mass_and_bias_of(laws, q, qd, t, params)
    asked = {"mass": mass, "bias": bias, "energy": energy.total, "potential": energy.potential}
    if laws.constraints:
        rows = rows_of(laws, q, qd, t, params)
        asked |= {"rate": rows.rate, "jacobian": rows.jacobian, "drift": rows.drift}
    return asked


def _relative(found: Any, wanted: Any) -> float:
    """The largest error of each lane, in units of the largest entry there or of one."""
    axes = tuple(range(1, np.ndim(wanted)))
    scale = np.max(np.abs(wanted), axis=axes, keepdims=True, initial=1e-3)
    return float(np.max(np.abs(found - wanted) / scale, initial=0.0))


def _compare(laws: Any, params: Any, n: int, seed: int, algebra: AbstractAlgebra) -> None:
    """By a tape and by JAX at random states; parameters are unknowns as well."""
    q, qd, _ = random_states(n, LANES, seed)
    t = np.random.default_rng(seed).uniform(0, 5, LANES)
    free = not isinstance(laws, ExplicitLaws) and not laws.constraints
    # Tracing costs most: once for both.
    traced, shapes = jax.make_jaxpr(partial(_everything, laws), return_shape=True)(
        q[0], qd[0], t[0], params
    )
    names = jax.tree.structure(shapes)

    def everything(*arguments: Any) -> Any:
        return jax.tree.unflatten(names, jaxpr_as_fun(traced)(*jax.tree.leaves(arguments)))

    def reference(q: Any, qd: Any, t: Any) -> Any:
        return everything(q, qd, t, params)

    tape = Tape()
    state = unknowns(tape, (q[0], qd[0], t[0]))
    of_params = unknowns(tape, params)
    written = write(tape, everything, *state, of_params)
    many = jax.tree.map(lambda leaf: np.tile(leaf, (LANES, *[1] * np.ndim(leaf))), params)
    evaluation = Evaluation(tape, algebra, given(state, (q, qd, t)) | given(of_params, many))
    found = {name: gathered(evaluation.of(array), LANES) for name, array in written.items()}
    if free:
        solution = Factors(tape, written["mass"]).solve(written["bias"])
        found["motion"] = -gathered(evaluation.of(solution), LANES)
    program = jax.jit(jax.vmap(reference)).lower(q, qd, t)
    wanted = program.compile(compiler_options={"xla_backend_optimization_level": "0"})(q, qd, t)
    wanted = {name: np.asarray(array) for name, array in wanted.items()}
    if free:
        wanted["motion"] = -np.linalg.solve(wanted["mass"], wanted["bias"][..., None])[..., 0]
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        error = _relative(found[name], array)
        bound = CHAIN_ROUND_OFF if name == "motion" else ROUND_OFF
        assert error < bound, f"{name}: off by {error:.1e}"


def test_machines_written_as_scalars_move_as_before(any_machine: dm.System) -> None:
    params = jittered_params(any_machine, seed=1)
    _compare(any_machine.laws, params, any_machine.n, 4, Arrays())


@pytest.mark.parametrize("lagrangian", LAGRANGIANS, ids=lambda f: f.__name__)
def test_unseen_lagrangians_written_as_scalars_are_those_of_jax(lagrangian: Any) -> None:
    params = {"m": jnp.array([1.0, 1.3, 0.7, 2.0])}
    _compare(Laws(lagrangian, None, None), params, 4, 5, Lanes())


def _acceleration(system: dm.System) -> tuple[Tape, Any, Any, Any]:
    """A machine's acceleration, and the states and parameters it is written in."""
    tape = Tape()
    q = np.zeros(system.n)
    state, params = unknowns(tape, ((q, q, 0.0), system.params))
    mass, bias = write(
        tape, lambda *arguments: mass_and_bias_of(system.laws, *arguments), *state, params
    )
    return tape, Factors(tape, mass).solve(bias), state, params


@pytest.mark.parametrize(
    ("name", "most"),
    [("babyboot()", 43), ("double_pendulum()", 120), ("n_link(n=3)", 303), ("n_link(n=5)", 646)],
)
def test_known_machines_cost_no_more_operations_than_before(name: str, most: int) -> None:
    system = eval(f"dm.systems.{name}", {"dm": dm})
    tape, acceleration, *_ = _acceleration(system)
    assert tape.count(acceleration) <= most


def test_what_depends_on_parameters_alone_is_worked_out_once_and_suffices() -> None:
    system = dm.systems.babyboot()
    tape, acceleration, state, params = _acceleration(system)
    places = np.concatenate([np.ravel(array) for array in state]).tolist()
    once = independent_of(tape, acceleration, places)
    assert any(tape.operations[place].name == "mul" for place in once), "nothing is spared"

    of_params = given(params, jax.tree.map(lambda leaf: np.asarray(leaf)[None], system.params))
    of_state = {place: jnp.asarray([0.3 + 0.1 * i]) for i, place in enumerate(places)}
    before = Evaluation(tape, Lanes(), of_params)
    known = dict(zip(once, before.of(once), strict=True))
    after = Evaluation(tape, Lanes(), known | of_state).of(acceleration)
    whole = Evaluation(tape, Lanes(), of_params).with_given(of_state).of(acceleration)
    np.testing.assert_array_equal(gathered(after, 1), gathered(whole, 1))
    with pytest.raises(KeyError, match="has no value"):
        before.of(acceleration)


def test_parts_without_any_input_in_question_are_outermost_and_complete() -> None:
    tape = Tape()
    a, b, x = (tape.input() for _ in range(3))
    inner = tape.operate("mul", a, b)
    outer = tape.operate("sin", inner)
    result = tape.operate("add", outer, tape.operate("mul", b, x))
    assert independent_of(tape, [result], [x]) == sorted([outer, b])
    assert independent_of(tape, np.array([[result]]), []) == [result]
    assert independent_of(tape, [result], [a, b, x]) == []


def test_whole_numbers_keep_their_own_arithmetic_when_terms_are_collected() -> None:
    def stairs(x: Any) -> Any:
        step = jnp.floor(x[0]).astype(int)
        return lax.div(step, 2) * x[1] + x[1] * x[0] + x[0] * x[0] * x[1] + step * 3

    tape = Tape()
    x = unknowns(tape, np.zeros(2))
    places = collected(tape, write(tape, stairs, x), x)
    values = dict(zip(x.tolist(), jnp.array([5.3, 2.0]), strict=True))
    found = Evaluation(tape, Lanes(), values).of(places).item()
    np.testing.assert_allclose(found, stairs(jnp.array([5.3, 2.0])), rtol=1e-15)
