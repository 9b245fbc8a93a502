"""How the keys vary in feature space: eigenvalues of their Gram matrix, and chosen eigenvectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QWidget

from explorer.result import Result, Spectrum
from explorer.ui.theme import clean_brush, contaminated_brush, pen, scheme
from explorer.views.base import Column, Table, View
from explorer.views.check_menu import CheckMenu
from explorer.views.eigenvectors import Patches, Stems, column
from explorer.views.plot import Plot, span
from explorer.views.points import Points, nearest
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, full_name, percent, short_names, subscript, superscript

MOST = 3
"""How many eigenvectors are shown at once."""
NEAR = 10.0


class SpectrumView(View):
    """log₁₀ γ_d, clean and contaminated, above the chosen eigenvectors."""

    name = "spectrum"
    title = "Key-Gram spectrum"
    help = (
        "γ_d are the eigenvalues of K̃, the centred Gram matrix of the keys in feature space, "
        "K_φ[i, j] = k(k_i, k_j)/(g(k_i) g(k_j)); γ_d over their sum is the share of the keys' variance "
        "along principal axis u_d, and a_d holds each token's part in it. Nothing is shown below the "
        "tolerance eps·N·‖K_φ‖, where rounding decides. Where two eigenvalues are closer than the "
        "tolerance, any rotation of their vectors is as good: such ones are crossed. Few components with "
        "most of the variance say that the keys lie near a plane in feature space, not that the values "
        "follow it. Source: Teo and Nguyen, arXiv 2406.13762."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot = Plot()
        self.plot.name_axes("component <i>d</i>", "<i>γ<sub>d</sub></i> (log<sub>10</sub>)")
        self._tolerance = pg.InfiniteLine(0, angle=0)
        self._clean, self._moved, self._unsure = Points("o", 5), Points("o", 9), Points("x", 9)
        for item in (self._tolerance, self._clean, self._moved, self._unsure):
            self.plot.addItem(item, ignoreBounds=True)
        self._stems = [Stems() for _ in range(MOST)]
        self._patches = [Patches() for _ in range(MOST)]
        self._shown: list[Stems] | list[Patches] = []
        self.canvas.addItem(self._strip, 0, 0, 1, MOST)
        self.canvas.addItem(self.plot, 1, 0, 1, MOST)
        self.canvas.ci.layout.setRowStretchFactor(1, 2)
        self.plot_items = [self.plot]
        self._chooser = CheckMenu("eigenvectors", "Which eigenvectors are shown below, three at most", MOST)
        self._chooser.changed.connect(self._choose)
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return the chooser of eigenvectors."""
        return self._chooser

    def options(self) -> dict[str, list[int]]:
        """Return which eigenvectors are shown, from 0."""
        return {"eigenvectors": self._chooser.chosen()}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose eigenvectors."""
        if "eigenvectors" in options:
            self._chooser.choose(options["eigenvectors"])
            self.redraw()

    def _choose(self) -> None:
        self.redraw()
        self.option_changed.emit(self.options())

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        outline, full = pen(scheme().text, 1.25), clean_brush(scheme().text)
        self._clean.style(outline, full)
        self._moved.style(outline, None)
        self._unsure.style(pen(scheme().error, 1.5), None)
        dashes = pen(scheme().secondary, 1, Qt.PenStyle.DashLine)
        self._tolerance.setPen(dashes)
        for plot in (*self._stems, *self._patches):
            plot.recolour()
        self._parts = {
            "clean": Part("clean", symbol="o", pen=outline, brush=full),
            "moved": Part("contaminated", symbol="o", pen=outline, brush=contaminated_brush()),
            "unsure": Part("vector not identifiable", symbol="x", pen=pen(scheme().error, 1.5)),
            "tolerance": Part("tolerance", line=dashes),
        }

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        clean = result.clean.log10_values
        contaminated = bool(result.contaminated.any())
        moved = result.moved.log10_values if contaminated else np.empty(0)
        count = max(len(clean), len(moved))
        self._clean.resize(5 if count <= 60 else 3)
        self._moved.resize(9 if count <= 60 else 6)
        self._clean.move(_numbered(clean), clean)
        self._moved.move(_numbered(moved), moved)
        unsure = np.flatnonzero(~result.clean.identifiable[: len(clean)])
        self._unsure.move(_numbered(clean)[unsure], clean[unsure])
        self._draw_tolerance(result.clean.log10_tolerance, span(clean, moved, pad=0.12))
        if self.settles(result):
            floor = (result.clean.log10_tolerance,) if self._tolerance.isVisible() else ()
            self.plot.settle((0.4, max(count, 4) + 0.6), span(clean, moved, pad=0.12, include=floor))
        self._chooser.offer([f"a{subscript(d + 1)}" for d in range(result.clean.vectors.shape[1])])
        self._draw_vectors(result)
        self._say(result, len(unsure) > 0, contaminated)

    def _draw_tolerance(self, tolerance: float, values: tuple[float, float]) -> None:
        """Draw the tolerance where that leaves the eigenvalues half of the height."""
        near = bool(np.isfinite(tolerance)) and tolerance > values[0] - (values[1] - values[0])
        self._tolerance.setVisible(near)
        if near:
            self._tolerance.setPos(tolerance)

    def _draw_vectors(self, result: Result) -> None:
        chosen = self._chooser.chosen()
        patches = [token.patch for token in result.tokens if token.patch is not None]
        whole = result.grid is not None and len(patches) == result.grid[0] * result.grid[1]
        plots = (self._patches if whole else self._stems)[: len(chosen)]
        self._arrange(plots)
        for plot, d in zip(plots, chosen, strict=True):
            plot.draw(result, d, plot is plots[-1])

    def _arrange(self, plots: list[Any]) -> None:
        """Put the eigenvectors' plots under the spectrum: stems below one another, patches in a row."""
        if plots == self._shown:
            return
        for plot in self._shown:
            self.canvas.removeItem(plot)
        stacked = bool(plots) and isinstance(plots[0], Stems)
        for i, plot in enumerate(plots):
            if stacked:
                self.canvas.addItem(plot, 2 + i, 0, 1, MOST)
            else:
                self.canvas.addItem(plot, 2, i)
        rows = len(plots) if stacked else min(1, len(plots))
        for i in range(MOST):
            self.canvas.ci.layout.setRowStretchFactor(2 + i, 2 if i < rows else 0)
            self.canvas.ci.layout.setColumnStretchFactor(i, 1 if stacked or i < len(plots) else 0)
        self._shown = list(plots)
        self.plot_items = [self.plot, *plots]

    def _say(self, result: Result, unsure: bool, contaminated: bool) -> None:
        symbols = [self._parts["clean"]]
        symbols += [self._parts["moved"]] if contaminated else []
        symbols += [self._parts["unsure"]] if unsure else []
        if self._tolerance.isVisible():
            symbols.append(self._parts["tolerance"])
        elif np.isfinite(result.clean.log10_tolerance):
            symbols.append(Part(_far(result.clean.log10_tolerance)))
        self._strip.say(_in_words(result.clean), *symbols)

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark the selected tokens in the eigenvectors."""
        if self.result is not None:
            for plot in self._shown:
                plot.mark(rows)

    def _under(self, at: QPointF) -> tuple[int, int]:
        """Return which eigenvector's plot is at a point of the scene, and the token; −1 where none is."""
        for i, plot in enumerate(self._shown):
            if plot.sceneBoundingRect().contains(at):
                point = plot.vb.mapSceneToView(at)
                return i, plot.row_at(point.x(), point.y())
        return -1, -1

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return the token under the pointer in an eigenvector."""
        row = self._under(at)[1] if self.result is not None else -1
        return [row] if row >= 0 else []

    def reading_at(self, at: QPointF) -> str:
        """Return the numbers of an eigenvalue, or of a token's entry in an eigenvector."""
        if self.result is None:
            return ""
        which, row = self._under(at)
        if row >= 0:
            d = self._chooser.chosen()[which]
            clean, moved = column(self.result.clean, d)[row], column(self.result.moved, d)[row]
            more = f", contaminated {figure(moved)}" if self.result.contaminated.any() else ""
            return f"a{subscript(d + 1)} of {full_name(self.result, row)}: {figure(clean)}{more}"
        return self._eigenvalue_at(self.result, at)

    def _eigenvalue_at(self, result: Result, at: QPointF) -> str:
        if not self.plot.vb.sceneBoundingRect().contains(at):
            return ""
        point = self.plot.vb.mapSceneToView(at)
        values = result.clean.log10_values
        places = _numbered(values)
        d, _ = nearest(self._clean, (point.x(), point.y()), places, values, NEAR)
        if d < 0:
            return ""
        share, total = result.clean.share[d], result.clean.share[: d + 1].sum()
        moved = result.moved.log10_values
        more = f", contaminated {moved[d]:.2f}" if result.contaminated.any() and d < len(moved) else ""
        return (
            f"log₁₀ γ{subscript(d + 1)} = {values[d]:.2f}{more}; {percent(share)} of the variance, "
            f"{percent(total)} with those before it"
        )

    def numbers(self, result: Result) -> Table:
        """Return the eigenvalues, then the eigenvectors over the tokens."""
        names = ["d"]
        columns: list[Column] = [np.arange(1, max(_lengths(result)) + 1)]
        for spectrum, what in ((result.clean, "clean"), (result.moved, "contaminated")):
            names += [f"log10 gamma, {what}", f"share, {what}"]
            columns += [spectrum.log10_values, spectrum.share]
        names += ["identifiable, clean", "position", "token", "contaminated"]
        columns += [result.clean.identifiable, result.positions, short_names(result), result.contaminated]
        for spectrum, what in ((result.clean, "clean"), (result.moved, "contaminated")):
            names += [f"a{d + 1}, {what}" for d in range(spectrum.vectors.shape[1])]
            columns += list(spectrum.vectors.T)
        return names, columns


def _lengths(result: Result) -> tuple[int, int]:
    return len(result.clean.log10_values), len(result.moved.log10_values)


def _in_words(spectrum: Spectrum) -> str:
    """Say the numerical rank, and how much of the variance the first components hold."""
    count = min(3, len(spectrum.share))
    if count == 0:
        return "rank 0: no eigenvalue is above rounding"
    rank = "leading eigenvalues" if spectrum.rank is None else f"rank {spectrum.rank}"
    components = "1 component" if count == 1 else f"{count} components"
    return f"{rank}; {components}: {percent(float(spectrum.share[:count].sum()))} of the variance"


def _far(tolerance: float) -> str:
    return f"tolerance 10{superscript(round(tolerance))}, far below"


def _numbered(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1, 2, … for the components."""
    return np.arange(1, len(values) + 1, dtype=np.float64)
