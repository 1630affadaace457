"""Is this installation well? Versions, precision, devices, and a short run with a known answer."""

import platform
import shutil
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import float_dtype
from ..model import System
from ..tuning import cache_line, package_version, tuning_line
from ._simulate import simulate

_PACKAGES = (
    "diffmech", "jax", "jaxlib", "diffrax", "equinox", "optimistix", "numpy", "matplotlib",
    "pillow", "click",
)  # fmt: skip
# The simple pendulum (1 m, 9.81 m/s²) released horizontally, 5 s later: x and y by elliptic
# functions, IFToMM benchmark A01.
_EXACT = (-0.942305435043757, -0.334754338414001)
_ALLOWED = {"float64": 1e-9, "float32": 1e-2}  # [m] round-off and tolerance leave far less


def _pendulum(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """L = 1/2 θ̇² + 9.81 cos θ  [J]."""
    del t, params
    return 0.5 * qd[0] ** 2 + 9.81 * jnp.cos(q[0])


def installation() -> dict[str, Any]:
    """What is installed and whether it computes: values ready to print, `healthy` the verdict."""
    machine = System(_pendulum, {"theta": "rad"}, name="self-check")
    clock = [time.perf_counter()]
    runs = []
    for _ in range(2):
        runs.append(simulate(machine, [-np.pi / 2], duration=5.0))
        clock.append(time.perf_counter())
    seconds = np.diff(clock)
    angle = float(runs[0].end.q[0])
    error = float(np.hypot(np.sin(angle) - _EXACT[0], -np.cos(angle) - _EXACT[1]))
    precision, ffmpeg = float_dtype().name, shutil.which("ffmpeg")
    return {
        "python": f"{platform.python_version()} on {platform.platform()}",
        "packages": {name: package_version(name) for name in _PACKAGES},
        "precision": precision + ("" if precision == "float64" else ": set JAX_ENABLE_X64=1"),
        "devices": ", ".join(str(device) for device in jax.devices()),
        "tuning": tuning_line(),
        "cache": cache_line(),
        "films": f"GIF{f', MP4 by {ffmpeg}' if ffmpeg else '; no MP4, ffmpeg is not installed'}",
        "self-check": f"pendulum for 5 s off by {error:.1e} m; {seconds[0]:.1f} s with compiling, "
        f"{1000 * seconds[1]:.0f} ms without",
        "healthy": error < _ALLOWED[precision],
    }
