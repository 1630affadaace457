"""Parameters say what they are measured in, and the command line holds one to it."""

import ast
import inspect
import json
import re
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech._units import dimension
from diffmech.cli._machines import _argument_unit
from diffmech.cli._quantities import both_ends, number, numbers
from diffmech.cli._shell_words import _SHELL
from diffmech.maps._axes import as_axes
from diffmech.model import parameter_paths, parameter_ranges, parameter_unit, parameter_units
from diffmech.orbits import BandEdges
from diffmech.orbits._band_edges import _resolved
from diffmech.sections import Bifurcation, Plane
from diffmech.sections._section_record import PoincareSection
from diffmech.systems import CATALOGUE
from diffmech.viz._stability import in_degrees

from .test_cli import Cli, cli as cli

KNOWN = {
    "1", "rad", "rad/s", "m", "m/s", "m/s^2", "kg", "kg/m", "kg m^2", "N", "N m", "N/m", "N m/rad",
    "N s/m", "N s^2/m^2", "N m s/rad", "N m s^2/rad^2",
}  # fmt: skip


def test_dimensions_are_powers_of_mass_length_and_time() -> None:
    known = {"1": (0, 0, 0), "rad/s": (0, 0, -1), "m/s^2": (0, 1, -2), "N m s^2/rad^2": (1, 2, 0)}
    assert {unit: dimension(unit) for unit in known} == known
    assert all(dimension(unit) is not None for unit in KNOWN)
    assert [dimension(unit) for unit in ("", "furlong", "m/s/s", "m^x")] == [None] * 4


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_parameter_of_the_catalogue_has_a_unit_and_a_sensible_default(name: str) -> None:
    system = getattr(dm.systems, name)()
    paths, units = parameter_paths(system.params), parameter_units(system)
    assert list(units) == list(paths)
    for path, unit in units.items():
        assert unit in KNOWN, f"{path} is in {unit!r}"
        span = parameter_ranges(system)[path]
        if span is not None:
            assert np.all((paths[path] >= span[0]) & (paths[path] <= span[1])), path
    assert any(parameter_ranges(system).values())


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_argument_of_a_family_has_a_unit(name: str) -> None:
    factory = getattr(dm.systems, name)
    units = parameter_units(factory())
    for key, argument in inspect.signature(factory).parameters.items():
        if key != "n" and not isinstance(argument.default, str):
            unit = _argument_unit(factory, key)
            assert unit in KNOWN, f"{key} is in {unit!r}"
            assert unit == units.get(key, unit)


def _ball(q: Any, t: Any, params: Any) -> dict[str, Any]:
    del t
    return {
        "ball": params["ball"].at(dm.joints.prismatic("x", q[0])),
        "spring": params["spring"].across(q[0]),
    }


def test_bodies_know_their_units_and_what_nobody_declared_is_unknown() -> None:
    params = {
        "ball": dm.parts.RigidBody.ball(1.0, 0.1),
        "spring": dm.parts.Spring(1.0),
        "k": [1.0, 2.0],
    }
    made = dm.machine(_ball, {"x": "m"}, params, units={"k[1]": "N"})
    assert parameter_units(made) == {
        "ball.mass": "kg", "ball.inertia": "kg m^2", "k[0]": "", "k[1]": "N",
        "spring.rest": "", "spring.stiffness": "",
    }  # fmt: skip


def _oscillator(q: Any, qd: Any, t: Any, params: Any) -> Any:
    del t
    return 0.5 * jnp.sum(params["m"] * qd**2) - 0.5 * params["k"] * jnp.sum(q**2)


def own(**declared: Any) -> dm.System:
    return dm.System(_oscillator, ("x", "y"), {"m": np.array([1.0, 2.0]), "k": 3.0}, **declared)


def test_a_system_of_ones_own_declares_units_and_ranges() -> None:
    system = own(units={"m": "kg"}, ranges={"m": (0.1, 10)}, name="own")
    assert parameter_units(system) == {"k": "", "m": "kg"}
    assert parameter_ranges(system) == {"k": None, "m": (0.1, 10.0)}
    assert parameter_unit(system, "m[1]") == "kg"
    assert "k [-] = 3, m [kg] = [1, 2]" in str(system)
    changed = system.with_params({"m[1]": 5.0})
    assert parameter_units(changed) == parameter_units(system)
    assert hash(system.units) == hash(changed.units)  # a system may be a static argument
    assert system.ranges == changed.ranges != own().ranges
    explicit = dm.Explicit(
        lambda q, qd, t, p: -p["k"] * q, ("x",), {"k": 1.0}, units={"k": "1/s^2"}
    )
    assert parameter_units(explicit) == {"k": "1/s^2"}


def test_what_a_system_declares_comes_before_what_its_fields_say() -> None:
    pendulum = dm.systems.pendulum()
    other = dm.System(
        pendulum.lagrangian, pendulum.coordinates, pendulum.params, units={"length": "ft"}
    )
    assert parameter_units(other) == {"mass": "kg", "length": "ft", "gravity": "m/s^2"}
    wire = dm.systems.bead_on_wire(lambda s, shape: (s, shape[0] * s, 0 * s), [1.0])
    assert parameter_units(wire)["shape"] == ""
    assert parameter_units(dm.systems.bead_on_wire())["shape"] == "m"


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        (
            {"units": {"mm": "kg"}},
            "`units` names 'mm', which is not a parameter. Did you mean 'm'?",
        ),
        ({"ranges": {"x": (0, 1)}}, "`ranges` names 'x', which is not a parameter."),
        ({"ranges": {"k": (1.0, 0.0)}}, "must be two numbers (low, high) with low < high"),
        ({"ranges": {"k": (0.0, np.nan)}}, "must be two numbers (low, high) with low < high"),
        ({"ranges": {"k": 3.0}}, "must be two numbers (low, high) with low < high, but is 3.0"),
    ],
)
def test_wrong_declarations_are_refused(declared: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        own(**declared)


def test_axes_along_parameters_have_their_unit() -> None:
    chain = dm.systems.n_link(2)
    axes = as_axes(chain, {"masses[1]": (0.5, 2.0, 3), "theta1_dot": (0.0, 1.0, 2)})
    assert [axis.unit for axis in axes] == ["kg", "rad/s"]
    assert in_degrees(axes[1])[1] == "deg/s"
    (drive,) = as_axes(dm.systems.kapitza(), {"frequency": (10.0, 20.0, 3)})
    values, unit = in_degrees(drive)
    assert unit == "rad/s", "the frequency of a drive is no rate of a coordinate"
    np.testing.assert_array_equal(values, [10.0, 15.0, 20.0])


def test_records_along_parameters_print_their_unit() -> None:
    boot = dm.systems.babyboot()
    assert _resolved(boot, "mB", boot.params) == (None, "kg")
    none = np.zeros(0)
    edges = BandEdges(
        values=none, opens=none, kinds=(), touches=none, inner=none, bands=((0.1, 0.2, True),),
        derivatives={}, family="mB", unit="kg", map="period", grid=np.array([0.1, 0.2]),
        edge_functions=np.zeros((2, 2)), periods=none, params=boot.params, system=boot,
        rtol=np.asarray(1e-9),
    )  # fmt: skip
    assert "stable 0.1 kg to 0.2 kg" in str(edges)
    still = np.zeros((1, 2))
    section = PoincareSection(
        times=np.zeros(1), q=still, qd=still, lanes=np.zeros(1, int), values=np.zeros(1),
        status=np.zeros(1, int), ends=np.zeros(1), section=Plane("qB"), rtol=1e-9,
        params=boot.params, system=boot,
    )  # fmt: skip
    found = Bifurcation("mB", np.array([0.1, 0.2]), np.zeros((2, 2, 4)), np.zeros((2, 2)), section)
    assert str(found).splitlines()[0] == "babyboot: 2 values of mB, 0.1 to 0.2 kg"


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("20mm", "m", 0.02), ("2 cm", "m", 0.02), ("1km", "m", 1e3), ("3m", "m", 3.0),
        ("200g", "kg", 0.2), ("1.5e2g", "kg", 0.15), ("20ms", "s", 0.02), ("1/4 s", "s", 0.25),
        ("9.81m/s^2", "m/s^2", 9.81), ("5 kg m^2", "kg m^2", 5.0), ("0.5turn/s", "rad/s", np.pi),
        ("90DEG", "rad", np.pi / 2), ("2pi", "", 2 * np.pi), ("-INF", "1", -np.inf),
    ],
)  # fmt: skip
def test_numbers_in_convertible_units_are_read(text: str, unit: str, value: float) -> None:
    assert number(text, "x", unit) == pytest.approx(value, rel=1e-15)


def test_rates_may_leave_out_what_they_are_per() -> None:
    for text in ("90deg/s", "90deg", "0.25turn/s"):
        assert number(text, "x", "rad", rate=True) == pytest.approx(np.pi / 2, rel=1e-15)
    assert number("3mm/s", "x", "m", rate=True) == pytest.approx(3e-3, rel=1e-15)
    assert number("3/s", "x", "", rate=True) == 3.0
    assert both_ends("10", "20mm", "x", "m") == pytest.approx((0.01, 0.02), rel=1e-15)
    assert numbers("[1g, 2g]", "x", "kg") == pytest.approx([1e-3, 2e-3], rel=1e-15)


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "mass": (("--param", "mass=90deg"), "`mass` is in kg, but '90deg' is an angle."),
    "length": (("--param", "length=3g"), "`length` is in m, but '3g' is a mass."),
    "gravity": (
        ("--param", "gravity=9.81m/s"),
        "`gravity` is in m/s^2, but '9.81m/s' is a velocity",
    ),
    "angle": (("--set", "theta=5mm"), "`theta` is in rad, but '5mm' is a length."),
    "rate": (("--set", "theta_dot=5mm/s"), "`theta_dot` is in rad/s, but '5mm/s' is a velocity."),
    "duration": (("--duration", "2m"), "--duration is in s, but '2m' is a length."),
    "tolerance": (("--rtol", "1e-6m"), "--rtol is a pure number, but '1e-6m' is a length."),
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_unit_of_something_else_is_refused_with_both_named(case: str, cli: Cli) -> None:
    words, sentence = REFUSED[case]
    code, out, err = cli("simulate", "pendulum", *words)
    assert (code, out) == (2, "")
    assert sentence in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("simulate", "pendulum_dae", "--set", "x=90deg"), "`x` is in m, but '90deg' is an angle."),
        (("simulate", "pendulum:mass=90deg"), "`mass` is in kg, but '90deg' is an angle."),
        (("simulate", "hinged_pendulum:tilt=3kg"), "`tilt` is in rad, but '3kg' is a mass."),
        (("simulate", "n_link:n=3mm"), "`n` has no known unit, but '3mm' is a length"),
        (
            ("map", "pendulum", "--axis", "length=1:9deg:3", "--criterion", "ftle"),
            "--axis length is in m, but '9deg' is an angle.",
        ),
        (
            ("edges", "babyboot", "--family", "mB", "--span", "1:9deg"),
            "--span is in kg, but '9deg' is an angle.",
        ),
    ],
)
def test_units_are_checked_wherever_numbers_are_given(
    words: tuple[str, ...], sentence: str, cli: Cli
) -> None:
    code, _, err = cli(*words)
    assert code == 2
    assert sentence in err


def test_unusual_values_are_accepted_with_a_note(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def stop(system: dm.System, *args: Any, **others: Any) -> None:
        asked.append(parameter_paths(system.params))
        raise ValueError("enough")

    monkeypatch.setattr("diffmech.simulation.simulate", stop)
    _, _, err = cli("simulate", "pendulum", "--param", "mass=50000", "--param", "length=200mm")
    assert "Note: `mass` = 50000 kg is unusual: 0.001 to 1000 kg makes sense." in err
    assert err.count("Note") == 1
    assert asked[0]["mass"] == 50000
    assert asked[0]["length"] == pytest.approx(0.2, rel=1e-15)


def test_systems_show_units_and_sensible_ranges(cli: Cli) -> None:
    _, out, _ = cli("systems", "pendulum")
    assert "mass [kg] = 1, length [m] = 1, gravity [m/s^2] = 9.81" in out
    assert "sensible     mass 0.001 to 1000 kg; length 0.001 to 100 m; gravity 0 to 25 m/s^2" in out
    _, out, _ = cli("systems", "hinged_pendulum", "--json")
    described = json.loads(out)["hinged_pendulum"]
    assert described["units"]["friction.viscous"] == "N m s/rad"
    assert described["ranges"]["gravity"] == [0.0, 25.0]
    assert described["ranges"]["axis"] is None


ADVICE: dict[str, tuple[tuple[str, ...], str]] = {
    "start": (("simulate", "four_bar", "--set", "theta1=3"), "--assemble starts from the nearest"),
    "stabilise": (("simulate", "four_bar", "--stabilise", "glue"), "--stabilise must be one of"),
    "step": (("simulate", "pendulum", "--method", "GaussLegendre4"), "--dt must be given"),
    "steps": (("simulate", "pendulum", "--samples", "0"), "--samples must be"),
    "lanes": (
        ("map", "pendulum", "--axis", "theta=0:1:2", "--criterion", "ftle", "--method", "Heun"),
        "`diffmech simulate` takes others",
    ),
    "family": (("edges", "babyboot", "--family", "mB", "--span", "1:2"), "--period must be given"),
    "nan": (("simulate", "pendulum", "--set", "theta_dot=nan"), "--set theta_dot must be finite"),
    "exists": (("simulate", "pendulum", "--out", "there"), "--force"),
    "free": (("simulate", "pendulum", "--assemble"), "--assemble needs constraints, but"),
}  # fmt: skip
PYTHON = re.compile(r"`[\w.]+\([^`]*`|`\w+=|\bjax\b|diffrax", re.IGNORECASE)


@pytest.mark.parametrize("case", ADVICE)
def test_advice_is_in_the_words_of_the_command_line(case: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "run.npz").write_text("mine", encoding="utf-8")
    words, sentence = ADVICE[case]
    code, out, err = cli(*words)
    assert code != 0
    assert sentence in out + err
    assert not PYTHON.search(out + err)


def _said_by_the_library() -> str:
    """All strings of the source but the table's own."""
    found = []
    for path in Path(dm.__file__).parent.rglob("*.py"):
        if path.name != "_words.py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            nodes = [n for n in ast.walk(tree) if isinstance(n, ast.JoinedStr | ast.Constant)]
            found += [
                "".join(str(part.value) for part in ast.walk(n) if isinstance(part, ast.Constant))
                for n in nodes
            ]
    return "\n".join(found)


def test_the_table_of_sentences_has_none_that_the_library_no_longer_says() -> None:
    said = _said_by_the_library()
    assert [sentence for sentence in _SHELL if sentence not in said] == []


LONG = 2500 * "ab"
LONG_WORDS: dict[str, tuple[str, ...]] = {
    "command": (LONG,),
    "option": ("simulate", "pendulum", f"--{LONG}"),
    "system": ("simulate", LONG),
    "argument": ("simulate", f"pendulum:{LONG}=1"),
    "word": ("simulate", f"four_bar:kind={LONG}"),
    "sequence": ("simulate", f"heavy_top:sequence={LONG}"),
    "file": ("simulate", f"{LONG}.py:boot"),
    "machine": ("simulate", f"mine.py:{LONG}"),
    "parameter": ("simulate", "pendulum", "--param", f"{LONG}=1"),
    "value": ("simulate", "pendulum", "--param", f"mass={LONG}"),
    "coordinate": ("simulate", "pendulum", "--set", f"{LONG}=1"),
    "no assignment": ("simulate", "pendulum", "--set", LONG),
    "start": ("simulate", "pendulum", "--start", LONG),
    "method": ("simulate", "pendulum", "--method", LONG),
    "run": ("report", LONG),
    "source": ("plot", LONG),
    "saved run": ("plot", f"{LONG}.npz"),
    "folder": ("simulate", "pendulum", "--out", f"{LONG}/{LONG}"),
    "axis": ("map", "pendulum", "--axis", f"{LONG}=0:1:2", "--criterion", "ftle"),
    "criterion": ("map", "pendulum", "--axis", "theta=0:1:2", "--criterion", LONG),
    "family": ("edges", "pendulum", "--family", LONG),
    "spaces": ("simulate", "pendulum", "--set", f"{LONG.replace('ab', 'a b ')}=1"),
}


@pytest.mark.parametrize("case", LONG_WORDS)
def test_long_names_are_cut_in_the_middle(case: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("", encoding="utf-8")
    code, out, err = cli(*LONG_WORDS[case])
    assert code == 2
    assert out == ""
    assert "..." in err
    assert len(max(err.split("..."), key=len)) < 900
    assert not re.search(r"(ab ?|a b ?){60}", err)


def test_names_in_errors_of_the_library_are_cut() -> None:
    with pytest.raises(ValueError, match=r"there is no parameter '(ab)+a?\.\.\.b?(ab)+'\. Valid"):
        dm.systems.pendulum().with_params({LONG: 1.0})
    with pytest.raises(ValueError, match=r"names '(ab)+a?\.\.\.b?(ab)+', which is not a coord"):
        dm.simulate(dm.systems.pendulum(), {LONG: 1.0}, duration=1.0)


@pytest.mark.parametrize(
    ("name", "offered"),
    [("missing.py", None), ("rises.py", "raises.py"), ("raise.py", "raises.py"), ("a.py", None)],
)
def test_only_files_with_a_near_name_are_offered(
    name: str, offered: str | None, cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "raises.py").touch()
    _, _, err = cli("simulate", f"models/{name}:boot")
    hint = f" Did you mean 'models/{offered}'?" if offered else ""
    assert err == f"Error: there is no file `models/{name}`.{hint}\n"


def test_a_picture_of_a_map_may_be_replaced_without_a_file_of_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def stop(*args: Any, **others: Any) -> None:
        asked.update(others)
        raise ValueError("enough")

    monkeypatch.setattr("diffmech.maps.stability_map", stop)
    monkeypatch.setattr("diffmech.cli._map.tuned", lambda: None)
    cli(
        "map", "pendulum", "--axis", "theta=0:1:2", "--criterion", "ftle", "--plot", "a.png",
        "--force",
    )  # fmt: skip
    assert asked["overwrite"] is False
