"""What `gramscope --screenshots` takes: every page, dialog and overlay, brought about as a person would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from explorer.commands.smoke import at_rest, wait_until
from explorer.errors import GramscopeError
from explorer.models.recipes import Recipe
from explorer.params import Params
from explorer.session import Origin
from explorer.ui.evidence import EvidencePage
from explorer.ui.figure_dialog import FigureDialog
from explorer.ui.lab import LabPage
from explorer.ui.messages import report
from explorer.ui.model_page import ModelPage
from explorer.ui.shortcuts import ShortcutsPage
from explorer.ui.study_controls import StudyControls
from explorer.ui.study_page import StudyPage
from explorer.ui.window import MainWindow
from explorer.views.asking import CANCEL

HEAD = Params(layer=2, head=1, level=0.08)
TOKEN, TRAINED = 20, 240
INPUTS = 6
STUDIED = ("pixel noise", "occlusion")
Arrange = Callable[[MainWindow], Iterator[QWidget]]


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture to take.

    Attributes
    ----------
    page : str
        The title of the page it shows.
    arrange : callable
        Brings it about in a window, gives what is to be taken, and clears away afterwards.
    """

    page: str
    arrange: Callable[[MainWindow], AbstractContextManager[QWidget]]


SCENES: dict[str, Scene] = {}
"""By name, in the order in which they are taken; each can also be taken alone."""


def _scene(page: str) -> Callable[[Arrange], Arrange]:
    def add(arrange: Arrange) -> Arrange:
        SCENES[arrange.__name__.replace("_", "-")] = Scene(page, contextmanager(arrange))
        return arrange

    return add


def opened(paths: tuple[str, ...]) -> dict[str, Scene]:
    """Return the scenes of a person's own checkpoint, or series of checkpoints."""

    def arrange(page: str, window: MainWindow) -> Iterator[QWidget]:
        _open(window, Origin(paths), lambda: window.opener.open_paths([Path(path) for path in paths]))
        show(window, page)
        yield window

    pages = ("Explore", "Overview", "Model", "Evidence")
    return {f"own-{page.lower()}": Scene(page, contextmanager(partial(arrange, page))) for page in pages}


def titles(window: MainWindow) -> list[str]:
    """Return the titles of the window's pages."""
    return [window.pages.row.tabText(place) for place in range(window.pages.count)]


def _turn_to(window: MainWindow, title: str) -> Any:
    window.pages.show_page(titles(window).index(title))
    return window.pages.page(window.pages.place)


def show(window: MainWindow, title: str) -> Any:
    """Show a page of what is open, wait until all of it is computed, and return it."""
    page = _turn_to(window, title)
    is_complete = getattr(page, "is_complete", lambda: True)

    def is_shown() -> bool:
        if at_rest(window) and is_complete():
            return True
        _agree(page)
        return False

    wait_until(is_shown, f"the page {title}")
    return page


def _agree(page: QWidget) -> None:
    """Press the button of a page that asks before it begins what takes long."""
    if isinstance(page, EvidencePage):
        if page.findings is not None and page.findings.waits and page.fields.again.isEnabled():
            page.fields.again.click()
    elif isinstance(page, ModelPage):
        button = page.curve.asking.button
        if button.isVisible() and button.text() != CANCEL:
            button.click()


def _open(window: MainWindow, origin: Origin, opening: Callable[[], object]) -> None:
    """Open a source, unless it is open."""
    if window.opener.origin != origin or window.state.source is None:
        before = window.state.source
        opening()
        wait_until(lambda: window.state.source is not before, "the source")
    window.state.select(frozenset())


def _sample(window: MainWindow, params: Params = HEAD) -> None:
    _open(window, Origin(), window.opener.open_sample)
    window.state.set_params(params)
    window.state.select(frozenset({TOKEN}))


def _close_messages(window: MainWindow) -> None:
    for bar in list(window.messages.bars):
        bar.dismiss.click()


def _clusters(window: MainWindow) -> None:
    _open(window, Origin(recipe=Recipe()), lambda: window.open_recipe(Recipe()))
    window.state.update(level=0.05)


@_scene("Explore")
def empty(window: MainWindow) -> Iterator[QWidget]:
    """Show what there is before anything is open, where it is taken first."""
    wait_until(_turn_to(window, "Explore").is_complete, "the panels")
    yield window


@_scene("Explore")
def sample(window: MainWindow) -> Iterator[QWidget]:
    """Show the embedded sample, a token selected."""
    _sample(window)
    show(window, "Explore")
    yield window


@_scene("Explore")
def image(window: MainWindow) -> Iterator[QWidget]:
    """Show contaminated pixels beside the clean ones."""
    _sample(window, HEAD.but(contamination="occlusion", level=0.1))
    panels = show(window, "Explore").panels
    panels["input"].raise_()
    yield window
    panels["attention"].raise_()


@_scene("Explore")
def health(window: MainWindow) -> Iterator[QWidget]:
    """Show numerical health in front of the spectrum."""
    _sample(window)
    dock = show(window, "Explore").asides["health"]
    dock.toggleViewAction().trigger()
    yield window
    dock.toggleViewAction().trigger()


@_scene("Explore")
def trouble(window: MainWindow) -> Iterator[QWidget]:
    """Show a sentence for what went wrong."""
    _sample(window)
    show(window, "Explore")
    report(GramscopeError("notes.bin is no checkpoint. Open a folder, or a .safetensors or .pt file.", "…"))
    yield window
    _close_messages(window)


@_scene("Overview")
def overview(window: MainWindow) -> Iterator[QWidget]:
    """Show all heads of the sample."""
    _sample(window)
    show(window, "Overview")
    yield window


@_scene("Model")
def model(window: MainWindow) -> Iterator[QWidget]:
    """Show what the sample's model says."""
    _sample(window)
    show(window, "Model")
    yield window


@_scene("Compare")
def nothing_pinned(window: MainWindow) -> Iterator[QWidget]:
    """Show what to do first where nothing is pinned."""
    _sample(window)
    show(window, "Compare")
    yield window


@_scene("Compare")
def compare(window: MainWindow) -> Iterator[QWidget]:
    """Show one head beside another."""
    yield from _compared(window, "compare-maps")


@_scene("Compare")
def compare_projections(window: MainWindow) -> Iterator[QWidget]:
    """Show their queries in feature space."""
    yield from _compared(window, "compare-projection")


def _compared(window: MainWindow, panel: str) -> Iterator[QWidget]:
    _sample(window, HEAD.but(head=0))
    show(window, "Explore")
    window.menus.actions["Pin as reference"].trigger()
    _close_messages(window)
    _sample(window)
    page = show(window, "Compare")
    page.panels[panel].raise_()
    yield window
    window.state.pin(None)


@_scene("Evidence")
def evidence(window: MainWindow) -> Iterator[QWidget]:
    """Show every head's values beside V* and the nulls."""
    yield from _evidence(window, 1, 0)


@_scene("Evidence")
def evidence_inputs(window: MainWindow) -> Iterator[QWidget]:
    """Show the same measures over several inputs."""
    yield from _evidence(window, INPUTS, 2)


def _evidence(window: MainWindow, inputs: int, tab: int) -> Iterator[QWidget]:
    _sample(window)
    page: EvidencePage = _turn_to(window, "Evidence")
    page.fields.inputs.setValue(inputs)
    show(window, "Evidence")
    page.tabs.setCurrentIndex(tab)
    yield window
    page.tabs.setCurrentIndex(0)


@_scene("Study")
def study(window: MainWindow) -> Iterator[QWidget]:
    """Show the shipped classifiers under two kinds of contamination."""
    page: StudyPage = _turn_to(window, "Study")
    if not page.is_complete():
        _study_little(page.controls)
    wait_until(page.is_complete, "the study")
    yield window


def _study_little(controls: StudyControls) -> None:
    for kind, box in controls.kinds.items():
        box.setChecked(kind in STUDIED)
    controls.seeds.setValue(2)
    controls.button.click()


@_scene("Explore")
def clusters(window: MainWindow) -> Iterator[QWidget]:
    """Show the default synthetic head."""
    _clusters(window)
    show(window, "Explore")
    yield window


@_scene("Robustness")
def robustness(window: MainWindow) -> Iterator[QWidget]:
    """Show the keys taken apart."""
    _clusters(window)
    show(window, "Robustness")
    yield window


@_scene("Laboratory")
def laboratory(window: MainWindow) -> Iterator[QWidget]:
    """Show a head of three dimensions that has found the leading eigenvector, and a sweep over L."""
    yield from _trained(window, "lab-sphere")


@_scene("Laboratory")
def laboratory_weights(window: MainWindow) -> Iterator[QWidget]:
    """Show its weights in place of the sphere."""
    yield from _trained(window, "lab-weights")


def _trained(window: MainWindow, panel: str) -> Iterator[QWidget]:
    page: LabPage = _turn_to(window, "Laboratory")
    wait_until(lambda: _steps(page) >= 0, "the laboratory")
    if page.sweep.result is None:
        _train(page)
    page.panels[panel].raise_()
    yield window


def _train(page: LabPage) -> None:
    page.sphere.three.trigger()
    page.bar.go.click()
    wait_until(lambda: not page.sweeps.running, "the sweep")
    page.controls.start.click()
    wait_until(
        lambda: page.alignment.result is not None and page.alignment.result.step >= TRAINED, "training"
    )
    page.controls.start.click()


def _steps(page: LabPage) -> int:
    return -1 if page.alignment.result is None else page.alignment.result.step


@_scene("Explore")
def figure(window: MainWindow) -> Iterator[QWidget]:
    """Show the figure dialog."""
    _sample(window)
    show(window, "Explore")
    window.exports.ask()
    dialog = window.findChildren(FigureDialog)[-1]
    yield dialog
    dialog.close()


@_scene("Explore")
def palette(window: MainWindow) -> Iterator[QWidget]:
    """Show the command palette."""
    _sample(window)
    show(window, "Explore")
    window.workbench.palette.open()
    yield window
    window.workbench.palette.dismiss()


@_scene("Explore")
def shortcuts(window: MainWindow) -> Iterator[QWidget]:
    """Show all keys."""
    window.menus.actions["Keyboard shortcuts"].trigger()
    dialog = window.findChildren(ShortcutsPage)[-1]
    yield dialog
    dialog.close()


@_scene("Explore")
def help(window: MainWindow) -> Iterator[QWidget]:
    """Show what a panel means."""
    _sample(window)
    page = show(window, "Explore")
    window.workbench.explain(page.panels["spectrum"].view)
    yield window.workbench.help
    window.workbench.help.close()


@_scene("Explore")
def tour(window: MainWindow) -> Iterator[QWidget]:
    """Show the last step of the tour."""
    _sample(window)
    show(window, "Explore")
    guide = window.workbench.tour
    guide.start()
    wait_until(lambda: guide.at == 0, "the tour")
    for _ in range(4):
        guide.callout.next.click()
    yield window
    guide.end()
