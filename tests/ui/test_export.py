"""Exports are read back by other programs: pixels, paths, text and fonts."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from explorer import __version__
from explorer.errors import GramscopeError
from explorer.ui import theme
from explorer.ui.exporting.figure import Figure
from explorer.ui.exporting.pdf import pdf
from explorer.ui.exporting.raster import image, png
from explorer.ui.exporting.svg import svg
from tests.ui.printed import (
    ABOUT,
    CURVE,
    EACH,
    FIGURE,
    SVG,
    VALUES,
    WRITERS,
    Picture,
    as_array,
    cell_corners,
    color_of,
    pixels,
    rasterised,
    run,
    settle,
)


@EACH
def test_colours_of_a_heat_map_are_exact_up_to_its_cells_edges(kind: str, picture: Picture) -> None:
    drawn = rasterised(kind, WRITERS[kind]([picture.panel], FIGURE, ABOUT))
    top, bottom, left, right = cell_corners(drawn)
    picture.image.render()
    expected = as_array(picture.image.qimage.convertToFormat(QImage.Format.Format_RGB32))
    assert right - left > 200
    assert bottom - top > 200
    for (row, column), value in np.ndenumerate(VALUES):
        if np.isnan(value):
            continue
        for across in (0.04, 0.5, 0.96):
            y = bottom - int((row + across) / 3 * (bottom - top))
            x = left + int((column + across) / 3 * (right - left))
            assert np.abs(drawn[y, x] - expected[row, column]).max() <= 1, (value, across)


@EACH
def test_where_there_is_no_number_it_is_hatched(kind: str, picture: Picture) -> None:
    drawn = rasterised(kind, WRITERS[kind]([picture.panel], FIGURE, ABOUT))
    top, bottom, left, right = cell_corners(drawn)
    third = (bottom - top) // 3, (right - left) // 3
    hole = drawn[top + third[0] + 4 : top + 2 * third[0] - 4, left + 2 * third[1] + 4 : right - 4]
    grey = hole.max(-1) - hole.min(-1)
    assert grey.max() < 24
    white = (hole.min(-1) > 230).mean()
    assert 0.4 < white < 0.97


@EACH
def test_formats_agree(kind: str, picture: Picture) -> None:
    reference = rasterised("png", png([picture.panel], FIGURE, ABOUT))
    drawn = rasterised(kind, WRITERS[kind]([picture.panel], FIGURE, ABOUT))
    height, width = (min(a, b) for a, b in zip(reference.shape[:2], drawn.shape[:2], strict=True))
    assert abs(reference.shape[1] - drawn.shape[1]) <= 2
    difference = np.abs(reference[:height, :width] - drawn[:height, :width]).mean()
    assert difference < 6


@EACH
def test_nothing_is_drawn_outside_its_clip(kind: str, picture: Picture) -> None:
    """The curve leaves the plot at x = 0.8; right of the plot's frame there is paper only."""
    drawn = rasterised(kind, WRITERS[kind]([picture.panel], FIGURE, ABOUT))
    blue = of_colour(drawn, theme.SOFTMAX)
    assert blue.any()
    assert blue.shape[1] - blue.any(0).nonzero()[0].max() >= 12


@pytest.mark.parametrize(("width", "height", "dpi"), [(800, 500, 96), (1200, 500, 300)])
def test_a_png_has_the_size_and_the_resolution_that_were_chosen(
    width: int, height: int, dpi: int, picture: Picture
) -> None:
    data = png([picture.panel], Figure.of_pixels(width, height, dpi), ABOUT)
    read = QImage.fromData(data)
    assert (read.width(), read.height()) == (width, height)
    assert read.dotsPerMeterX() == pytest.approx(dpi / 0.0254, abs=1)


def test_millimetres_and_dpi_make_pixels(picture: Picture) -> None:
    assert image([picture.panel], Figure(85, 60, 300)).size().toTuple() == (1004, 709)


def test_the_screen_does_not_matter(qtbot: QtBot, picture: Picture) -> None:
    small = Picture(300, 900)
    qtbot.addWidget(small.widget)
    small.widget.show()
    settle()
    shown = image([small.panel], FIGURE)
    hidden = image([picture.panel], FIGURE)
    theme.theme().changed.disconnect(small.recolour)
    assert shown == hidden


def test_the_screen_is_left_as_it_was(picture: Picture) -> None:
    picture.widget.show()
    settle()
    before = picture.widget.grab().toImage()
    for write in WRITERS.values():
        write([picture.panel], Figure(160, 80, scheme=theme.DARK), ABOUT)
    settle()
    assert picture.widget.grab().toImage() == before
    assert theme.scheme() is theme.LIGHT


def of_colour(drawn: np.ndarray, colour: str) -> np.ndarray:
    """Return where the right half, with curve and points, is of a colour."""
    wanted = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)])
    return np.abs(drawn[:, drawn.shape[1] // 2 :] - wanted).max(-1) < 60


def ink(dpi: int, picture: Picture, colour: str) -> float:
    """Return the share of a picture that has a colour."""
    drawn = pixels(png([picture.panel], Figure(160, 80, dpi), ABOUT))
    return float(of_colour(drawn, colour).mean())


@pytest.mark.parametrize("colour", [theme.SOFTMAX, theme.RPC])
def test_lines_and_symbols_are_as_strong_at_any_resolution(colour: str, picture: Picture) -> None:
    assert ink(400, picture, colour) == pytest.approx(ink(200, picture, colour), rel=0.15)


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_larger_type_means_larger_everything(kind: str, picture: Picture) -> None:
    small, large = (Figure(160, 80, 200, font_pt=pt) for pt in (6.0, 10.0))
    inked = []
    for figure in (small, large):
        drawn = rasterised(kind, WRITERS[kind]([picture.panel], figure, ABOUT))
        inked.append(of_colour(drawn, theme.RPC).sum())
    assert inked[1] / inked[0] == pytest.approx((10 / 6) ** 2, rel=0.25)


def test_paper_is_white_unless_another_is_asked_for(picture: Picture) -> None:
    assert pixels(png([picture.panel], FIGURE, ABOUT))[0, 0].tolist() == [255, 255, 255]
    dark = Figure(160, 80, scheme=theme.DARK)
    assert pixels(png([picture.panel], dark, ABOUT))[0, 0].tolist() == [0x1B, 0x1E, 0x23]
    assert (
        ElementTree.fromstring(svg([picture.panel], dark, ABOUT)).find(f"{SVG}rect").get("fill") == "#1B1E23"
    )


# SVG.


def test_an_svg_keeps_text_as_text_and_names_fallbacks(picture: Picture) -> None:
    root = ElementTree.fromstring(svg([picture.panel], FIGURE, ABOUT))
    texts = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    for words in ("breakdown 9 %", "softmax", "0.0002", "Both, for Ω", "h"):
        assert words in "".join(texts)
    assert {"breakdown 9 %", "softmax", "0.0002"} <= set(texts)
    for element in root.iter(f"{SVG}text"):
        assert element.get("font-family", "").startswith(theme.FAMILY + ", ")
        assert element.get("font-family", "").endswith("sans-serif")


def test_an_svgs_curve_is_one_path_in_the_pictures_own_coordinates(picture: Picture) -> None:
    root = ElementTree.fromstring(svg([picture.panel], FIGURE, ABOUT))
    width, height = (float(value) for value in root.get("viewBox", "").split()[2:])
    curves = [
        path
        for group in root.iter(f"{SVG}g")
        if group.get("stroke") == "#0072b2"
        for path in group.findall(f"{SVG}path")
    ]
    assert len(curves) == 1
    points = np.array(re.findall(r"(-?[\d.]+),(-?[\d.]+)", curves[0].get("d", "")), float)
    assert len(points) == len(CURVE)
    steps = np.diff(points, axis=0)
    assert np.abs(steps - steps.mean(0)).max() < 0.02
    assert steps[0, 0] > 0 > steps[0, 1]
    assert 0 < points[0, 0] < width
    assert 0 < points[0, 1] < height


def test_an_svg_needs_nothing_that_viewers_ignore(picture: Picture) -> None:
    data = svg([picture.panel], FIGURE, ABOUT)
    root = ElementTree.fromstring(data)
    assert b"vector-effect" not in data
    assert b"<pattern" not in data
    assert len(list(root.iter(f"{SVG}image"))) == 1
    assert all(element.get("transform") is None for element in root.iter(f"{SVG}path"))
    ids = re.findall(rb'\bid="([^"]+)"', data)
    assert len(ids) == len(set(ids))
    assert set(re.findall(rb"url\(#([^)]+)\)", data)) <= set(ids)


def test_an_svgs_size_is_the_one_chosen(picture: Picture) -> None:
    root = ElementTree.fromstring(svg([picture.panel], Figure(85.5, 60), ABOUT))
    assert (root.get("width"), root.get("height")) == ("85.5mm", "60mm")


# PDF.


def test_a_pdf_keeps_text_as_text_in_embedded_type(picture: Picture) -> None:
    data = pdf([picture.panel], FIGURE, ABOUT)
    text = run("pdftotext", "-layout", "-", "-", data=data).decode()
    for words in ("breakdown 9 %", "softmax", "0.0002", "Both, for Ω", "‖h‖"):
        assert words in text
    fonts = run("pdffonts", "-", data=data).decode().splitlines()[2:]
    assert fonts
    assert all("GramscopeSans" in line and " yes " in line and "Type 3" not in line for line in fonts)


def test_a_pdf_holds_shapes_and_one_lossless_bitmap_the_heat_map(picture: Picture, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([picture.panel], FIGURE, ABOUT))
    lines = run("pdfimages", "-list", tmp_path / "a.pdf").decode().splitlines()[2:]
    kinds = [line.split()[2] for line in lines]
    assert kinds.count("image") == 1
    assert set(kinds) <= {"image", "mask", "smask"}
    assert not any("jpeg" in line or "jpx" in line for line in lines)


def test_a_pdfs_page_is_the_size_chosen(picture: Picture) -> None:
    described = run("pdfinfo", "-", data=pdf([picture.panel], Figure(85, 60), ABOUT)).decode()
    width, height = re.search(r"Page size:\s+([\d.]+) x ([\d.]+) pts", described).groups()
    assert float(width) == pytest.approx(85 / 25.4 * 72, abs=0.51)
    assert float(height) == pytest.approx(60 / 25.4 * 72, abs=0.51)


@EACH
def test_every_picture_says_where_it_comes_from(kind: str, picture: Picture) -> None:
    data = WRITERS[kind]([picture.panel], FIGURE, ABOUT)
    if kind == "png":
        said = QImage.fromData(data).text("Description")
    elif kind == "svg":
        said = ElementTree.fromstring(data).findtext(f"{SVG}desc")
    else:
        packet = data[data.index(b"<x:xmpmeta") : data.index(b"</x:xmpmeta>") + 12]
        said = "".join(ElementTree.fromstring(packet).itertext())
    for words in (f"Gramscope {__version__}", "a <source> & more", '{"level": 0.08}', "float32 on CPU"):
        assert words in said


# Figures of several panels, and what cannot be drawn.


@EACH
def test_panels_stand_side_by_side(kind: str, qtbot: QtBot, picture: Picture) -> None:
    other = Picture()
    qtbot.addWidget(other.widget)
    other.image.setImage(np.ones((3, 3)), autoLevels=False)
    figure = Figure(300, 160, 200)
    panels = [picture.panel, other.panel, other.panel, picture.panel]
    drawn = rasterised(kind, WRITERS[kind](panels, figure, ABOUT))
    theme.theme().changed.disconnect(other.recolour)
    full = np.abs(drawn - np.array(color_of(1.0))).max(-1) <= 2
    middle_row, middle_column = drawn.shape[0] // 2, drawn.shape[1] // 2
    shares = [
        part.mean()
        for half in (full[:middle_row], full[middle_row:])
        for part in (half[:, :middle_column], half[:, middle_column:])
    ]
    assert min(shares[1:3]) > 4 * max(shares[0], shares[3]) > 0


def test_what_cannot_be_drawn_says_why(picture: Picture) -> None:
    with pytest.raises(GramscopeError, match="no picture to export yet"):
        png([], FIGURE, ABOUT)
    with pytest.raises(GramscopeError, match="too small for its panels"):
        svg([picture.panel] * 4, Figure(20, 20), ABOUT)
    with pytest.raises(GramscopeError, match="too large"):
        png([picture.panel], Figure(10_000, 10_000, 1200), ABOUT)
