"""The laboratory as a person works in it; training runs on its real thread."""

from __future__ import annotations

import runpy
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from explorer.lab.setting import Data
from explorer.ui import export
from explorer.ui.lab import LabPage
from explorer.ui.lab_number import INFINITY, STEPS, Scale
from explorer.ui.window import MainWindow
from explorer.views.lab_sphere import START
from tests.ui.desk import sentences, settle
from tests.ui.lab_desk import LEFT, drag, laboratory, press_button, step_of


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with laboratory(qtbot) as window:
        yield window


@pytest.fixture
def page(window: MainWindow) -> LabPage:
    return window.findChild(LabPage)


def test_start_finds_the_direction_pause_freezes_step_takes_one_reset_begins_again(
    page: LabPage, qtbot: QtBot
) -> None:
    controls = page.controls
    first = float(controls.found.text())
    assert step_of(page) == 0 and first < 0.9
    controls.speed.show_value(None)
    page.training.pace(None)
    press_button(qtbot, controls.start)
    assert controls.start.text() == "Pause"
    qtbot.waitUntil(lambda: step_of(page) >= 400, timeout=60_000)
    press_button(qtbot, controls.start)
    assert controls.start.text() == "Start"
    qtbot.wait(100)
    paused = step_of(page)
    assert float(controls.found.text()) >= 0.99
    qtbot.wait(200)
    assert step_of(page) == paused
    press_button(qtbot, controls.step)
    qtbot.waitUntil(lambda: step_of(page) != paused)
    qtbot.wait(100)
    assert step_of(page) == paused + 1
    press_button(qtbot, controls.reset)
    qtbot.waitUntil(lambda: step_of(page) == 0)
    assert float(controls.found.text()) == first


def test_the_speed_is_kept(page: LabPage, qtbot: QtBot) -> None:
    page.controls.speed.field.setValue(20)
    press_button(qtbot, page.controls.start)
    qtbot.wait(600)
    press_button(qtbot, page.controls.start)
    qtbot.wait(100)
    assert 4 <= step_of(page) <= 16


def test_a_bar_is_dragged_and_training_goes_on(page: LabPage, qtbot: QtBot) -> None:
    page.controls.step.click()
    qtbot.waitUntil(lambda: step_of(page) == 1)
    view = page.spectrum
    drag(view, view.plot, (3.0, 0.9), (3.0, 2.5))
    data = page.state.setting.data
    assert data.family == "drawn" and len(data.spectrum) == 10
    assert data.spectrum[2] == pytest.approx(2.5, abs=0.04)
    assert [x for i, x in enumerate(data.spectrum) if i != 2] == [4.0] + [1.0] * 8
    qtbot.waitUntil(lambda: view.result.setting.data == data)
    assert step_of(page) == 1, "nothing began again"
    assert page.controls.family.currentData() == "drawn"
    assert f"{data.spectrum[2]:g}" in page.controls.spectrum.text()


def test_past_the_transition_it_warns(page: LabPage, qtbot: QtBot) -> None:
    assert not page.story.warning.isVisible()
    page.controls.coupling.field.setValue(1.5)
    qtbot.waitUntil(lambda: page.story.warning.isVisible())
    assert "past the transition at 1.111" in page.story.warning.text().replace("<i>", "").replace("</i>", "")
    page.controls.coupling.field.setValue(0.8)
    qtbot.waitUntil(lambda: not page.story.warning.isVisible())
    assert "13 − 4 = 9" in page.story.formulas.text()


def test_sliders_act_without_restarting_and_d_restarts(page: LabPage, qtbot: QtBot) -> None:
    page.controls.step.click()
    qtbot.waitUntil(lambda: step_of(page) == 1)
    for number in ("coupling", "theta", "length", "batch", "rate"):
        slider = getattr(page.controls, number).slider
        before = page.state.setting
        slider.setValue(slider.value() + 7)
        after = page.state.setting
        assert after != before
        qtbot.waitUntil(lambda after=after: page.alignment.result.setting == after)
    assert step_of(page) == 1
    assert "begins again" in page.controls.d.toolTip()
    page.controls.d.field.setValue(5)
    qtbot.waitUntil(lambda: step_of(page) == 0)
    assert len(page.alignment.result.eigenvalues) == 5


def test_the_sphere_of_three_dimensions_is_turned_by_a_drag(page: LabPage, qtbot: QtBot) -> None:
    page.panels["lab-sphere"].raise_()
    settle()
    assert page.sphere.result is None
    page.sphere._button.click()
    qtbot.waitUntil(lambda: page.sphere.result is not None)
    settle()
    np.testing.assert_allclose(page.sphere.axes, START, atol=1e-12)
    drag(page.sphere, page.sphere.plot, (0.0, 0.0), (0.6, 0.2))
    assert np.abs(page.sphere.axes - START).max() > 0.1
    np.testing.assert_allclose(page.sphere.axes @ page.sphere.axes.T, np.eye(3), atol=1e-9)
    page.sphere.setFocus()
    settle()
    QTest.keyClick(page.sphere, Qt.Key.Key_Home)
    np.testing.assert_allclose(page.sphere.axes, START, atol=1e-12)
    QTest.keyClick(page.sphere, Qt.Key.Key_Left)
    assert np.abs(page.sphere.axes - START).max() > 0.05
    QTest.keyClick(page.sphere, Qt.Key.Key_Right)
    np.testing.assert_allclose(page.sphere.axes, START, atol=1e-9)
    QTest.keyClick(page.sphere, Qt.Key.Key_Up)
    turned = page.sphere.options()
    page.sphere.set_options({"axes": START.ravel().tolist()})
    page.sphere.set_options(turned)
    assert page.sphere.options() == turned


@pytest.mark.parametrize(
    ("name", "content", "what", "says"),
    [
        ("words.csv", "a,b\n1,x\n2,3\n", "rows", "table of numbers"),
        ("nan.csv", "1,nan\n2,3\n", "rows", "not finite"),
        ("line.csv", "1,2,3\n", "rows", "shape"),
        ("skew.csv", "2,1\n0,2\n", "covariance", "symmetric"),
        ("wide.csv", "2,1,0\n0,2,1\n", "covariance", "square"),
        ("minus.csv", "1,2\n2,1\n", "covariance", "negative eigenvalue"),
        ("large.csv", "\n".join([",".join(["1"] * 600), ",".join(["2"] * 600)]), "rows", "512"),
    ],
)
def test_bad_tables_get_a_sentence_and_the_page_goes_on(
    window: MainWindow, page: LabPage, qtbot: QtBot, tmp_path: Path, name, content, what, says
) -> None:
    (tmp_path / name).write_text(content)
    before = page.state.setting
    page.open_table(what, tmp_path / name)
    qtbot.waitUntil(lambda: bool(sentences(window)))
    assert says in sentences(window)[-1]
    assert page.state.setting == before
    page.controls.step.click()
    qtbot.waitUntil(lambda: step_of(page) == 1)


def test_own_tables_are_taken(page: LabPage, qtbot: QtBot, tmp_path: Path) -> None:
    np.save(tmp_path / "sigma.npy", np.array([[2.0, 0.5], [0.5, 1.0]]))
    page.open_table("covariance", tmp_path / "sigma.npy")
    qtbot.waitUntil(lambda: len(page.alignment.result.eigenvalues) == 2)
    np.testing.assert_allclose(page.map.result.covariance, [[2, 0.5], [0.5, 1]], atol=1e-12)
    page.controls.family.setCurrentIndex(page.controls.family.findData("digits"))
    page.controls.family.activated.emit(page.controls.family.currentIndex())
    qtbot.waitUntil(lambda: len(page.alignment.result.eigenvalues) == 64)


def test_what_is_no_list_of_eigenvalues_is_told(window: MainWindow, page: LabPage) -> None:
    page.state.update(data=Data("drawn", spectrum=(3.0, 1.0)))
    page.controls.spectrum.setText("3, one")
    page.controls.spectrum.editingFinished.emit()
    assert "no list of eigenvalues" in sentences(window)[-1]
    assert page.controls.spectrum.text() == "3, 1"


def test_a_step_that_is_too_large_is_refused(window: MainWindow, page: LabPage, qtbot: QtBot) -> None:
    before = page.state.setting
    page.state.update(batch=1024, length=1024, data=Data(d=64))
    qtbot.waitUntil(lambda: bool(sentences(window)))
    assert "Lower the batch" in sentences(window)[-1]
    assert page.state.setting == before


def test_a_sweep_is_drawn_saved_and_cancelled(page: LabPage, qtbot: QtBot, tmp_path: Path) -> None:
    page.state.update(batch=8)
    page.controls.steps.setValue(2)
    page.controls.seeds.setValue(2)
    press_button(qtbot, page.bar.go)
    settle()
    found = page.sweep.result
    assert found is not None and len(found.rows) == found.plan.runs
    page.sweeps.save(tmp_path / "alignment.csv")
    assert (tmp_path / "alignment.csv").read_text().count("\n") == found.plan.runs + 2
    assert (tmp_path / "alignment.svg").read_text().startswith("<svg")
    page.bar.over.setCurrentIndex(page.bar.over.findData("phase"))
    press_button(qtbot, page.bar.go)
    settle()
    assert len(page.sweep.result.rows) == page.sweep.result.plan.runs
    page.sweeps.save(tmp_path / "phase.csv")
    assert (tmp_path / "phase-softmax.svg").exists()


def test_a_running_sweep_is_cancelled(qtbot: QtBot, window: MainWindow) -> None:
    page = LabPage(window.state)
    qtbot.addWidget(page)
    page.controls.steps.setValue(5000)
    page.controls.seeds.setValue(50)
    page.bar.go.click()
    assert page.bar.go.text() == "Cancel" and page.sweeps.running
    page.bar.go.click()
    assert page.bar.go.text() == "Sweep" and not page.sweeps.running
    page.stop()


def test_every_structure_and_family_is_drawn_and_exported(page: LabPage, qtbot: QtBot) -> None:
    settings = [
        page.state.setting.but(structure="free", kind="linear", batch=8, data=Data("per-prompt", d=3)),
        page.state.setting.but(structure="frame", rank=2, length=None, data=Data("power", d=3)),
        page.state.setting.but(structure="heads", rank=2, batch=8, data=Data("wishart", d=3, degrees=5)),
        page.state.setting.but(contamination="sparse", clean=True, batch=8, data=Data(d=3)),
    ]
    for setting in settings:
        page.state.set(setting)
        page.training.step()
        qtbot.waitUntil(lambda setting=setting: page.alignment.result.setting == setting)
        for view in page.live_views:
            view.show_snapshot(page.alignment.result)
            view.retheme()
            assert view.table()[0]
    for view in page.live_views:
        for kind in ("png", "svg", "pdf", "csv"):
            assert len(export.export_bytes([view], kind)) > 100


def test_leaving_the_page_pauses(window: MainWindow, page: LabPage, qtbot: QtBot) -> None:
    press_button(qtbot, page.controls.start)
    assert page.training.running
    window.pages.show_page(0)
    assert not page.training.running
    qtbot.wait(100)
    step = page.alignment.result.step
    qtbot.wait(150)
    assert page.alignment.result.step == step


def test_leaving_without_a_sweep_says_nothing_of_one(window: MainWindow, page: LabPage) -> None:
    window.pages.show_page(0)
    window.pages.show_page(window.pages.count - 1)
    assert "press Sweep" in page.sweep._sentence.text()


def test_what_is_read_follows_the_numbers_under_the_pointer(page: LabPage, qtbot: QtBot) -> None:
    view = page.spectrum
    view._hover(view.plot.vb.mapViewToScene(QPointF(1, 1)))
    assert view.canvas.reading.text() == "σ₁ = 4"
    page.controls.theta.field.setValue(1.0)
    qtbot.waitUntil(lambda: view.canvas.reading.text() == "σ₁ = 2")


def test_closing_while_training_leaves_no_thread_and_keeps_the_setting(
    window: MainWindow, page: LabPage, qtbot: QtBot
) -> None:
    page.state.update(rate=0.25)
    press_button(qtbot, page.controls.start)
    window.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "gramscope-laboratory"]
    other = LabPage(window.state)
    qtbot.addWidget(other)
    assert other.state.setting.rate == 0.25


def test_a_scale_goes_there_and_back() -> None:
    for scale in (Scale(2, 64, log=True), Scale(0.05, 2.5, 2), Scale(2, 1024, log=True, infinite=True)):
        for position in range(0, STEPS + 1, 5):
            value = scale.at(position)
            assert scale.at(scale.position(value)) == value
    assert Scale(2, 8, infinite=True).at(STEPS) is None


def test_infinity_is_typed_and_shown(page: LabPage) -> None:
    field = page.controls.length.field
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "inf")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert page.state.setting.length is None
    assert field.text() == INFINITY


def test_a_session_keeps_the_laboratory(window: MainWindow, page: LabPage, tmp_path: Path) -> None:
    window.opener.open_sample()
    settle()
    page.state.update(coupling=0.7, data=Data("power", d=6))
    saved = page.state.setting
    window.workbench.sessions.save_to(tmp_path / "lab.gramscope")
    page.state.update(coupling=1.2, data=Data(d=4))
    window.workbench.sessions.open(tmp_path / "lab.gramscope")
    settle()
    assert page.state.setting == saved
    assert not window.menus.actions["Undo"].isEnabled()


def test_the_sentence_of_the_source_stays_off_this_page(window: MainWindow, page: LabPage) -> None:
    assert not window.truth.isVisible()
    window.pages.show_page(0)
    assert window.truth.isVisible()


def test_copy_as_python_trains_to_these_numbers(
    window: MainWindow, page: LabPage, qtbot: QtBot, tmp_path: Path
) -> None:
    page.state.update(kind="linear", batch=8, data=Data("drawn", spectrum=(4.0, 2.0, 1.0)))
    press_button(qtbot, page.controls.reset)
    for _ in range(3):
        press_button(qtbot, page.controls.step)
    qtbot.waitUntil(lambda: step_of(page) == 3)
    window.menus.actions["Copy as Python"].trigger()
    (tmp_path / "run.py").write_text(QGuiApplication.clipboard().text(), encoding="utf-8")
    found = runpy.run_path(str(tmp_path / "run.py"))["snapshot"]
    np.testing.assert_allclose(found.directions, page.alignment.result.directions, atol=1e-6)
    np.testing.assert_allclose(found.curves.loss, page.alignment.result.curves.loss, rtol=1e-5)


def drop(widget: QWidget, path: Path) -> None:
    """Let go of a file over a widget, as a file manager does that would move it."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    actions = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
    keys = Qt.KeyboardModifier.NoModifier
    at = widget.rect().center()
    QApplication.sendEvent(widget, QDragEnterEvent(at, actions, mime, LEFT, keys))
    event = QDropEvent(QPointF(at), actions, mime, LEFT, keys)
    event.setDropAction(Qt.DropAction.MoveAction)
    QApplication.sendEvent(widget, event)
    assert event.dropAction() == Qt.DropAction.CopyAction
    settle()


def test_a_table_is_dropped_on_a_panel(
    window: MainWindow, page: LabPage, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "tokens.csv").write_text("a,b,c\n1,2,3\n2,4,5\n0,1,9\n")
    np.save(tmp_path / "sigma.npy", np.diag([3.0, 2.0]))
    np.save(tmp_path / "evil.npy", np.array([{"a": print}], dtype=object), allow_pickle=True)
    over = page.alignment.canvas.viewport()
    drop(over, tmp_path / "tokens.csv")
    qtbot.waitUntil(lambda: len(page.alignment.result.eigenvalues) == 3)
    assert page.state.setting.data.family == "rows" and (tmp_path / "tokens.csv").exists()
    drop(over, tmp_path / "sigma.npy")
    qtbot.waitUntil(lambda: len(page.alignment.result.eigenvalues) == 2)
    assert page.state.setting.data.family == "covariance"
    drop(over, tmp_path / "evil.npy")
    assert "evil.npy could not be read" in sentences(window)[0]
    assert "Lines of text are read from a .txt file." in sentences(window)[0]
    assert page.state.setting.data.path.endswith("sigma.npy")
