"""Who may import what, read from the source and seen in fresh interpreters."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "explorer"
HEAVY = {"torch", "transformers", "sklearn", "scipy", "safetensors", "joblib", "PIL"}
QT = {"PySide6", "shiboken6", "pyqtgraph"}
QT_FREE = ("maths", "models", "lab", "report", "analysis", "params", "result", "errors")
LIGHT = (
    "__main__",
    "app",
    "state",
    "runner",
    "settings",
    "logs",
    "ui",
    "views",
    "params",
    "result",
    "errors",
)
MATHS_MAY_USE = {"torch", "numpy", "scipy", "sklearn", "explorer"} | set(sys.stdlib_module_names)


def part(module: str) -> str:
    """Return the first name under `explorer`: "maths", "ui", …"""
    return module.split(".")[1] if "." in module else ""


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def modules_of(parts: tuple[str, ...]) -> list[str]:
    return [name for name in modules() if part(name) in parts]


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield each imported module with whether it is imported at run time (not for type checking alone)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    only_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for statement in block.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module or ""]
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((name, id(node) not in only_types) for name in names)


def loaded_by(names: list[str]) -> set[str]:
    """Return the top-level modules in `sys.modules` after a fresh interpreter imports `names`."""
    code = (
        "import importlib, json, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_mathematics_run_without_qt() -> None:
    assert not loaded_by(modules_of(QT_FREE)) & QT


def test_the_window_is_there_before_torch() -> None:
    assert not loaded_by(modules_of(LIGHT)) & HEAVY


@cache
def defines_a_view(module: str) -> bool:
    """Whether `module` (or the module a name was taken from) holds a panel, a class derived from View."""
    path = modules().get(module) or modules()[module.rpartition(".")[0]]
    bases = [
        base
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    ]
    return any(isinstance(base, ast.Name) and base.id == "View" for base in bases)


def allowed(importer: str, imported: str) -> bool:
    """Whether `importer` may import the project's module `imported` (or a thing in it)."""
    here, there = part(importer), part(imported)
    common = ("", "errors", "params", "result")
    rules = {
        "errors": (),
        "params": (),
        "result": common,
        "maths": (*common, "maths"),
        "lab": (*common, "maths", "lab", "settings"),
        "models": (*common, "maths", "models", "settings"),
        "analysis": (*common, "maths", "models"),
        "report": (*common, "maths", "models", "analysis", "report", "settings"),
        "settings": common,
        "logs": (*common, "settings"),
        "state": (*common, "models", "analysis", "settings"),
        "runner": (*common, "models", "analysis", "settings", "state", "tasks"),
        "tasks": (*common, "settings"),
    }
    if here == "views":
        look = imported.startswith("explorer.ui.theme") or imported == "explorer.ui"
        shared = there == "views" and not defines_a_view(imported)
        return there in (*common, "state", "analysis") or shared or look
    if here == "ui":
        return there != "app"
    return here not in rules or there in rules[here]


@pytest.mark.parametrize("name", modules())
def test_the_import_rule(name: str) -> None:
    for imported, at_run_time in imports(modules()[name]):
        top = imported.partition(".")[0]
        if top == "explorer" and at_run_time:
            assert allowed(name, imported), f"{name} imports {imported}"
        if part(name) in QT_FREE:
            assert top not in QT, f"{name} imports {imported}"
        if part(name) == "maths":
            assert top in MATHS_MAY_USE, f"{name} imports {imported}"
        if part(name) in ("state", "runner", "settings"):
            assert top != "PySide6" or imported.startswith("PySide6.QtCore") or imported == "PySide6"
