"""Messages that ask for nothing: a sentence, its details folded, kept until a window can show them."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Literal

from PySide6.QtCore import (
    QEvent,
    QMessageLogContext,
    QObject,
    QSize,
    Qt,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.errors import GramscopeError, Stopped
from explorer.logs import about
from explorer.tasks import Task
from explorer.ui.progress import TaskProgress
from explorer.ui.unfolded import Unfolded

Level = Literal["error", "warning", "info"]
INFO_MS = 6000
MOST_SHOWN = 3
LEAST_PX = 72
"""A sentence of three lines."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Message:
    """One thing to tell.

    Attributes
    ----------
    level : "error", "warning" or "info"
    sentence : str
        What is wrong, and what to do.
    detail : str
        Shown when unfolded; empty: none.
    action : (str, callable) or None
        A button's text, and what it does; pressing it closes the message.
    task : Task or None
        What it tells of: how far it is, and Cancel.
    """

    level: Level
    sentence: str
    detail: str = ""
    action: tuple[str, Callable[[], object]] | None = None
    task: Task | None = None

    def to_copy(self) -> str:
        """Return what "Copy details" puts on the clipboard."""
        return "\n\n".join(filter(None, (self.sentence, self.detail, about())))


class Messages(QObject):
    """Takes messages from any thread and holds them until someone shows them.

    Signals
    -------
    posted(Message)
    withdrawn(Message)
        It no longer holds.
    """

    posted = Signal(object)
    withdrawn = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._kept: list[Message] = []
        self._shown = False

    def post(self, message: Message) -> None:
        """Show `message` now, or as soon as there is a window."""
        with self._lock:
            if not self._shown:
                self._kept.append(message)
                return
        self.posted.emit(message)

    def withdraw(self, message: Message) -> None:
        """Take a message back, shown or not."""
        with self._lock:
            self._kept = [kept for kept in self._kept if kept != message]
        self.withdrawn.emit(message)

    def show_in(self, show: Callable[[Message], None]) -> None:
        """Hand what was kept, and everything from now on, to `show` (a method of a widget)."""
        self.posted.connect(show)
        with self._lock:
            self._shown = True
            kept, self._kept = self._kept, []
        for message in kept:
            show(message)

    def keep(self, show: Callable[[Message], None]) -> None:
        """Stop handing messages to `show` and keep them again."""
        with self._lock:
            self._shown = False
        self.posted.disconnect(show)


@cache
def messages() -> Messages:
    """Return the one exchange of this process."""
    return Messages()


def error(sentence: str, detail: str = "") -> None:
    """Tell that something went wrong."""
    messages().post(Message("error", sentence, detail))


def warning(sentence: str, detail: str = "") -> None:
    """Tell what must be known to read the picture right."""
    messages().post(Message("warning", sentence, detail))


def info(sentence: str, detail: str = "") -> None:
    """Tell what was done; it goes away by itself."""
    messages().post(Message("info", sentence, detail))


def offer(sentence: str, action: str, do: Callable[[], object]) -> Message:
    """Offer to do something, at a button; it stays until it is answered or withdrawn."""
    message = Message("warning", sentence, action=(action, do))
    messages().post(message)
    return message


def working(sentence: str, task: Task) -> Message:
    """Tell of long work while it runs: how far it is, and Cancel; it stays until it is withdrawn."""
    message = Message("warning", sentence, task=task)
    messages().post(message)
    return message


def withdraw(message: Message) -> None:
    """Take a message back that no longer holds."""
    messages().withdraw(message)


def report(exception: BaseException) -> None:
    """Tell and log an exception; a computation that was asked to stop is none."""
    if isinstance(exception, Stopped):
        return
    trace = "".join(traceback.format_exception(exception))
    log.error("%s\n%s", str(exception), trace)  # in words: a kept record would keep all that its frames held
    if isinstance(exception, GramscopeError):
        error(str(exception), exception.detail)
        return
    kind = type(exception).__name__
    error(f"Something unexpected went wrong ({kind}). What is on screen stays as it was.", trace)


class MessageBar(QFrame):
    """One message with its buttons.

    Signals
    -------
    closed()
    """

    closed = Signal()

    def __init__(self, message: Message) -> None:
        super().__init__()
        self.message = message
        self.times = 1
        self.setProperty("role", f"message-{message.level}")
        self.setAccessibleName(f"{message.level}: {message.sentence}")
        self.sentence = QLabel(message.sentence)
        self.sentence.setWordWrap(True)
        self.detail = Unfolded(message.detail, self)
        self.unfold = _button("Details", "Show what lies behind this message")
        self.unfold.setCheckable(True)
        self.unfold.toggled.connect(self.detail.unfold)
        self.detail.left.connect(self._fold)
        self.copy = _button("Copy details", "Copy the message, its details and the versions in use")
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(message.to_copy()))
        self.dismiss = _button("×", "Close this message")
        self.dismiss.clicked.connect(self.closed)
        self._lay_out()
        self.unfold.setVisible(bool(message.detail))
        self.copy.setVisible(message.level != "info" and not self.is_answered)
        self._clock = QTimer(self, singleShot=True, interval=INFO_MS)
        self._clock.timeout.connect(self.closed)
        self._restart_clock()

    @property
    def is_answered(self) -> bool:
        """Whether it has a button of its own, which would be lost with it."""
        return self.message.action is not None or self.message.task is not None

    def again(self) -> None:
        """Count the same message once more."""
        self.times += 1
        self.sentence.setText(f"{self.message.sentence} (×{self.times})")
        self._restart_clock()

    def _fold(self) -> None:
        if self.detail.hasFocus():
            self.unfold.setFocus()
        self.unfold.setChecked(False)

    def _offered(self) -> list[QToolButton]:
        if self.message.action is None:
            return []
        text, do = self.message.action
        button = _button(text, text)
        button.setProperty("role", "offer")
        button.clicked.connect(self.closed)
        button.clicked.connect(lambda: do())
        return [button]

    def _restart_clock(self) -> None:
        if self.message.level == "info":
            self._clock.start()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setSpacing(8)
        row.addWidget(self.sentence, 1)
        if self.message.task is not None:
            progress = TaskProgress(self.message.task)
            row.addWidget(progress)
            progress.follow()
        for button in (*self._offered(), self.unfold, self.copy, self.dismiss):
            row.addWidget(button)
        row.setContentsMargins(16, 4, 8, 4)


def _button(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    return button


class MessageArea(QScrollArea):
    """Shows messages one under another, the newest first; empty, it takes no room.

    Where the panels under it need the room, it scrolls, and shows the newest whole.

    Attributes
    ----------
    bars : list of MessageBar
        The newest first, `MOST_SHOWN` at most; those with a button of their own wait for an answer.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars: list[MessageBar] = []
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()
        messages().show_in(self.show_message)
        messages().withdrawn.connect(self._withdraw)

    def sizeHint(self) -> QSize:
        """Return the size at which all is seen."""
        return QSize(self.minimumSizeHint().width(), sum(map(self._height_of, self.bars)))

    def minimumSizeHint(self) -> QSize:
        """Return the size at which the newest is seen."""
        newest = self._height_of(self.bars[0]) if self.bars else 0
        return QSize(0, min(newest, LEAST_PX))

    def _height_of(self, bar: MessageBar) -> int:
        return bar.heightForWidth(self.viewport().width())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for other room when a message comes or goes."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for other room when sentences break otherwise."""
        super().resizeEvent(event)
        self.updateGeometry()

    def show_message(self, message: Message) -> None:
        """Show `message` on top; the same one again is counted, not repeated."""
        for bar in self.bars:
            if bar.message == message:
                bar.again()
                return
        bar = MessageBar(message)
        for other in self.bars:
            other.unfold.setChecked(False)
        bar.closed.connect(lambda: self._remove(bar))
        self.bars.insert(0, bar)
        self._column.insertWidget(0, bar)
        plain = [bar for bar in self.bars if not bar.is_answered]
        for old in plain[max(MOST_SHOWN - len(self.bars) + len(plain), 1) :]:
            self._remove(old)
        self.show()

    def close_messages(self) -> None:
        """Stop showing: what is posted from now on waits for another area."""
        messages().keep(self.show_message)
        for bar in list(self.bars):
            self._remove(bar)

    def _withdraw(self, message: Message) -> None:
        for bar in [bar for bar in self.bars if bar.message == message]:
            self._remove(bar)

    def _remove(self, bar: MessageBar) -> None:
        if bar not in self.bars:
            return
        self.bars.remove(bar)
        self._column.removeWidget(bar)
        bar.hide()
        bar.deleteLater()
        self.setVisible(bool(self.bars))


def install_hooks() -> Callable[[], None]:
    """Send every exception that nobody caught, and Qt's own warnings, to the messages and the log.

    Returns
    -------
    callable
        Restores what was there before.
    """
    before = sys.excepthook, threading.excepthook

    def uncaught(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if isinstance(value, KeyboardInterrupt):
            before[0](kind, value, trace)
        else:
            report(value)

    def uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            report(args.exc_value)

    sys.excepthook, threading.excepthook = uncaught, uncaught_in_thread
    qt_before = qInstallMessageHandler(_log_qt)

    def restore() -> None:
        sys.excepthook, threading.excepthook = before
        qInstallMessageHandler(qt_before)

    return restore


def _log_qt(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
        QtMsgType.QtCriticalMsg: logging.ERROR,
        QtMsgType.QtFatalMsg: logging.CRITICAL,
    }
    logging.getLogger("explorer.qt").log(levels[kind], "%s (%s)", text, context.category)
