"""What this computer and this installation are: processor, packages, the folder for caches."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def processor() -> str:
    """Model and instruction sets, as far as the operating system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    core = text.split("\n\n")[0].splitlines()
    wanted = ("model name", "flags", "CPU part", "Features")
    return "\n".join(line for line in core if line.startswith(wanted)) or platform.machine()


def package_version(package: str) -> str:
    """The version of an installed package, or "missing"."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def cache_home() -> Path | None:
    """`$XDG_CACHE_HOME/diffmech`, else `~/.cache/diffmech`; None for a user without a home."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        root = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "diffmech"
