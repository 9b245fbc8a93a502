"""Labelled images as people have them, and what is said of those that are not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.__main__ import main
from explorer.errors import GramscopeError
from explorer.models.digits_data import as_input, load_digits
from explorer.models.huggingface import open_huggingface
from explorer.models.open import open_path
from explorer.models.vit_source import StateDictSource
from explorer.settings import resource
from explorer.study.classifier import Classifier
from explorer.study.data import labelled
from explorer.study.models import models_of
from explorer.study.plan import Swap
from tests.models.conftest import FAMILIES, tiny  # noqa: F401

CPU = torch.device("cpu")
SOFTMAX = resource("digits/digits-softmax-0.safetensors")


def named_vit(folder: Path, names: list[str]) -> Path:
    """Save a tiny classifier of 32 × 32 images whose classes are called so."""
    model = FAMILIES["vit"].make()
    model.config.id2label = dict(enumerate(names))
    model.classifier = torch.nn.Linear(32, len(names))
    model.save_pretrained(folder)
    return folder


def test_a_folder_gives_one_of_each_class_in_turn(folder_of: Callable[..., Path]) -> None:
    folder = folder_of(3)
    found = labelled(folder, 12)
    assert found.labels == (*map(str, range(10)), "0", "1")
    assert [file.name for file in found.files] == ["0.png"] * 10 + ["1.png"] * 2
    assert labelled(folder, 12).fingerprint == found.fingerprint
    assert labelled(folder, 11).fingerprint != found.fingerprint


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("heading", [True, False])
def test_a_table_gives_the_same(folder_of: Callable[..., Path], suffix: str, heading: bool) -> None:
    folder = folder_of(2)
    separator = "," if suffix == ".csv" else "\t"
    lines = [
        f"{file.parent.name}/{file.name}{separator}{file.parent.name}" for file in folder.glob("*/*.png")
    ]
    table = folder / f"labels{suffix}"
    table.write_text("\n".join([f"file{separator}label"] * heading + sorted(lines)))
    assert labelled(table).files == labelled(folder).files
    assert labelled(table).labels == labelled(folder).labels


def test_digits_from_files_are_seen_as_the_test_images_are(folder_of: Callable[..., Path]) -> None:
    classifier = Classifier(open_path(SOFTMAX))
    found = labelled(folder_of(2, lambda digit: f"{digit}"))
    pixels = classifier.pixels(found.files)
    assert pixels.shape == (20, 1, 8, 8) and float(pixels.max()) <= 1
    classes, note = classifier.classes_of(found.labels)
    assert classes == tuple(range(10)) * 2 and note == ""
    with torch.no_grad():
        named = classifier.logits(pixels, CPU).argmax(-1)
    assert (named == torch.tensor(classes)).double().mean() >= 0.9


def test_the_test_images_are_read_as_in_training() -> None:
    source = open_path(SOFTMAX)
    assert isinstance(source, StateDictSource)
    classifier = Classifier(source)
    pixels, classes = classifier.test_digits()
    digits = load_digits("test")
    assert classes == tuple(digits.labels.tolist())
    with torch.no_grad():
        assert torch.equal(classifier.logits(pixels, CPU), source.logits(as_input(digits.images), CPU))


def test_classes_by_name_by_number_and_in_alphabetical_order(tmp_path: Path) -> None:
    named = Classifier(
        open_huggingface(named_vit(tmp_path / "a", ["tabby, tabby cat", "Crane", "crane, bird"]))
    )
    assert named.classes_of(["Tabby_cat", "crane", "2", "bird"]) == ((0, 1, 2, 2), "")
    unnamed = Classifier(open_huggingface(named_vit(tmp_path / "b", ["LABEL_0", "LABEL_1"])))
    classes, note = unnamed.classes_of(["dog", "cat", "dog"])
    assert classes == (1, 0, 1) and "alphabetical" in note
    with pytest.raises(GramscopeError, match="“dog” is no class"):
        unnamed.classes_of(["dog", "0"])


def test_a_transformers_model_is_studied_with_gradients(
    tmp_path: Path, folder_of: Callable[..., Path]
) -> None:
    source = open_huggingface(named_vit(tmp_path / "vit", [str(i) for i in range(10)]))
    classifier = Classifier(source)
    pixels = classifier.pixels(labelled(folder_of()).files)
    assert pixels.shape == (10, 3, 32, 32)
    direct = source.loaded.model(pixel_values=(pixels - 0.5) / 0.5).logits
    assert torch.allclose(classifier.logits(pixels, CPU), direct, atol=1e-5)
    pixels.requires_grad_(True)
    classifier.logits(pixels, CPU).sum().backward()
    assert pixels.grad is not None and bool(pixels.grad.any())
    with classifier.attending(Swap()), torch.no_grad():
        assert not torch.allclose(classifier.logits(pixels, CPU), direct, atol=1e-3)
    assert torch.allclose(classifier.logits(pixels, CPU), direct, atol=1e-5)


def test_rows_and_training_seeds() -> None:
    models = models_of(["digits"], Swap())
    assert [(model.row, model.training) for model in models[:9]] == [
        (row, seed) for row in ("softmax", "symmetric", "RPC") for seed in range(3)
    ]
    assert [model.row for model in models[9:]] == ["softmax with RPC swapped in"] * 3 + [
        "symmetric with RPC swapped in"
    ] * 3
    assert {model.swap.queries for model in models[9:] if model.swap} == {"asymmetric", "symmetric"}
    mine = models_of([f"mine={SOFTMAX}", str(SOFTMAX)])
    assert [(model.row, model.training) for model in mine] == [("mine", 0), ("softmax", 0)]
    with pytest.raises(GramscopeError, match="training seed 0 twice"):
        models_of([str(SOFTMAX), str(SOFTMAX)])


def loose(folder: Path) -> None:
    shutil.copy(folder / "0" / "0.png", folder / "0.png")


def strange(folder: Path) -> None:
    (folder / "7").rename(folder / "cat")


def broken(folder: Path) -> None:
    (folder / "3" / "0.png").write_bytes(b"no picture")


def empty(folder: Path) -> None:
    for child in folder.iterdir():
        shutil.rmtree(child)


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (loose, "0.png lies in images itself, so nothing says what it shows"),
        (strange, "“cat” is no class of digits, softmax"),
        (broken, "0.png is not a whole picture"),
        (empty, "images holds no labelled images"),
    ],
)
def test_what_is_wrong_with_images_is_told(
    folder_of: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], harm: Any, says: str
) -> None:
    folder = folder_of()
    harm(folder)
    command = ["study", str(SOFTMAX), "--data", str(folder), "--out", str(tmp_path / "out"), "--seeds", "1"]
    assert main(command) == 1
    told = capsys.readouterr().err
    assert says in told and "Traceback" not in told


@pytest.mark.parametrize(
    ("line", "says"),
    [("0/0.png", "has no label"), ("0/absent.png,0", "absent.png"), ("", "holds no text")],
)
def test_what_is_wrong_with_a_table_is_told(
    folder_of: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, says: str
) -> None:
    table = folder_of() / "labels.csv"
    table.write_text(line)
    command = ["study", str(SOFTMAX), "--data", str(table), "--out", str(tmp_path / "out"), "--seeds", "1"]
    assert main(command) == 1
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["absent"], "There is nothing at absent"),
        (["--kinds", "fog"], "There is no kind “fog”"),
        (["--seeds", "0"], "--seeds is 0"),
        (["--levels", "fgsm=2"], "Levels of fgsm"),
        (["--data", "absent"], "absent"),
    ],
)
def test_what_makes_no_sense_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert main(["study", *arguments, "--out", str(tmp_path / "out")]) == 1
    assert says in capsys.readouterr().err
    assert not list(tmp_path.glob("out/*.csv"))


def test_models_without_a_classifier_are_told(tmp_path: Path, tiny: Any) -> None:  # noqa: F811
    for family in ("bert", "dinov2"):
        with pytest.raises(GramscopeError, match="no head that classifies images"):
            models_of([str(tiny(family))])
    vit = named_vit(tmp_path / "vit", ["a", "b"])
    with pytest.raises(GramscopeError, match="no digit model, so it needs labelled images"):
        Classifier(open_huggingface(vit)).test_digits()
