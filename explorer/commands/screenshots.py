"""`gramscope --screenshots FOLDER`: pictures of everything, made by the program itself."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QWidget

from explorer.app import application, build
from explorer.commands.scenes import SCENES, Scene, opened
from explorer.commands.smoke import SmokeError
from explorer.settings import HOME
from explorer.ui import theme
from explorer.ui.window import MainWindow

CHOICES: tuple[theme.Choice, ...] = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Screen:
    """A window of so many pixels of a person's, each `scale` pixels of the screen wide."""

    name: str
    width: int
    height: int
    scale: int


SCREENS = (
    Screen("1280x800", 1280, 800, 1),
    Screen("200-percent", 1280, 800, 2),
    Screen("4k", 3840, 2160, 1),
)


def screenshots(
    out: str, paths: Sequence[str] = (), only: Collection[str] = (), screens: Sequence[Screen] = SCREENS
) -> int:
    """Save every page, dialog and overlay, light and dark, as `out`/SCREEN/SCENE-light.png.

    Each screen has a process of its own, since Qt is told its scale before it starts. Preferences are the
    program's own, not the person's, and nothing appears on the screen, so that the pictures are always the
    same.

    Parameters
    ----------
    paths : sequence of str
        A checkpoint, or a series of them, to show besides the sample.
    only : collection of str
        The names of the scenes to take; empty: all.

    Returns
    -------
    int
        1 where a picture could not be taken.
    """
    context = multiprocessing.get_context("spawn")
    status = 0
    for screen in screens:
        work = context.Process(target=_take_all, args=(Path(out), screen, tuple(paths), tuple(only)))
        work.start()
        work.join()
        status = status or int(work.exitcode != 0)
    return status


def _take_all(out: Path, screen: Screen, paths: tuple[str, ...], only: tuple[str, ...]) -> None:
    os.environ["QT_SCALE_FACTOR"] = str(screen.scale)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    folder = out / screen.name
    folder.mkdir(parents=True, exist_ok=True)
    scenes = {name: scene for name, scene in SCENES.items() if not only or name in only}
    if paths:
        scenes |= opened(tuple(str(Path(path).resolve()) for path in paths))
    with TemporaryDirectory() as home:
        os.environ[HOME] = home
        application()
        window = build()
        window.resize(screen.width, screen.height)
        window.show()
        try:
            for name, scene in scenes.items():
                _take(window, scene, folder / name)
        except SmokeError as error:
            sys.exit(f"gramscope: {error}")
        finally:
            window.close()


def _take(window: MainWindow, scene: Scene, path: Path) -> None:
    with scene.arrange(window) as shown:
        for choice in CHOICES:
            window.menus.choose_appearance(choice)
            _save(shown, path.with_name(f"{path.name}-{choice}.png"))


def _save(shown: QWidget, path: Path) -> None:
    size = QSize()
    while size != shown.size():  # until nothing moves any more
        size = shown.size()
        for _ in range(5):
            QApplication.processEvents()
    shown.grab().save(str(path))
    print(f"wrote {path}", flush=True)
