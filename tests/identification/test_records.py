"""Measured motions: what is read, what is refused, and how it is said."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import diffmech as dm
from diffmech._records import write_csv
from diffmech.identification import as_records
from diffmech.identification._csv_cells import read_columns, read_layout
from diffmech.identification._measure import as_measure

from ..conftest import ROOT, machine

DATA = ROOT / "examples" / "data"
TS = np.array([0.0, 0.1, 0.2, 0.4])


def record(**changes: Any) -> dm.Record:
    whole = {"ts": TS, "values": np.outer(TS, [1.0, 2.0]), "channels": ("a", "b"), "name": "swing"}
    return dm.Record(**{**whole, **changes})


def with_entry(index: tuple[int, int], value: float) -> np.ndarray:
    values = np.outer(TS, [1.0, 2.0])
    values[index] = value
    return values


BAD_RECORDS = {
    "decreasing": (
        {"ts": [0.0, 0.2, 0.1, 0.3]},
        r"record 'swing': times must increase from row to row, but `ts\[2\]` = 0.1 s follows 0.2 s",
    ),
    "repeated": ({"ts": [0.0, 0.1, 0.1, 0.3]}, r"`ts\[2\]` = 0.1 s follows 0.1 s"),
    "times missing": (
        {"ts": [0.0, 0.1, np.nan, 0.3]},
        r"times must be finite, but `ts\[2\]` is nan",
    ),
    "one sample": ({"ts": [0.0], "values": [[1.0, 2.0]]}, "at least 2 samples, but has 1"),
    "lengths": ({"ts": TS[:3]}, r"a row for each of the 3 times, but has shape \(4, 2\)"),
    "columns": ({"channels": ("a",)}, "a column for each of a, but has 2 columns"),
    "twice": ({"channels": ("a", "a")}, "distinct names, but two are 'a'"),
    "unnamed": ({"channels": None}, "`channels` must name the columns of `values`"),
    "infinite": (
        {"values": with_entry((2, 1), np.inf)},
        r"`values\[2, 1\]` \(b\) must be finite, or NaN for a missing sample, but is inf",
    ),
    "empty channel": (
        {"values": np.outer(TS, [1.0, np.nan])},
        "channel 'b' must have at least one value, but all 4 are missing",
    ),
    "text": ({"values": [["x", "y"]] * 4}, "`values` must be numbers, but .* is not numeric"),
    "gap in input": (
        {"inputs": {"torque": [0.0, np.nan, 0.0, 0.0]}},
        r"input 'torque' must be finite at every time, but is nan in row 1 \(t = 0.1 s\)",
    ),
    "short input": ({"inputs": {"torque": [0.0]}}, "input 'torque' must have a value for each of"),
    "both": ({"inputs": {"a": TS}}, "'a' must be a channel or an input, but is both"),
    "noise": ({"noise": [0.1, 0.0]}, "the noise of 'b' must be a standard deviation above zero"),
    "noise of whom": ({"noise": {"c": 0.1}}, "has no channel 'c'"),
    "noises": ({"noise": [0.1] * 3}, r"one standard deviation for each of a, b, but has shape"),
    "weights": (
        {"weights": -np.ones((4, 2))},
        r"`weights\[0, 0\]` must be finite",
    ),
    "weights' shape": ({"weights": np.ones((3, 2))}, r"`weights` must have shape \(4, 2\) or"),
}


@pytest.mark.parametrize("case", BAD_RECORDS)
def test_what_cannot_be_a_motion_is_refused_by_record_row_and_column(case: str) -> None:
    changes, sentence = BAD_RECORDS[case]
    with pytest.raises(ValueError, match=sentence) as caught:
        record(**changes)
    assert "record 'swing'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_record_under_a_trace_is_refused() -> None:
    with pytest.raises(ValueError, match="must be numbers, but is traced"):
        jax.eval_shape(lambda ts: record(ts=ts).ts, jax.ShapeDtypeStruct((4,), float))


def test_a_record_prints_samples_rate_noise_gaps_and_inputs() -> None:
    said = str(record(values=with_entry((1, 1), np.nan), noise={"a": 0.01}, inputs={"u": TS}))
    assert said.splitlines() == [
        "swing: 4 samples of a, b",
        "  time    0 to 0.4 s, steps of 0.1 to 0.2 s",
        "  a       0 to 0.4, noise 0.01",
        "  b       0 to 0.8, 1 missing, at most 0.2 s at once",
        "  inputs  u",
    ]
    even = dm.Record(np.arange(5) / 50, np.zeros(5), ("a",))
    assert "0 to 0.08 s, 50 Hz" in str(even)


def test_parts_of_a_record_keep_what_belongs_to_them() -> None:
    whole = record(inputs={"u": 10 * TS}, noise=[0.1, 0.2], weights=np.outer(1 + TS, [1.0, 2.0]))
    part = whole.between(0.1, 0.2).without("a")
    np.testing.assert_array_equal(part.ts, TS[1:3])
    np.testing.assert_array_equal(part.values[:, 0], 2 * TS[1:3])
    np.testing.assert_array_equal(part.inputs["u"], 10 * TS[1:3])
    np.testing.assert_array_equal(part.weights, np.transpose([2 * (1 + TS[1:3])]))
    assert part.channels == ("b",)
    np.testing.assert_array_equal(part.noise, [0.2])
    np.testing.assert_array_equal(whole.channel("b"), 2 * TS)
    with pytest.raises(ValueError, match="at least 2 samples between 5 and 6 s, but has 0"):
        whole.between(5.0, 6.0)
    with pytest.raises(ValueError, match="no channel 'theta'"):
        whole.without("theta")


def turning(ts: np.ndarray, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """An angle that turns on and swings, and the same within one turn."""
    angle = speed * ts + np.sin(2 * ts)
    return angle, np.mod(angle + np.pi, 2 * np.pi) - np.pi


@given(speed=st.floats(-25.0, 25.0), lost=st.sets(st.integers(5, 390), max_size=20))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_wrapped_angles_are_counted_on_over_short_gaps(speed: float, lost: set[int]) -> None:
    ts = np.arange(400) / 100
    angle, wrapped = turning(ts, speed)
    wrapped[list(lost)] = np.nan
    try:
        counted = dm.Record(ts, {"theta": wrapped}).unwrapped("theta").channel("theta")
    except ValueError:
        assert len(lost) > 4, "single samples that are missing leave no doubt at 100 Hz"
        return
    turns = (counted - angle) / (2 * np.pi)
    known = ~np.isnan(wrapped)
    assert np.ptp(turns[known]) < 1e-9, "the same number of turns is left out throughout"
    assert np.all(np.isnan(counted[~known]))


def test_turns_are_not_guessed_over_a_gap_that_leaves_them_open() -> None:
    ts = np.arange(400) / 100
    _, wrapped = turning(ts, 20.0)
    wrapped[100:130] = np.nan
    swing = dm.Record(ts, {"theta": wrapped}, name="spin")
    sentence = r"record 'spin': 'theta' must be sampled densely .* from t = 0.99 to 1.3 s.*between"
    with pytest.raises(ValueError, match=sentence):
        swing.unwrapped()
    angle, _ = turning(ts, 20.0)
    after = swing.between(1.3, 4.0).unwrapped().channel("theta")
    assert np.ptp(after - angle[130:]) < 1e-9


def test_turns_are_not_guessed_when_samples_are_too_far_apart() -> None:
    ts = np.arange(40) / 10
    _, wrapped = turning(ts, 29.0)
    with pytest.raises(ValueError, match="sampled densely enough to count its turns"):
        dm.Record(ts, {"theta": wrapped}).unwrapped()


def test_data_may_come_in_many_forms(tmp_path: Path) -> None:
    values = np.sin(TS)
    path = write_csv(tmp_path / "lab.csv", ["t", "theta"], [TS, values])
    forms: dict[str, Any] = {
        "mapping": {"t": TS, "theta": values},
        "one column": (TS, values),
        "a matrix": (TS, values[:, None]),
        "lists": (TS.tolist(), values.tolist()),
        "record": dm.Record(TS, values, ("theta",)),
        "list": [dm.Record(TS, values, ("theta",))],
        "path": path,
        "text": str(path),
    }
    for form, data in forms.items():
        (found,) = as_records(data, ("theta",))
        assert found.channels == ("theta",), form
        np.testing.assert_array_equal(found.values[:, 0], values, err_msg=form)
    several = as_records([forms["mapping"], path, path, forms["one column"]], ("theta",))
    assert [each.name for each in several] == ["record 0", "lab (1)", "lab (2)", "record 3"]
    pair = (tuple(TS), tuple(values))
    assert [len(each) for each in as_records((pair, pair), ("theta",))] == [4, 4]
    assert len(as_records(pair, ("theta",))) == 1
    assert as_records(several) == several
    assert as_records(several[:2]) == several[:2], "two records are not (ts, values)"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"time": TS, "theta": TS}, "must have the times as 't', but has time, theta"),
        ({"t": TS, "theta": TS[:3]}, r"a row for each of the 4 times, but has shape \(3, 1\)"),
        ({"t": TS, "a": TS, "b": TS[:3]}, "'a' has 4 values and 'b' has 3"),
        ([], "but is empty"),
        (TS, "`data` must be a `Record`, .* but has a ndarray"),
        ([TS, TS], "but has a ndarray"),
        ((TS, np.ones((4, 3))), "a column for each of theta1, theta2, but has 3 columns"),
        ([{"t": TS, "a": TS}, {"t": TS[::-1], "a": TS}], "record 'record 1': times must increase"),
    ],
)
def test_data_in_no_known_form_are_refused(data: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        as_records(data, ("theta1", "theta2"))


CLEAN = "t,theta\n0,0.5\n0.1,0.6\n"
GOOD = "t,theta,torque\n0,0.5,1\n0.1,0.6,1\n0.2,,1\n"


def written(folder: Path, text: str | bytes, name: str = "lab.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# What is in the file, how it is read, and the sentence, which names line and column.
BAD_FILES: dict[str, tuple[str | bytes, dict[str, Any], str]] = {
    "text in a cell": (
        GOOD.replace("0.6", "abc"), {},
        "line 3, column 'theta', must be a number, or empty for a missing sample, but is 'abc'",
    ),
    "underscores": (CLEAN.replace("0.6", "0_6"), {}, "line 3, column 'theta', .* is '0_6'"),
    "digits of other scripts": (CLEAN.replace("0.6", "٣"), {}, "line 3, column 'theta', .*'٣'"),
    "infinite": (CLEAN.replace("0.6", "inf"), {}, "line 3, column 'theta', must be .* is 'inf'"),
    "too large": (CLEAN.replace("0.6", "1e999"), {}, "line 3, .*must be finite, but is '1e999'"),
    "ragged": (
        GOOD.replace("0.1,0.6,1", "0.1,0.6"), {},
        "line 3, must have 3 cells like the header, separated by commas, but has 2: 'torque' and",
    ),
    "decimal comma": (
        "t;theta\n0,0;0,5\n0,1;0,6\n", {},
        "line 2, column 't', must be a number with a decimal point, but is '0,0' .*: write 0.0",
    ),
    "commas for all": (
        "t,theta\n0,0,0,5\n0,1,0,6\n", {},
        "line 2, must have 2 cells .* but has 4: if it has decimal commas",
    ),
    "no header": (
        "0,0.5\n0.1,0.6\n", {},
        "line 1, must be a header with the names of the columns, but holds numbers",
    ),
    "no header, commas": ("0,0;0,5\n0,1;0,6\n", {}, "line 1, must be a header"),
    "repeated": (
        GOOD.replace("0.2,,", "0.1,,"), {},
        "line 4, column 't', must be later than the row before, but 0.1 follows 0.1",
    ),
    "decreasing": (
        GOOD.replace("0.2,,", "0.05,,"), {}, "line 4, column 't', .* several records, .*`by=`"
    ),
    "empty": ("", {}, "must have a header and rows of numbers, but is empty"),
    "blank": ("\ufeff\n \n", {}, "but is empty"),
    "header only": ("t,theta\n", {}, "has a header only"),
    "one row": ("t,theta\n0,1\n", {}, "line 2, must not be the only row, but is"),
    "binary": (b"t,theta\n\0\1\2", {}, "must be a text file of columns, but is binary"),
    "utf-16": ("t,theta\n0,1\n".encode("utf-16"), {}, "but is in UTF-16"),
    "latin": ("t,θ".encode() + "\n0,1\n1,2°\n".encode("latin-1"), {}, "line 3, .*UTF-8.*byte 0xb0"),
    "open quote": ('t,theta\n0,1\n0.1,"2\n', {}, "line 3, must be cells separated by commas, but"),
    "one endless line": ("x" * 200_000, {}, "line 1, must be cells .*: field larger"),
    "spaces": ("t theta\n0 1\n1 2\n", {}, "header is one cell, 't theta'"),
    "no time": (GOOD, {"time": "time"}, "`time` must name a column of .*'time' is none.*t, theta"),
    "slip": (GOOD, {"channels": ["thea"]}, "`channels` must .* Did you mean 'theta'?"),
    "by": (GOOD, {"by": "piece"}, "`by` must name a column"),
    "input": (GOOD, {"inputs": ["torqe"]}, "`inputs` must .* Did you mean 'torque'?"),
    "twice": ("t,a,a\n0,1,2\n1,2,3\n", {}, "`channels` must be distinct, but 'a' is there twice"),
    "time twice": ("t,t,a\n0,0,1\n1,1,2\n", {"channels": ["a"]}, "line 1, .* two columns .* 't'"),
    "unnamed": ("t,a,\n0,1,2\n1,2,3\n", {}, "line 1, must name every column, but column 3 has"),
    "nothing left": ("t,u\n0,1\n1,2\n", {"inputs": ["u"]}, "must have a column of what was"),
    "gap in time": (GOOD.replace("0.1,", ","), {}, "line 3, column 't', must have a number"),
    "gap in input": (
        GOOD, {"inputs": ["theta"]}, "line 4, column 'theta', must have a number, since 'theta' is",
    ),
    "empty label": (
        GOOD, {"by": "theta", "channels": ["torque"]}, "line 4, column 'theta', must say which",
    ),
    "unit": (GOOD, {"units": {"theta": "degrees"}}, r"`units\['theta'\]` must be one of rad, deg"),
    "unit of nothing": (GOOD, {"units": {"theta": 0.0}}, "must not be zero: nothing would be left"),
    "unit of whom": (GOOD, {"units": {"thet": "deg"}}, "which is not a channel, an input or"),
    "offset of whom": (GOOD, {"offset": {"thet": 1.0}}, "Did you mean 'theta'?"),
    "offset": (GOOD, {"offset": {"theta": np.nan}}, r"`offset\['theta'\]` must be finite"),
    "a word": (GOOD, {"channels": "theta"}, r"such as \['theta'\], but is 'theta'"),
    "two uses": (GOOD, {"inputs": {"theta": "torque"}}, "but 'theta' is two of them"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_file_that_cannot_be_read_says_which_line_and_column(tmp_path: Path, case: str) -> None:
    text, how, sentence = BAD_FILES[case]
    with pytest.raises(ValueError, match=sentence) as caught:
        dm.read_records(written(tmp_path, text), **how)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere.csv` must be a CSV .* no such file"):
        dm.read_records(tmp_path / "nowhere.csv")
    with pytest.raises(FileNotFoundError, match="but is a folder"):
        dm.read_records(tmp_path)


def test_a_file_larger_than_memory_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "t,theta\n" + "0.1,0.2\n" * 100_000)
    monkeypatch.setattr("diffmech._memory._available", lambda: 1_000_000)
    with pytest.raises(ValueError, match=r"about 1e\+05 rows of .* need \S+ GiB, but only"):
        dm.read_records(path)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_commas_semicolons_and_tabs_separate_cells(tmp_path: Path, mark: str) -> None:
    text = "\ufeff" + GOOD.replace(",", f"{mark} ").replace("\n", "\r\n") + "\r\n\r\n"
    (swing,) = dm.read_records(written(tmp_path, text))
    assert swing.channels == ("theta", "torque")
    assert swing.name == "lab"
    np.testing.assert_array_equal(swing.values, [[0.5, 1], [0.6, 1], [np.nan, 1]])


def test_columns_are_renamed_converted_and_shifted(tmp_path: Path) -> None:
    (swing,) = dm.read_records(
        written(tmp_path, GOOD),
        channels={"q": "theta"},
        inputs={"u": "torque"},
        units={"q": "deg", "t": "ms", "u": 1e-3},
        offset={"q": 0.25},
        noise={"q": 0.1},
    )
    np.testing.assert_allclose(swing.ts, [0.0, 1e-4, 2e-4], rtol=1e-15)
    np.testing.assert_allclose(swing.channel("q")[:2], np.deg2rad([0.5, 0.6]) - 0.25, rtol=1e-15)
    assert swing.inputs["u"].tolist() == [1e-3] * 3
    np.testing.assert_array_equal(swing.noise, [0.1])
    assert swing.missing.tolist() == [1]


def test_one_file_holds_several_records_which_may_interleave(tmp_path: Path) -> None:
    text = "who,t,x\nb,0,1\na,0,10\nb,1,2\na,0.5,11\nb,2,3\n"
    first, second = dm.read_records(written(tmp_path, text), by="who")
    assert (first.name, second.name) == ("who b", "who a")
    assert first.values[:, 0].tolist() == [1, 2, 3]
    assert second.ts.tolist() == [0, 0.5]
    wrong = text.replace("a,0.5", "a,-0.5")
    with pytest.raises(ValueError, match=r"line 5, column 't', .* of 'who a', but -0.5 follows 0"):
        dm.read_records(written(tmp_path, wrong), by="who")
    alone = text + "c,0,1\n"
    with pytest.raises(ValueError, match="line 7, must not be the only row of 'who c'"):
        dm.read_records(written(tmp_path, alone), by="who")


def test_angles_are_unwrapped_on_request(tmp_path: Path) -> None:
    angle, wrapped = turning(np.arange(300) / 100, 9.0)
    path = write_csv(tmp_path / "spin.csv", ["t", "theta"], [np.arange(300) / 100, wrapped])
    (swing,) = dm.read_records(path, unwrap=["theta"])
    assert np.ptp(swing.channel("theta") - angle) < 1e-9


numbers = st.floats(allow_nan=True, allow_infinity=False)


@given(rows=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_what_is_written_is_read_back_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, float]]
) -> None:
    path = tmp_path_factory.mktemp("round") / "trip.csv"
    columns = np.array([*rows, (0.0, 0.0)]).T  # no channel is empty
    write_csv(path, ["t", "x", "y"], [np.arange(columns.shape[1]), *columns])
    (back,) = dm.read_records(path)
    np.testing.assert_array_equal(back.values, columns.T)


def test_lines_are_counted_as_an_editor_does(tmp_path: Path) -> None:
    text = '\n"t","a\nb"\n\n0,1\n\n1,2\n'
    layout = read_layout(written(tmp_path, text))
    assert layout.header == ("t", "a\nb")
    assert read_columns(layout, ["t"], None).lines.tolist() == [5, 7]


def test_odd_cells_far_down_are_found(tmp_path: Path) -> None:
    rows = [f"{i},{0.5 * i}" for i in range(70_000)]
    rows[69_000] = "69000,x"
    with pytest.raises(ValueError, match="line 69002, column 'a', must be a number"):
        dm.read_records(written(tmp_path, "t,a\n" + "\n".join(rows)))


@pytest.mark.parametrize(("name", "pieces", "rows"), [("double", 26, 6942), ("single", 4, 3668)])
def test_the_measured_pendulums_are_read(name: str, pieces: int, rows: int) -> None:
    angles = ["theta1", "theta2"] if name == "double" else ["theta1"]
    found = dm.read_records(
        DATA / f"{name}_pendulum_swing.csv",
        channels=angles,
        by="piece",
        offset=dict.fromkeys(angles, np.pi),
    )
    assert len(found) == pieces
    assert sum(map(len, found)) == rows
    assert found[0].name == "piece 0"
    for piece in found:
        assert np.median(np.diff(piece.ts)) == pytest.approx(0.01, rel=1e-3)
        assert not np.any(np.isnan(piece.values))


@pytest.mark.parametrize(
    ("units", "sentence"),
    [
        ({"theta": "kg"}, "channel 'theta' of record 'lab' must be in rad, .* said to be in kg"),
        ({"theta_dot": "deg"}, "channel 'theta_dot' of .* must be in rad/s, .* to be in deg"),
        ({"t": "kg"}, r"`units\['t'\]` must be a unit of time, s or ms, but is 'kg'"),
    ],
)
def test_a_unit_of_something_else_than_the_coordinate_is_refused(
    units: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    path = written(tmp_path, "t,theta,theta_dot\n0,0,1\n1,1,1\n2,2,1\n")
    system = machine("pendulum")
    with pytest.raises(ValueError, match=sentence):
        dm.fit(system, dm.read_records(path, units=units), "length")
    with pytest.raises(ValueError, match=sentence):
        dm.forces_along(system, dm.read_records(path, units=units))
    fine = dm.read_records(path, units={"theta": "deg", "theta_dot": "turn/s", "t": "ms"})
    assert as_measure(system, fine, None).complete
