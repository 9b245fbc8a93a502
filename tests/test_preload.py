"""Mapping torch's libraries first leaves the interpreter free, and the import finds them mapped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
from explorer.preload import map_libraries
map_libraries()
mapped = "libtorch_cpu" in open("/proc/self/maps").read()
import torch
print(mapped, torch.ones(2).sum().item())
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads Linux's list of mapped files")
def test_libraries_are_mapped_before_the_import() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["True", "2.0"]
