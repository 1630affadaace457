"""Settings survive files and closer looks whole, or are refused with the reason."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import diffrax
import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import diffmech as dm
from diffmech.motion import as_stabilisation, likeness, require_alike
from diffmech.simulation._kept_settings import settings_as_data, settings_from_data
from diffmech.simulation._methods import as_solver, method_name, stiff_solver
from diffmech.simulation._run_data import Settings


def slide(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A bead in the plane, pulled to the origin."""
    return 0.5 * params["m"] * qd @ qd - 0.5 * params["k"] * q @ q


def wire(q: Any, t: Any, params: Any) -> Any:
    return q[1] - 0.5 * q[0]


def steeper(q: Any, t: Any, params: Any) -> Any:
    return q[1] - 0.6 * q[0]


def bead(pull: Any = slide, constraint: Any = wire) -> dm.System:
    numbers = {"m": 1.0, "k": 2.0}
    return dm.System(pull, {"x": "m", "y": "m"}, numbers, constraints={"wire": constraint})


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    how = dm.solvers.baumgarte(omega=7.0, zeta=0.3)
    run = dm.simulate(bead(), [0.0, 0.0], [1.0, 0.5], duration=1.0, samples=11, stabilise=how)
    return run.save(tmp_path_factory.mktemp("runs") / "run.npz")


numbers = st.floats(1e-12, 1e6)
ways = st.one_of(
    st.none(),
    st.sampled_from(["none", "projection", "nullspace"]),
    st.fixed_dictionaries({"omega": numbers, "zeta": numbers}),
    st.fixed_dictionaries(
        {"alpha": numbers, "omega": numbers, "zeta": numbers, "inertial": st.booleans()}
    ),
)


def kept_by(way: Any) -> Any:
    if isinstance(way, dict):
        return (dm.solvers.penalty if "alpha" in way else dm.solvers.baumgarte)(**way)
    return None if way is None else as_stabilisation(way)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.sampled_from((*dm.methods(), "stiff")),
    st.tuples(numbers, numbers, st.none() | numbers),
    ways,
    st.tuples(st.lists(st.text(max_size=5)), st.integers(1, 10**9), st.sampled_from(["a", "b"])),
)
def test_settings_of_runs_come_back_whole(method: str, sizes: Any, way: Any, rest: Any) -> None:
    solver = stiff_solver() if method == "stiff" else as_solver(method)
    made = Settings(
        solver=solver,
        method=method_name(solver),
        rtol=np.asarray(sizes[0]),
        atol=np.asarray(sizes[1]),
        dt=None if sizes[2] is None else np.asarray(sizes[2]),
        longest=np.asarray(np.inf),
        events=(),
        event_names=tuple(rest[0]),
        max_steps=rest[1],
        dense=False,
        gradient=rest[2],
        stabilise=kept_by(way),
    )
    back = settings_from_data(json.loads(json.dumps(settings_as_data(made))), None)
    assert eqx.tree_equal(back, made) is True


def test_a_loaded_run_knows_how_it_was_kept_on_its_constraints(saved: Path, tmp_path: Path) -> None:
    again = dm.load(saved, bead())
    assert str(again.settings.stabilise) == "baumgarte(ω = 7, ζ = 0.3)"
    # From a run that was loaded without its machine, the same file is written again.
    twice = dm.load(dm.load(saved).save(tmp_path / "twice.npz"), bead())
    assert eqx.tree_equal(twice.settings, again.settings) is True
    assert str(twice) == str(again)
    assert {key: float(value) for key, value in twice.params.items()} == {"m": 1.0, "k": 2.0}


def test_a_solver_that_no_name_stands_for_is_asked_for(tmp_path: Path) -> None:
    own = diffrax.Dopri5(scan_kind="bounded")
    pendulum = dm.systems.pendulum()
    path = dm.simulate(pendulum, [1.0], duration=0.1, method=own).save(tmp_path / "run.npz")
    for wrong in (None, diffrax.Tsit5()):
        with pytest.raises(ValueError, match="a solver object 'Dopri5' that no name stands for"):
            dm.load(path, pendulum, method=wrong)
    assert dm.load(path, pendulum, method=own).settings.solver == own


def test_another_method_than_the_one_that_made_a_run_is_refused(saved: Path) -> None:
    for other, said in ((diffrax.Tsit5(), "'Tsit5'"), ("Heun", "'Heun'")):
        with pytest.raises(ValueError, match=f"the 'Dopri8' that made the run, but is {said}"):
            dm.load(saved, method=other)
    with pytest.raises(ValueError, match="'Dopri8' with options of its own"):
        dm.load(saved, method=diffrax.Dopri8(scan_kind="bounded"))
    assert dm.load(saved, method="dopri8").settings.method == "Dopri8"


@pytest.mark.parametrize("units", [{"x": "mm", "y": "m"}, ("x", "y")], ids=["other", "none"])
def test_a_coordinate_in_another_unit_is_refused_with_both(saved: Path, units: Any) -> None:
    other = dm.System(slide, units, {"m": 1.0, "k": 2.0}, constraints={"wire": wire}, name="bead")
    said = f"'x' in m, but 'bead' has it in {other.coordinates['x'] or 'no unit'}: pass the machine"
    with pytest.raises(ValueError, match=said):
        dm.load(saved, other)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (bead(pull=lambda q, qd, t, p: slide(q, qd, t, p) + 1e-6 * q[0]), "acceleration of 'x'"),
        (bead(constraint=steeper), "acceleration of 'x'"),
        (bead(constraint=lambda q, t, p: 2 * wire(q, t, p)), "residual of 'wire'"),
        (bead(constraint=lambda q, t, p: jnp.stack([wire(q, t, p)] * 2)), "2 rows of constraints"),
    ],
    ids=["lagrangian", "constraint", "scale of it", "rows of it"],
)
def test_another_machine_with_the_same_names_is_refused(
    saved: Path, other: dm.System, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        dm.load(saved, other)


def test_a_slow_machine_is_told_from_another_slow_one() -> None:
    def slow(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * qd @ qd - 1e-12 * params["k"] * q @ q

    one, two = (dm.System(slow, {"x": "m"}, {"k": k}) for k in (1.0, 2.0))
    kept = likeness(one, one.params, 0.0, [1.0], [0.0])
    require_alike(one, one.params, kept)
    with pytest.raises(ValueError, match="acceleration of 'x'"):
        require_alike(two, two.params, kept)


def test_no_setting_of_a_run_is_left_out(saved: Path) -> None:
    kept = {*settings_as_data(dm.load(saved).settings), "event_names"}  # they are its "events"
    # Dense output is not written, and the bound on steps is a second run's.
    assert {field.name for field in dataclasses.fields(Settings)} - kept == {"dense", "longest"}
