from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt, QTimer, qInstallMessageHandler, qWarning
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from explorer import __version__
from explorer.commands.scenes import titles
from explorer.errors import GramscopeError, Stopped
from explorer.ui import messages
from explorer.ui.messages import Message, MessageArea, MessageBar
from explorer.ui.panel import Panel
from tests.ui.desk import press, settle, sit_down


@pytest.fixture(autouse=True)
def fresh_exchange() -> Iterator[None]:
    messages.messages.cache_clear()
    yield
    messages.messages.cache_clear()


@pytest.fixture
def area(qtbot: QtBot) -> MessageArea:
    area = MessageArea()
    qtbot.addWidget(area)
    return area


def sentences(area: MessageArea) -> list[str]:
    return [bar.sentence.text() for bar in area.bars]


def test_a_message_waits_for_a_window(qtbot: QtBot) -> None:
    messages.error("Before any window.")
    area = MessageArea()
    qtbot.addWidget(area)
    messages.warning("And after.")
    assert sentences(area) == ["And after.", "Before any window."]
    assert not area.isHidden()


def test_what_is_posted_after_closing_waits_again(area: MessageArea, qtbot: QtBot) -> None:
    area.close_messages()
    messages.error("Later.")
    assert area.isHidden()
    second = MessageArea()
    qtbot.addWidget(second)
    assert sentences(second) == ["Later."]


def test_details_unfold_and_are_copied(area: MessageArea) -> None:
    messages.report(GramscopeError("It is wrong. Do this.", detail="the long story"))
    bar = area.bars[0]
    assert bar.detail.isHidden()
    bar.unfold.click()
    assert not bar.detail.isHidden()
    bar.copy.click()
    copied = QGuiApplication.clipboard().text()
    for part in ("It is wrong. Do this.", "the long story", f"Gramscope {__version__}"):
        assert part in copied


def test_an_unexpected_exception_shows_its_traceback(
    area: MessageArea, caplog: pytest.LogCaptureFixture
) -> None:
    try:
        raise KeyError("absent")
    except KeyError as error:
        messages.report(error)
    message = area.bars[0].message
    assert "KeyError" in message.sentence
    assert "test_messages.py" in message.detail
    assert "KeyError: 'absent'" in caplog.text
    assert all(isinstance(part, str) for record in caplog.records for part in record.args or ())


def test_a_stopped_computation_is_no_message(area: MessageArea) -> None:
    messages.report(Stopped())
    assert area.bars == []


def test_closing_the_last_one_takes_no_room(area: MessageArea) -> None:
    messages.error("One.")
    area.bars[0].dismiss.click()
    assert area.bars == []
    assert area.isHidden()


def test_the_same_message_is_counted(area: MessageArea) -> None:
    for _ in range(3):
        messages.error("Again.")
    assert sentences(area) == ["Again. (×3)"]


def test_few_are_shown(area: MessageArea) -> None:
    for number in range(messages.MOST_SHOWN + 2):
        messages.error(f"Number {number}.")
    assert sentences(area) == ["Number 4.", "Number 3.", "Number 2."]


def test_what_has_a_button_waits_for_an_answer(area: MessageArea) -> None:
    messages.offer("There is something to restore.", "Restore", lambda: None)
    for number in range(messages.MOST_SHOWN + 2):
        messages.info(f"Saved number {number}.")
    assert sentences(area) == ["Saved number 4.", "Saved number 3.", "There is something to restore."]
    for number in range(messages.MOST_SHOWN):
        messages.offer(f"Another, {number}.", "Restore", lambda: None)
    messages.error("The newest is always shown.")
    assert len(area.bars) == messages.MOST_SHOWN + 2
    assert sentences(area)[0] == "The newest is always shown."


def test_good_news_goes_by_itself(area: MessageArea, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "INFO_MS", 20)
    messages.info("Saved.")
    messages.error("Not saved.")
    qtbot.waitUntil(lambda: sentences(area) == ["Not saved."], timeout=2000)


def test_a_thread_may_tell(area: MessageArea, qtbot: QtBot) -> None:
    thread = threading.Thread(target=lambda: messages.error("From elsewhere."))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: sentences(area) == ["From elsewhere."], timeout=2000)


def test_long_sentences_wrap(area: MessageArea) -> None:
    messages.error("word " * 200)
    assert area.bars[0].minimumSizeHint().width() < 500


@pytest.mark.parametrize("level", ["error", "warning", "info"])
def test_a_bar_names_itself_for_screen_readers(level: messages.Level, qtbot: QtBot) -> None:
    bar = MessageBar(Message(level, "Sentence."))
    qtbot.addWidget(bar)
    bar._clock.stop()
    assert bar.accessibleName() == f"{level}: Sentence."
    assert all(button.accessibleName() for button in (bar.unfold, bar.copy, bar.dismiss))


def raise_in_thread() -> None:
    raise RuntimeError("in a thread")


def test_uncaught_exceptions_and_qt_warnings_arrive(
    area: MessageArea, qtbot: QtBot, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sys.excepthook, threading.excepthook
    restore = messages.install_hooks()
    try:
        sys.excepthook(ValueError, ValueError("in a slot"), None)
        thread = threading.Thread(target=raise_in_thread)
        thread.start()
        thread.join()
        with caplog.at_level(logging.WARNING):
            qWarning("from Qt")
    finally:
        restore()
    assert (sys.excepthook, threading.excepthook) == before
    qtbot.waitUntil(lambda: len(area.bars) == 2, timeout=2000)
    assert "RuntimeError" in sentences(area)[0]
    assert "ValueError" in sentences(area)[1]
    assert "from Qt" in caplog.text
    handler = qInstallMessageHandler(None)
    qInstallMessageHandler(handler)
    assert handler is not messages._log_qt


def test_a_keyboard_interrupt_is_not_a_message(area: MessageArea, capsys: pytest.CaptureFixture[str]) -> None:
    seen = []
    before, sys.excepthook = sys.excepthook, lambda *args: seen.append(args[0])
    try:
        restore = messages.install_hooks()
        sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
        restore()
    finally:
        sys.excepthook = before
    assert seen == [KeyboardInterrupt]
    assert area.bars == []


def test_an_exception_in_a_timer_slot_goes_through_the_hook(area: MessageArea, qtbot: QtBot) -> None:
    def slot() -> None:
        raise RuntimeError("in a timer")

    with qtbot.capture_exceptions() as exceptions:
        QTimer.singleShot(0, slot)
        qtbot.waitUntil(lambda: bool(exceptions), timeout=2000)
    messages.report(exceptions[0][1])
    assert "RuntimeError" in sentences(area)[0]


def test_an_offer_is_taken_at_its_button_and_goes(area: MessageArea) -> None:
    done: list[str] = []
    messages.offer("There is something to restore.", "Restore", lambda: done.append("restored"))
    bar = area.bars[0]
    button = next(b for b in bar.findChildren(QToolButton) if b.text() == "Restore")
    button.click()
    assert done == ["restored"]
    assert not area.bars


def test_closing_one_that_is_already_going_does_nothing(area: MessageArea) -> None:
    messages.error("First.")
    bar = area.bars[0]
    for number in range(messages.MOST_SHOWN):
        messages.error(f"Another, {number}.")
    bar.closed.emit()
    assert len(area.bars) == messages.MOST_SHOWN and bar not in area.bars


@pytest.mark.parametrize("title", ["Explore", "Evidence", "Laboratory"])
def test_panels_never_overlap_under_messages(qtbot: QtBot, title: str) -> None:
    long = "this is no kind of model that can be opened, whatever it is that was meant by it. " * 3
    with sit_down(qtbot) as window:
        window.resize(1280, 800)
        window.pages.show_page(titles(window).index(title))
        for i in range(3):
            messages.error(f"File {i}: {long}", "what lies behind it\n" * 20)
        settle()
        for bar in window.messages.bars:
            bar.unfold.click()
        settle()
        newest = window.messages.bars[0].sentence
        assert newest.visibleRegion().boundingRect().height() == newest.height()
        page = window.pages.page(window.pages.place)
        shown = [panel for panel in page.findChildren(Panel) if not panel.visibleRegion().isEmpty()]
        assert len(shown) > 2
        for one, other in combinations(shown, 2):
            places = [QRect(panel.mapTo(page, QPoint(0, 0)), panel.size()) for panel in (one, other)]
            assert not places[0].intersects(places[1])
        for panel in shown:
            assert panel.height() >= panel.minimumSizeHint().height()


def test_details_unfold_over_the_page_and_squeeze_no_panel(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        window.resize(window.minimumSize())
        messages.error("It is wrong.", "what lies behind it\n" * 20)
        settle()
        before = window.pages.height()
        (bar,) = window.messages.bars
        bar.unfold.click()
        settle()
        assert window.pages.height() == before
        place = bar.detail.geometry()
        assert bar.detail.isVisible() and bar.detail.parentWidget() is window
        assert place.top() == bar.mapTo(window, QPoint(0, bar.height())).y()
        assert window.rect().contains(place)
        window.resize(1280, 800)
        settle()
        assert bar.detail.width() > place.width()
        detail = bar.detail
        bar.dismiss.click()
        assert not detail.isVisible()


def test_escape_leaves_the_details_and_no_more(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        window.state.select(frozenset({2}))
        qtbot.waitUntil(window.isActiveWindow)
        messages.error("It is wrong.", "why")
        settle()
        (bar,) = window.messages.bars
        qtbot.mouseClick(bar.unfold, Qt.MouseButton.LeftButton)
        assert bar.detail.hasFocus()
        press(qtbot, Qt.Key.Key_Escape)
        assert not bar.detail.isVisible() and bar.unfold.hasFocus()
        assert window.state.selection == frozenset({2})


def test_details_go_with_a_message_that_is_scrolled_away(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        window.resize(window.minimumSize())
        for i in range(messages.MOST_SHOWN):
            messages.error(f"File {i} is no kind of model that can be opened. " * 9, "why")
        settle()
        bars, area = window.messages.bars, window.messages
        bars[0].unfold.click()
        settle()
        assert bars[0].detail.isVisible()
        area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
        settle()
        assert bars[0].visibleRegion().isEmpty()
        assert not bars[0].detail.isVisible() and not bars[0].unfold.isChecked()


def test_a_newer_message_folds_the_details_of_the_last(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        messages.error("First.", "why")
        settle()
        first = window.messages.bars[0]
        first.unfold.click()
        messages.error("Second.", "why")
        settle()
        assert not first.detail.isVisible() and not first.unfold.isChecked()
