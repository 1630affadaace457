"""Parameters written into the program: fewer operations, the same motion."""

from typing import Any

import jax
import numpy as np
import pytest

import diffmech as dm
from diffmech.lanes._lane_equations import Equations, Fixed, Layout
from diffmech.lanes._prepare import stabilisation
from diffmech.lanes._program_choice import values_to_fix
from diffmech.lanes._tiles import run_tile
from diffmech.scalars import Arrays, Evaluation, gathered, given

from ..conftest import random_states
from ..tolerances import CHAIN_ROUND_OFF

LANES = 5


def rates(system: dm.System, fixed: Fixed) -> np.ndarray:
    """dy/dt at random states, shape (lanes, 2n), in NumPy: nothing is compiled."""
    how, layout = stabilisation(system, None), Layout(system.n, 0, work=False)
    q, qd, _ = random_states(system.n, LANES, seed=3)
    equations = Equations(system.laws, layout, system.params, how, fixed)
    places = [equations.q, equations.qd, equations.t, equations.gains]
    values: list[Any] = [q, qd, np.full(LANES, 0.2), _for_all(how)]
    if not fixed:  # else they are on the tape
        places.append(equations.params)
        values.append(_for_all(system.params))
    known = given(places, values)
    sizes = gathered(Evaluation(equations.tape, Arrays(), known).of(equations.sizes), LANES)
    known |= given(equations.roots, sizes)
    found = Evaluation(equations.tape, Arrays(), known).of(np.array(equations.rates))
    return gathered(found, LANES)


def _for_all(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: np.tile(leaf, (LANES, *[1] * np.ndim(leaf))), tree)


def test_numbers_written_in_leave_the_equations_of_every_machine(any_machine: dm.System) -> None:
    # The machines' own numbers: zeros, ones and equal ones, which are what may vanish.
    fixed = values_to_fix(any_machine.params, jax.tree.map(lambda _: False, any_machine.params))
    free, held = rates(any_machine, ()), rates(any_machine, fixed)
    size = np.max(np.abs(free), axis=1, keepdims=True)
    assert np.max(np.abs(held - free) / (1e-3 + size)) < CHAIN_ROUND_OFF


def end(system: dm.System, **more: Any) -> tuple[np.ndarray, dm.Ensemble]:
    starts = np.array([[0.5, 0.4], [1.0, -0.3]])
    found = dm.ensemble(system, starts, duration=1.0, rtol=1e-10, method="Tsit5", **more)
    return np.concatenate(found.values["last"], axis=1), found


def test_a_machine_of_general_parts_gets_a_short_program_and_the_same_motion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    products = []

    def spy(*arguments: Any) -> Any:
        products.append(run_tile.lower(*arguments).as_text().count("stablehlo.multiply"))
        return run_tile(*arguments)

    monkeypatch.setattr("diffmech.lanes._host_loop.run_tile", spy)
    system = dm.systems.double_pendulum_3d()
    free, general = end(system)
    held, special = end(system, fixed_params=True)
    assert products[1] * 2 < products[0]
    assert np.max(np.abs(held - free)) < 1e-8
    assert "perhaps fewer with `fixed_params=True`" in str(general)
    assert "parameters written in" in str(special)
    assert [run.settings["fixed_params"] for run in (general, special)] == [False, True]
    operations = [int(run.settings["why"].split()[0]) for run in (general, special)]
    assert operations[1] * 10 < operations[0]


def test_other_numbers_are_those_that_are_used() -> None:
    system = dm.systems.hinged_pendulum()
    for scale in (1.0, 1.3):
        params = jax.tree.map(lambda leaf, scale=scale: scale * np.asarray(leaf), system.params)
        runs = [
            dm.ensemble(system, [[0.5]], duration=1.0, params=params, fixed_params=fixed)
            for fixed in (False, True)
        ]
        assert runs[1].settings["fixed_params"]
        free, held = (run.values["last"][0].item() for run in runs)
        assert abs(free - held) < 1e-7


def test_what_varies_or_is_traced_stays_free() -> None:
    system = dm.systems.hinged_pendulum()
    sweep = {"gravity": np.array([5.0, 9.81])}
    free, held = (
        dm.ensemble(system, [0.5], duration=1.0, params=sweep, fixed_params=fixed)
        for fixed in (False, True)
    )
    assert held.settings["fixed_params"]
    assert np.max(np.abs(free.values["last"][0] - held.values["last"][0])) < 1e-7

    def last(g: Any) -> Any:
        found = dm.ensemble(
            system, [0.5], duration=1.0, params={"gravity": g}, rtol=1e-10, fixed_params=True
        )
        return found.values["last"][0][:, 0]

    (slope,) = np.asarray(jax.jit(jax.jacfwd(last))(9.81))
    step = 1e-4
    after, before = np.asarray(last(9.81 + step * np.array([1.0, -1.0])))  # as in the sweep
    difference = (after - before) / (2 * step)
    assert abs(slope - difference) < 1e-6 * abs(difference)


def test_numbers_that_save_nothing_are_not_written_in() -> None:
    sleigh = dm.systems.chaplygin_sleigh()
    q0, qd0 = sleigh.starts["default"]
    found = dm.ensemble(sleigh, q0, qd0, duration=0.1, fixed_params=True)
    assert not found.settings["fixed_params"]
    assert found.ok.all()
