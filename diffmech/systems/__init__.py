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
    from . import tops as tops
    from .babyboot import babyboot as babyboot
    from .babyboot_of_bodies import babyboot_of_bodies as babyboot_of_bodies
    from .bead_on_wire import bead_on_wire as bead_on_wire
    from .cart_pole import cart_pole as cart_pole
    from .double_pendulum import double_pendulum as double_pendulum
    from .double_pendulum_3d import double_pendulum_3d as double_pendulum_3d
    from .free_body import free_body as free_body
    from .heavy_top import heavy_top as heavy_top
    from .hinged_pendulum import hinged_pendulum as hinged_pendulum
    from .kapitza import kapitza as kapitza
    from .n_link import n_link as n_link
    from .particle import particle as particle
    from .pendulum import pendulum as pendulum
    from .spherical_pendulum import spherical_pendulum as spherical_pendulum
    from .spring_pendulum import spring_pendulum as spring_pendulum

CATALOGUE: dict[str, tuple[str, str]] = {
    "pendulum": ("pendulum", "simple pendulum: a point mass on a light rigid rod"),
    "babyboot": ("babyboot", "Kane's chaotic pendulum: a plate spinning on a swinging rod"),
    "double_pendulum": ("double_pendulum", "planar double pendulum: two point masses, light rods"),
    "n_link": ("n_link", "planar chain of n rigid links with springs, friction and torques"),
    "babyboot_of_bodies": (
        "babyboot_of_bodies",
        "the babyboot described by its two bodies",
    ),
    "hinged_pendulum": ("hinged_pendulum", "rigid body on a hinge with a tilted axis"),
    "double_pendulum_3d": ("double_pendulum_3d", "two rigid bodies on hinges with any two axes"),
    "spherical_pendulum": (
        "spherical_pendulum",
        "point mass on a rod, swinging in all directions",
    ),
    "spring_pendulum": ("spring_pendulum", "bob on a spring that swings in a plane"),
    "kapitza": ("kapitza", "pendulum on a shaking pivot, which can stand on its head"),
    "cart_pole": ("cart_pole", "pole hinged to a cart on a track"),
    "bead_on_wire": ("bead_on_wire", "bead sliding on a wire of any shape"),
    "particle": ("particle", "particle flying under gravity and drag"),
    "free_body": ("free_body", "rigid body turning freely, by four routes"),
    "heavy_top": ("heavy_top", "symmetric top on a fixed tip"),
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
    if name == "tops":  # closed forms, not a machine
        return importlib.import_module(f"{__name__}.tops")
    if name in CATALOGUE:
        importlib.import_module(f"{__name__}.{CATALOGUE[name][0]}")
        return globals()[name]
    raise AttributeError(f"there is no machine {name!r}; the catalogue has {', '.join(CATALOGUE)}")


def __dir__() -> list[str]:
    return ["CATALOGUE", "tops", *CATALOGUE]
