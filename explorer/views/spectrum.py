"""How the keys vary in feature space: eigenvalues of their Gram matrix, and chosen eigenvectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QWidget

from explorer.result import Result, Spectrum
from explorer.views.base import Column, Table, View
from explorer.views.check_menu import CheckMenu
from explorer.views.eigenvalue_plot import EigenvaluePlot
from explorer.views.eigenvectors import Patches, Stems, column
from explorer.views.strip import Strip
from explorer.views.words import figure, full_name, percent, short_names, subscript

MOST = 3
"""How many eigenvectors are shown at once."""


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
        self.setMinimumHeight(200)
        self._strip = Strip()
        self.plot = EigenvaluePlot()
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
        for plot in (self.plot, *self._stems, *self._patches):
            plot.recolour()

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        self.plot.draw(result)
        if self.settles(result):
            self.plot.rest(result)
        self._chooser.offer([f"a{subscript(d + 1)}" for d in range(result.clean.vectors.shape[1])])
        self._draw_vectors(result)
        self._strip.say(_in_words(result.clean), *self.plot.parts(result))

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
            more = f", contaminated {figure(moved)}" if self.result.is_moved else ""
            return f"a{subscript(d + 1)} of {full_name(self.result, row)}: {figure(clean)}{more}"
        if not self.plot.vb.sceneBoundingRect().contains(at):
            return ""
        point = self.plot.vb.mapSceneToView(at)
        return self.plot.reading(self.result, point.x(), point.y())

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
