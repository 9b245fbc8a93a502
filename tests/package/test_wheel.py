"""Builds the wheel and the source distribution, and runs what is installed from them, elsewhere.

What Gramscope needs is taken from the environment of the tests: only Gramscope itself is installed anew.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer import __version__

pytestmark = pytest.mark.timeout(600)

ROOT = Path(__file__).parents[2]
NAME = f"gramscope-{__version__}"
CHECK_TYPES = "from explorer.params import Params\nreveal_type(Params().but(level=0.1).level)\n"


def done(command: list[object], cwd: Path, env: dict[str, str] | None = None) -> str:
    run = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=cwd, env=env, timeout=400
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    return run.stdout + run.stderr


def build(project: Path, out: Path, *kinds: str) -> None:
    done([sys.executable, "-m", "build", "--no-isolation", "--outdir", out, *kinds, project], out)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution, both made from the checkout."""
    folder = tmp_path_factory.mktemp("built")
    build(ROOT, folder, "--wheel", "--sdist")
    return folder


@pytest.fixture(scope="session")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel in it; the libraries are those of the environment of the tests."""
    folder = tmp_path_factory.mktemp("installed") / "environment"
    venv.create(folder, with_pip=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    (packages / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    wheel = next(built.glob("*.whl"))
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--no-index", "--no-deps"]
    done([*pip, "--ignore-installed", "--disable-pip-version-check", wheel], folder)
    return folder


@pytest.fixture
def run(installed: Path, tmp_path: Path, home: Path) -> Callable[..., str]:
    """Run a program of the new environment in a folder that has nothing to do with the checkout."""
    environment = {
        "PATH": f"{installed / 'bin'}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "GRAMSCOPE_HOME": str(home),
        "QT_QPA_PLATFORM": "offscreen",
        "LANG": "C.UTF-8",
    }
    return lambda *command: done(list(command), tmp_path, environment)


def contents(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def test_the_command_is_on_the_path_and_finds_its_resources(run: Callable[..., str], installed: Path) -> None:
    assert run("gramscope", "--version").strip() == f"gramscope {__version__}"
    said = run("gramscope", "--info")
    place = next(line for line in said.splitlines() if line.startswith("resources: "))
    assert Path(place.removeprefix("resources: ")).is_relative_to(installed)


def test_the_window_drives_itself(run: Callable[..., str]) -> None:
    run("gramscope", "--smoke")
    said = run("gramscope", "--smoke")
    print("\n" + said)
    assert said.strip().endswith("all right")


def test_types_are_shipped(run: Callable[..., str], tmp_path: Path, installed: Path) -> None:
    (tmp_path / "use.py").write_text(CHECK_TYPES)
    python = ["--python-executable", installed / "bin" / "python"]
    said = run(sys.executable, "-m", "mypy", *python, "use.py")
    assert 'float"' in said and "Success" in said


def test_a_desktop_entry_is_installed(installed: Path) -> None:
    share = installed / "share"
    entry = (share / "applications" / "gramscope.desktop").read_text()
    assert "Exec=gramscope %F" in entry
    kind = next(line for line in entry.splitlines() if line.startswith("MimeType=")).removeprefix("MimeType=")
    assert kind.rstrip(";") in (share / "mime" / "packages" / "gramscope.xml").read_text()
    assert (share / "icons" / "hicolor" / "scalable" / "apps" / "gramscope.svg").exists()


def test_the_source_distribution_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        archive.extractall(tmp_path / "source", filter="data")
    build(tmp_path / "source" / NAME, tmp_path, "--wheel")
    from_checkout, from_source = contents(next(built.glob("*.whl"))), contents(next(tmp_path.glob("*.whl")))
    assert from_source == from_checkout
    assert {"explorer/py.typed", "explorer/resources/fonts/LICENSE"} <= from_source.keys()


def test_the_source_distribution_can_test_itself(built: Path) -> None:
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        names = set(archive.getnames())
    needed = ("tests/conftest.py", "tests/data/reference_small.npz", "build_app.spec", "README.md", "LICENSE")
    assert {f"{NAME}/{name}" for name in needed} <= names
