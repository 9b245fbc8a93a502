"""Inputs for the mathematics' tests: the shared vectors, and arrays drawn by hypothesis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

DATA = Path(__file__).parents[1] / "data"


def vectors(name: str) -> dict[str, Tensor]:
    """Load a file of shared vectors, numbers only."""
    with np.load(DATA / f"{name}.npz") as file:
        return {key: torch.from_numpy(file[key]) for key in file.files if file[key].dtype.kind == "f"}


def draw(seed: int, *shape: int) -> Tensor:
    """Draw standard normal float64 numbers."""
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def matrices(largest: float = 30.0, rows: int = 10, columns: int = 5) -> st.SearchStrategy[Tensor]:
    """Draw float64 matrices of any small shape, with zeros and repeats among their entries."""
    shapes = st.tuples(st.integers(1, rows), st.integers(1, columns))
    numbers = st.floats(-largest, largest, allow_subnormal=False)
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=numbers)).map(torch.from_numpy)


def difference(x: Tensor, reference: Tensor) -> float:
    """Return the largest difference relative to the reference's largest entry."""
    return float((x - reference).abs().max() / reference.abs().max())
