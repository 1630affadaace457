"""Rows in batches of one size: any number of them, one program."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech._batches import ROWS, in_batches, padded_times

from ..conftest import programs_compiled


@jax.jit
def _scaled(_: None, x: jax.Array, y: jax.Array, factor: float) -> dict[str, jax.Array]:
    assert len(x) in (ROWS, 2)  # two under a transformation
    return {"sum": factor * jnp.sum(x, axis=1) + y, "matrix": x[:, :, None] * y[:, None, None]}


@pytest.mark.parametrize("count", [0, 1, ROWS - 1, ROWS, ROWS + 1, 2 * ROWS + 3])
def test_every_row_is_that_of_its_own_arguments(count: int) -> None:
    rng = np.random.default_rng(count)
    x, y = rng.normal(size=(count, 3)), rng.normal(size=count)
    before = in_batches(_scaled, None, (x[:1], y[:1]), 2.0)
    compiled = programs_compiled()
    found = in_batches(_scaled, None, (x, y), 3.0)
    assert programs_compiled() == compiled, "another number of rows compiles nothing"
    np.testing.assert_allclose(found["sum"], 3.0 * x.sum(axis=1) + y, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(found["matrix"], x[:, :, None] * y[:, None, None])
    assert len(before["sum"]) == min(count, 1)


def test_a_program_is_compiled_whole_and_numbers_stay_numbers_within_a_jit() -> None:
    """Its constants are no programs of their own (they were, by the dozen, in a first report)."""
    compiled: list[str] = []

    def note(event: str, duration_secs: float, **of: str | int) -> None:
        if event.endswith("backend_compile_duration"):
            compiled.append(str(of["fun_name"]))

    @jax.jit
    def turned(_: None, x: jax.Array, __: None) -> jax.Array:
        return x @ (3.0 * jnp.eye(7) - jnp.flip(jnp.tri(7)))

    x = np.arange(14.0).reshape(2, 7)
    in_batches(_scaled, None, (x[:, :3], x[:, 0]), 1.0)  # what every process has once
    jax.monitoring.register_event_duration_secs_listener(note)
    found = in_batches(turned, None, (x,), None)
    jax.monitoring.unregister_event_duration_listener(note)
    assert compiled == ["jit(turned)"]
    assert isinstance(jax.jit(lambda y: y + in_batches(turned, None, (x,), None))(0.0), jax.Array)
    np.testing.assert_allclose(found, x @ (3.0 * np.eye(7) - np.flip(np.tri(7))))


def test_under_a_transformation_all_rows_go_at_once() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.ones(2)

    def total(factor: jax.Array) -> jax.Array:
        return jnp.sum(in_batches(_scaled, None, (x, y), factor)["sum"])

    assert jax.grad(total)(1.0) == pytest.approx(15.0, rel=1e-14)


@pytest.mark.parametrize(("count", "size"), [(2, 1024), (1001, 1024), (1024, 1024), (1025, 2048)])
def test_times_are_filled_up_with_times_that_never_come(count: int, size: int) -> None:
    ts = np.linspace(0.0, 1.0, count)
    padded = padded_times(ts)
    assert len(padded) == size
    np.testing.assert_array_equal(padded[:count], ts)
    assert np.all(padded[count:] == np.inf)


def test_another_number_of_samples_compiles_nothing_and_moves_nothing() -> None:
    pendulum = dm.systems.pendulum_dae()
    start = pendulum.starts["default"]

    def run(samples: int) -> dm.Trajectory:
        found = dm.simulate(pendulum, *start, duration=1.0, samples=samples)
        found.report(second_run=False)
        found(np.linspace(0.1, 0.9, samples))
        return found

    few = run(11)
    before = programs_compiled()
    many = run(1001)
    assert programs_compiled() == before
    # Steps end on samples, so that other samples mean other steps, of 1e-11 each.
    np.testing.assert_allclose(many.qs[::100], few.qs, rtol=0, atol=1e-9)
    jax.jit(lambda x: x + 1)(1.0)
    assert programs_compiled() > before, "or compiling is not seen"
