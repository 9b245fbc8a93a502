"""The digit models that are shipped, and the test images that they read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.batch import entry_of
from explorer.models.digits_data import as_input, load_digits
from explorer.models.prepared import Prepared
from explorer.models.vit import VitConfig
from explorer.models.vit_attention import rpc
from explorer.models.vit_layout import build, infer_config
from explorer.models.vit_reader import Grey, VitReader
from explorer.models.vit_source import StateDictSource
from explorer.params import Input
from explorer.settings import resource

SAMPLE = "digits/digits-softmax-0.safetensors"


class DigitsReader(VitReader):
    """Reads the test images by number, or any image made 8 × 8 and grey."""

    def __init__(self, config: VitConfig) -> None:
        half = (0.5,) * 3
        super().__init__(config, Grey(size=config.size, mean=half, std=half), ())
        self.digits = load_digits("test")
        self.samples = len(self.digits)

    def _read(self, input: Input) -> Prepared:
        """Read an image; without a path the test image of the input's index, counted round."""
        if input.path:
            return super()._read(input)
        if input.text:
            raise GramscopeError("This model looks at images, not text. Drop or open an image.")
        index = input.index % self.samples
        return self.of_normalised(as_input(self.digits.images[index, None]), self.digits.pixels(index))


class DigitsSource(StateDictSource):
    """A digit model; `Input.index` counts its 360 test images, none of which it was trained on.

    Attributes
    ----------
    pursuit : (float, int) or None
        λ and iterations of the published, symmetric RPC-Attention that it was trained with; None: softmax.
    """

    reader: DigitsReader
    pursuit: tuple[float, int] | None = None

    def label(self, input: Input) -> int | None:
        """Return the digit that a test image shows; None for any other image."""
        return None if input.path else int(self.reader.digits.labels[input.index % self.samples])

    def title(self, input: Input) -> str:
        """Name an input, as in "digit 7, test image 12"."""
        digit = self.label(input)
        if digit is None:
            return entry_of(input.files, input.index)[0].name
        return f"digit {digit}, test image {input.index}"


def digits_source(path: Path, parameters: Mapping[str, Tensor], header: Mapping[str, Any]) -> DigitsSource:
    """Make a source of a digit model.

    Parameters
    ----------
    parameters : dict of str to Tensor
        By timm's names.
    header : dict of str to str
        How it was made, as its file says.

    Raises
    ------
    GramscopeError
        If the header does not say what it should.
    """
    config = infer_config(parameters, header)
    model = build(config, parameters)
    try:
        training, variant = json.loads(header["training"]), header["variant"]
        notes: tuple[str, ...] = ()
        pursuit: tuple[float, int] | None = None
        if variant == "rpc":
            lam, iterations = pursuit = float(training["lam"]), int(training["iterations"])
            model.attend_by_default(rpc(width=config.dim, lam=lam, iterations=iterations))
            notes = (
                f"This model runs RPC-Attention in every layer (published form, symmetric, λ = {lam:g}, "
                f"{iterations} iterations), and was trained so.",
            )
        facts = {
            "variant": variant,
            "test accuracy": f"{float(header['test_accuracy']):.2%} of 360 digits never trained on",
            "training": f"seed {header['seed']}, {training['steps']} steps",
            "missing": "nothing",
        }
    except (KeyError, ValueError, TypeError) as error:
        raise GramscopeError(
            f"{path.name} calls itself a digit model and does not say how it was made. Train it again with "
            "“gramscope train-digits”.",
            str(error),
        ) from error
    source = DigitsSource(f"digits, {variant}", model, DigitsReader(config), facts, notes)
    source.pursuit = pursuit
    return source


def sample_source() -> StateDictSource:
    """Open the first-run sample: the shipped softmax model on digits."""
    from explorer.models.state_dict import open_state_dict

    source = open_state_dict(resource(SAMPLE))
    assert source is not None
    return source
