"""The learned values of one head beside those that kernel PCA prescribes, brought as near as is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QComboBox, QWidget

from explorer.ui.theme import diverging_map
from explorer.views.colorbar import ColorBar, as_high_as
from explorer.views.evidence_base import restore, row_of
from explorer.views.matrix_image import MatrixImage
from explorer.views.picture import Picture, Provenance, Table
from explorer.views.plot import Plot
from explorer.views.strip import Strip
from explorer.views.words import figure

if TYPE_CHECKING:
    from explorer.evidence import Pair

HOW = {"procrustes": "rotation", "signs": "signs", "scale": "scale"}
SCALINGS = {"axes": "unit axes", "unit": "unit norm"}
NOTHING_YET = "Choose a head in the map, and its values stand here beside V*."


class EvidencePair(Picture):
    """V to the left, V* to the right, tokens down, components across, one scale of colours."""

    name = "evidence_pair"
    title = "V beside V*"
    help = (
        "Left the learned values V of the chosen head, right the values V* that kernel PCA of its keys "
        "prescribes: a row a token, a column a component. V is brought beside V* by the best scale and "
        "rotation (Procrustes), by the signs of its columns, or by scale alone; both are over the largest "
        "entry of V*. A rotation has Dv(Dv − 1)/2 free numbers: with few tokens it makes any V look like V*, "
        "so likeness here is no evidence without a null. The error is ‖V − V*‖/‖V*‖ as drawn. Sources: Teo "
        "and Nguyen, arXiv 2406.13762; Sarıtaş and Yıldız, arXiv 2505.07908; Schönemann, 1966."
    )

    result: Pair | None

    def __init__(self) -> None:
        super().__init__()
        self._source = ""
        self.furnish(NOTHING_YET)

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plots = (Plot(), Plot())
        self._maps = [MatrixImage(plot) for plot in self.plots]
        self._bar = ColorBar()
        self.plot_items = [*self.plots, self._bar]
        self.canvas.addItem(self._strip, 0, 0, 1, 3)
        for column, item in enumerate(self.plot_items):
            self.canvas.addItem(item, 1, column)
        as_high_as(self._bar, self.plots[0], self.canvas.ci.layout)
        self._how = self._box(HOW, "Brought by", "How V is brought beside V*")
        self._scaling = self._box(SCALINGS, "Scaling of V*", "Which of the two scalings of V*")
        self.recolour()

    def _box(self, choices: dict[str, str], name: str, tip: str) -> QComboBox:
        box = QComboBox()
        box.view().setMinimumWidth(170)
        for key, words in choices.items():
            box.addItem(words, key)
        box.setAccessibleName(name)
        box.setToolTip(tip)
        box.setMaximumWidth(136)
        box.currentIndexChanged.connect(self._again)
        return box

    def _again(self) -> None:
        self.redraw()
        self.option_changed.emit(self.options())

    def header_controls(self) -> QWidget:
        """Return the choosers."""
        return row_of(self._how, self._scaling)

    def options(self) -> dict[str, Any]:
        """Return how V is brought beside which V*."""
        return {"how": str(self._how.currentData()), "scaling": str(self._scaling.currentData())}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose how V is brought beside which V*."""
        restore(self._how, options, "how")
        restore(self._scaling, options, "scaling")

    def recolour(self) -> None:
        """Take the hatch of the scheme again."""
        for each in self._maps:
            each.recolour()

    def show_pair(self, pair: Pair, source: str) -> None:
        """Draw a head's values."""
        self.result, self._source = pair, source
        self.redraw()
        self.show_picture()

    def redraw(self) -> None:
        """Draw the same again."""
        if self.result is None:
            return
        learned, star = self._values(self.result)
        for plot, each, values, name in zip(
            self.plots, self._maps, (learned, star), ("V", "V*"), strict=True
        ):
            plot.settle((0.0, float(values.shape[1])), (0.0, float(values.shape[0])))
            plot.name_axes(f"{name}: component", "token")
            each.show(values, (-1.0, 1.0), diverging_map(), signed=True)
        self._bar.show_levels((-1.0, 1.0), diverging_map())
        length = float(np.linalg.norm(star))
        error = float(np.linalg.norm(learned - star)) / length if length else float("nan")
        pair = self.result
        self._strip.say(
            f"layer {pair.layer}, head {pair.head}", f"‖V − V*‖/‖V*‖ = {figure(error, 3)} as drawn",
            f"{star.shape[0]} tokens, {star.shape[1]} components",
        )  # fmt: skip

    def _values(self, pair: Pair) -> tuple[np.ndarray, np.ndarray]:
        return pair.beside(str(self._how.currentData()), str(self._scaling.currentData()))

    def reading_at(self, at: QPointF) -> str:
        """Return both entries of a token and component."""
        pair = self.result
        plot = next((plot for plot in self.plots if plot.vb.sceneBoundingRect().contains(at)), None)
        if pair is None or plot is None:
            return ""
        point = plot.vb.mapSceneToView(at)
        learned, star = self._values(pair)
        row, column = int(np.floor(point.y())), int(np.floor(point.x()))
        if not (0 <= row < star.shape[0] and 0 <= column < star.shape[1]):
            return ""
        name = f"‘{pair.tokens[row]}’ ({row})" if row < len(pair.tokens) else f"token {row}"
        both = f"V {figure(float(learned[row, column]), 2)}, V* {figure(float(star[row, column]), 2)}"
        return f"{name}, component {column + 1}: {both}"

    def numbers(self, result: Pair) -> Table:
        """Return both matrices, a token a row."""
        learned, star = self._values(result)
        names = ["token"]
        for name, values in (("V", learned), ("V*", star)):
            names += [f"{name} {d + 1}" for d in range(values.shape[1])]
        return names, [list(result.tokens), *learned.T, *star.T]

    def provenance(self) -> Provenance:
        """Return the source, and which head in which form."""
        assert self.result is not None
        return Provenance(
            self._source, {"layer": self.result.layer, "head": self.result.head, **self.options()}, "float64"
        )
