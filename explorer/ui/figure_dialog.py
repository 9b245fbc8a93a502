"""The figure dialog: which panels, how large, in which look, with the result before one's eyes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from explorer.errors import GramscopeError
from explorer.ui import export
from explorer.ui.exporting.caption import caption
from explorer.ui.exporting.figure import MM_PER_INCH, Figure
from explorer.ui.figure_form import FigureForm
from explorer.views.picture import Picture

REST_MS = 120
"""A figure is drawn again when nothing has been changed for so long."""
FILTERS = {
    "png": "PNG picture (*.png)",
    "svg": "SVG drawing (*.svg)",
    "pdf": "PDF document (*.pdf)",
    "csv": "CSV numbers (*.csv)",
    "json": "JSON numbers (*.json)",
}


class Preview(QLabel):
    """Shows the figure as large as there is room, in its own proportions."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("figure-preview")
        self.setAccessibleName("Preview of the figure")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setMinimumSize(480, 320)

    def fitting(self, figure: Figure) -> Figure:
        """Return the figure at the resolution that fills the room there is."""
        room, ratio = self.size(), self.devicePixelRatio()
        per_mm = min(room.width() / figure.width_mm, room.height() / figure.height_mm)
        return replace(figure, dpi=per_mm * ratio * MM_PER_INCH)

    def show_image(self, image: QImage) -> None:
        """Show a picture made for this size."""
        pixmap = QPixmap.fromImage(image)
        pixmap.setDevicePixelRatio(self.devicePixelRatio())
        self.setPixmap(pixmap)


class FigureDialog(QDialog):
    """Lets a person compose a figure of panels and save or copy it.

    Parameters
    ----------
    views : sequence of Picture
        All that can be in it.
    chosen : sequence of Picture
        Those that are in it at first.

    Attributes
    ----------
    boxes : list of QCheckBox
        One a panel.
    form : FigureForm
    preview : Preview
    caption : QPlainTextEdit

    Signals
    -------
    save_asked(list, Path, Figure)
    copied(str)
        What went onto the clipboard, in a sentence.
    """

    save_asked = Signal(object, object, object)
    copied = Signal(str)

    def __init__(self, parent: QWidget, views: Sequence[Picture], chosen: Sequence[Picture]) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export figure")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._views = [view for view in views if view.result is not None]
        self.boxes = [self._box(view, view in chosen) for view in self._views]
        self.form = FigureForm(self._wide())
        self.preview = Preview()
        self.caption = QPlainTextEdit()
        self.caption.setAccessibleName("Caption")
        self.caption.setReadOnly(True)
        self.caption.setFixedHeight(96)
        self._rest = QTimer(self, interval=REST_MS, singleShot=True)
        self._rest.timeout.connect(self.draw)
        self._lay_out()
        self.form.changed.connect(self._rest.start)
        self.resize(1040, 680)
        self.draw()

    def chosen(self) -> list[Picture]:
        """Return the panels that are in the figure."""
        return [view for view, box in zip(self._views, self.boxes, strict=True) if box.isChecked()]

    def _wide(self) -> list[bool]:
        return [view.wide for view in self.chosen()]

    def draw(self) -> None:
        """Draw the figure as it is chosen now, and write its caption."""
        choices, views = self.form.choices(), self.chosen()
        self.caption.setPlainText(caption(views))
        try:
            if not views:
                raise GramscopeError("Tick a panel to see it here.")
            self.preview.show_image(export.drawn(views, self.preview.fitting(choices.figure)))
        except GramscopeError as error:
            self.preview.setText(str(error))
        for button in (self._save, self._copy, self._copy_caption):
            button.setEnabled(bool(views))

    def ask_where(self) -> None:
        """Ask for a file, and have it written."""
        kind, views = self.form.choices().kind, self.chosen()
        dialog = QFileDialog(self, "Export figure")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([FILTERS[kind], *(FILTERS[other] for other in FILTERS if other != kind)])
        dialog.setDefaultSuffix(f".{kind}")
        dialog.selectFile(views[0].name if len(views) == 1 else "figure")
        dialog.fileSelected.connect(lambda name: self.save(Path(name)))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def save(self, path: Path) -> None:
        """Have the figure written to `path`, and close."""
        self.form.remember()
        self.save_asked.emit(self.chosen(), path, self.form.choices().figure)
        self.accept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw for the new room."""
        super().resizeEvent(event)
        self._rest.start()

    def _box(self, view: Picture, on: bool) -> QCheckBox:
        box = QCheckBox(view.title)
        box.setChecked(on)
        box.toggled.connect(lambda: self.form.set_panels(self._wide()))
        return box

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(_heading("Panels"))
        for box in self.boxes:
            left.addWidget(box)
        left.addSpacing(16)
        left.addWidget(_heading("Figure"))
        left.addWidget(self.form)
        left.addStretch(1)
        side = QWidget()
        side.setLayout(left)
        side.setFixedWidth(280)
        left.setContentsMargins(0, 0, 0, 0)
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(self.preview, 1)
        right.addWidget(_heading("Caption"))
        right.addWidget(self.caption)
        right.addLayout(self._buttons())
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 16, 16, 16)
        row.setSpacing(24)
        row.addWidget(side)
        row.addLayout(right, 1)

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._copy_caption = _button("Copy caption", self._on_copy_caption)
        self._copy = _button("Copy picture", self._on_copy)
        self._save = _button("Save…", self.ask_where)
        self._save.setDefault(True)
        row.addWidget(self._copy_caption)
        row.addStretch(1)
        row.addWidget(_button("Cancel", self.reject))
        row.addWidget(self._copy)
        row.addWidget(self._save)
        return row

    def _on_copy_caption(self) -> None:
        QGuiApplication.clipboard().setText(self.caption.toPlainText())
        self.copied.emit("The caption is on the clipboard.")

    def _on_copy(self) -> None:
        try:
            export.copy_picture(self.chosen(), self.form.choices().figure)
        except GramscopeError as error:
            self.preview.setText(str(error))
        else:
            self.form.remember()
            self.copied.emit("The picture is on the clipboard.")


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "heading")
    return label


def _button(text: str, act: object) -> QPushButton:
    button = QPushButton(text)
    button.setAutoDefault(False)
    button.clicked.connect(act)
    return button
