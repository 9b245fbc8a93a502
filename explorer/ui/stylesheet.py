"""The widgets' style sheet: no boxes in boxes, hairlines, an 8 pixel grid."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from explorer.settings import resource

if TYPE_CHECKING:
    from explorer.ui.theme import Scheme

_SHEET = """
QMainWindow::separator {{ background: {hairline}; width: 1px; height: 1px; }}
QMenuBar, QToolBar, QStatusBar {{ background: {background}; border: none; }}
QMenuBar {{ border-bottom: 1px solid {hairline}; padding: 0 4px; }}
QMenuBar::item {{ padding: 4px 8px; background: transparent; }}
QMenuBar::item:selected {{ background: {raised}; }}
QToolBar {{ border-bottom: 1px solid {hairline}; padding: 4px 8px; spacing: 8px; }}
QStatusBar {{ border-top: 1px solid {hairline}; color: {secondary}; }}
QStatusBar::item {{ border: none; }}
QMenu {{ background: {background}; border: 1px solid {hairline}; padding: 4px 0; }}
QMenu::item {{ padding: 4px 24px 4px 16px; }}
QMenu::item:selected {{ background: {accent}; color: {on_accent}; }}
QMenu::item:disabled {{ color: {secondary}; background: transparent; }}
QMenu::separator {{ height: 1px; background: {hairline}; margin: 4px 0; }}
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {hairline}; padding: 4px; }}
QGroupBox {{ border: none; margin-top: 20px; padding: 0; color: {secondary}; }}
QGroupBox::title {{ subcontrol-origin: margin; left: 0; padding: 0; }}
QDockWidget::title {{ padding: 4px 8px; background: {background}; border-bottom: 1px solid {hairline}; }}
QScrollArea {{ border: none; }}
QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {{
    border: 1px solid {hairline}; border-radius: 3px; padding: 2px 6px; background: {background};
    selection-background-color: {accent}; selection-color: {on_accent};
}}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus,
QComboBox:focus {{ border: 1px solid {accent}; }}
QSpinBox, QDoubleSpinBox, QComboBox {{ min-height: 20px; }}
QSpinBox, QDoubleSpinBox {{ padding-right: 18px; }}
QComboBox::drop-down, QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{
    border: none; background: transparent; width: 18px;
}}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; }}
QComboBox::down-arrow, QAbstractSpinBox::down-arrow {{
    image: url({icons}/down.svg); width: 12px; height: 12px;
}}
QAbstractSpinBox::up-arrow {{ image: url({icons}/up.svg); width: 12px; height: 12px; }}
QComboBox QAbstractItemView {{ border: 1px solid {hairline}; background: {background}; }}
QPushButton, QToolButton {{
    border: 1px solid {hairline}; border-radius: 3px; padding: 3px 10px; background: {background};
}}
QToolButton {{ padding: 3px 8px; }}
QToolButton[popupMode="2"] {{ padding-right: 24px; }}
QToolButton::menu-indicator {{
    image: url({icons}/down.svg); width: 12px; height: 12px;
    subcontrol-origin: padding; subcontrol-position: right center; right: 6px;
}}
QToolButton[role="quiet"], QToolButton[role="fold"] {{ border-color: transparent; padding: 3px 6px; }}
QToolButton[role="fold"] {{ padding-left: 0; }}
QToolButton[role="quiet"]::menu-indicator {{ image: none; }}
QToolButton[role="info"] {{
    border: 1px solid {secondary}; border-radius: 9px; padding: 0; min-width: 16px; max-width: 16px;
    min-height: 16px; max-height: 16px; font-size: 11px; color: {secondary};
}}
QPushButton:hover, QToolButton:hover {{ background: {raised}; }}
QPushButton:focus, QToolButton:focus, QSlider:focus, QCheckBox:focus {{ border: 1px solid {accent}; }}
QPushButton:pressed, QToolButton:checked {{ background: {hairline}; }}
QToolButton[role="fold"]:checked {{ background: transparent; }}
QPushButton:default {{ background: {accent}; color: {on_accent}; border-color: {accent}; }}
QPushButton:disabled, QToolButton:disabled, QLabel:disabled {{ color: {secondary}; }}
Canvas, QListView, QTreeView {{ border: 1px solid transparent; }}
Canvas:focus, QListView:focus, QTreeView:focus, QTabBar:focus {{ border: 1px solid {accent}; }}
QSlider {{ border: 1px solid transparent; border-radius: 3px; }}
QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; background: {hairline}; }}
QSlider::sub-page:horizontal {{ border-radius: 2px; background: {accent}; }}
QSlider::handle:horizontal {{
    width: 16px; height: 16px; margin: -6px 0; border-radius: 8px; background: {accent};
}}
QSlider::sub-page:horizontal:disabled, QSlider::handle:horizontal:disabled {{ background: {secondary}; }}
QCheckBox {{ border: 1px solid transparent; spacing: 8px; }}
QCheckBox::indicator {{ width: 14px; height: 14px; border: 1px solid {secondary}; border-radius: 3px; }}
QCheckBox::indicator:checked {{
    background: {accent}; border-color: {accent}; image: url({icons}/check-{name}.svg);
}}
QProgressBar {{ border: none; background: transparent; max-height: 2px; }}
QProgressBar::chunk {{ background: {accent}; }}
QTabBar::tab {{ padding: 4px 10px; border: none; color: {secondary}; }}
QTabBar::tab:selected {{ color: {text}; border-bottom: 2px solid {accent}; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {hairline}; }}
QHeaderView::section {{
    background: {background}; color: {secondary}; border: none; border-bottom: 1px solid {hairline};
    padding: 4px 8px;
}}
QTableView QHeaderView::section {{ padding: 4px 3px; }}
QTableView {{ border: none; gridline-color: {hairline}; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
QScrollBar::handle {{ background: {missing}; border-radius: 3px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: 32px; }}
QScrollBar::handle:horizontal {{ min-width: 32px; }}
QScrollBar::handle:hover {{ background: {secondary}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QAbstractScrollArea::corner {{ background: transparent; }}
QSplitter::handle {{ background: {hairline}; }}
QSplitter::handle:horizontal {{ width: 1px; }}
QSplitter::handle:vertical {{ height: 1px; }}
*[role="secondary"] {{ color: {secondary}; }}
*[role="error"] {{ color: {error}; }}
*[role="warning"] {{ color: {warning}; }}
*[role="big"] {{ font-size: 20px; }}
*[role="heading"] {{ font-weight: 600; }}
QFrame[role^="message"] {{ background: {raised}; border: none; border-bottom: 1px solid {hairline}; }}
QFrame[role="message-error"] {{ border-left: 4px solid {error}; }}
QFrame[role="message-warning"] {{ border-left: 4px solid {warning}; }}
QFrame[role="message-info"] {{ border-left: 4px solid {accent}; }}
QFrame[role^="message"] QLabel {{ border: none; }}
QPlainTextEdit[role="unfolded"] {{ border: 1px solid {secondary}; border-radius: 6px; }}
QToolButton[role="offer"] {{ border: 1px solid {accent}; color: {accent}; }}
*[role="drop"] {{ border: 2px dashed {accent}; }}
*[role="list"] {{ border: none; border-right: 1px solid {hairline}; padding: 8px 0; outline: none; }}
*[role="list"]::item {{ padding: 5px 16px; }}
*[role="list"]::item:selected, *[role="commands"]::item:selected {{
    background: {accent}; color: {on_accent};
}}
*[role="page"] {{ border: none; padding: 0; }}
QFrame[role="card"] {{ background: {background}; border: 1px solid {secondary}; border-radius: 6px; }}
QFrame[role="card"] QLabel {{ border: none; }}
*[role="commands"] {{ outline: none; }}
*[role="commands"]::item {{ padding: 5px 8px; }}
"""


def stylesheet(scheme: Scheme) -> str:
    """Return the style sheet in the colours of `scheme`.

    A widget says what it is by its property `role`: "secondary", "error", "warning", "big" (the one
    large number) or "drop" (lit up under a dragged file).
    """
    return _SHEET.format(**asdict(scheme), icons=resource("ui").as_posix())
