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
    from .chaplygin_sleigh import chaplygin_sleigh as chaplygin_sleigh
    from .double_pendulum import double_pendulum as double_pendulum
    from .double_pendulum_3d import double_pendulum_3d as double_pendulum_3d
    from .double_pendulum_absolute import double_pendulum_absolute as double_pendulum_absolute
    from .double_pendulum_natural import double_pendulum_natural as double_pendulum_natural
    from .five_bar import five_bar as five_bar
    from .four_bar import four_bar as four_bar
    from .free_body import free_body as free_body
    from .frictionless_disc import frictionless_disc as frictionless_disc
    from .heavy_top import heavy_top as heavy_top
    from .hinged_pendulum import hinged_pendulum as hinged_pendulum
    from .kapitza import kapitza as kapitza
    from .n_four_bar import n_four_bar as n_four_bar
    from .n_link import n_link as n_link
    from .n_link_maximal import n_link_maximal as n_link_maximal
    from .particle import particle as particle
    from .pendulum import pendulum as pendulum
    from .pendulum_dae import pendulum_dae as pendulum_dae
    from .pendulum_on_guide import pendulum_on_guide as pendulum_on_guide
    from .rolling_ball import rolling_ball as rolling_ball
    from .rolling_disc import rolling_disc as rolling_disc
    from .skate_on_slope import skate_on_slope as skate_on_slope
    from .slider_crank import slider_crank as slider_crank
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
    "pendulum_dae": ("pendulum_dae", "simple pendulum in x and y, its rod a constraint"),
    "pendulum_on_guide": (
        "pendulum_on_guide",
        "pendulum in x and y, its pivot moved along a guide",
    ),
    "double_pendulum_absolute": (
        "double_pendulum_absolute",
        "two rods, each by its own place and angle, hinged by constraints",
    ),
    "double_pendulum_natural": (
        "double_pendulum_natural",
        "double pendulum in natural coordinates, with MBSymba's numbers",
    ),
    "n_link_maximal": (
        "n_link_maximal",
        "the chain of n links in maximal coordinates, hinged by constraints",
    ),
    "four_bar": (
        "four_bar",
        "four-bar linkage: crank-rocker, parallelogram, kite or lengths of your own",
    ),
    "five_bar": ("five_bar", "five-bar linkage with two freedoms"),
    "n_four_bar": ("n_four_bar", "n parallelograms in a row: n loops that lose rank together"),
    "slider_crank": ("slider_crank", "crank, connecting rod and slider"),
    "chaplygin_sleigh": ("chaplygin_sleigh", "sleigh on a skate, which straightens itself"),
    "rolling_disc": ("rolling_disc", "disc rolling without slip, by two routes"),
    "frictionless_disc": ("frictionless_disc", "disc on perfectly smooth ground"),
    "rolling_ball": ("rolling_ball", "ball rolling without slip on a plane, level or tilted"),
    "skate_on_slope": ("skate_on_slope", "knife edge on a slope, which does not slide down"),
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
