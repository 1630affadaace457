"""Wrong calls: one clear sentence each, before anything is compiled."""

import subprocess
import sys
import textwrap
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm

from ..conftest import machine


@pytest.fixture(scope="module")
def boot() -> dm.System:
    return machine("babyboot")


def run_python(code: str, **environment: str) -> str:
    """Run code in a process of its own, without the run-time type checks of this suite."""
    import os

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=1800,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# NaN and infinity


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: dm.simulate(s, [1.0, np.nan], duration=1), r"`q0\[1\]` \(qB\) must be finite"),
        (
            lambda s: dm.simulate(s, [1.0, 0.0], [np.inf, 0.0], duration=1),
            r"`qd0\[0\]` \(qA\) must be finite, but is inf",
        ),
        (
            lambda s: dm.simulate(s.with_params(mB=np.nan), [1.0, 0.0], duration=1),
            "`mB` must be finite, but is nan",
        ),
        (lambda s: dm.simulate(s, [1.0, 0.0], duration=np.nan), "`duration` must be finite"),
        (lambda s: dm.simulate(s, [1.0, 0.0], ts=[0, np.inf]), r"`ts\[1\]` must be finite"),
        (lambda s: dm.acceleration(s, [np.nan, 0.0], [0.0, 0.0]), r"`q\[0\]` \(qA\) must be fin"),
    ],
)
def test_nan_and_infinity_are_named_before_compiling(
    boot: dm.System, call: Any, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        call(boot)


def test_nan_in_a_nested_parameter_is_named_by_its_path() -> None:
    system = machine("double_pendulum").with_params({"masses[1]": np.nan})
    with pytest.raises(ValueError, match=r"`masses\[1\]` must be finite, but is nan"):
        dm.simulate(system, [1.0, 1.0], duration=1)


# Shapes, types, names


@pytest.mark.parametrize(
    ("q0", "sentence"),
    [
        ([1.0, 2.0, 3.0], r"`q0` must have shape \(2,\) = \(qA, qB\), but has shape \(3,\)"),
        (1.0, r"must have shape \(2,\) = \(qA, qB\), but has shape \(\)"),
        ({"qA": 1.0}, "but qB is missing"),
        ({"qA": 1.0, "qb": 2.0}, "names 'qb', which is not a coordinate. Did you mean 'qB'"),
        (["a", "b"], "is not numeric"),
        (np.array([1j, 0]), "is not real"),
        (jnp.array([1j, 0]), "is not real"),
    ],
)
def test_wrong_initial_states_are_explained(boot: dm.System, q0: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        dm.simulate(boot, q0, duration=1.0)


def test_integers_and_float32_are_cast(boot: dm.System) -> None:
    integers = dm.simulate(boot, [1, 0], [0, 0], duration=1, samples=3)
    singles = dm.simulate(boot, np.array([1, 0], np.float32), duration=np.float32(1), samples=3)
    named = dm.simulate(boot, {"qB": 0, "qA": 1}, duration=1.0, samples=3)
    assert integers.qs.dtype == singles.qs.dtype == np.float64
    np.testing.assert_array_equal(integers.qs, singles.qs)
    np.testing.assert_array_equal(integers.qs, named.qs)


def test_parameters_are_checked_by_path_structure_and_shape() -> None:
    system = machine("double_pendulum")
    with pytest.raises(ValueError, match=r"no parameter 'mases'\. Did you mean 'masses'"):
        system.with_params(mases=[1, 2])
    with pytest.raises(ValueError, match=r"`masses` must have shape \(2,\), but has shape \(3,\)"):
        system.with_params(masses=[1, 2, 3])
    with pytest.raises(ValueError, match=r"`masses` has shape \(2,\), so there is no 'masses\[2\]"):
        system.with_params({"masses[2]": 1.0})
    with pytest.raises(ValueError, match="`gravity` must be numbers"):
        system.with_params(gravity="strong")
    assert float(system.with_params({"masses[1]": 5.0}).params.masses[1]) == 5.0
    np.testing.assert_array_equal(system.with_params(masses=3.0).params.masses, [3.0, 3.0])
    nested = dm.System(
        lambda q, qd, t, p: 0.5 * p["a"]["m"][0] * qd @ qd, ("x",), {"a": {"m": [1.0, 2.0]}}
    )
    assert float(nested.with_params({"a.m[1]": 7.0}).params["a"]["m"][1]) == 7.0
    with pytest.raises(
        ValueError, match="`params` must have the structure of the system's, but la"
    ):
        dm.simulate(nested, [1.0], duration=1.0, params={"a": {"m": [1.0]}})
    with pytest.raises(ValueError, match="but has 'b', which it does not"):
        dm.simulate(nested, [1.0], duration=1.0, params={"b": 1.0})


# Times and tolerances


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "give either `duration` or `ts`"),
        ({"duration": 1.0, "ts": [0, 1]}, "not both"),
        ({"duration": 0.0}, "`duration` must be greater than zero, but is 0"),
        ({"duration": 1e-310}, "`duration` must be at least 2e-308 in float64, but is 1e-310"),
        ({"duration": 1e-300}, "`duration` must be at least 1e-292 in float64, but is 1e-300"),
        ({"ts": [0.0, 1e-300]}, "the samples lie 1.0e-300 s apart, too close"),
        ({"duration": 1.0, "dt": 1e-310}, "`dt` must be at least 2e-308 in float64"),
        ({"duration": -2.0}, "`duration` must be greater than zero, but is -2"),
        ({"ts": [0.0, 2.0, 1.0]}, r"`ts` must increase, but ts\[2\] = 1 is not after ts\[1\] = 2"),
        ({"ts": [0.0, 1.0, 1.0]}, "sort it and drop repeated times"),
        ({"ts": [0.0]}, "`ts` must be at least two times in a row"),
        ({"duration": 1.0, "rtol": 0.0}, "`rtol` must be greater than zero"),
        (
            {"duration": 1.0, "rtol": 1e-17},
            "`rtol` must be at least 1e-14 in float64, but is 1e-17",
        ),
        ({"duration": 1.0, "atol": -1.0}, "`atol` must be greater than zero, but is -1"),
        ({"duration": 1.0, "dt": 0.0}, "`dt` must be greater than zero"),
        ({"duration": 1.0, "samples": 1}, "`samples` must be a whole number, at least 2"),
        ({"duration": 1.0, "max_steps": 0}, "`max_steps` must be a whole number, at least 1"),
        ({"duration": 1e-12, "t0": 1.0}, "too close for times of 1 s in float64"),
        ({"duration": 1.0, "t0": np.nan}, "`t0` must be finite, but is nan"),
        ({"duration": 1.0, "rtol": np.nan}, "`rtol` must be finite, but is nan"),
        ({"duration": 1.0, "gradient": "adjoint"}, "`gradient` must be 'reverse' or 'forward'"),
        ({"ts": [1.0, 2.0], "t0": 0.5}, "`t0` goes with `duration`"),
    ],
)
def test_wrong_times_and_tolerances_are_explained(
    boot: dm.System, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        dm.simulate(boot, [1.0, 0.0], **arguments)


# Precision


def test_float32_warns_once_runs_and_refuses_what_it_cannot_do() -> None:
    out = run_python(
        """
        import warnings
        import diffmech as dm
        boot = dm.systems.babyboot()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for _ in range(2):
                run = dm.simulate(boot, *boot.starts["regular"], duration=1.0)
        print(len(caught), "JAX_ENABLE_X64=1" in str(caught[0].message), run.qs.dtype)
        warnings.simplefilter("ignore")
        print("float32" in str(run))
        try:
            dm.simulate(boot, *boot.starts["regular"], duration=1.0, rtol=1e-9)
        except ValueError as error:
            print(error)
        """,
        DIFFMECH_X64="0",
        JAX_ENABLE_X64="0",
    )
    lines = out.splitlines()
    assert lines[:2] == ["1 True float32", "True"]
    assert lines[2].startswith("`rtol` must be at least 6e-06 in float32, but is 1e-09")
    assert "JAX_ENABLE_X64=1" in lines[2]


# A user's functions


def uses_numpy(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return 0.5 * qd @ qd - np.cos(np.asarray(q))[0]


def branches(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return 0.5 * qd @ qd if q[0] > 0 else qd @ qd


def raises(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return {}["mass"] * qd @ qd


def loops(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return jax.lax.while_loop(lambda x: x < 1, lambda x: x + 1, qd @ qd)


@pytest.mark.parametrize(
    ("lagrangian", "sentence"),
    [
        (lambda q, qd, t, p: qd**2, r"`lagrangian` .* must return a scalar, .* shape \(2,\)"),
        (lambda q, qd, t, p: 1, "must return a real float array, but returns"),
        (lambda q, qd, t, p: None, "but returns NoneType"),
        (lambda q, qd, t, p: (qd @ qd) * 1j, "but returns dtype complex128"),
        (uses_numpy, r"uses_numpy.* must be made of JAX operations"),
        (branches, r"`jnp.where` for `if`"),
        (raises, r"`lagrangian` \(raises\) raised KeyError when tried"),
        (loops, r"loops, differentiated twice\) raised ValueError"),
        (lambda q, qd: qd @ qd, "raised TypeError when tried"),
    ],
)
def test_mistakes_in_a_lagrangian_are_caught_when_it_is_declared(
    lagrangian: Any, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        dm.System(lagrangian, ("x", "y"))


INDEXED = {
    "number": (lambda q: q[5], 5),
    "from the end": (lambda q: q[-3], -3),
    "list": (lambda q: jnp.sum(q[jnp.array([0, 7])]), 7),
    "array": (lambda q: jnp.sum(q[np.array([1, 2])]), 2),
    "matrix": (lambda q: jnp.outer(q, q)[0, 4], 4),
    "written": (lambda q: jnp.sum(jnp.zeros(2).at[2].set(q[0])), 2),
    "within": (lambda q: jax.jit(lambda x: x[3])(q), 3),
}


@pytest.mark.parametrize("case", INDEXED)
def test_an_entry_that_is_not_there_is_not_taken_for_another(case: str) -> None:
    taken, index = INDEXED[case]
    with pytest.raises(ValueError, match=f"asks for entry {index} of an axis with 2"):
        dm.System(lambda q, qd, t, p: 0.5 * qd @ qd + taken(q), ("x", "y"))


def test_indices_that_are_right_or_computed_are_left_alone() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        nearest = jnp.asarray(t, int) + 9  # clamped, perhaps on purpose
        table = jnp.array([1.0, 2.0, 3.0])
        right = q[-1] + q[-2] + q[1:9].sum() + q[np.array([-1, 0])].sum() + q[jnp.arange(2)].sum()
        shifted = jnp.zeros(2).at[np.array([1, 2])].set(q, mode="drop")
        right += shifted[1] + jnp.roll(q, 1)[0] + jnp.take(q, 5, mode="clip") + q.at[-2].add(1.0)[0]
        return 0.5 * qd @ qd + right + table[nearest] + jnp.interp(q[0], table, table)

    dm.System(lagrangian, ("x", "y"))


def test_mistakes_in_other_functions_name_the_function() -> None:
    free = lambda q, qd, t, p: 0.5 * qd @ qd  # noqa: E731
    with pytest.raises(ValueError, match=r"`forces` .* shape \(2,\), one entry per coordinate"):
        dm.System(free, ("x", "y"), forces=lambda q, qd, t, p: q[0])
    with pytest.raises(ValueError, match=r"`dissipation` .* must return a scalar"):
        dm.System(free, ("x", "y"), dissipation=lambda q, qd, t, p: qd)
    with pytest.raises(ValueError, match=r"`landmarks` must return shape \(k, 2\) or \(k, 3\)"):
        dm.System(free, ("x", "y"), landmarks=lambda q, t, p: q)
    with pytest.raises(ValueError, match="`links` joins \\(0, 3\\), but there are only 1"):
        dm.System(free, ("x", "y"), landmarks=lambda q, t, p: q[None], links=[(0, 3)])
    with pytest.raises(ValueError, match=r"`acceleration` .* must return shape \(2,\)"):
        dm.Explicit(lambda q, qd, t, p: q[0], ("x", "y"))
    system = dm.System(free, ("x", "y"))
    with pytest.raises(ValueError, match=r"`events\['far'\]` .* must return a scalar"):
        dm.simulate(system, [0, 0], duration=1, events={"far": lambda q, qd, t, p: q})


def test_a_lagrangian_that_returns_nan_is_reported() -> None:
    system = dm.System(lambda q, qd, t, p: 0.5 * qd @ qd + jnp.sqrt(q[0]), ("x",), name="broken")
    with pytest.raises(
        dm.SimulationError, match=r"broken stopped at t = 0 s.*stopped being finite"
    ):
        dm.simulate(system, [-1.0], duration=1.0)
    with pytest.raises(ValueError, match="the equations of 'broken' give NaN or infinity at q = "):
        dm.acceleration(system, [-1.0], [0.0])


@pytest.mark.parametrize(
    ("coordinates", "sentence"),
    [
        ((), "must name at least one coordinate"),
        (("x", "x"), "must be distinct"),
        (("x y",), "must be names such as"),
        (("m",), "names both a coordinate and a parameter"),
    ],
)
def test_coordinate_names_are_checked(coordinates: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        dm.System(lambda q, qd, t, p: 0.5 * p["m"] * qd @ qd, coordinates, {"m": 1.0})


# Under the user's own transformations


def test_checks_on_traced_values_become_statuses() -> None:
    system = machine("pendulum")
    run = jax.jit(lambda q: dm.simulate(system, q, duration=1.0, samples=3))
    good, bad = run(jnp.array([1.0])), run(jnp.array([jnp.nan]))
    assert bool(good.status == dm.RESULTS.successful)
    assert bool(bad.status == dm.RESULTS.not_finite_from_the_start)
    assert int(bad.stats["rejected"]) < 100  # a lane of NaN must not hold up the others
    with pytest.raises(ValueError, match="outside of `jit`"):
        jax.jit(lambda q: dm.simulate(system, q, duration=1.0).report())(jnp.array([1.0]))
    gradient = jax.grad(lambda q: dm.simulate(system, q, duration=0.5, samples=2).end.q[0])(
        jnp.array([1.0])
    )
    assert np.all(np.isfinite(gradient))


# Things of the wrong type altogether
