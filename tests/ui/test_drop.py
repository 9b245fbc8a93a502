"""What is dropped, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.ui.drop import intent
from explorer.ui.lab import LabPage
from tests.ui.desk import sentences, settle, sit_down
from tests.ui.lab_desk import START_UP_MS


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a.png", "b.txt", "c.csv"], "These 3 do not go together"),
        (["a.pt", "b.png"], "These 2 do not go together"),
        (["a.xyz"], "This cannot be opened"),
        (["config.json", "model.safetensors"], "Open these 2 files, as one checkpoint or a series"),
        (["a.csv"], "Use as table in the Laboratory"),
        (["folder"], "Open as checkpoint"),
    ],
)
def test_the_words_say_what_a_drop_does(names: list[str], words: str) -> None:
    assert intent([Path(name) for name in names])[1] == words


def test_files_that_do_not_go_together_are_refused_by_their_names(qtbot: QtBot, tmp_path: Path) -> None:
    for name in ("a.png", "b.txt", "other.pt", "another.pt"):
        (tmp_path / name).write_bytes(b"abc")
    with sit_down(qtbot) as window:
        paths = [tmp_path / "a.png", tmp_path / "b.txt"]
        window.take(intent(paths)[0], paths)
        (said,) = sentences(window)
        assert said.startswith("a.png, b.txt are not one model.")


@pytest.mark.parametrize(
    ("table", "family", "says"),
    [
        (np.diag([3.0, 2.0]), "covariance", "taken as the covariance of 2 features"),
        (
            np.array([[1.0, 2.0], [0.0, 1.0]]),
            "rows",
            "2 tokens of 2 features; it is square, but no covariance",
        ),
        (np.array([[1.0, 2.0], [0.0, 1.0], [4.0, 4.0]]), "rows", "3 tokens of 2 features."),
    ],
)
def test_a_table_dropped_on_any_page_goes_to_the_laboratory_which_says_for_what_it_takes_it(
    qtbot: QtBot, tmp_path: Path, table: np.ndarray, family: str, says: str
) -> None:
    np.savetxt(tmp_path / "t.csv", table, delimiter=",")
    with sit_down(qtbot) as window:
        window.take(*_dropped(tmp_path / "t.csv"))
        page = window.pages.page(window.pages.place)
        assert isinstance(page, LabPage)
        assert page.state.setting.data.family == family
        assert says in sentences(window)[0]
        qtbot.waitUntil(lambda: page.alignment.result is not None, timeout=START_UP_MS)
        if family == "covariance":
            (button,) = [
                b for b in window.messages.bars[0].children() if getattr(b, "text", str)() == "Use as tokens"
            ]
            button.click()
            settle()
            assert page.state.setting.data.family == "rows"
            assert not sentences(window)


def _dropped(path: Path) -> tuple[str, list[Path]]:
    return intent([path])[0], [path]
