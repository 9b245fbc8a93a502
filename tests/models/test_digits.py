"""The digit models: trained again for a few steps, and the shipped ones held to what they say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from explorer.__main__ import main
from explorer.errors import GramscopeError, Stopped
from explorer.maths.rpc import pap
from explorer.models.digits import DigitsSource, sample_source
from explorer.models.digits_data import Digits, as_input, load_digits
from explorer.models.digits_training import VARIANTS, DigitsVariant, Training, accuracy, train_digits
from explorer.models.open import open_path
from explorer.models.safetensors_file import read_metadata
from explorer.params import Input
from explorer.settings import resource

CPU = torch.device("cpu")
SHIPPED = sorted(resource("digits").glob("*.safetensors"))
SHORT = Training(steps=30, batch=32)


def shipped(variant: str, seed: int = 0) -> DigitsSource:
    source = open_path(resource(f"digits/digits-{variant}-{seed}.safetensors"))
    assert isinstance(source, DigitsSource)
    return source


def test_the_images_are_those_of_scikit_learn() -> None:
    from sklearn.datasets import load_digits as original

    parts = [load_digits("train"), load_digits("test")]
    assert [len(part) for part in parts] == [1437, 360]
    ours = sorted(
        (*image.flatten().tolist(), int(label))
        for p in parts
        for image, label in zip(p.images, p.labels, strict=True)
    )
    data = original()
    theirs = sorted(
        (*row.astype(int).tolist(), int(label)) for row, label in zip(data.data, data.target, strict=True)
    )
    assert ours == theirs


def test_pixels_to_look_at() -> None:
    digits = Digits(np.array([[[0, 8, 16]] * 3], dtype=np.uint8), np.array([1], dtype=np.uint8))
    assert digits.pixels(5)[0].tolist() == [[0] * 3, [127] * 3, [255] * 3]
    assert as_input(digits.images)[0, 0, 0].tolist() == [-1.0, 0.0, 1.0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_training_lowers_the_loss_and_is_seeded(variant: DigitsVariant) -> None:
    first, again = (train_digits(variant, 3, training=SHORT) for _ in range(2))
    assert np.mean(first.losses[-5:]) < np.mean(first.losses[:5]) - 0.2
    assert first.losses == again.losses
    for name, weight in first.model.state_dict().items():
        assert torch.equal(weight, again.model.state_dict()[name])
    assert train_digits(variant, 4, training=SHORT).losses != first.losses


def test_the_random_state_and_the_threads_of_others_are_left_alone() -> None:
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    train_digits("softmax", training=Training(steps=1))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == threads


def test_a_trained_model_opens_with_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    told: list[tuple[int, int]] = []
    trained = train_digits("rpc", 5, path, training=SHORT, progress=lambda *step: told.append(step[:2]))
    assert told == [(step, 30) for step in range(1, 31)]
    header = read_metadata(path)
    assert (header["variant"], header["seed"]) == ("rpc", "5")
    assert float(header["test_accuracy"]) == trained.accuracy
    assert json.loads(header["training"])["steps"] == 30
    assert json.loads(header["versions"])["torch"].startswith(torch.__version__.split("+")[0])
    source = open_path(path)
    assert isinstance(source, DigitsSource)
    values = as_input(load_digits("test").images[:8])
    with torch.no_grad():
        assert torch.equal(source.logits(values, CPU), trained.model(values))


def test_training_stops_when_asked_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        train_digits("softmax", out=tmp_path / "a.safetensors", should_stop=lambda: True)
    assert not list(tmp_path.glob("*.safetensors"))


def test_the_verb_trains_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train-digits", "--variant", "softmax", "symmetric", "--seed", "7", "--steps", "2"]
    assert main([*command, "--out", str(tmp_path)]) == 0
    names = {path.name for path in tmp_path.glob("*.safetensors")}
    assert names == {"digits-softmax-7.safetensors", "digits-symmetric-7.safetensors"}
    assert "of the test digits" in capsys.readouterr().out


def test_three_seeds_of_each_variant_are_shipped_small() -> None:
    found = {(read_metadata(path)["variant"], int(read_metadata(path)["seed"])) for path in SHIPPED}
    assert found == {(variant, seed) for variant in VARIANTS for seed in range(3)}
    assert max(path.stat().st_size for path in SHIPPED) < 500_000
    assert sum(path.stat().st_size for path in SHIPPED) < 3_000_000


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_models_are_as_good_as_they_say(path: Path) -> None:
    source = open_path(path)
    assert isinstance(source, DigitsSource)
    assert accuracy(source.model, load_digits("test")) == float(read_metadata(path)["test_accuracy"]) > 0.95
    stated = f"{float(read_metadata(path)['test_accuracy']):.2%}"
    assert source.facts["test accuracy"].startswith(stated)
    assert stated in resource("digits/README.md").read_text(encoding="utf-8")


def test_the_sample_shows_a_digit_its_patches_and_its_heads() -> None:
    source = sample_source()
    assert (source.kind, source.layers, source.heads, source.samples) == ("image", 4, 3, 360)
    capture = source.capture([0, 3], Input(index=12), CPU)
    assert capture.grid == (8, 8)
    assert capture.image is not None
    assert capture.image.dtype == np.uint8
    assert np.array_equal(capture.image, load_digits("test").pixels(12))
    assert [token.patch for token in capture.tokens[:3]] == [None, (0, 0), (0, 1)]
    assert capture.tokens[0].special
    head = capture.head(3, 2)
    assert head.q.shape == head.k.shape == head.v.shape == (65, 16)
    assert head.scale == 0.25
    assert head.width == 48
    assert not source.symmetric


def test_labels_and_predictions_agree_on_most_test_images() -> None:
    source = shipped("softmax")
    right = [
        int(source.predict(Input(index=i), CPU).argmax()) == source.label(Input(index=i)) for i in range(40)
    ]
    assert sum(right) >= 38
    assert float(source.predict(Input(), CPU).sum()) == pytest.approx(1, abs=1e-6)
    assert source.title(Input(index=12)) == f"digit {load_digits('test').labels[12]}, test image 12"
    assert source.count(Input()) == 360


def test_the_index_counts_round() -> None:
    source = sample_source()
    first, round_once = (source.values(Input(index=index)) for index in (3, 363))
    assert torch.equal(first, round_once)
    assert source.label(Input(index=3)) == source.label(Input(index=363))


def test_any_image_is_made_small_and_grey(tmp_path: Path) -> None:
    source = shipped("softmax")
    ink = load_digits("test").pixels(0)
    Image.fromarray(np.kron(ink[..., 0], np.ones((8, 8), np.uint8))).save(tmp_path / "digit.png")
    input = Input(path=str(tmp_path / "digit.png"))
    capture = source.capture([0], input, CPU)
    assert capture.image is not None
    assert capture.image.shape == (8, 8, 3)
    assert np.abs(capture.image.astype(int) - ink).mean() < 25
    assert source.values(input).shape == (1, 1, 8, 8)
    assert source.label(input) is None
    assert source.title(input) == "digit.png"
    assert source.count(input) == 1
    assert np.array_equal(source.reader.preprocessing.pixels_of(source.values(input)), capture.image)


def test_a_coloured_image_is_shown_as_the_model_sees_it(tmp_path: Path) -> None:
    Image.new("RGB", (30, 20), (90, 0, 240)).save(tmp_path / "a.png")
    capture = sample_source().capture([0], Input(path=str(tmp_path / "a.png")), CPU)
    assert capture.image is not None
    assert np.unique(capture.image).tolist() == [110]


def test_text_is_not_an_image() -> None:
    with pytest.raises(GramscopeError, match="looks at images"):
        sample_source().capture([0], Input(text="seven"), CPU)


def test_the_rpc_model_runs_what_it_was_trained_with() -> None:
    source = shipped("rpc")
    assert source.symmetric
    assert "λ = 4, 2 iterations" in source.capture([0], Input(), CPU).notes[0]
    values = source.values(Input())
    read: list[torch.Tensor] = []
    hook = source.model.attention(2).proj.register_forward_pre_hook(lambda module, args: read.append(args[0]))
    with torch.no_grad(), source.model.watching([2]) as seen:
        source.model.run(values)
    hook.remove()
    _, q, k, v = seen[2][0]
    expected = pap(
        q, k, v, 0.25, form="published", queries="symmetric", width=48, lam=4.0, iterations=2
    ).output
    assert torch.equal(expected.transpose(1, 2).flatten(2), read[0])
    own = source.logits(values, CPU)
    with source.attending(lambda call: call.softmax(), range(4)):
        assert not torch.allclose(source.logits(values, CPU), own, atol=0.1)


def test_the_untrained_twin_attends_as_the_trained_model() -> None:
    twin = shipped("rpc").untrained(0)
    values = as_input(load_digits("test").images[:2])
    rpc_output = twin.logits(values, CPU)
    with twin.attending(lambda call: call.softmax(), range(4)):
        assert not torch.equal(twin.logits(values, CPU), rpc_output)


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradients_reach_the_pixels_of_the_shipped_models(variant: str) -> None:
    source = shipped(variant)
    values = source.values(Input()).requires_grad_()
    label = torch.tensor([source.label(Input())])
    loss = torch.nn.functional.cross_entropy(source.logits(values, CPU), label)
    (gradient,) = torch.autograd.grad(loss, values)
    assert bool(torch.isfinite(gradient).all())
    with torch.no_grad():
        raised = torch.nn.functional.cross_entropy(source.logits(values + 0.05 * gradient.sign(), CPU), label)
    assert float(raised) > loss.item()


@pytest.mark.parametrize(
    "change", [{"training": "{"}, {"training": "{}"}, {"test_accuracy": "good"}, {"seed": None}]
)
def test_a_header_that_says_nothing_useful_is_refused(change: dict[str, str | None], tmp_path: Path) -> None:
    path = resource("digits/digits-rpc-0.safetensors")
    header = {name: text for name, text in (read_metadata(path) | change).items() if text is not None}
    save_file(load_file(path), tmp_path / "a.safetensors", metadata=header)
    with pytest.raises(GramscopeError, match="does not say how it was made"):
        open_path(tmp_path / "a.safetensors")


def test_opening_the_sample_imports_no_large_library() -> None:
    code = (
        "import sys; from explorer.models.digits import sample_source; sample_source();"
        "print([name for name in ('transformers', 'sklearn', 'scipy', 'PySide6') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert result.stdout.strip() == "[]"


def test_what_still_reads_a_model_that_was_closed_goes_on() -> None:
    source = sample_source()
    before = source.capture([0], Input(), CPU).layers[0]
    source.close()
    after = source.capture([0], Input(), CPU).layers[0]
    torch.testing.assert_close(after.k, before.k, rtol=0, atol=0)
