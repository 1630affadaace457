"""Criteria whose numbers say nothing are refused, and what a map says of its edges is true."""

from typing import Any

import equinox as eqx
import numpy as np
import pytest

import diffmech as dm
from diffmech.maps import Verdict

from ..conftest import machine
from ..simulation.test_bad_input import run_python


def swing(points: Any, criterion: Any, **more: Any) -> dm.StabilityMap:
    return dm.stability_map(machine("pendulum"), {"theta": points}, criterion, 0.5, **more)


def test_a_spread_of_nothing_is_refused() -> None:
    for offset in ({}, {"theta": 0.0}, {"theta": 0, "theta_dot": -0.0}):
        with pytest.raises(ValueError, match="`offset` must move the second start"):
            dm.criteria.Spread(offset)


def test_a_spread_that_rounding_swallows_is_refused_or_undecided() -> None:
    with pytest.raises(ValueError, match=r"at least 4\.4e-15 from each start: .* in float64"):
        swing([0.02, 0.1], dm.criteria.Spread({"theta": 1e-20}))
    chart = swing([0.01, 0.5, 1.0], dm.criteria.Spread({"theta": 5e-14}))
    assert chart.verdicts.tolist() == [Verdict.STABLE, Verdict.UNDECIDED, Verdict.UNDECIDED]
    assert np.isnan(chart.values).tolist() == [False, True, True]
    rest = swing([0.0], dm.criteria.Spread({"theta": 1e-20}))
    assert 0 < rest.values[0] <= 1e-20, "nothing is lost where there is nothing to round"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: dm.criteria.MegnoBelow(5, 3), "`regular` must be at most `chaotic`, but 5 > 3"),
        (lambda: dm.criteria.MegnoBelow(np.nan), "`regular` must be finite"),
        (
            lambda: dm.criteria.SaliAbove(1e-9, 1e-3),
            "`aligned` must be at most `apart`, but 0.001 > 1e-09",
        ),
        (lambda: dm.criteria.SaliAbove(aligned=0), "`aligned` must be greater than zero"),
        (lambda: dm.criteria.FloquetStable(margin=-1), "`margin` must not be negative, but is -1"),
        (lambda: dm.criteria.FloquetStable(closing=0), "`closing` must be greater than zero"),
    ],
)
def test_limits_in_the_wrong_order_are_refused(make: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


def test_neighbours_that_are_aligned_from_the_start_are_refused() -> None:
    for first, second in (([1, 0], [1, 0]), ([1, 2], [-3, -6 * (1 + 1e-15)]), ([0, 0], [0, 1])):
        with pytest.raises(ValueError, match="directions that are not parallel"):
            dm.reducers.Sali(first, second)
    assert dm.reducers.Sali([1, 0], [1, 1e-6]).tangents.shape == (2, 2)


def test_an_edge_is_said_to_be_bisected_and_not_to_be_known() -> None:
    grid, tumble = (1.0, 2.0, 3), dm.criteria.Tumble("theta", 1.5)
    said = str(swing(grid, tumble, accuracy=1e-3, rtol=1e-5))
    assert "bisected to" in said
    assert "the integration's error at rtol 1e-05 comes on top" in said
    assert "known to" not in said
    said = str(swing(grid, tumble, accuracy=1e-3, dt=0.05))
    assert "the integration's error at dt 0.05 s comes on top" in said
    with pytest.raises(ValueError, match=r"`accuracy` must be at least 4\.4e-16, but is 1e-16"):
        swing(grid, tumble, accuracy=1e-16)


def test_no_edges_are_claimed_where_no_orbits_were() -> None:
    found = dm.band_edges(machine("pendulum"), "theta", (0.1, 0.2), points=5)
    assert "edges    none found\n" in str(found)
    lost = np.asarray(found.edge_functions).copy()
    lost[2:] = np.nan
    part = eqx.tree_at(lambda one: one.edge_functions, found, lost)
    assert "none found where there was an orbit; nothing is known elsewhere" in str(part)


def test_moments_kept_in_float32_may_belong_to_a_flat_body() -> None:
    flat = np.array([5e-5, 2e-4, 2.5e-4 * (1 + 2e-7)], np.float32)
    assert dm.parts.RigidBody(1.0, flat).inertia.shape == (3,)
    with pytest.raises(ValueError, match="I1 \\+ I2 >= I3"):
        dm.parts.RigidBody(1.0, np.asarray([5e-5, 2e-4, 2.5e-4 * (1 + 2e-7)]))
    with pytest.raises(ValueError, match="I1 \\+ I2 >= I3"):
        dm.parts.RigidBody(1.0, np.array([5e-5, 2e-4, 2.51e-4], np.float32))


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
