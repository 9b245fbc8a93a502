"""Sessions come back as they were, and a file that is not what it should be is refused with a sentence."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer import params as parameters
from explorer.errors import GramscopeError
from explorer.models.recipes import Recipe, SyntheticKind
from explorer.params import LEVEL_MAX, Input, Params
from explorer.session import (
    PARAM_RANGES,
    PLACE_RANGES,
    RECIPE_RANGES,
    Origin,
    Pin,
    Place,
    Session,
    check,
    dump,
    load,
    parse,
    save,
)

HERE = Path("/home/someone/work")


def content(**changes: Any) -> dict[str, Any]:
    return json.loads(dump(Session(), HERE)) | changes


def refused(sentence: str, **changes: Any) -> None:
    with pytest.raises(GramscopeError, match=sentence):
        parse(json.dumps(content(**changes)).encode(), HERE)


def _strategy(name: str, hint: Any) -> st.SearchStrategy[Any]:
    low, high = PARAM_RANGES.get(name, RECIPE_RANGES.get(name, (0, 10_000)))
    if hint is int:
        return st.integers(int(low), int(high))
    if hint is float:
        return st.floats(low, high)
    return st.from_type(hint)


def _made(kind: type, **given_: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    return st.builds(
        kind,
        **{f.name: _strategy(f.name, hints[f.name]) for f in fields(kind) if f.name not in given_},
        **given_,
    )


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
INPUTS = st.builds(Input, text=TEXT, path=st.just(""), index=st.integers(0, 10_000))
OPTIONAL = {name: st.none() | st.floats(0, 1e6) for name in ("lam", "mu")}
PARAMS = _made(
    Params,
    input=INPUTS,
    query=st.none() | st.integers(0, 10_000),
    axes=st.tuples(st.integers(0, 31), st.integers(0, 31)),
    device=st.sampled_from(["auto", "cpu"]),
    **OPTIONAL,
).map(lambda p: p.but(level=min(p.level, LEVEL_MAX[p.contamination])))
ORIGINS = st.one_of(
    st.just(Origin()),
    st.builds(Origin, recipe=_made(Recipe)),
    st.builds(Origin, paths=st.just((str(HERE / "model"),)), heads=st.none() | st.integers(1, 64)),
)
PLACES = st.builds(Place, tab=TEXT, **{name: st.integers(*PLACE_RANGES[name]) for name in PLACE_RANGES})
SESSIONS = st.builds(
    Session,
    origin=ORIGINS,
    params=PARAMS,
    selection=st.frozensets(st.integers(0, 500), max_size=8),
    options=st.dictionaries(TEXT, st.dictionaries(TEXT, st.booleans() | TEXT, max_size=3), max_size=3),
    layout=st.dictionaries(TEXT, PLACES, max_size=4),
    theme=st.sampled_from(["system", "light", "dark"]),
    pin=st.none() | st.builds(Pin, origin=ORIGINS, params=PARAMS),
)


@settings(max_examples=60, deadline=None)
@given(SESSIONS)
def test_a_session_comes_back_as_it_was(session: Session) -> None:
    assert parse(dump(session, HERE), HERE) == session


def test_a_person_can_read_it() -> None:
    text = dump(Session(params=Params(level=0.1, input=Input(text="déjà vu"))), HERE).decode()
    assert '"version": 1' in text
    assert '    "level": 0.1,' in text
    assert "déjà vu" in text


def test_every_parameter_is_in_it() -> None:
    assert set(content()["params"]) == {field.name for field in fields(Params)}


def test_a_pin_is_held_to_the_same_rules() -> None:
    refused("“pinned” should be a group", pinned=[1])
    refused("params.level", pinned={"params": {"level": 0.9}})
    refused("another machine", pinned={"source": {"paths": ["//host/model"]}})


def test_what_is_left_out_takes_its_default() -> None:
    assert parse(b'{"format": "gramscope session", "version": 1}', HERE) == Session()


def _inputs(folder: Path) -> Input:
    return Input(path=str(folder / "x.txt"), more=(str(folder / "y.txt"),))


def test_paths_are_relative_near_the_session_and_absolute_far_from_it(tmp_path: Path) -> None:
    near, far = tmp_path / "models" / "bert", Path("/opt/models/bert")
    file = tmp_path / "sessions" / "a.gramscope"
    file.parent.mkdir()
    for path, stored in ((near, "../models/bert"), (far, str(far))):
        session = Session(Origin(paths=(str(path),)), Params(input=_inputs(path)))
        save(session, file)
        written = json.loads(file.read_text(encoding="utf-8"))
        assert written["source"]["paths"] == [stored]
        assert written["params"]["input"]["path"] == f"{stored}/x.txt"
        assert written["params"]["input"]["more"] == [f"{stored}/y.txt"]
        assert load(file) == session


def test_a_moved_folder_takes_its_session_along(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    save(Session(Origin(paths=(str(before / "model"),))), before / "a.gramscope")
    before.rename(after)
    assert load(after / "a.gramscope").origin.paths == (str(after / "model"),)


def test_a_newer_version_is_refused() -> None:
    refused("A newer Gramscope .*9.9.* wrote it, in version 2.*Update", version=2, program="9.9")


@pytest.mark.parametrize("version", [None, 0, -1, "1", 1.0, True, [1]])
def test_a_version_that_is_none_is_refused(version: Any) -> None:
    refused("does not say which version", version=version)


WRONG: list[tuple[str, Any]] = [
    ("layer", -1), ("layer", 1.5), ("layer", True), ("layer", "0"), ("layer", 10**12), ("query", "last"),
    ("contamination", "acid"), ("contamination", 1), ("contamination", None), ("level", -0.1), ("level", 0.6),
    ("level", 3), ("level", "much"), ("level", None), ("magnitude", 1e9), ("seed", -3), ("seed", 2**40),
    ("contaminate_values", 1), ("form", ["pcp"]), ("queries", {}), ("lam", -1), ("lam", "4"), ("mu", [1]),
    ("iterations", 0), ("iterations", 10**6), ("variant", "magic"), ("axes", [0]), ("axes", [0, 1, 2]),
    ("axes", "01"), ("axes", [0, -1]), ("axes", [0.5, 1]), ("centred", "yes"), ("device", 3),
    ("device", "quantum"), ("input", "text"), ("input", {"text": 3}), ("input", {"index": -1}),
    ("input", {"text": "a\0b"}), ("input", {"change": {"kind": "blur", "level": 1.0}}), ("steps", 0),
    ("target", "both"), ("input", {"folder": "x"}), ("unheard_of", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG, ids=str)
def test_a_wrong_parameter_is_named(name: str, value: Any) -> None:
    refused(name if name != "unheard_of" else "does not know: 'unheard_of'", params={name: value})


WRONG_PARTS: list[tuple[str, Any]] = [
    ("source", None), ("source", {}), ("source", {"sample": "other"}), ("source", {"paths": "model"}),
    ("source", {"sample": "digits", "x": 1}), ("source", {"sample": "digits", "paths": ["x"]}),
    ("source", {"paths": []}),
    ("source", {"paths": [1]}), ("source", {"paths": ["a"], "heads": 0}), ("source", {"paths": ["a"] * 2000}),
    ("source", {"recipe": {"tokens": 10**9}}), ("source", {"recipe": {"noise": -1}}),
    ("source", {"recipe": {"kind": "bomb"}}), ("source", {"paths": [""]}), ("params", []), ("params", None),
    ("selection", {}), ("selection", [-1]), ("selection", [True]), ("selection", [0.5]), ("selection", "0"),
    ("selection", [10**9]), ("selection", [0] * 200_000), ("views", []), ("views", {"spectrum": 1}),
    ("layout", 5), ("layout", {"a": 1}), ("layout", {"a": {"x": 1e9}}), ("layout", {"a": {"area": "up"}}),
    ("layout", {"a": {"shown": 1}}), ("layout", {str(i): {} for i in range(200)}), ("theme", "pink"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG_PARTS, ids=lambda part: str(part)[:40])
def test_a_wrong_part_is_named(name: str, value: Any) -> None:
    refused(name, **{name: value})


@pytest.mark.parametrize("path", ["//server/share/model", "\\\\server\\share\\model"])
def test_another_machine_is_not_called(path: str) -> None:
    refused("another machine", source={"paths": [path]})
    refused("another machine", params={"input": {"path": path}})


@pytest.mark.parametrize(
    "data",
    [b"", b"\x80\x05K*.", b"\xff\xfe", b"[" * 100_000, b"NaN", b'{"params": Infinity}', b"1" * 10_000, b"[]"],
    ids=str,
)
def test_what_is_no_session_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "odd.gramscope"
    path.write_bytes(data)
    with pytest.raises(GramscopeError, match=r"odd\.gramscope cannot be opened as a session\. It"):
        load(path)


def test_a_level_beyond_its_kind_is_refused() -> None:
    refused("for sparse it lies between 0 and 0.5", params={"level": 0.9})
    session = parse(json.dumps(content(params={"level": 0.9, "contamination": "gaussian"})).encode(), HERE)
    assert session.params.level == 0.9


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match=r"There is no session gone\.gramscope"):
        load(tmp_path / "gone.gramscope")
    large = tmp_path / "large.gramscope"
    with large.open("wb") as file:
        file.truncate(10_000_000)
    with pytest.raises(GramscopeError, match="too large"):
        load(large)


class TwoLayers:
    """Stands for an opened model."""

    name, layers, heads, samples = "two layers", 2, 4, 3


@pytest.mark.parametrize(
    ("wanted", "name"),
    [({"layer": 2}, "layer 2"), ({"head": 4}, "head 4"), ({"input": Input(index=3)}, "input 3")],
)
def test_a_place_that_the_source_lacks_is_refused(wanted: dict[str, Any], name: str) -> None:
    with pytest.raises(GramscopeError, match=name):
        check(Params(**wanted), TwoLayers())  # type: ignore[arg-type]
    check(Params(layer=1, head=3, input=Input(text="x", index=9)), TwoLayers())  # type: ignore[arg-type]


def test_the_choices_are_those_of_the_parameters() -> None:
    for hint in (parameters.Contamination, parameters.Form, parameters.Queries, parameters.Variant):
        assert all(isinstance(choice, str) for choice in get_args(hint))
    assert set(RECIPE_RANGES) == set(asdict(Recipe())) - {"kind", "seed", "values"}
    assert get_args(SyntheticKind)


def test_contamination_that_the_source_cannot_take_is_refused() -> None:
    from explorer.models.synthetic import SyntheticSource

    with pytest.raises(GramscopeError, match="reads no input"):
        check(Params(contamination="blur", level=1.0), SyntheticSource())


def test_a_session_from_before_there_were_other_entries_still_opens() -> None:
    old = content()
    for name in ("target", "steps"):
        del old["params"][name]
    del old["params"]["input"]["change"]
    assert parse(json.dumps(old).encode(), HERE) == Session()


def test_the_laboratory_comes_back_and_may_be_missing() -> None:
    group = {"kind": "linear", "length": None, "data": {"family": "rows", "path": str(HERE / "tokens.csv")}}
    assert parse(dump(Session(laboratory=group), HERE), HERE).laboratory == group
    assert b'"path": "tokens.csv"' in dump(Session(laboratory=group), HERE)
    assert "laboratory" not in content()
    assert parse(json.dumps(content()).encode(), HERE).laboratory is None


def test_what_is_no_laboratory_is_refused() -> None:
    refused("group of fields", laboratory=3)
    refused("another machine", laboratory={"data": {"path": "//elsewhere/tokens.npy"}})
