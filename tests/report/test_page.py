"""The page: it stands alone, says what was asked for in words, and names what was measured."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from explorer.maths.evidence_draws import Draws
from explorer.params import Input
from explorer.report.page_words import runs_of
from explorer.report.run import run_report

FEW = Draws(cheap=20, costly=1, seed=7, nulls=("permutation", "projection"), families=("gamma",))
OUTSIDE = ("src", "href", "data", "action")


class Reader(HTMLParser):
    """Collects tags that are open, what the page reaches for, and the sentences of its lists."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.reached: list[str] = []
        self.title = ""
        self.items: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.reached += [value or "" for name, value in attrs if name in OUTSIDE]
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag == "li":
            self.items.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "title" and "svg" not in self.open:
            self.title = data
        if "li" in self.open:
            self.items[-1] += data


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    inputs = [Input(index=0), Input(index=1)]
    run_report(
        "controls", inputs, out=folder, layers=[0, 1, 3], heads=[0, 2], draws=FEW, untrained=0, device="cpu"
    )  # fmt: skip
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def test_every_tag_is_closed_and_nothing_is_reached_for(page: str, read: Reader) -> None:
    assert not read.open
    assert not read.reached
    assert "<script" not in page and "@import" not in page and "url(http" not in page


def test_figures_are_svg_that_others_can_read(page: str) -> None:
    figures = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(figures) > 8
    for figure in figures:
        ElementTree.fromstring(figure)


def test_it_follows_light_and_dark(page: str) -> None:
    assert "prefers-color-scheme: dark" in page and "color-scheme: light dark" in page


def test_the_title_names_what_was_measured(read: Reader) -> None:
    assert read.title == "the built-in controls: evidence for kernel PCA"


def test_what_was_asked_for_stands_in_words(read: Reader) -> None:
    for words in (
        "Checkpoint: the built-in controls",
        "Input 0: built-in sample 0",
        "Input 1: built-in sample 1",
        "Layers: 0 to 1, 3",
        "Heads: 0, 2",
        "Device: the processor",
        "Drawn nulls: shuffled tokens, random projection of the layer's input",
        "Draws of each: 20 of overlap and linear CKA; 1 of the costly measures (γ test); seed 7",
        "Untrained: no re-initialised model",
    ):
        assert words in read.items
    assert any(item.startswith("Computed by gramscope ") and "torch" in item for item in read.items)


def test_nothing_is_printed_as_a_program_would(read: Reader) -> None:
    for item in read.items:
        assert not re.search(r"\[[\d']|\{'|None|True|False|\bnan\b", item), item


def test_what_was_not_drawn_is_said_with_the_reason(read: Reader) -> None:
    assert "Gaussian values: not drawn, it was not asked for." in read.items
    assert "untrained model: not drawn, no untrained model was asked for." in read.items


def test_one_head_alone_has_no_deviation(tmp_path: Path) -> None:
    run_report("controls", out=tmp_path, layers=[0], heads=[0], draws=FEW)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "nan" not in re.sub(r"<style.*?</style>", "", page, flags=re.S)


def test_a_long_input_is_cut_between_words(tmp_path: Path, minilm: str) -> None:
    text = "word " * 400
    run_report(minilm, [Input(text=text)], out=tmp_path, layers=[0], draws=FEW, untrained=0)
    reader = Reader()
    reader.feed((tmp_path / "report.html").read_text(encoding="utf-8"))
    (shown,) = [item for item in reader.items if item.startswith("Input")]
    assert len(shown) < 320 and shown.endswith("word …")


@pytest.mark.parametrize(
    ("numbers", "words"),
    [([3], "3"), ([0, 1, 2, 5], "0 to 2, 5"), ([4, 3, 8, 9], "3 to 4, 8 to 9"), ([], "")],
)
def test_runs_of_numbers(numbers: list[int], words: str) -> None:
    assert runs_of(numbers) == words


def test_a_sentence_on_a_head_says_which_of_several_inputs_it_is_of(page: str) -> None:
    assert "verdict on the first input</th>" in page


def test_titles_of_maps_have_room_where_heads_are_few(page: str) -> None:
    maps = re.findall(r'<svg[^>]*viewBox="0 0 ([\d.]+) [^>]*>(?:(?!</svg>).)*class="cell', page, re.DOTALL)
    assert maps and all(float(width) > 250 for width in maps[1:])


def test_inputs_too_short_to_tell_anything_are_named(tmp_path: Path, minilm: str) -> None:
    inputs = [Input(text="word " * 60), Input(text="Few words are here.")]
    run_report(minilm, inputs, out=tmp_path, layers=[0], heads=[0, 1], draws=FEW, untrained=0)
    reader = Reader()
    reader.feed((tmp_path / "report.html").read_text(encoding="utf-8"))
    (told,) = [item for item in reader.items if "33 tokens or fewer" in item]
    assert told.startswith("1 of 2 inputs have 33 tokens or fewer")
