"""Fits on disk: whole, exact, of the same machine, or refused."""

import json
import math
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import diffmech as dm

from ..damaged_files import killed_while_saving, require_old_file_on_a_full_disk
from ..made_fits import lagrangian, made_fit, oscillator


def _stiffening(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Another machine with the same names."""
    return lagrangian(q, qd, t, params) - 0.1 * q[0] ** 4


@pytest.fixture(scope="module")
def fit() -> dm.Fit:
    return made_fit(condition=math.inf, errors=np.array([0.018, math.inf]))


@pytest.fixture
def saved(fit: dm.Fit, tmp_path: Path) -> Path:
    return fit.save(tmp_path / "fit.npz")


@pytest.mark.parametrize("with_machine", [True, False])
def test_everything_of_a_fit_survives_a_file_exactly(
    fit: dm.Fit, saved: Path, with_machine: bool
) -> None:
    found = dm.load(saved, oscillator(friction=7.0) if with_machine else None)
    for name in fit.__dataclass_fields__:
        if name == "system":
            continue
        ours, theirs = getattr(fit, name), getattr(found, name)
        assert jax.tree.structure(ours) == jax.tree.structure(theirs), name
        for here, there in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_array_equal(here, there, err_msg=name)
            assert np.asarray(here).dtype == np.asarray(there).dtype, name
    assert found.system.params == fit.system.params, "the machine has the numbers found"
    assert found.records[0].name == "first"
    assert found.records[0].channels == ("x",)
    assert str(found) == str(fit)
    assert found.summary() == fit.summary()


def test_a_fit_loaded_without_its_machine_is_the_same_file_again(
    fit: dm.Fit, saved: Path, tmp_path: Path
) -> None:
    again = dm.load(saved).save(tmp_path / "again.npz")
    assert dm.load(again, oscillator()).summary() == fit.summary()
    whole = dm.load(saved, oscillator()).save(tmp_path / "whole.npz")
    assert whole.read_bytes() == saved.read_bytes()


def test_another_machine_of_the_same_names_is_refused(saved: Path) -> None:
    with pytest.raises(ValueError, match="is not the machine of the file"):
        dm.load(saved, oscillator(_stiffening))
    with pytest.raises(ValueError, match="the file has the coordinates x, but 'pendulum' has"):
        dm.load(saved, dm.systems.pendulum())


def test_a_damaged_or_foreign_file_is_refused(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for damaged in (bytes(flipped), whole[: len(whole) // 2], b"", b"not a file of ours"):
        saved.write_bytes(damaged)
        with pytest.raises(ValueError, match="was not loaded"):
            dm.load(saved)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        dm.load(tmp_path / "nothing.npz")


def test_a_file_that_lacks_something_says_what(saved: Path) -> None:
    from diffmech._records import read_record, write_record

    meta, arrays = read_record(saved, "fit")
    for left_out in ("values", "record.0.computed", "likeness.q", "whiteness.runs", "params.1"):
        fewer = {name: array for name, array in arrays.items() if name != left_out}
        write_record(saved, "fit", meta, fewer, overwrite=True)
        with pytest.raises(ValueError, match="was not loaded"):
            dm.load(saved)
    shorter = {**arrays, "held.0.predicted": arrays["held.0.predicted"][:-1]}
    write_record(saved, "fit", meta, shorter, overwrite=True)
    with pytest.raises(ValueError, match="must be equally long"):
        dm.load(saved)


def test_an_existing_file_is_replaced_only_if_asked(fit: dm.Fit, saved: Path) -> None:
    before = saved.read_bytes()
    with pytest.raises(FileExistsError, match="exists already"):
        fit.save(saved)
    assert fit.save(saved, overwrite=True).read_bytes() == before, "the same fit, the same bytes"


def test_a_summary_is_plain_json_without_infinities(fit: dm.Fit) -> None:
    found = json.loads(json.dumps(fit.summary(), allow_nan=False))
    stiffness = found["free"]["stiffness"]
    low, high = stiffness.pop("interval")
    assert low == pytest.approx(40.02 - 1.96 * 0.018, abs=1e-6)
    assert high == pytest.approx(40.02 + 1.96 * 0.018, abs=1e-6)
    assert stiffness == {
        "value": 40.02, "error": 0.018, "unit": "N/m", "limited": False, "profile": [39.98, None],
    }  # fmt: skip
    assert found["free"]["friction"]["error"] is None
    assert found["condition"] is None
    assert [record["name"] for record in found["records"]] == ["first", "second"]
    assert found["held"][0]["rms"]["x"] == pytest.approx(0.01, rel=0.3)
    assert found["verdict"] == fit.verdict
    assert "friction is not determined by these data" in found["warnings"]


def test_the_misfit_counts_samples_not_records() -> None:
    fit = made_fit()
    misses = np.concatenate([r.values - c for r, c in zip(fit.records, fit.computed, strict=True)])
    assert fit.misfit() == pytest.approx(np.sqrt(np.nanmean(misses**2)))


# A process that writes a file again, changed, and kills itself on the way.


def test_kill_9_while_saving_a_fit_leaves_the_old_file(saved: Path, fit: dm.Fit) -> None:
    before = saved.read_bytes()
    killed_while_saving(saved, "fit", saved, "syncing")
    assert [path.name for path in saved.parent.glob("[!.]*")] == ["fit.npz"]
    assert saved.read_bytes() == before
    # What was left behind is in nobody's way.
    dm.load(saved).save(saved, overwrite=True)
    assert dm.load(saved).summary() == fit.summary()


def test_a_full_disk_leaves_the_old_fit(
    fit: dm.Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_old_file_on_a_full_disk(fit.save, tmp_path, monkeypatch)
