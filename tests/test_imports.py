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
GROUPS = {
    "base": (
        "",
        "__version__",
        "errors",
        "params",
        "detail",
        "result",
        "fields",
        "console",
        "answers",
        "asked",
        "quantities",
        "comparison",
        "preload",
        "pace",
    ),
    "settings": ("settings", "logs", "units"),
    "maths": ("maths",),
    "models": ("models",),
    "analysis": (
        "analysis",
        "stages",
        "reread",
        "input_notes",
        "curves",
        "devices",
        "fallback",
        "maps",
        "health",
        "robustness",
        "phase_inputs",
        "exchanged",
        "predictions",
        "prediction_words",
        "overview",
    ),
    "sessions": ("session", "script", "programs"),
    "report": ("report", "evidence", "api"),
    "lab": ("lab",),
    "study": ("study",),
    "state": ("state", "runner", "tasks", "streams", "threads", "history"),
    "views": ("views",),
    "ui": ("ui",),
    "program": ("__main__", "app", "commands", "screen"),
}
"""Every part of the package; what stands under one name may be imported freely among itself."""
KINDS_OF_VIEW = ("View", "LabView", "CompareView")
"""What panels derive from; no panels themselves."""
COMPUTING = ("base", "settings", "maths", "models", "analysis")
MAY_IMPORT = {
    "base": (),
    "settings": ("base",),
    "maths": ("base",),
    "models": ("base", "settings", "maths"),
    "analysis": ("base", "maths", "models"),
    "sessions": COMPUTING,
    "report": (*COMPUTING, "sessions"),
    "lab": COMPUTING,
    "study": COMPUTING,
    "state": (*COMPUTING, "sessions"),
    "views": ("base", "analysis", "state", "study", "lab"),
    "ui": tuple(group for group in GROUPS if group != "program"),
    "program": tuple(GROUPS),
}
QT_FREE = (*COMPUTING, "sessions", "report", "lab", "study")
WITHOUT_TORCH = ("base", "settings", "sessions", "state", "views", "ui")
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


def group(module: str) -> str:
    return next(name for name, parts in GROUPS.items() if part(module) in parts)


def modules_of(groups: tuple[str, ...]) -> list[str]:
    return [name for name in modules() if group(name) in groups]


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
    names = modules_of(WITHOUT_TORCH)
    names += [name for name in modules() if name in ("explorer.app", "explorer.__main__")]
    assert not loaded_by(names) & HEAVY


@pytest.mark.parametrize("name", modules())
def test_every_module_has_a_place(name: str) -> None:
    """Say in GROUPS where a new part belongs."""
    assert any(part(name) in parts for parts in GROUPS.values())


@cache
def defines_a_view(module: str) -> bool:
    """Whether `module` (or the module a name was taken from) holds a panel, derived from a kind of View."""
    path = modules().get(module) or modules()[module.rpartition(".")[0]]
    bases = [
        base
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name not in KINDS_OF_VIEW
        for base in node.bases
    ]
    return any(isinstance(base, ast.Name) and base.id in KINDS_OF_VIEW for base in bases)


def allowed(importer: str, imported: str) -> bool:
    """Whether `importer` may import the project's module `imported` (or a thing in it)."""
    here, there = group(importer), group(imported)
    if here == "views" and there in ("views", "ui"):
        look = imported.startswith("explorer.ui.theme") or imported == "explorer.ui"
        return look or (there == "views" and not defines_a_view(imported))
    if here == "views" and imported.startswith("explorer.maths.evidence_names"):
        return True
    return there in (here, *MAY_IMPORT[here])


@pytest.mark.parametrize("name", modules())
def test_the_import_rule(name: str) -> None:
    for imported, at_run_time in imports(modules()[name]):
        top = imported.partition(".")[0]
        if top == "explorer" and at_run_time:
            assert allowed(name, imported), f"{name} imports {imported}"
        if group(name) in QT_FREE:
            assert top not in QT or (part(name) == "settings" and top == "PySide6"), (
                f"{name} imports {imported}"
            )
        if group(name) == "maths":
            assert top in MATHS_MAY_USE, f"{name} imports {imported}"
        if group(name) in ("state", "settings"):
            assert top not in QT or imported.startswith("PySide6.QtCore"), f"{name} imports {imported}"
