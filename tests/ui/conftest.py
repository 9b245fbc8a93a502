"""Fixtures of several tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from explorer.ui import theme
from tests.ui.printed import Picture


@pytest.fixture
def picture(qtbot: QtBot) -> Iterator[Picture]:
    made = Picture()
    qtbot.addWidget(made.widget)
    yield made
    theme.theme().changed.disconnect(made.recolour)
