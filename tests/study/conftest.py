"""Small studies of the shipped models, and folders of labelled digits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from explorer.models.digits_data import load_digits
from explorer.study.models import models_of
from explorer.study.plan import Setting
from explorer.study.run import StudyOutcome, run_study


@pytest.fixture(scope="session")
def small() -> Setting:
    """Softmax and RPC models of two training seeds, noise and FGSM, two contamination seeds."""
    models = [
        model for model in models_of(["digits"]) if model.row in ("softmax", "RPC") and model.training < 2
    ]
    levels = (("pixel noise", (0.2, 0.4)), ("fgsm", (0.1,)))
    return Setting(tuple(models), kinds=("pixel noise", "fgsm"), levels=levels, seeds=2)


@pytest.fixture(scope="session")
def studied(small: Setting, tmp_path_factory: pytest.TempPathFactory) -> StudyOutcome:
    """The small study, made once."""
    return run_study(small, tmp_path_factory.mktemp("study"))


@pytest.fixture
def folder_of(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that makes a folder of labelled digits, `count` of each class, named as asked."""

    def make(count: int = 1, name: Callable[[int], str] = str) -> Path:
        digits = load_digits("test")
        for digit in range(10):
            place = tmp_path / "images" / name(digit)
            place.mkdir(parents=True)
            for number, index in enumerate(np.flatnonzero(digits.labels == digit)[:count]):
                Image.fromarray(digits.pixels(int(index))).save(place / f"{number}.png")
        return tmp_path / "images"

    return make
