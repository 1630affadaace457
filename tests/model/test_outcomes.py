"""How runs end, as files keep it."""

from diffmech._results import _NAMES, RESULTS, name_of, result_named, same


def test_every_outcome_is_filed_under_its_own_name_and_comes_back() -> None:
    assert len(_NAMES) == len(RESULTS)  # pyright: ignore[reportArgumentType]
    for name in _NAMES:
        assert name_of(getattr(RESULTS, name)) == name
        assert same(result_named(name), getattr(RESULTS, name))
