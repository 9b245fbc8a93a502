"""Open whatever was dropped: a folder, a file, or several files that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from explorer.errors import GramscopeError
from explorer.models.base import ShouldStop, Source, never
from explorer.models.checkpoint import has_usual_name, weight_files
from explorer.models.kinds import ARRAYS, COMPANIONS, GGUF, MODELS, SETTINGS, WEIGHTS
from explorer.models.safety import Progress, read_json, refuse_irregular, silent
from explorer.models.series import series_of

MOST_NAMED = 4


def open_path(
    paths: str | Path | Sequence[str | Path],
    should_stop: ShouldStop = never,
    progress: Progress = silent,
    heads: int | None = None,
) -> Source:
    """Open a folder, a file, several files of one folder, or the last checkpoint of a series.

    Parameters
    ----------
    paths : path or sequence of paths
    should_stop : callable
        Asked while reading.
    progress : callable
        Told of bytes.
    heads : int or None
        The number of heads, where the file does not say and the person was asked.

    Raises
    ------
    GramscopeError
        If nothing can be made of it, with what was found and what would be needed.
    Stopped
        If `should_stop` said so.
    """
    path = _chosen(paths, should_stop)
    if path.is_dir():
        return _open_folder(path, heads, should_stop, progress)
    return _open_file(path, heads, should_stop, progress)


def files_of(paths: str | Path | Sequence[str | Path], should_stop: ShouldStop = never) -> list[Path]:
    """Return the files that `open_path` would read weights from; raises as it does."""
    path = _chosen(paths, should_stop)
    if path.is_dir() or path.suffix.lower() in SETTINGS:
        return _weights_in(path if path.is_dir() else path.parent)
    if path.suffix.lower() in WEIGHTS and _speaks_transformers(path.parent):
        return weight_files(path.parent, path)
    return [path]


def _chosen(paths: str | Path | Sequence[str | Path], should_stop: ShouldStop) -> Path:
    """Return the one folder or file that is opened of what was given."""
    given = [refuse_irregular(Path(path).absolute(), should_stop) for path in _listed(paths)]
    series = series_of(given)
    return series[-1].path if series else _one_path(given)


def _listed(paths: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return [paths] if isinstance(paths, str | Path) else paths


def _one_path(found: Sequence[Path]) -> Path:
    """Reduce files of one model to its folder, whose config and index join them, or to its weights."""
    if len(found) == 1:
        return found[0]
    folders = {path if path.is_dir() else path.parent for path in found}
    kinds = {path.suffix.lower() for path in found if not path.is_dir()}
    if len(folders) == 1 and kinds <= MODELS | COMPANIONS:
        folder = folders.pop()
        weights = [path for path in found if path.suffix.lower() in MODELS]
        if folder in found or (kinds & (MODELS | SETTINGS) and _speaks_transformers(folder)):
            return folder
        if len(weights) == 1:
            return weights[0]
    names = [path.name for path in found[:MOST_NAMED]]
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    raise GramscopeError(
        f"{', '.join(names)}{more} are not one model. Drop one folder, one file, the files of one folder, or "
        "checkpoints of one training; images or texts by themselves are inputs."
    )


def _speaks_transformers(folder: Path) -> bool:
    """Whether the folder's config is one of transformers (timm's names an "architecture" instead)."""
    config = folder / "config.json"
    return config.exists() and not {"architecture", "pretrained_cfg"} & read_json(config).keys()


def _weights_in(folder: Path) -> list[Path]:
    if _speaks_transformers(folder):
        return weight_files(folder)
    packed = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in GGUF]
    return packed or weight_files(folder)


def _open_folder(folder: Path, heads: int | None, should_stop: ShouldStop, progress: Progress) -> Source:
    from explorer.models.huggingface import open_huggingface

    if _speaks_transformers(folder):
        return open_huggingface(folder, should_stop=should_stop, progress=progress)
    models = _weights_in(folder)
    if len(models) > 1:
        names = ", ".join(path.name for path in models[:8])
        raise GramscopeError(
            f"{folder.name} holds several weight files ({names}) and no config.json that says how they "
            "belong together. Open one of them, or copy the config beside them."
        )
    return _open_file(models[0], heads, should_stop, progress)


def _open_file(path: Path, heads: int | None, should_stop: ShouldStop, progress: Progress) -> Source:
    suffix = path.suffix.lower()
    if suffix in GGUF:
        from explorer.models.gguf import open_gguf

        return open_gguf(path, should_stop=should_stop, progress=progress)
    if suffix in SETTINGS:
        return _open_folder(path.parent, heads, should_stop, progress)
    if suffix in WEIGHTS and _speaks_transformers(path.parent):
        return _open_beside_config(path, heads, should_stop, progress)
    if suffix in WEIGHTS | ARRAYS:
        source = _open_tensors(path, heads, should_stop, progress)
        if source is None:
            raise _unrecognised(path, should_stop)
        return source
    raise GramscopeError(
        f"{path.name} is no kind of model that can be opened. Open a Hugging Face folder, a checkpoint "
        f"({', '.join(sorted(WEIGHTS | GGUF))}), or a file of captured heads (.npz, .safetensors, .pt)."
    )


def _open_beside_config(path: Path, heads: int | None, should_stop: ShouldStop, progress: Progress) -> Source:
    """Open a file of a transformers folder: the model's weights, or heads that somebody put there."""
    from explorer.models.huggingface import open_huggingface

    source = None if has_usual_name(path) else _open_tensors(path, heads, should_stop, progress)
    return source or open_huggingface(path.parent, path, should_stop, progress)


def _open_tensors(
    path: Path, heads: int | None, should_stop: ShouldStop, progress: Progress
) -> Source | None:
    from explorer.models.raw_heads import open_raw_heads
    from explorer.models.state_dict import open_state_dict

    source: Source | None = None
    if path.suffix.lower() in WEIGHTS:
        source = open_state_dict(path, heads=heads, should_stop=should_stop, progress=progress)
    return source or open_raw_heads(path, heads=heads, should_stop=should_stop, progress=progress)


def _unrecognised(path: Path, should_stop: ShouldStop) -> GramscopeError:
    """Say what a file holds that none of the openers made anything of."""
    from explorer.models.configs import family_of
    from explorer.models.safety import load_arrays, load_tensors

    value = load_arrays(path) if path.suffix.lower() in ARRAYS else load_tensors(path, should_stop)
    names = [str(name) for name in value] if isinstance(value, dict) else [type(value).__name__]
    found = "Found: " + ", ".join(names[:60])
    if family := family_of(names):
        return GramscopeError(
            f"{path.name} looks like a model of the family “{family}”, but its sizes are not known without a "
            "config.json. Copy the config (and the tokenizer) beside it.",
            found,
        )
    return GramscopeError(
        f"{path.name} holds {len(names)} entries ({', '.join(names[:4])}, …), which are neither a vision "
        "transformer in timm's layout nor heads named q, k and v. For other models open the "
        "Hugging Face folder.",
        found,
    )
