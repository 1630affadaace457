"""Properties that hold for any input, tried on many."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

from diffmech._records import read_record, write_record
from diffmech.model import parameter_paths, replace_params

# The same examples every time, and no deadline on a shared machine.
steady = settings(derandomize=True, deadline=None, max_examples=60)

numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
arrays = st.lists(numbers, min_size=1, max_size=4).map(np.array)
names = st.text("abcxyz_", min_size=1, max_size=4)
trees = st.recursive(
    numbers.map(np.asarray) | arrays,
    lambda children: (
        st.dictionaries(names, children, min_size=1, max_size=3)
        | st.lists(children, min_size=1, max_size=3)
    ),
    max_leaves=6,
)


@steady
@given(st.dictionaries(names, arrays, max_size=4), st.dictionaries(names, numbers, max_size=3))
def test_records_come_back_as_they_were_written(
    contents: dict[str, np.ndarray], meta: dict[str, float]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_record(Path(folder) / "a.npz", "thing", meta, contents)
        meta_back, back = read_record(path, "thing")
    assert meta_back == meta
    assert set(back) == set(contents)
    for name, array in contents.items():
        np.testing.assert_array_equal(back[name], array)


@steady
@given(st.dictionaries(names, trees, min_size=1, max_size=3), numbers)
def test_a_parameter_is_changed_by_its_path_and_no_other(params: Any, value: float) -> None:
    before = parameter_paths(params)
    for path, leaf in before.items():
        after = parameter_paths(replace_params(params, {path: value}))
        assert list(after) == list(before)
        for other, old in before.items():
            expected = np.full(leaf.shape, value) if other == path else old
            np.testing.assert_array_equal(after[other], expected)
        if leaf.ndim == 1:
            entry = parameter_paths(replace_params(params, {f"{path}[0]": value}))[path]
            np.testing.assert_array_equal(entry[1:], leaf[1:])
            assert entry[0] == value
