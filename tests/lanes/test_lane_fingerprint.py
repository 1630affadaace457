"""A number that a function reads has changed: single runs and lanes answer with the new one."""

import os
import subprocess
import sys
from pathlib import Path

from ..conftest import ROOT

# In a process of its own: everything that was compiled is dropped.
EVERY_VERB = """
import warnings
import equinox as eqx
import numpy as np
import diffmech as dm
from tests.simulation.test_fingerprint import by_closure, by_loop_body

k, set_k = by_loop_body()
level, set_level = by_closure()

def lagrangian(q, qd, t, p):
    return 0.5 * qd[0] ** 2 - 0.5 * k() * q[0] ** 2

def passed(q, qd, t, p):
    return level() - 0.5 - q[0]

class Passed(eqx.Module):
    offset: np.ndarray

    def __call__(self, *state):
        return passed(*state) + self.offset

def run(**more):
    return dm.simulate(dm.System(lagrangian, {"x": "m"}), [1.0], duration=1.0, samples=2, **more)

def answers():
    system = dm.System(lagrangian, {"x": "m"})
    first = dm.reducers.FirstTime(Passed(np.zeros(())), stop=False)
    lanes = dm.ensemble(system, [[1.0]], duration=1.0, reduce={"last": "last", "first": first})
    return np.array([
        dm.acceleration(system, [1.0], [0.0])[0],
        run().end.q[0],
        lanes.values["last"][0][0, 0],
        run(events={"passed": passed}).end.t,
        lanes.values["first"][0],
    ])

def close(found, k, level):
    w = np.sqrt(k)
    passes = np.arccos(level - 0.5) / w
    np.testing.assert_allclose(found, [-k, np.cos(w), np.cos(w), passes, passes], rtol=1e-5)

def said_by(change, value):
    change(value)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = answers()
    assert heard
    assert all(one.filename == __file__ for one in heard), "where the user stands"
    return found

set_level(1.2)
close(answers(), 1.0, 1.2)
old = run()
close(said_by(set_k, 4.0), 4.0, 1.2)
close(said_by(set_level, 0.8), 4.0, 0.8)
try:
    old.report()
except ValueError as error:
    assert "have changed since this run" in str(error)
    print("all new")
"""


def test_every_verb_answers_with_the_new_number(tmp_path: Path) -> None:
    script = tmp_path / "verbs.py"
    script.write_text(EVERY_VERB, encoding="utf-8")
    root = str(ROOT)
    found = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert found.stdout == "all new\n", found.stderr
