"""The window as a person uses it: drop, slide, select, export, close."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.models.recipes import Recipe
from explorer.params import Params
from explorer.ui.window import MainWindow
from tests.sources import FixedSource
from tests.views.pointer import at, click


def settle() -> None:
    for _ in range(5):
        QApplication.processEvents()


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    """A window that computes at once, on a small synthetic head."""
    window = build(inline=True)
    window.show()
    window.open_recipe(Recipe(tokens=24, dim=8, components=3))
    settle()
    yield window
    window.close()
    window.deleteLater()


@pytest.fixture
def live(qtbot: QtBot) -> Iterator[MainWindow]:
    """A window with its real threads, nothing open."""
    window = build()
    window.show()
    yield window
    window.close()
    window.deleteLater()


def pixels(window: MainWindow) -> dict[str, np.ndarray]:
    settle()
    found = {}
    for view in window.explore.views:
        image = view.canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        found[view.name] = np.frombuffer(image.constBits(), np.uint8).copy()
    return found


def drop(window: MainWindow, *paths: Path) -> Qt.DropAction:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    actions = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(300, 300), actions, mime, buttons, keys))
    event = QDropEvent(QPointF(300, 300), actions, mime, buttons, keys)
    QApplication.sendEvent(window, event)
    return event.dropAction()


def sentences(window: MainWindow) -> list[str]:
    settle()
    return [bar.message.sentence for bar in window.messages.bars]


def test_an_empty_window_offers_the_sample_and_nothing_of_a_model(qtbot: QtBot) -> None:
    window = build(inline=True)
    qtbot.addWidget(window)
    window.show()
    bar, offered = window.bar, window.explore.panels["attention"].view._button
    assert not any(field.isVisible() for field in (bar.layer, bar.head, bar.query, bar.text, bar.sample))
    offered.click()
    settle()
    assert window.state.source is not None and not offered.isVisible()
    window.close()


def test_a_picture_at_once(window: MainWindow) -> None:
    result = window.state.result
    assert result is not None and result.final
    assert window.sentence.text().startswith("Nothing is contaminated")
    assert "ms" in window.small_print.text() and "CPU float64" in window.small_print.text()


def test_the_slider_moves_the_picture_and_going_back_restores_it(window: MainWindow) -> None:
    slider = window.explore.controls.level.slider
    before = pixels(window)
    errors = []
    for step in (4, 10):
        slider.setValue(step)
        errors.append(window.state.result.errors.softmax)
    moved = pixels(window)
    assert 0 < errors[0] < errors[1]
    assert all((before[name] != moved[name]).any() for name in before), "every panel follows"
    slider.setValue(0)
    after = pixels(window)
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_longer_sentence_moves_no_panel(window: MainWindow) -> None:
    window.resize(1280, 800)
    settle()
    before = window.pages.height()
    for words in ("Short.", "RPC is closer to its own clean output than softmax is. " * 4):
        window.sentence.setText(words)
        settle()
        assert window.pages.height() == before


def test_keys_move_the_slider(window: MainWindow, qtbot: QtBot) -> None:
    slider = window.explore.controls.level.slider
    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert window.state.params.level > 0
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    assert window.state.params.level == 0


def test_selection_is_marked_in_every_panel(window: MainWindow) -> None:
    before = pixels(window)
    window.state.select(frozenset({3}))
    marked = pixels(window)
    assert all((before[name] != marked[name]).any() for name in before)
    window.menus.actions["Select nothing"].trigger()
    assert window.state.selection == frozenset()


def test_clicking_a_token_selects_it_everywhere(window: MainWindow) -> None:
    view = window.explore.panels["projection"].view
    position = view.result.projection.queries[5]
    plot = view.plot_items[0]
    click(view, at(plot, *position))
    assert 5 in window.state.selection


@pytest.mark.parametrize(
    ("suffix", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("csv", b"#")]
)
def test_every_format_is_exported(window: MainWindow, tmp_path: Path, suffix: str, magic: bytes) -> None:
    path = tmp_path / f"figure.{suffix}"
    window.exports.try_save(None, path)
    assert path.read_bytes().startswith(magic)
    assert sentences(window) == [f"Saved figure.{suffix} in {tmp_path}."]


def test_an_export_that_cannot_be_is_told(window: MainWindow, tmp_path: Path) -> None:
    window.exports.try_save(None, tmp_path / "absent" / "figure.png")
    assert "does not exist" in sentences(window)[0]
    window.exports.try_save(None, tmp_path / "figure.bmp")
    assert "names no format" in sentences(window)[0]
    assert not list(tmp_path.glob("figure*"))


def test_copying(window: MainWindow) -> None:
    view = window.explore.panels["spectrum"].view
    window.explore.panels["spectrum"].asked.emit("copy", view)
    assert not QApplication.clipboard().image().isNull()
    window.explore.panels["spectrum"].asked.emit("copy numbers", view)
    assert "Gramscope" in QApplication.clipboard().text()


def test_a_drop_says_what_it_will_do_and_copies(live: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert drop(live, folder) == Qt.DropAction.CopyAction
    assert live.drop_zone.text() == "Open as checkpoint"
    qtbot.waitUntil(lambda: bool(live.messages.bars), timeout=30_000)
    assert folder.exists()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), "config"),
        (lambda path: path.write_bytes(b"nothing that is a model"), "model"),
    ],
)
def test_what_cannot_be_opened_leaves_the_picture(
    window: MainWindow, tmp_path: Path, make: Callable[[Path], Any], words: str
) -> None:
    path = tmp_path / "something.pt"
    make(path)
    before, source = pixels(window), window.state.source
    drop(window, path)
    found = sentences(window)
    assert found and found[0].endswith(".")
    window.messages.bars[0].dismiss.click()
    assert window.state.source is source
    assert all(np.array_equal(before[name], image) for name, image in pixels(window).items())


def test_an_image_without_a_model_says_what_to_do(window: MainWindow, tmp_path: Path) -> None:
    drop(window, tmp_path / "cat.png")
    assert sentences(window) == ["cat.png is an input. Open a model that reads one first."]


def test_an_exception_in_the_worker_is_shown_and_the_app_goes_on(live: MainWindow, qtbot: QtBot) -> None:
    class Broken(FixedSource):
        def capture(self, *args: Any, **kwargs: Any) -> Any:
            raise RuntimeError("some bug")

    live.state.open(Broken(), Params())
    qtbot.waitUntil(lambda: bool(live.messages.bars), timeout=30_000)
    assert "RuntimeError" in live.messages.bars[0].message.sentence
    assert "some bug" in live.messages.bars[0].message.detail
    live.state.open(FixedSource(), Params())
    qtbot.waitUntil(lambda: live.state.result is not None, timeout=30_000)


def test_closing_during_work_leaves_nothing(live: MainWindow, qtbot: QtBot) -> None:
    begun = threading.Event()

    class Slow(FixedSource):
        def capture(self, layers: Any, input: Any, device: torch.device, should_stop: Any = None) -> Any:
            begun.set()
            while not should_stop():
                threading.Event().wait(0.005)
            return super().capture(layers, input, device)

    live.state.open(Slow(), Params())
    qtbot.waitUntil(begun.is_set, timeout=30_000)
    live.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gramscope-")]


def test_layers_and_heads_by_bar_and_keys(window: MainWindow) -> None:
    source = FixedSource(layers=3, heads=4)
    window.state.open(source, Params())
    settle()
    assert window.bar.layer.isVisible() and window.bar.head.maximum() == 3
    window.menus.actions["Next head"].trigger()
    window.menus.actions["Next layer"].trigger()
    assert (window.state.params.layer, window.state.params.head) == (1, 1)
    window.state.update(head=3)
    assert window.bar.head.value() == 3


def test_a_masked_head_offers_its_query(window: MainWindow) -> None:
    window.state.open(FixedSource(causal=True), Params())
    settle()
    assert window.bar.query.isVisible() and window.bar.query.value() == 11
    window.bar.query.setValue(4)
    assert window.state.result.query == 4
    assert len(window.state.result.tokens) == 5


def test_values_of_another_width_say_why_rpc_is_absent(window: MainWindow) -> None:
    window.state.open(FixedSource(value_dim=6), Params(level=0.1))
    assert "RPC is not defined" in window.sentence.text()
    assert any("Dv = 6" in note for note in window.state.result.notes)


def test_a_recipe_acts_at_once(window: MainWindow) -> None:
    controls = window.explore.controls
    assert controls.recipe_box.isVisible()
    controls.recipe_box.button.click()
    controls.recipe.fields["tokens"].setValue(30)
    settle()
    assert len(window.state.result.tokens) == 30
    window.state.open(FixedSource(), Params())
    assert not controls.recipe_box.isVisible()


def test_a_file_of_lines_offers_each(window: MainWindow, tmp_path: Path) -> None:
    class Lines(FixedSource):
        def count(self, input: Any) -> int:
            return 3 if input.path else 1

    source = Lines()
    source.kind = "text"
    window.state.open(source, Params())
    settle()
    assert not window.bar.sample.isVisible()
    drop(window, tmp_path / "lines.txt")
    settle()
    assert window.state.params.input.path.endswith("lines.txt")
    assert window.bar.sample.isVisible() and window.bar.sample.maximum() == 2
    window.menus.actions["Next input"].trigger()
    assert window.state.params.input.index == 1


def test_what_does_not_fit_in_memory_is_said_and_the_picture_stays(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = window.state.result
    monkeypatch.setattr("explorer.models.memory.free_bytes", lambda device: 10**8)
    window.explore.controls.recipe_box.button.click()
    window.explore.controls.recipe.fields["tokens"].setValue(4096)
    settle()
    assert any("4,096 tokens" in said and "memory" in said for said in sentences(window)), sentences(window)
    assert window.state.result is shown
