"""In six digits: what the library and the command line say they cannot do."""

from ..simulation.test_bad_input import run_python

SINGLE = """
import contextlib, io, warnings
import jax
import numpy as np
import diffmech as dm
from diffmech import cli
from diffmech.model import require_sound_params
from diffmech.assembly._assemble import is_closed
warnings.simplefilter("ignore")
boot, pendulum = dm.systems.babyboot(), dm.systems.pendulum()

def said(call):
    try:
        print("GIVEN", call())
    except ValueError as error:
        print("REFUSED", error)

spread = dm.criteria.Spread({"qB": 1e-7})
said(lambda: dm.stability_map(boot, {"qA": (0.05, 3.1, 21)}, spread, duration=10, q0={"qB": 0.02}))
said(lambda: dm.band_edges(boot, "qA", points=61))
with contextlib.redirect_stderr(io.StringIO()) as told:
    print("CODE", cli.run(["edges", "babyboot", "--family", "qA"]), end=" ")
print(told.getvalue().strip())
single = jax.tree.map(lambda leaf: np.asarray(leaf, np.float32), boot.params)
said(lambda: require_sound_params(single))
said(lambda: is_closed([1.0, 0.3, -1.5], [0.0, -1.19e-07]))
said(lambda: is_closed([1.0, 0.3, -1.5], [0.0, -1e-4]))
swing = np.linspace(0, 2, 21), 0.1 * np.cos(np.linspace(0, 6, 21))
said(lambda: dm.fit(pendulum, swing, ["length"], noise=-1.0))
"""


def test_float32_says_what_it_can_and_cannot_do() -> None:
    lines = run_python(SINGLE, DIFFMECH_X64="0", JAX_ENABLE_X64="0").splitlines()
    spread, edges, shell, body, closed, open_, fit = lines
    assert spread.startswith("REFUSED `criterion` must start neighbours at least 6.0e-06 from each")
    assert edges.startswith("REFUSED a band edge is not found in six digits. JAX is running in flo")
    assert shell.startswith("CODE 2 Error: a band edge is not found in six digits.")
    assert all("JAX_ENABLE_X64=1" in line for line in (spread, edges, shell))
    assert (body, closed, open_) == ("GIVEN None", "GIVEN True", "GIVEN False")
    assert "`noise" in fit, "the tolerance of its own, which is looked at before, was accepted"
    assert "rtol" not in fit
