"""transformers, imported late and kept off the network."""

from __future__ import annotations

import importlib
import os
from typing import Any

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def transformers(submodule: str = "") -> Any:
    """Import transformers, or a submodule of it, silent and offline.

    The variables are set first, because the hub's client reads them when it is imported.
    """
    os.environ.update(OFFLINE)
    package = importlib.import_module("transformers")
    if package.utils.logging.is_progress_bar_enabled():
        package.utils.logging.disable_progress_bar()
        package.utils.logging.set_verbosity_error()
    return importlib.import_module(f"transformers.{submodule}") if submodule else package
