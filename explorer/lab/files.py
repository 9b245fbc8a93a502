"""What is written of a sweep or a phase diagram: the same from the command line and from the window."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from xml.sax.saxutils import escape

from explorer import __version__
from explorer.lab.experiments import Cell, Phase, Point, Sweep
from explorer.lab.figures import phase_figure, sweep_figure
from explorer.lab.tables import to_csv


def sweep_files(sweep: Sweep, points: Sequence[Point]) -> dict[str, str]:
    """Return the contents of NAME.csv and NAME.svg, by what follows the name."""
    about = _about(sweep)
    return {".csv": _headed(about, to_csv(points)), ".svg": _marked(about, sweep_figure(sweep, points))}


def phase_files(done: Sequence[tuple[Phase, Sequence[Cell]]]) -> dict[str, str]:
    """Return the contents of NAME.csv and of a NAME-kind.svg for each kind of head."""
    about = _about(*(phase for phase, _ in done))
    figures = {
        f"-{phase.kind}.svg": _marked(_about(phase), phase_figure(phase, cells)) for phase, cells in done
    }
    return {".csv": _headed(about, to_csv([cell for _, cells in done for cell in cells]))} | figures


def _about(*experiments: Sweep | Phase) -> str:
    """Return the program and every parameter of each experiment, on one line."""
    return f"Gramscope {__version__}: {', '.join(json.dumps(asdict(each)) for each in experiments)}"


def _headed(about: str, table: str) -> str:
    return f"# {about}\n{table}"


def _marked(about: str, figure: str) -> str:
    return figure.replace("</svg>", f"<metadata>{escape(about)}</metadata></svg>")
