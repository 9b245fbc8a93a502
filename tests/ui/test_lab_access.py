"""The laboratory without a pointer or without sight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QSlider,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from explorer.lab.setting import Data
from explorer.ui.fold import Fold
from explorer.ui.lab import LabPage
from explorer.views.canvas import Canvas
from tests.ui.desk import press, settle
from tests.ui.lab_desk import laboratory


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[LabPage]:
    with laboratory(qtbot) as window:
        yield window.findChild(LabPage)


@pytest.fixture
def everything(page: LabPage) -> LabPage:
    """A setting that shows as many controls as can be."""
    page.state.update(
        structure="frame", rank=2, contamination="sparse", clean=True, batch=8, data=Data("wishart", d=3)
    )
    page.controls.findChild(Fold).button.click()
    settle()
    return page


def controls_of(page: LabPage) -> list[QWidget]:
    kinds = (QAbstractButton, QComboBox, QSlider, QAbstractSpinBox, QLineEdit, QTabBar, Canvas)
    found = [widget for kind in kinds for widget in page.findChildren(kind)]
    return [w for w in found if w.isVisible() and w.objectName() != "qt_spinbox_lineedit"]


def test_every_control_has_a_name_of_its_own(everything: LabPage) -> None:
    names = [widget.accessibleName() or getattr(widget, "text", str)() for widget in controls_of(everything)]
    assert all(names)
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_tab_reaches_every_control(everything: LabPage, qtbot: QtBot) -> None:
    everything.controls.start.setFocus()
    met: list[QWidget] = []
    while (widget := QApplication.focusWidget()) not in met:
        met.append(widget)
        press(qtbot, Qt.Key.Key_Tab)
    for control in controls_of(everything):
        keys = everything.sphere if control is everything.sphere.canvas else control
        assert keys in met, control.accessibleName()
