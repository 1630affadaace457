"""`diffmech doctor`: is this installation well?"""

import json
import platform
import shutil
import time
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from ._options import debug_option, json_option

_PACKAGES = (
    "diffmech", "jax", "jaxlib", "diffrax", "equinox", "optimistix", "numpy", "matplotlib",
    "pillow", "click",
)  # fmt: skip
# The simple pendulum released horizontally (1 m, 9.81 m/s²), 5 s later: IFToMM benchmark A01,
# exact by elliptic functions.
_EXACT = (-0.942305435043757, -0.334754338414001)
_ALLOWED = 1e-9


@click.command()
@json_option
@debug_option
def doctor(as_json: bool) -> int:
    """Look at the installation: versions, precision, devices, and a short run checked exactly."""
    found = _examine()
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        width = max(map(len, found))
        for key, value in found.items():
            shown = (
                ", ".join(f"{k} {v}" for k, v in value.items())
                if isinstance(value, dict)
                else value
            )
            click.echo(f"{key:<{width}}  {shown}")
    return 0 if found["healthy"] else 1


def _examine() -> dict[str, Any]:
    import jax
    import numpy as np

    from .._checks import float_dtype
    from ..simulation import simulate
    from ..systems import pendulum

    machine = pendulum()
    clock = time.perf_counter()
    run = simulate(machine, [-np.pi / 2], duration=5.0)
    first = time.perf_counter() - clock
    clock = time.perf_counter()
    simulate(machine, [-np.pi / 2], duration=5.0)
    again = time.perf_counter() - clock
    angle = float(run.end.q[0])
    error = float(np.hypot(np.sin(angle) - _EXACT[0], -np.cos(angle) - _EXACT[1]))
    double = float_dtype() == np.float64
    healthy = error < _ALLOWED if double else error < 1e-2
    ffmpeg = shutil.which("ffmpeg")
    return {
        "python": f"{platform.python_version()} on {platform.platform()}",
        "packages": {name: _version(name) for name in _PACKAGES},
        "precision": float_dtype().name + ("" if double else ": set JAX_ENABLE_X64=1 for float64"),
        "devices": ", ".join(str(device) for device in jax.devices()),
        "films": f"GIF{f', MP4 by {ffmpeg}' if ffmpeg else '; no MP4, ffmpeg is not installed'}",
        "self-check": f"pendulum for 5 s off by {error:.1e} m; {first:.1f} s with compilation, "
        f"{1000 * again:.0f} ms without",
        "healthy": healthy,
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
