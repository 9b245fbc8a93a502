"""Which models are compared: checkpoints, the row each belongs to, and its training seed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from explorer.errors import GramscopeError
from explorer.models.digits_training import VARIANTS
from explorer.models.open import open_path
from explorer.models.safetensors_file import read_metadata
from explorer.models.series import members_of
from explorer.settings import resource
from explorer.study.classifier import Classifier
from explorer.study.plan import DIGITS, Model, Swap
from explorer.study.words import ROWS, SWAPPED


@dataclass(frozen=True, slots=True)
class _Found:
    """A checkpoint that classifies, its training seed where its file says it, and its attention."""

    row: str
    path: str
    seed: int | None
    variant: str
    symmetric: bool


def models_of(paths: Sequence[str], swap: Swap | None = None) -> tuple[Model, ...]:
    """Return the models that were given.

    Parameters
    ----------
    paths : sequence of str
        Checkpoints, or folders of them, each after "NAME=" where its row is to be called so; or "digits" for
        the shipped ones. Without a name, digit models have the row of their variant, others one of their own.
    swap : Swap or None
        Add a row for each row whose models do not run RPC already, with RPC swapped in; its queries are
        symmetric where the model's are.

    Raises
    ------
    GramscopeError
        If there is nothing at a path, no classifier in it, or a row has a training seed twice.
    """
    found = [each for given in paths for each in _given(given)]
    rows = list(dict.fromkeys(each.row for each in found))
    found.sort(key=lambda each: rows.index(each.row))
    models = _numbered(found)
    if swap is not None:
        models += [
            replace(model, row=model.row + SWAPPED, swap=_suited(swap, each))
            for each, model in zip(found, models, strict=True)
            if each.variant != "rpc"
        ]
    return tuple(models)


def _suited(swap: Swap, found: _Found) -> Swap:
    return replace(swap, queries="symmetric") if found.symmetric else swap


def _given(given: str) -> list[_Found]:
    if given == DIGITS:
        shipped = resource(DIGITS)
        looked = [_look(path, "") for path in sorted(shipped.glob("*.safetensors"))]
        found = [replace(each, path=f"{DIGITS}/{Path(each.path).name}") for each in looked]
        return sorted(found, key=lambda each: VARIANTS.index(each.variant))
    name, separator, path = given.partition("=")
    if not separator or Path(given).exists():
        name, path = "", given
    if not Path(path).exists():
        raise GramscopeError(f"There is nothing at {path}. Give an image classifier, or “digits”.")
    return [_look(member.path, name) for member in members_of([Path(path).absolute()])]


def _look(path: Path, name: str) -> _Found:
    source = open_path(path)
    try:
        symmetric = Classifier(source).symmetric
        header = read_metadata(path) if path.suffix.lower() == ".safetensors" else {}
        digits = header if header.get("gramscope") == "digits" else {}
        variant = digits.get("variant", "")
        row = name or ROWS.get(variant, source.name)
        seed = int(digits["seed"]) if "seed" in digits else None
        return _Found(row, str(path), seed, variant, symmetric)
    finally:
        source.close()


def _numbered(found: Sequence[_Found]) -> list[Model]:
    """Give each model, row after row, its training seed, or its place where any of the row has none."""
    by_row: dict[str, list[_Found]] = defaultdict(list)
    for each in found:
        by_row[each.row].append(each)
    models = []
    for row, members in by_row.items():
        seeds = [member.seed for member in members]
        known = [seed for seed in seeds if seed is not None]
        if len(known) < len(seeds):
            known = list(range(len(seeds)))
        twice = [seed for seed, count in Counter(known).items() if count > 1]
        if twice:
            raise GramscopeError(f"“{row}” has training seed {twice[0]} twice. Give each checkpoint once.")
        models += [Model(row, seed, member.path) for seed, member in zip(known, members, strict=True)]
    return models
