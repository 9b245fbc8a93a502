"""The laboratory's one observable: its frozen setting, kept from one start to the next."""

from __future__ import annotations

import json
import logging
from typing import Any

from PySide6.QtCore import QObject, Signal

from explorer.errors import GramscopeError
from explorer.history import History, values_of
from explorer.lab import stored
from explorer.lab.setting import Setting
from explorer.settings import settings

KEY = "laboratory/setting"
WORDS = {
    "kind": "attention",
    "structure": "what is trained",
    "rank": "count of directions",
    "length": "L",
    "coupling": "λσ₁",
    "learn_coupling": "learning λ",
    "rate": "learning rate",
    "contamination": "kind of contamination",
    "clean": "cleaning",
    "iterations": "iterations of the pursuit",
    "family": "data",
    "theta": "θ",
    "exponent": "exponent e",
    "degrees": "ν",
    "path": "table",
    "whiten": "whitening",
}
"""What is called otherwise than its field."""

log = logging.getLogger(__name__)


class LabState(QObject):
    """What is set. Controls write it, everything else follows.

    Attributes
    ----------
    setting : Setting
    history : History
        Of the setting; it takes back and repeats as a hand would set.

    Signals
    -------
    changed(Setting)
        Once per change.
    """

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setting = remembered()
        self.history = History(lambda: self.setting, self.set, WORDS, _values, self)
        self.changed.connect(self.history.follow)

    def update(self, **changes: Any) -> None:
        """Change parts of the setting."""
        self.set(self.setting.but(**changes))

    def update_data(self, **changes: Any) -> None:
        """Change parts of the setting's data."""
        self.set(self.setting.with_data(**changes))

    def set(self, setting: Setting) -> None:
        """Replace the setting, heads cut to the features; nothing happens where it is equal already."""
        features = setting.data.features
        if features is not None and setting.rank > max(features, 1):  # a spectrum not drawn yet has none
            setting = setting.but(rank=max(features, 1))
        if setting != self.setting:
            self.setting = setting
            self.changed.emit(setting)

    def begin_at(self, setting: Setting) -> None:
        """Replace the setting as another session does: nothing before it can be undone."""
        self.set(setting)
        self.history.clear()

    def remember(self) -> None:
        """Keep the setting for the next start."""
        remember(self.setting)


def _values(setting: Setting) -> dict[str, Any]:
    values = values_of(setting)
    return values | values_of(values.pop("data"))


def remember(setting: Setting) -> None:
    """Keep a setting for the next start, and for a page that is still to be made."""
    settings().setValue(KEY, json.dumps(stored.write(setting)))


def remembered() -> Setting:
    """Return the setting of the last time, or the default one."""
    try:
        return stored.read(json.loads(str(settings().value(KEY, "{}"))))
    except (ValueError, GramscopeError) as error:
        log.warning("the remembered laboratory setting is left alone: %s", error)
        return Setting()
