"""Imports what the application imports while it works, and prints the names of all modules, as JSON.

Lazy imports are invisible to an analysis of the source, so the bundle is told of what this finds.
"""

import importlib
import json
import os
import pkgutil
import sys

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["HF_HUB_OFFLINE"] = "1"

import explorer
from explorer.models.configs import FINGERPRINTS

FAMILIES = {family for _, family in FINGERPRINTS} | {"mistral", "gemma", "xlm_roberta", "siglip"}
PARTS = ("configuration", "modeling", "tokenization", "image_processing")


def own() -> None:
    """Import every module of the application."""
    for module in pkgutil.walk_packages(explorer.__path__, "explorer."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def families() -> None:
    """Import what loads a checkpoint of each known family, as far as transformers has a module for it."""
    package = importlib.import_module("transformers.models")
    there = {name for _, name, _ in pkgutil.iter_modules(package.__path__)}
    for family in sorted(FAMILIES & there):
        folder = importlib.import_module(f"transformers.models.{family}")
        for _, name, _ in pkgutil.iter_modules(folder.__path__):
            if name.startswith(PARTS):
                importlib.import_module(f"transformers.models.{family}.{name}")
    for name in ("auto.modeling_auto", "auto.tokenization_auto", "auto.image_processing_auto"):
        importlib.import_module(f"transformers.models.{name}")


def work() -> None:
    """Train a step and score a head: optimizers and solvers import more when they are used."""
    import torch
    from scipy.optimize import linear_sum_assignment
    from sklearn.datasets import load_digits

    layer = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(layer.parameters())
    layer(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    torch.linalg.eigh(torch.eye(3))
    linear_sum_assignment([[1.0, 2.0], [3.0, 4.0]])
    load_digits()


own()
families()
work()
print(json.dumps(sorted(sys.modules)))
