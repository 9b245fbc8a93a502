"""Pictures side by side that are equally wide, whatever axes stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyqtgraph as pg

from explorer.views.plot import Plot


def alike(
    canvas: pg.GraphicsLayoutWidget, plots: Mapping[int, Plot], beside: Sequence[Plot]
) -> Callable[[], None]:
    """Keep the pictures of `plots` equally wide.

    Parameters
    ----------
    plots : mapping of int to Plot
        By their columns of the layout.
    beside : sequence of Plot
        What has columns of its own there, of fixed widths.

    Returns
    -------
    callable
        Shares the room again, after what is beside a plot came or went.
    """
    layout = canvas.ci.layout

    def share() -> None:
        left, _, right, _ = layout.getContentsMargins()
        gaps = layout.horizontalSpacing() * (layout.columnCount() - 1)
        axes = {column: plot.getAxis("left").maximumWidth() for column, plot in plots.items()}
        taken = left + right + gaps + sum(axes.values()) + sum(item.maximumWidth() for item in beside)
        each = max(1.0, (canvas.ci.size().width() - taken) / len(plots))
        for column, axis in axes.items():
            if layout.columnStretchFactor(column) != (width := round(each + axis)):
                layout.setColumnStretchFactor(column, width)
                layout.setColumnPreferredWidth(column, width)

    canvas.ci.geometryChanged.connect(share)
    for plot in plots.values():
        plot.vb.sigResized.connect(share)
    return share
