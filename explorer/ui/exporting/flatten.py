"""Qt's SVG made plain: transforms applied to coordinates, empty groups dropped, names made unique."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

from explorer.ui.theme import FAMILY

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
FALLBACKS = f"{FAMILY}, Inter, Helvetica, Arial, sans-serif"
Element = ElementTree.Element
Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_PAIR = re.compile(r"([-+.\deE]+)[ ,]([-+.\deE]+)")
_REFERENCE = re.compile(rb'(\bid="|url\(#)')
_TYPE = ("font-family", "font-size", "font-weight", "font-style")


def tag(name: str) -> str:
    """Return an SVG element's name as ElementTree has it."""
    return f"{{{SVG}}}{name}"


def short(value: float) -> str:
    """Return a coordinate to a thousandth of a pixel."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def flattened(data: bytes, prefix: str) -> tuple[list[Element], list[Element]]:
    """Return the definitions and the groups of a document that Qt wrote.

    Parameters
    ----------
    prefix : str
        Put before each name, so that documents can be joined.
    """
    root = ElementTree.fromstring(_REFERENCE.sub(rb"\g<1>" + prefix.encode(), data))
    defs = [definition for part in root.iter(tag("defs")) for definition in part]
    groups = [group for outer in root.findall(tag("g")) for group in outer.findall(tag("g"))]
    for group in groups:
        _flatten(group)
    return defs, [group for group in groups if len(group)]


def _flatten(group: Element) -> None:
    transform = group.attrib.pop("transform", None)
    matrix = _matrix(transform) if transform else IDENTITY
    for name in _TYPE:
        group.attrib.pop(name, None)
    graded = "gradient" in group.get("fill", "")
    for child in list(group):
        cosmetic = child.attrib.pop("vector-effect", None) == "non-scaling-stroke"
        apply = _SHAPES.get(child.tag)
        if apply is None or graded:
            _keep_transform(child, matrix)
        elif not apply(child, matrix):
            group.remove(child)
        elif not cosmetic:
            _scale_stroke(child, group, matrix)


def _matrix(transform: str) -> Matrix:
    a, b, c, d, e, f = (float(value) for value in transform[len("matrix(") : -1].split(","))
    return a, b, c, d, e, f


def _mapped(text: str, matrix: Matrix) -> str:
    a, b, c, d, e, f = matrix

    def one(match: re.Match[str]) -> str:
        x, y = float(match[1]), float(match[2])
        return f"{short(a * x + c * y + e)},{short(b * x + d * y + f)}"

    return _PAIR.sub(one, text).strip()


def _path(element: Element, matrix: Matrix) -> bool:
    element.set("d", _mapped(element.get("d", ""), matrix))
    return bool(element.get("d"))


def _points(element: Element, matrix: Matrix) -> bool:
    element.set("points", _mapped(element.get("points", ""), matrix))
    return bool(element.get("points"))


def _rect(element: Element, matrix: Matrix) -> bool:
    x, y, width, height = (float(element.attrib.pop(name, "0")) for name in ("x", "y", "width", "height"))
    corners = f"M{x},{y} L{x + width},{y} L{x + width},{y + height} L{x},{y + height} Z"
    element.tag = tag("path")
    element.set("d", _mapped(corners, matrix))
    return True


_SHAPES = {tag("path"): _path, tag("polyline"): _points, tag("polygon"): _points, tag("rect"): _rect}


def _scale_stroke(shape: Element, group: Element, matrix: Matrix) -> None:
    factor = math.sqrt(abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]))
    if group.get("stroke", "none") != "none" and factor != 1:
        shape.set("stroke-width", short(float(group.get("stroke-width", "1")) * factor))


def _keep_transform(element: Element, matrix: Matrix) -> None:
    if matrix != IDENTITY:
        element.set("transform", f"matrix({','.join(f'{value:g}' for value in matrix)})")
    if element.tag == tag("text"):
        element.set("font-family", FALLBACKS)
    elif element.tag == tag("image"):
        element.set("style", "image-rendering:pixelated")
