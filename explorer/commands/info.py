"""`gramscope --info`: versions, devices and paths."""

from __future__ import annotations

import platform
from importlib import metadata

from explorer import __version__
from explorer.settings import directory, resource

_PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "PySide6-Essentials", "pyqtgraph", "transformers")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not found"


def info() -> str:
    """Return a text that helps whoever reads a problem report."""
    import torch

    from explorer.devices import available

    lines = [
        f"gramscope {__version__}",
        f"Python {platform.python_version()} on {platform.platform()}",
        *(f"{package} {_version(package)}" for package in _PACKAGES),
        f"devices: {', '.join(available())} ({torch.get_num_threads()} CPU threads)",
        f"resources: {resource('fonts').parent}",
        *(f"{kind}: {directory(kind)}" for kind in ("config", "data", "cache", "logs")),
    ]
    return "\n".join(lines)
