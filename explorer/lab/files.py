"""What is written of a sweep or a phase diagram: the same from the command line and from the window."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.lab.experiments import Cell, Phase, Point, Sweep
from explorer.lab.figures import phase_figure, sweep_figure
from explorer.lab.tables import to_csv


def sweep_files(sweep: Sweep, points: Sequence[Point]) -> dict[str, str]:
    """Return the contents of NAME.csv and NAME.svg, by what follows the name."""
    return {".csv": to_csv(points), ".svg": sweep_figure(sweep, points)}


def phase_files(done: Sequence[tuple[Phase, Sequence[Cell]]]) -> dict[str, str]:
    """Return the contents of NAME.csv and of a NAME-kind.svg for each kind of head."""
    figures = {f"-{phase.kind}.svg": phase_figure(phase, cells) for phase, cells in done}
    return {".csv": to_csv([cell for _, cells in done for cell in cells])} | figures
