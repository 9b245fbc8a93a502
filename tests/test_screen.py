"""Without what Qt needs of the system: a sentence and status 1, no abort."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer import screen
from explorer.errors import GramscopeError

ROOT = Path(__file__).parents[1]
WITHOUT_A_LIBRARY = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("PySide6.QtGui", "PySide6.QtWidgets"):
            raise ImportError("libEGL.so.1: cannot open shared object file: No such file or directory")

sys.meta_path.insert(0, Absent())
from explorer.__main__ import main
sys.exit(main(ARGUMENTS))
"""
WINDOW = "from explorer.__main__ import main; import sys; sys.exit(main([]))"


def start(code: str, home: Path, **environment: str) -> str:
    """Run `code` without a screen and return the one line that it ends with."""
    inherited = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=inherited | {"PYTHONPATH": str(ROOT), "GRAMSCOPE_HOME": str(home)} | environment,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("gramscope: ")
    return done.stderr


@pytest.mark.parametrize("arguments", ["[]", "['--smoke']", "['export', '.', '--out', 'a.png']"])
def test_a_missing_library_is_named_with_its_packages(arguments: str, home: Path) -> None:
    told = start(WITHOUT_A_LIBRARY.replace("ARGUMENTS", arguments), home)
    assert "libEGL.so.1" in told
    assert f"apt-get install {screen.PACKAGES}" in told


def test_the_packages_are_those_of_the_readme() -> None:
    assert f"apt-get install -y python3-venv {screen.PACKAGES}\n" in (ROOT / "README.md").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
@pytest.mark.parametrize(("display", "says"), [("", "no screen"), (":77", "the display :77 does not answer")])
def test_no_screen(display: str, says: str, home: Path) -> None:
    assert says in start(WINDOW, home, DISPLAY=display)


def test_a_platform_that_does_not_start(home: Path) -> None:
    assert "apt-get install" in start(WINDOW, home, QT_QPA_PLATFORM="nowhere")


def test_other_import_errors_stay_what_they_are() -> None:
    with pytest.raises(ImportError, match="no_such"), screen.libraries():
        import explorer.no_such  # noqa: F401
    with pytest.raises(GramscopeError, match=r"libGL\.so\.1"), screen.libraries():
        raise ImportError("libGL.so.1: cannot open shared object file: No such file or directory")
