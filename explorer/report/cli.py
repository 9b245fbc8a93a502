"""`gramscope report`: every measure of every head, with its baselines, as HTML, CSV and JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from explorer.console import progress_bar


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "path", nargs="+", metavar="PATH", help="checkpoints, a folder of them, “controls” or “sample”"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder to write to; made if absent")
    parser.add_argument("--input", nargs="*", default=[], metavar="TEXT|FILE", help="default: a built-in one")
    parser.add_argument("--layers", type=_numbers, metavar="A,B,…", help="default: all")
    parser.add_argument("--heads", type=_numbers, metavar="A,B,…", help="default: all")
    parser.add_argument("--samples", type=int, help="how many of each input that has several")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    parser.add_argument("--draws", type=int, default=200, help="draws of each null (default 200)")
    parser.add_argument("--untrained", type=int, default=2, help="re-initialised models (default 2; 0: none)")
    parser.add_argument("--jobs", type=int, default=1, help="processes; −1: as many as cores")
    parser.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler that computes instead")
    parser.add_argument("--afresh", action="store_true", help="compute again what is there already")


def run(args: argparse.Namespace) -> int:
    """Make the report; 0: all done, 3: part failed, 1: all failed."""
    from explorer.maths.evidence_draws import Draws
    from explorer.params import Input
    from explorer.report.run import run_report

    inputs = [
        Input(path=given) if len(given) < 4096 and Path(given).exists() else Input(text=given)
        for given in args.input
    ]
    outcome = run_report(
        args.path, inputs, out=args.out, layers=args.layers, heads=args.heads, samples=args.samples,
        device=args.device, draws=Draws(cheap=args.draws), untrained=args.untrained, jobs=args.jobs,
        dask=args.dask, progress=progress_bar, resume=not args.afresh,
    )  # fmt: skip
    print(file=sys.stderr)
    print(outcome.verdict)
    print(outcome.message)
    return outcome.exit_code
