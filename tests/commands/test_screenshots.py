from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.commands.scenes import SCENES, titles
from explorer.commands.screenshots import SCREENS, Screen, screenshots
from explorer.ui.theme import DARK, LIGHT
from explorer.views.picture import Picture
from tests.ui.desk import settle, sit_down

ONLY_OF_A_SERIES = {"evidence_series"}


def pixels(path: Path) -> np.ndarray:
    image = QImage(str(path)).convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width()) & 0xFFFFFF


def assert_has_a_picture(seen: np.ndarray, background: str) -> None:
    colours, counts = np.unique(seen, return_counts=True)
    assert colours[counts.argmax()] == int(background[1:], 16)
    assert 0.5 < counts.max() / seen.size < 0.97
    assert len(colours) > 100


def test_every_page_of_the_window_is_taken(qtbot: QtBot) -> None:
    with sit_down(qtbot, None) as window:
        assert {scene.page for scene in SCENES.values()} == set(titles(window))


@pytest.mark.parametrize(("screen", "name"), [(SCREENS[1], "sample"), (SCREENS[2], "clusters")])
def test_pictures_have_the_screens_pixels_and_show_something(
    screen: Screen, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert screenshots(str(tmp_path), only=[name], screens=[screen]) == 0
    folder = tmp_path / screen.name
    assert capfd.readouterr().err == ""
    assert {path.name for path in folder.iterdir()} == {f"{name}-light.png", f"{name}-dark.png"}
    for scheme in (LIGHT, DARK):
        seen = pixels(folder / f"{name}-{scheme.name}.png")
        assert seen.shape == (screen.height * screen.scale, screen.width * screen.scale)
        assert_has_a_picture(seen, scheme.background)


def test_screens_are_a_laptops_a_fine_one_and_a_large_one() -> None:
    sizes = {(screen.width * screen.scale, screen.height * screen.scale) for screen in SCREENS}
    assert sizes == {(1280, 800), (2560, 1600), (3840, 2160)}


@pytest.mark.long
@pytest.mark.timeout(600)
def test_every_panel_of_every_page_is_in_sight_and_filled_in_some_picture(qtbot: QtBot) -> None:
    window = build()
    window.show()
    filled: set[str] = set()
    try:
        for scene in SCENES.values():
            with scene.arrange(window):
                settle()
                filled |= {view.name for view in window.views if _is_filled(view)}
        assert {view.name for view in window.views} - filled == ONLY_OF_A_SERIES
    finally:
        window.close()


def _is_filled(view: Picture) -> bool:
    return view.result is not None and view.isVisible() and not view.visibleRegion().isEmpty()
