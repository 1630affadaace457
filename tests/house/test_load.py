"""One verb reads every file: runs, maps and fits, each as what it is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diffmech as dm
from diffmech._records import write_record

from ..conftest import machine
from ..made_fits import made_fit, oscillator


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    pendulum = machine("pendulum")
    (folder / "swing").mkdir()
    dm.simulate(pendulum, [1.0], duration=0.5, samples=11).save(folder / "swing" / "run.npz")
    chart = dm.stability_map(
        pendulum, {"theta": [0.1, 0.2]}, dm.criteria.Tumble("theta"), duration=0.5
    )
    chart.save(folder / "map.npz")
    made_fit().save(folder / "fit.npz")
    return folder


def test_the_file_knows_what_it_holds(folder: Path) -> None:
    pendulum = machine("pendulum")
    kinds: dict[str, tuple[type, dm.System]] = {
        "swing": (dm.Trajectory, pendulum),
        "swing/run.npz": (dm.Trajectory, pendulum),
        "map.npz": (dm.StabilityMap, pendulum),
        "fit.npz": (dm.Fit, oscillator()),
    }
    for name, (kind, system) in kinds.items():
        alone, whole = dm.load(folder / name), dm.load(str(folder / name), system)
        assert type(alone) is type(whole) is kind
        assert str(alone) == str(whole)
        with pytest.raises(ValueError, match="without its machine"):
            _ = alone.system.laws
        assert whole.system.laws is not None


def test_what_holds_no_record_is_refused_in_one_sentence(folder: Path, tmp_path: Path) -> None:
    odd = write_record(tmp_path / "odd.npz", "recipe", {}, {"x": np.zeros(1)})
    garbled = tmp_path / "garbled.npz"
    garbled.write_bytes((folder / "fit.npz").read_bytes()[:-200])
    plain = tmp_path / "plain.npz"
    np.savez(plain, x=np.zeros(3))
    pendulum = machine("pendulum")
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (odd, {}, "holds a 'recipe', not a 'trajectory', 'stability_map' or 'fit'"),
        (garbled, {}, "was not loaded: it is damaged or not a diffmech file"),
        (plain, {}, "was not loaded: it has no manifest, so it was not written by diffmech"),
        (folder / "map.npz", {"method": "Dopri5"}, "`method` must be left out: .* 'stability_map'"),
        (folder / "fit.npz", {"method": "Dopri5"}, "must be left out: .* 'fit', not a run"),
        (folder / "map.npz", {"system": machine("babyboot")}, "but 'babyboot' has qA, qB"),
        (folder / "fit.npz", {"system": pendulum}, "but 'pendulum' has theta"),
    ]  # fmt: skip
    for path, arguments, sentence in wrong:
        with pytest.raises(ValueError, match=sentence) as refused:
            dm.load(path, **arguments)
        assert "\n" not in str(refused.value)
    with pytest.raises(FileNotFoundError, match=r"there is no file `.*run\.npz`"):
        dm.load(tmp_path)
