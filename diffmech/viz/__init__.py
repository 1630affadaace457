"""Pictures of runs: records in, Axes and films out.

Most functions take a run and an optional `ax`, draw, and return the Axes; the sheets `overview` and
`balance` return a Figure, `animate` a film. None calls `show()`. What is not given is made by
`matplotlib.pyplot`. Axes carry units, lines are told apart by colour and by dash, and no global
setting of Matplotlib is touched.

What is listed here is loaded when it is used, so that listing the kinds of pictures loads nothing.
"""

import importlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from ._animation import Animation as Animation, animate as animate, require_film as require_film
    from ._distance_plot import distance as distance, overlay as overlay
    from ._edges_plot import edge_slopes as edge_slopes
    from ._energy_plot import energy as energy, imbalance as imbalance
    from ._fit_report import fit_folder as fit_folder, save_fit_folder as save_fit_folder
    from ._fits import correlations as correlations, fit as fit, fit_residuals as fit_residuals
    from ._folder import (
        read_settings as read_settings,
        run_folder as run_folder,
        save_folder as save_folder,
    )
    from ._pages import (
        balance as balance,
        overview as overview,
        require_picture as require_picture,
        save_figure as save_figure,
    )
    from ._paths import paths as paths, stroboscope as stroboscope
    from ._series import coordinates as coordinates, phase as phase, rates as rates
    from ._stability import areas as areas, bands as bands, stability as stability
    from ._tournament_plot import tournament as tournament


class Kind(NamedTuple):
    """A picture of a run, as `diffmech plot --kind` names it.

    Attributes:
        text: what it shows, in one line.
        function: the function of this room that draws it; None if it is called like the kind.
        coordinates: how many it can be asked to show by name: none, one or several.
        runs: how many it shows.
        options: what else the function is given.
    """

    text: str
    function: str | None = None
    coordinates: Literal["none", "one", "several"] = "none"
    runs: Literal[1, 2] = 1
    options: Mapping[str, Any] = MappingProxyType({})


KINDS = {
    "overview": Kind("coordinates, rates and paths on one sheet"),
    "balance": Kind("energy changes, work, and what they leave unexplained"),
    "coordinates": Kind("coordinates against time", coordinates="several"),
    "wrapped": Kind(
        "angles between -pi and pi", "coordinates", "several", options={"wrapped": True}
    ),
    "rates": Kind("rates against time", coordinates="several"),
    "paths": Kind("paths of the machine's points"),
    "phase": Kind("a rate against its coordinate", coordinates="one"),
    "energy": Kind("energy changes and work"),
    "imbalance": Kind("|E - E0 - W| on a logarithmic axis"),
    "stroboscope": Kind("the machine at equally spaced times"),
    "overlay": Kind("coordinates of two runs (with --against)", coordinates="several", runs=2),
    "distance": Kind("how far two runs are apart (with --against)", coordinates="several", runs=2),
}
_FILES = {
    "_animation": (
        "Animation",
        "animate",
        "require_film",
    ),
    "_distance_plot": (
        "distance",
        "overlay",
    ),
    "_edges_plot": ("edge_slopes",),
    "_energy_plot": (
        "energy",
        "imbalance",
    ),
    "_fit_report": (
        "fit_folder",
        "save_fit_folder",
    ),
    "_fits": (
        "correlations",
        "fit",
        "fit_residuals",
    ),
    "_folder": (
        "read_settings",
        "run_folder",
        "save_folder",
    ),
    "_pages": (
        "balance",
        "overview",
        "require_picture",
        "save_figure",
    ),
    "_paths": (
        "paths",
        "stroboscope",
    ),
    "_series": (
        "coordinates",
        "phase",
        "rates",
    ),
    "_stability": (
        "areas",
        "bands",
        "stability",
    ),
    "_tournament_plot": ("tournament",),
}
_HOMES = {name: file for file, names in _FILES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"there is no picture {name!r}; there are {', '.join(_HOMES)}")


def __dir__() -> list[str]:
    return ["KINDS", "draw", *_HOMES]


def draw(kind: str, *runs: Any, names: Sequence[str] | None = None) -> Any:
    """One of `KINDS` of a run, or of two; returns its Axes, or its Figure if that has several.

    `names` are the coordinates to show, of those kinds that take some; None means all, or the
    first for a kind that shows one.
    """
    entry = KINDS[kind]
    shown: dict[str, Any] = {
        "none": (),
        "one": (names[0] if names else None,),
        "several": (names,),
    }
    function = getattr(importlib.import_module(__name__), entry.function or kind)
    return function(*runs, *shown[entry.coordinates], **entry.options)
