"""The catalogue of machines: one file each.

`dm.systems.babyboot()` gives a machine with the source's numbers as defaults; families take
arguments, `dm.systems.n_link(n=5)`. Names and texts are plain strings, so that listing them loads
nothing.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .babyboot import babyboot as babyboot
    from .double_pendulum import double_pendulum as double_pendulum
    from .n_link import n_link as n_link
    from .pendulum import pendulum as pendulum

CATALOGUE: dict[str, tuple[str, str]] = {
    "pendulum": ("pendulum", "simple pendulum: a point mass on a light rigid rod"),
    "babyboot": ("babyboot", "Kane's chaotic pendulum: a plate spinning on a swinging rod"),
    "double_pendulum": ("double_pendulum", "planar double pendulum: two point masses, light rods"),
    "n_link": ("n_link", "planar chain of n rigid links with springs, friction and torques"),
}


class _Catalogue(ModuleType):
    """Keeps `systems.babyboot` the function, though a module of that name is loaded as well.

    Importing a submodule makes Python bind it on its package; here the factory of the same name
    is bound instead.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name in CATALOGUE and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Catalogue


def __getattr__(name: str) -> Any:
    if name in CATALOGUE:
        importlib.import_module(f"{__name__}.{CATALOGUE[name][0]}")
        return globals()[name]
    raise AttributeError(f"there is no machine {name!r}; the catalogue has {', '.join(CATALOGUE)}")


def __dir__() -> list[str]:
    return ["CATALOGUE", *CATALOGUE]
