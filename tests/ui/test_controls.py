"""Every control both ways: the widget writes the state, the state shows in the widget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from explorer.models.digits import sample_source
from explorer.params import Params
from explorer.state import State
from explorer.ui.controls import STEPS, Controls
from explorer.ui.recipe import RecipeForm
from tests.ui.desk import sit_down

BOTH_WAYS: list[tuple[str, Any, Callable[[Controls], None], Callable[[Controls], Any], Any]] = [
    (
        "level",
        0.25,
        lambda c: c.level.slider.setValue(STEPS // 2),
        lambda c: c.level.slider.value(),
        STEPS // 2,
    ),
    (
        "contamination",
        "tokens",
        lambda c: c.entry.kind.setCurrentIndex(1),
        lambda c: c.entry.kind.currentIndex(),
        1,
    ),
    ("magnitude", 3.5, lambda c: c.magnitude.setValue(3.5), lambda c: c.magnitude.value(), 3.5),
    ("seed", 7, lambda c: c.seed.setValue(7), lambda c: c.seed.value(), 7),
    ("contaminate_values", True, lambda c: c.values.setChecked(True), lambda c: c.values.isChecked(), True),
    ("target", "output", lambda c: c.target.setCurrentIndex(1), lambda c: c.target.currentIndex(), 1),
    ("steps", 4, lambda c: c.steps.setValue(4), lambda c: c.steps.value(), 4),
    ("form", "pcp", lambda c: c.form.setCurrentIndex(1), lambda c: c.form.currentIndex(), 1),
    ("queries", "asymmetric", lambda c: c.queries.setCurrentIndex(1), lambda c: c.queries.currentIndex(), 1),
    ("iterations", 6, lambda c: c.iterations.setValue(6), lambda c: c.iterations.value(), 6),
    ("lam", 4.0, lambda c: c.lam_auto.setChecked(False), lambda c: c.lam_auto.isChecked(), False),
    ("mu", 1.0, lambda c: c.mu_auto.setChecked(False), lambda c: c.mu_auto.isChecked(), False),
]


@pytest.fixture
def controls(qtbot: QtBot) -> Controls:
    controls = Controls(State())
    qtbot.addWidget(controls)
    return controls


@pytest.mark.parametrize(
    ("name", "value", "act", "read", "shown"), BOTH_WAYS, ids=[row[0] for row in BOTH_WAYS]
)
def test_both_ways(
    controls: Controls,
    name: str,
    value: Any,
    act: Callable[[Controls], None],
    read: Callable[[Controls], Any],
    shown: Any,
) -> None:
    state = controls._state
    before, unshown = getattr(state.params, name), read(controls)
    act(controls)
    assert getattr(state.params, name) == value
    heard: list[Any] = []
    state.params_changed.connect(heard.append)
    state.update(**{name: before})
    assert read(controls) == unshown
    state.update(**{name: value})
    assert read(controls) == shown
    assert len(heard) == 2, "the widget must be silent while the state writes it"


def test_a_value_the_slider_cannot_hold_is_kept(controls: Controls) -> None:
    controls._state.update(level=0.12345)
    assert controls._state.params.level == 0.12345
    assert controls.level.value.text() == "12.35 %"


def test_the_form_brings_its_own_lambda(controls: Controls) -> None:
    controls._state.update(lam=2.0)
    controls.form.setCurrentIndex(1)
    assert controls._state.params.lam is None


def test_a_kind_with_a_shorter_scale_lowers_the_level(controls: Controls) -> None:
    controls.entry.kind.setCurrentIndex(2)
    controls._state.update(level=1.5)
    controls.entry.kind.setCurrentIndex(0)
    assert controls._state.params.level == 0.5


def test_a_column_made_after_the_source_was_opened_offers_what_the_source_takes(qtbot: QtBot) -> None:
    state = State()
    state.open(sample_source(), Params(contamination="blur", level=1.0))
    late = Controls(state)
    qtbot.addWidget(late)
    places = [late.entry.place.itemText(i) for i in range(late.entry.place.count())]
    assert places == ["Keys of this head", "Input", "Gradient attack"]
    assert late.entry.place.currentText() == "Input" and late.entry.kind.currentText() == "blur"


def test_every_control_says_what_it_does(controls: Controls) -> None:
    names = (
        "target",
        "steps",
        "magnitude",
        "seed",
        "values",
        "form",
        "queries",
        "iterations",
        "lam_auto",
        "lam",
        "mu_auto",
        "mu",
    )
    for widget in [
        *(getattr(controls, name) for name in names),
        controls.entry.place,
        controls.entry.kind,
        controls.level.slider,
    ]:
        assert widget.toolTip().rstrip().endswith((".", ")")), widget
        assert widget.accessibleName() or widget.text()


def _wheel(widget: QWidget) -> None:
    event = QWheelEvent(
        QPointF(5, 5), widget.mapToGlobal(QPointF(5, 5)), QPoint(0, 0), QPoint(0, 120),
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)


def test_the_wheel_does_not_change_what_has_no_focus(controls: Controls) -> None:
    _wheel(controls.seed)
    assert controls._state.params.seed == 0


def test_a_recipe_changes_once_and_hides_what_it_does_not_use(qtbot: QtBot) -> None:
    form = RecipeForm()
    qtbot.addWidget(form)
    form.show()
    heard: list[Any] = []
    form.changed.connect(heard.append)
    form.kind.setCurrentIndex(3)
    form.fields["strength"].setValue(25)
    assert [(r.kind, r.strength) for r in heard] == [("spiked", 10.0), ("spiked", 25.0)]
    assert form.fields["strength"].isVisible()
    assert not form.fields["noise"].isVisible()
    form.close()


def test_what_is_left_to_its_default_shows_what_was_used(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        controls, used = window.explore.controls, window.state.result.pursuit
        assert controls.mu_auto.isChecked() and not controls.mu.isEnabled()
        assert controls.mu.value() == pytest.approx(used.mu, abs=1e-4) != 1.0
        later = Controls(window.state)
        qtbot.addWidget(later)
        assert later.mu.value() == controls.mu.value()
        controls.mu_auto.setChecked(False)
        assert window.state.params.mu == controls.mu.value() == pytest.approx(used.mu, abs=1e-4)
