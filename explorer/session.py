"""Sessions: what is on screen, in a file that a person can read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from explorer import __version__, fields
from explorer.errors import GramscopeError
from explorer.models.recipes import Recipe
from explorer.params import ENTERS, LEVEL_MAX, Params
from explorer.settings import atomic_write

if TYPE_CHECKING:
    from explorer.models.base import Source

SUFFIX = ".gramscope"
VERSION = 1
LARGEST_FILE = 8_000_000
MOST_PANELS = 100
MOST_TOKENS = 100_000
CLIMB = 2
"""How many folders up from the session a relative path may lead; further away, paths are absolute."""

PARAM_RANGES = {
    "level": (0.0, max(LEVEL_MAX.values())),
    "magnitude": (0.0, 1000.0),
    "iterations": (1, 100),
    "steps": (1, 100),
    "axes": (0, 10_000),
}
RECIPE_RANGES = {
    "tokens": (1, 8192),
    "dim": (1, 512),
    "components": (1, 512),
    "noise": (0.0, 100.0),
    "decay": (0.0, 10.0),
    "strength": (0.0, 1e4),
    "value_noise": (0.0, 100.0),
}

Appearance = Literal["system", "light", "dark"]
Area = Literal["left", "right", "top", "bottom"]
Device = Literal["auto", "cpu", "cuda", "mps"]
Options = Mapping[str, Mapping[str, Any]]

PLACE_RANGES = dict.fromkeys(("x", "y", "width", "height"), (-32_768, 32_767))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a panel is.

    Attributes
    ----------
    shown, floating : bool
    area : str
        The side of the page to which it is docked.
    tab : str
        The panel behind whose tab it lies; empty: it has its own place.
    x, y, width, height : int
        In pixels, in the page or, floating, on the screen.
    """

    shown: bool = True
    floating: bool = False
    area: Area = "left"
    tab: str = ""
    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a source comes from, so that it can be opened again; with no field set, the sample.

    Attributes
    ----------
    paths : tuple of str
        A checkpoint: a folder, a file, or several files that belong together.
    heads : int or None
        The number of heads, where the person was asked.
    recipe : Recipe or None
        A synthetic head.
    """

    paths: tuple[str, ...] = ()
    heads: int | None = None
    recipe: Recipe | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """A picture that is pinned as a reference: from this its numbers come out again, bit for bit."""

    origin: Origin = Origin()
    params: Params = field(default_factory=Params)


@dataclass(frozen=True)
class Session:
    """What is on screen.

    Attributes
    ----------
    origin : Origin
    params : Params
    selection : frozenset of int
    options : mapping of str to mapping
        Each view's own choices, by the view's name.
    layout : mapping of str to Place
        By the panels' names; empty: leave them where they are.
    theme : str
    laboratory : mapping or None
        What the laboratory is set to, as `explorer.lab.stored` writes and reads it; None: leave it as it is.
    pin : Pin or None
        The picture that is pinned.
    """

    origin: Origin = Origin()
    params: Params = field(default_factory=Params)
    selection: frozenset[int] = frozenset()
    options: Options = field(default_factory=dict)
    layout: Mapping[str, Place] = field(default_factory=dict)
    theme: Appearance = "system"
    laboratory: Mapping[str, Any] | None = None
    pin: Pin | None = None


def dump(session: Session, folder: Path) -> bytes:
    """Return the session as a file in `folder` holds it: indented JSON, paths relative where they can be."""
    content: dict[str, Any] = {
        "format": "gramscope session",
        "version": VERSION,
        "program": __version__,
        **_picture(session.origin, session.params, folder),
        "selection": sorted(session.selection),
        "views": session.options,
        "theme": session.theme,
        "layout": {name: asdict(place) for name, place in session.layout.items()},
    }
    if session.laboratory is not None:
        content["laboratory"] = _with_path(session.laboratory, _relative, folder)
    if session.pin is not None:
        content["pinned"] = _picture(session.pin.origin, session.pin.params, folder)
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def _picture(origin: Origin, params: Params, folder: Path) -> dict[str, Any]:
    source: dict[str, Any] = {"sample": "digits"}
    if origin.recipe is not None:
        source = {"recipe": asdict(origin.recipe)}
    elif origin.paths:
        source = {"paths": [_relative(path, folder) for path in origin.paths], "heads": origin.heads}
    written = asdict(params)
    written["input"]["path"] = _relative(params.input.path, folder)
    written["input"]["more"] = [_relative(path, folder) for path in params.input.more]
    return {"source": source, "params": written}


def save(session: Session, path: Path) -> None:
    """Write a session, whole or not at all.

    Raises
    ------
    GramscopeError
        The system refuses.
    """
    atomic_write(path, dump(session, path.absolute().parent))


def load(path: Path, should_stop: Callable[[], bool] = lambda: False) -> Session:
    """Read a session; nothing is opened yet.

    Raises
    ------
    Stopped
        `should_stop` said so while the drive did not answer.
    GramscopeError
        The drive does not answer; it cannot be read, is no session, of a newer version, or a field is not
        what it should be.
    """
    from explorer.models.patience import wait_for

    wait_for(path, should_stop)
    try:
        if not path.is_file():
            raise GramscopeError(f"There is no session {path.name} in {path.absolute().parent}.")
        if path.stat().st_size > LARGEST_FILE:
            raise GramscopeError(f"{path.name} is too large to be a session.")
        data = path.read_bytes()
    except OSError as error:
        raise GramscopeError(f"{path.name} cannot be read: {error.strerror or error}.", str(error)) from error
    try:
        return parse(data, path.absolute().parent)
    except GramscopeError as error:
        raise GramscopeError(f"{path.name} cannot be opened as a session. {error}", error.detail) from error


def parse(data: bytes, folder: Path) -> Session:
    """Read a session from a file's content; relative paths start at `folder`.

    Raises
    ------
    GramscopeError
        As `load`.
    """
    try:
        content = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise GramscopeError("It is not the JSON that a session is made of.", str(error)) from error
    if not isinstance(content, dict) or content.get("format") != "gramscope session":
        raise GramscopeError("It does not call itself a Gramscope session.")
    version = content.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise GramscopeError("It does not say which version of the format it is.")
    if version > VERSION:
        program = fields.shown(content.get("program"))
        raise GramscopeError(
            f"A newer Gramscope ({program}) wrote it, in version {version} of the format; this one reads up "
            f"to {VERSION}. Update Gramscope, or save it again from the older one."
        )
    shown, pinned = _read_picture(content, folder), content.get("pinned")
    if pinned is not None and not isinstance(pinned, dict):
        raise GramscopeError(f"“pinned” should be a group of fields, and is {fields.shown(pinned)}.")
    return Session(
        origin=shown.origin,
        params=shown.params,
        selection=_selection(content.get("selection", [])),
        options=_options(content.get("views", {})),
        layout=read_layout(content.get("layout", {})),
        theme=fields.value_of(Appearance, content.get("theme", "system"), "theme"),
        laboratory=_read_laboratory(content.get("laboratory"), folder),
        pin=None if pinned is None else _read_picture(pinned, folder),
    )


def _read_picture(content: dict[str, Any], folder: Path) -> Pin:
    params = fields.read(Params, content.get("params", {}), "params", PARAM_RANGES)
    fields.value_of(Device, params.device, "params.device")
    if params.level > LEVEL_MAX[params.contamination]:
        raise GramscopeError(
            f"“params.level” is {params.level:g}; for {params.contamination} it lies between 0 and "
            f"{LEVEL_MAX[params.contamination]:g}."
        )
    if params.input.change is not None:
        raise GramscopeError("“params.input.change” is no part of a session: it follows from the level.")
    path = _absolute(params.input.path, folder) if params.input.path else ""
    more = tuple(_absolute(path, folder) for path in params.input.more)
    origin = _origin(content.get("source", {"sample": "digits"}), folder)
    return Pin(origin, params.but(input=replace(params.input, path=path, more=more)))


def read_layout(value: Any) -> dict[str, Place]:
    """Read a layout from JSON. Qt's own form of it is not used: a damaged one crashes the program.

    Raises
    ------
    GramscopeError
        A panel's place is not what it should be.
    """
    if not isinstance(value, dict) or len(value) > MOST_PANELS:
        raise GramscopeError(f"“layout” should be the places of panels, and is {fields.shown(value)}.")
    return {name: fields.read(Place, place, f"layout.{name}", PLACE_RANGES) for name, place in value.items()}


def check(params: Params, source: Source) -> None:
    """Hold a session's parameters against the source that was opened for it.

    Raises
    ------
    GramscopeError
        The source has no such layer, head or input: it is not what the session was made with.
    """
    if ENTERS[params.contamination] != "keys":
        source.refuse_entry(params.contamination)
    have = {"layer": source.layers, "head": source.heads, "input": max(source.samples, 1)}
    wanted = {"layer": params.layer, "head": params.head, "input": params.input.index}
    if params.input.path or params.input.text:
        del wanted["input"]
    for name, number in wanted.items():
        if number >= have[name]:
            raise GramscopeError(
                f"The session shows {name} {number}, and {source.name} has {have[name]} (0 to "
                f"{have[name] - 1}). It is not the source that the session was made with."
            )


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number that a session can hold")


def _relative(path: str, folder: Path) -> str:
    if not path:
        return ""
    try:
        relative = Path(os.path.relpath(path, folder))
    except ValueError:  # another drive
        return str(Path(path).absolute())
    if relative.parts[: CLIMB + 1].count("..") > CLIMB:
        return str(Path(path).absolute())
    return relative.as_posix()


def _absolute(path: str, folder: Path) -> str:
    """Return where a path of a session leads; another machine's is refused: naming it would call it."""
    if path.startswith(("//", "\\\\")):
        raise GramscopeError(
            f"It points to another machine ({fields.shown(path)}). Open that yourself first."
        )
    return os.path.normpath(folder / path)


def _read_laboratory(value: Any, folder: Path) -> Mapping[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise GramscopeError(f"“laboratory” should be a group of fields, and is {fields.shown(value)}.")
    return None if value is None else _with_path(value, _absolute, folder)


def _with_path(
    laboratory: Mapping[str, Any], place: Callable[[str, Path], str], folder: Path
) -> dict[str, Any]:
    """Return the laboratory's group with the path of its table, where it has one, put elsewhere."""
    data = laboratory.get("data")
    path = data.get("path") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(path, str) or not path:
        return dict(laboratory)
    return {**laboratory, "data": {**data, "path": place(path, folder)}}


def _origin(value: Any, folder: Path) -> Origin:
    if not isinstance(value, dict) or len(value.keys() & {"sample", "recipe", "paths"}) != 1:
        raise GramscopeError("“source” should name one of sample, recipe or paths.")
    if "sample" in value:
        if value != {"sample": "digits"}:
            raise GramscopeError(f"“source” is {fields.shown(value)}; the one sample is “digits”.")
        return Origin()
    if "recipe" in value:
        return Origin(recipe=fields.read(Recipe, value["recipe"], "source.recipe", RECIPE_RANGES))
    origin = fields.read(Origin, value, "source", {"heads": (1, 100_000)})
    if not origin.paths or not all(origin.paths) or len(origin.paths) > 1000:
        raise GramscopeError("“source.paths” should list the files of a checkpoint.")
    return replace(origin, paths=tuple(_absolute(path, folder) for path in origin.paths))


def _selection(value: Any) -> frozenset[int]:
    good = isinstance(value, list) and len(value) <= MOST_TOKENS
    if not good or not all(type(item) is int and 0 <= item < MOST_TOKENS for item in value):
        raise GramscopeError(f"“selection” should be a list of tokens, and is {fields.shown(value)}.")
    return frozenset(value)


def _options(value: Any) -> Options:
    good = isinstance(value, dict) and all(isinstance(options, dict) for options in value.values())
    if not good:
        raise GramscopeError(f"“views” should be groups of choices, and is {fields.shown(value)}.")
    return dict(value)
