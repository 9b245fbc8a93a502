"""`gramscope --screenshots FOLDER`: the pictures of the README, made by the program itself."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtWidgets import QApplication, QWidget

from explorer.app import application, build
from explorer.commands.smoke import at_rest, wait_until
from explorer.models.recipes import Recipe
from explorer.settings import HOME
from explorer.ui import theme
from explorer.ui.lab import LabPage
from explorer.ui.model_page import ModelPage
from explorer.ui.overview import OverviewPage
from explorer.ui.robustness import RobustnessPage
from explorer.ui.window import MainWindow

CHOICES: tuple[theme.Choice, ...] = ("light", "dark")


def _take(window: MainWindow, name: str, folder: Path) -> None:
    wait_until(lambda: at_rest(window), f"the picture for {name}")
    QApplication.processEvents()
    for choice in CHOICES:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, choice)
        for _ in range(5):
            QApplication.processEvents()
        path = folder / f"{name}-{choice}.png"
        window.grab().save(str(path))
        print(f"wrote {path}")


def _train(page: QWidget) -> None:
    """Train a head of three dimensions, and sweep over L."""
    assert isinstance(page, LabPage)
    wait_until(lambda: page.alignment.result is not None, "the laboratory")
    page.sphere.three.trigger()
    page.bar.go.click()
    wait_until(lambda: not page.sweeps.running, "the sweep")
    page.controls.start.click()
    wait_until(lambda: page.alignment.result is not None and page.alignment.result.step >= 240, "240 steps")
    page.controls.start.click()


def _show(window: MainWindow, title: str) -> QWidget:
    titles = [window.pages.row.tabText(i) for i in range(window.pages.count)]
    window.pages.show_page(titles.index(title))
    return window.pages.page(window.pages.place)


def screenshots(out: str) -> int:
    """Show the sample, a synthetic head and some pages at 1280 × 800 and save them, light and dark.

    Preferences are the program's own, not the person's, so that the pictures are always the same.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as home:
        os.environ[HOME] = home
        application()
        window = build()
        window.resize(1280, 800)
        window.show()
        try:
            _sample(window, folder)
            _synthetic(window, folder)
            _train(_show(window, "Laboratory"))
            _take(window, "laboratory", folder)
        finally:
            window.close()
    return 0


def _sample(window: MainWindow, folder: Path) -> None:
    window.opener.open_sample()
    wait_until(lambda: window.state.result is not None, "the sample")
    window.state.update(layer=2, head=1, level=0.08)
    window.state.select(frozenset({20}))
    _take(window, "sample", folder)
    for title in ("Overview", "Model"):
        page = _show(window, title)
        assert isinstance(page, OverviewPage | ModelPage)
        wait_until(page.is_complete, title)
        _take(window, title.lower(), folder)
    _show(window, "Explore")


def _synthetic(window: MainWindow, folder: Path) -> None:
    window.open_recipe(Recipe())
    wait_until(
        lambda: window.state.source is not None and window.state.source.kind == "synthetic",
        "the synthetic head",
    )
    window.state.update(level=0.05)
    _take(window, "clusters", folder)
    page = _show(window, "Robustness")
    assert isinstance(page, RobustnessPage)
    wait_until(page.is_complete, "the phase diagram")
    _take(window, "robustness", folder)
