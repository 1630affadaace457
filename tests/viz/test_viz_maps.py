"""Maps on paper: bands and areas where the verdicts change, in their colours."""

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

import diffmech as dm
from diffmech import viz
from diffmech.maps import Axis, CriterionWords
from diffmech.viz._stability import VERDICT_COLOURS

from ..conftest import machine
from ..maps.test_map_files import pendulum_map
from .test_viz import pixels, texts


@pytest.fixture(autouse=True)
def _close_all() -> Iterator[None]:
    yield
    plt.close("all")


TUMBLES = CriterionWords("time until it tumbles [s]", range=(0.0, 4.0))


def drawn_map(verdicts: Any, *axes: Axis, words: CriterionWords = TUMBLES) -> dm.StabilityMap:
    """A map of which only the verdicts matter; its machine is not there."""
    verdicts = np.asarray(verdicts, np.int8)
    times = np.where(verdicts == dm.Verdict.UNSTABLE, 2.0, np.inf)
    return dm.StabilityMap(
        axes=axes,
        values=np.where(verdicts > dm.Verdict.UNSTABLE, np.nan, times),
        verdicts=verdicts,
        energy_error=np.zeros(verdicts.shape),
        status=np.zeros(verdicts.shape, np.int8),
        edges=None,
        settings={"criterion": {"criterion": "one"}, "duration": 4.0},
        words=words,
        system=machine("pendulum"),
    )


def angle(values: Any, name: str = "qA") -> Axis:
    return Axis(name, "rad", np.radians(np.asarray(values, float)), "coordinate")


def colour_at(ax: Any, image: np.ndarray, x: float, y: float | None = None) -> np.ndarray:
    """The colour at a place of the axes, in the middle of the strip if `y` is None."""
    if y is None:
        y = float(np.mean(ax.images[0].get_extent()[2:]))
    column, row = ax.transData.transform((x, y))
    return image[image.shape[0] - 1 - int(row), int(column)] / 255


def require_tidy(figure: Any) -> None:
    """Nothing is clipped by the paper's edge, and no text lies on another."""
    image = pixels(figure)
    edge = np.concatenate([image[[0, -1]].reshape(-1, 3), image[:, [0, -1]].reshape(-1, 3)])
    assert np.all(edge > 250), "something runs off the paper"
    boxes = [(t.get_text(), t.get_window_extent().padded(-1.5)) for t in texts(figure)]
    assert len(boxes) >= 4
    for i, (one, box) in enumerate(boxes):
        inside = box.x0 > 0 and box.y0 > 0 and box.x1 < image.shape[1] and box.y1 < image.shape[0]
        assert inside, f"{one!r} is clipped"
        for other, its in boxes[i + 1 :]:
            assert not box.overlaps(its), f"{one!r} lies on {other!r}"


def require_colour(found: np.ndarray, kind: dm.Verdict) -> None:
    np.testing.assert_allclose(found, to_rgb(VERDICT_COLOURS[kind]), atol=0.01, err_msg=kind.name)


GRIDS = {
    "few": np.linspace(0, 180, 361),
    "enough for the screen": np.linspace(0, 180, 1801),
    "more than pixels": np.linspace(0, 180, 18001),
    "decreasing": np.linspace(180, 0, 361),
    "many, decreasing": np.linspace(180, 0, 18001),
    "crowded on one side": 180 * np.linspace(0, 1, 3601) ** 3,
    "crowded on the other": 180 * np.linspace(1, 0, 3601) ** 3,
}


@pytest.mark.parametrize("grid", GRIDS)
def test_bands_are_where_the_verdicts_change(grid: str) -> None:
    places = GRIDS[grid]
    unstable = (places > 30) & (places < 77.7) | (places > 140)
    ax = viz.stability(drawn_map(unstable, angle(places)))
    image = pixels(ax.figure)
    for edge, to_unstable in ((30.0, True), (77.7, False), (140.0, True)):
        for side, beyond in ((-1.8, False), (1.8, True)):  # a hundredth of the axis
            kind = dm.Verdict.UNSTABLE if beyond == to_unstable else dm.Verdict.STABLE
            require_colour(colour_at(ax, image, edge + side), kind)
    assert ax.get_xlim()[0] < ax.get_xlim()[1]
    np.testing.assert_allclose(ax.get_xlim(), (0, 180), atol=0.3)
    require_tidy(ax.figure)


def test_a_band_of_few_points_among_many_is_seen() -> None:
    places = np.linspace(0, 180, 18001)
    ax = viz.bands(drawn_map(np.abs(places - 90.123) < 0.05, angle(places)))
    image = pixels(ax.figure)
    across = [colour_at(ax, image, x)[1] for x in np.linspace(88, 92, 81)]
    black = to_rgb(VERDICT_COLOURS[dm.Verdict.STABLE])[1]
    brightest = int(np.argmax(across))
    assert across[brightest] > black + 0.05
    assert abs(np.linspace(88, 92, 81)[brightest] - 90.123) < 0.5


@pytest.mark.parametrize("way", [1, -1], ids=["increasing", "decreasing"])
@pytest.mark.parametrize("power", [1, 2], ids=["even", "uneven"])
def test_areas_are_where_the_verdicts_change(way: int, power: int) -> None:
    x = 10 * np.linspace(0, 1, 101)[::way] ** power
    y = 90 * np.linspace(0, 1, 61) ** power
    unstable = (x[:, None] > 6) & (y[None, :] < 30)
    length = Axis("length", "m", x, "parameter")
    ax = viz.stability(drawn_map(unstable, length, angle(y, "qB")))
    image = pixels(ax.figure)
    for place in ((5.8, 5.0), (8.0, 33.0), (5.8, 60.0), (1.0, 1.0), (9.8, 88.0)):
        require_colour(colour_at(ax, image, *place), dm.Verdict.STABLE)
    for place in ((6.25, 5.0), (8.0, 27.0), (9.8, 2.0)):
        assert np.max(colour_at(ax, image, *place)) > 0.3, "not black"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length [m]", "qB [deg]")
    assert ax.figure.axes[1].get_ylabel() == "time until it tumbles [s]"
    require_tidy(ax.figure)


def test_labels_and_shares_are_the_maps() -> None:
    kinds = np.repeat(list(dm.Verdict), [10, 5, 3, 1, 1])
    ax = viz.stability(drawn_map(kinds, angle(np.arange(20.0))))
    assert ax.get_xlabel() == "qA [deg]"
    assert ax.get_ylabel() == "time until it tumbles [s]"
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == [
        "stable 50 %", "unstable 25 %", "undecided 15 %", "failed 5 %", "missing 5 %",
    ]  # fmt: skip
    image = pixels(ax.figure)
    for place, kind in enumerate(kinds):
        require_colour(colour_at(ax, image, place), dm.Verdict(kind))
    seen = [colour_at(ax, image, list(kinds).index(kind)) for kind in dm.Verdict]
    apart = [np.abs(a - b).max() for i, a in enumerate(seen) for b in seen[i + 1 :]]
    assert min(apart) > 0.2, "every verdict has a colour of its own"
    require_tidy(ax.figure)
    turning = Axis("qA_dot", "rad/s", np.radians([0.0, 90.0]), "rate")
    ax = viz.stability(drawn_map([0, 1], turning))
    assert ax.get_xlabel() == "qA_dot [deg/s]"
    np.testing.assert_allclose(ax.get_xlim(), (-45, 135))
    assert viz.stability(drawn_map([0, 1], angle([0, 1], "$x$"))).get_xlabel() == r"\$x\$ [deg]"


def test_a_criterion_of_ones_own_labels_its_axis_within_its_range() -> None:
    words = CriterionWords("largest height [m]", range=(-1.0, 3.0))
    ax = viz.stability(drawn_map([0, 1], angle([10.0, 20.0]), words=words))
    assert ax.get_ylabel() == "largest height [m]"
    assert min(ax.get_yticks()) >= -1.0
    assert max(ax.get_yticks()) <= 3.0


@pytest.mark.parametrize("words", [TUMBLES, CriterionWords("exponent [1/s]"), CriterionWords()])
def test_odd_maps_are_drawn(words: CriterionWords) -> None:
    three = angle([10.0, 20.0, 30.0])
    odd = {
        "a point": drawn_map([0], angle([45.0]), words=words),
        "all failed": drawn_map([3, 3, 3], three, words=words),
        "a point of two axes": drawn_map([[1]], angle([4.0]), angle([5.0]), words=words),
        "a row": drawn_map([[0, 1, 0]], angle([4.0]), three, words=words),
        "failed areas": drawn_map(np.full((3, 3), 3), three, three, words=words),
    }
    for name, record in odd.items():
        ax = viz.stability(record)
        image = pixels(ax.figure)
        kind = dm.Verdict(int(record.verdicts.flat[0]))
        if kind != dm.Verdict.UNSTABLE:  # coloured by its number
            middle = [float(np.degrees(axis.grid[0])) for axis in record.axes]
            require_colour(colour_at(ax, image, *middle), kind)
        said = [t.get_text() for t in ax.get_legend().get_texts()]
        assert f"{kind.name.lower()} 100 %" in said or name == "a row"
        require_tidy(ax.figure)


def test_legends_name_every_verdict_there_is_and_always_both_main_ones() -> None:
    three, two = angle([1, 2, 3]), angle([1, 2], "qB")
    for verdicts, axes, expected in (
        ([0, 0, 0], (three,), ["stable 100 %", "unstable 0 %"]),
        ([1, 1, 4], (three,), ["stable 0 %", "unstable 66.7 %", "missing 33.3 %"]),
        ([[0, 1]] * 3, (three, two), ["stable 50 %", "unstable 50 %"]),
        (
            [[1, 1], [1, 1], [1, 3]],
            (three, two),
            ["stable 0 %", "unstable 83.3 %", "failed 16.7 %"],
        ),
    ):
        ax = viz.stability(drawn_map(verdicts, *axes))
        assert [text.get_text() for text in ax.get_legend().get_texts()] == expected
        require_tidy(ax.figure)


def test_drawing_touches_no_setting_and_takes_given_axes() -> None:
    before = dict(mpl.rcParams)
    figure, (left, right) = plt.subplots(1, 2)
    bands = drawn_map([0, 1, 3], angle([1, 2, 3]))
    areas = drawn_map([[0, 1], [3, 0]], angle([1, 2]), angle([1, 2], "qB"))
    assert viz.stability(bands, left) is left
    assert viz.stability(areas, right) is right
    figure.canvas.draw()
    assert dict(mpl.rcParams) == before
    with pytest.raises(ValueError, match="`areas` draws those with two"):
        viz.bands(areas)
    with pytest.raises(ValueError, match="`bands` draws those with one"):
        viz.areas(bands)


def test_a_computed_map_is_drawn_with_its_edges_and_a_part_of_it_with_what_is_missing() -> None:
    whole = pendulum_map()
    assert whole.edges
    require_tidy(viz.stability(whole).figure)
    verdicts = np.where(np.arange(whole.verdicts.size) < 48, whole.verdicts, dm.Verdict.MISSING)
    ax = viz.stability(drawn_map(verdicts, whole.axes[0]))
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any(one.startswith("missing") for one in said), said
    require_tidy(ax.figure)
