"""The study page: it draws as it computes, leaves off and goes on, and says what is wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from explorer.errors import Stopped
from explorer.settings import resource
from explorer.study.plan import DIGITS, KINDS
from explorer.study.table import cells
from explorer.ui import export
from explorer.ui.study_controls import StudyControls, Wanted
from explorer.ui.study_page import StudyPage
from explorer.ui.study_table import accuracy
from tests.ui.desk import sentences, settle, sit_down

TWO = [str(resource(f"digits/digits-{variant}-0.safetensors")) for variant in ("softmax", "symmetric")]


def choose(page: StudyPage, *kinds: str, seeds: int = 1) -> None:
    page.controls.use_models(TWO)
    page.controls.seeds.setValue(seeds)
    for kind, box in page.controls.kinds.items():
        box.setChecked(kind in kinds)


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[StudyPage]:
    page = StudyPage(inline=True)
    page.resize(1100, 700)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.stop()
    page.close()
    page.deleteLater()


@pytest.fixture
def threaded(qtbot: QtBot) -> Iterator[StudyPage]:
    page = StudyPage()
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.stop()
    page.close()
    page.deleteLater()


def test_start_draws_curves_table_and_sentences(page: StudyPage, qtbot: QtBot, tmp_path: Path) -> None:
    choose(page, "blur")
    qtbot.mouseClick(page.controls.button, Qt.MouseButton.LeftButton)
    answers = page.study.result
    assert answers is not None and len(answers.right) == answers.wanted == 12
    assert page.controls.progress.text().startswith("12 of 12")
    assert page.controls.button.text() == "Start"
    found = {cell.row: cell for cell in cells(answers) if cell.level == 1.0}
    lines = [
        [page.table.item(line, column).text().strip() for column in range(4)]
        for line in range(page.table.rowCount())
    ]
    assert ["Blur", "1", accuracy(found["softmax"]), accuracy(found["symmetric"])] in lines
    assert "Blur: symmetric minus softmax" in page.says.toPlainText()
    for column in range(page.table.columnCount()):
        cell = page.table.item(0, column)
        head = page.table.horizontalHeaderItem(column)
        assert bool(head.textAlignment() & Qt.AlignmentFlag.AlignRight) == (column > 0)
        assert bool(cell.textAlignment() & Qt.AlignmentFlag.AlignRight) == (column > 0)
    export.save(page.views, tmp_path / "study.svg")
    assert "Blur" in (tmp_path / "study.svg").read_text()


def test_what_is_chosen_is_what_is_wanted(page: StudyPage) -> None:
    usual = Wanted()
    assert page.controls.wanted == Wanted(kinds=KINDS[:-1])
    choose(page, "fgsm", "occlusion", seeds=3)
    page.controls.use_data("/some/where")
    page.controls.swap.setChecked(True)
    page.controls.steps.setValue(4)
    assert page.controls.wanted == Wanted(tuple(TWO), "/some/where", ("occlusion", "fgsm"), 3, 4, True)
    assert page.controls.images.text() == "where"
    page.controls.use_models([DIGITS])
    page.controls.use_data("")
    assert page.controls.wanted.paths == usual.paths and page.controls.wanted.data == ""


def test_the_same_study_again_is_not_computed_again(page: StudyPage, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(page, "blur")
    page.controls.button.click()

    def refuse(*_: Any) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("explorer.study.run.compute", refuse)
    page.controls.button.click()
    assert page.study.result is not None and len(page.study.result.right) == 12


def test_nothing_chosen_and_bad_images_are_sentences(page: StudyPage, tmp_path: Path) -> None:
    choose(page)
    page.controls.button.click()
    assert "No kind of contamination is chosen" in page.study._sentence.text()
    choose(page, "blur")
    page.controls.use_data(str(tmp_path))
    page.controls.button.click()
    assert "holds no labelled images" in page.study._sentence.text()
    assert page.study.result is None and page.controls.button.text() == "Start"


class Slow:
    """Answers at once until told to wait."""

    def __init__(self, allowed: int) -> None:
        self.allowed, self.asked, self.free = allowed, 0, threading.Event()

    def __call__(self, unit: Any, desk: Any, should_stop: Any) -> np.ndarray:
        self.asked += 1
        while self.asked > self.allowed and not self.free.wait(0.01):
            if should_stop():
                raise Stopped
        return np.zeros(360, np.int64)


def test_leaving_the_page_leaves_off_and_coming_back_goes_on(
    threaded: StudyPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(allowed=4)
    monkeypatch.setattr("explorer.study.run.compute", slow)
    choose(threaded, "blur")
    threaded.controls.button.click()
    qtbot.waitUntil(lambda: slow.asked == 5)
    assert threaded.controls.button.text() == "Cancel"
    threaded.hide()
    assert threaded.controls.button.text() == "Start"
    slow.free.set()
    qtbot.wait(50)
    before = slow.asked
    threaded.show()
    qtbot.waitUntil(lambda: threaded.controls.progress.text().startswith("12 of 12"))
    assert slow.asked - before <= 12 - 4


def test_cancel_keeps_the_picture(threaded: StudyPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(allowed=4)
    monkeypatch.setattr("explorer.study.run.compute", slow)
    choose(threaded, "blur")
    threaded.controls.button.click()
    qtbot.waitUntil(lambda: threaded.study.result is not None)
    threaded.controls.button.click()
    assert threaded.controls.button.text() == "Start"
    threaded.stop()
    assert threaded.study.result is not None


def test_the_window_has_the_page_and_exports_it(qtbot: QtBot, tmp_path: Path) -> None:
    with sit_down(qtbot, None) as window:
        titles = [window.pages.row.tabText(place) for place in range(window.pages.count)]
        place = titles.index("Study")
        window.pages.show_page(place)
        page = window.pages.page(place)
        assert isinstance(page, StudyPage)
        choose(page, "blur")
        page.controls.button.click()
        settle()
        window.exports.save(None, tmp_path / "study.csv")
        assert "mean" in (tmp_path / "study.csv").read_text()
        assert sentences(window) == []


def test_asking_for_images_does_not_stop_the_window(qtbot: QtBot) -> None:
    controls = StudyControls()
    qtbot.addWidget(controls)
    controls._ask_images()
    dialog = controls.findChild(QFileDialog)
    assert dialog is not None and dialog.isVisible()
    dialog.filesSelected.emit(["/images/of/classes"])
    assert controls.wanted.data == "/images/of/classes" and controls.images.text() == "classes"
    dialog.reject()
