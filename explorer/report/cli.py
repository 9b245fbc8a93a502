"""`gramscope report`: every measure of every head, with its baselines, as HTML, CSV and JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from explorer.asked import FAMILIES, Asked
from explorer.asked import NULLS as DRAWN
from explorer.console import add_head_count, given_input, progress_bar, whole

UNTRAINED = "untrained"
NULLS = (*DRAWN, UNTRAINED)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not whole numbers with commas between them") from None


def _jobs(text: str) -> int:
    if (jobs := int(text)) == 0:
        raise argparse.ArgumentTypeError("no process computes nothing; choose 1 or more, or −1 for all cores")
    return jobs


_jobs.__name__ = "number"


def _some_of(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Return what reads names with commas between them, in the order of those that are known."""

    def read(text: str) -> tuple[str, ...]:
        given = {part.strip() for part in text.split(",") if part.strip()}
        if unknown := sorted(given.difference(known)):
            raise argparse.ArgumentTypeError(f"there is no {unknown[0]}: choose of {', '.join(known)}")
        return tuple(name for name in known if name in given)

    return read


def _looks_like_a_path(text: str) -> bool:
    return not any(letter.isspace() for letter in text) and bool(Path(text[:255]).suffix or "/" in text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    usual = Asked()
    parser.add_argument(
        "path", nargs="+", metavar="PATH", help="checkpoints, a folder of them, “controls” or “sample”"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder to write to; made if absent")
    parser.add_argument("--input", nargs="*", default=[], metavar="TEXT|FILE", help="default: a built-in one")
    parser.add_argument("--layers", type=_numbers, metavar="A,B,…", help="default: all")
    parser.add_argument("--heads", type=_numbers, metavar="A,B,…", help="default: all")
    add_head_count(parser)
    parser.add_argument("--samples", type=whole(1), help="how many of each input that has several")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    parser.add_argument(
        "--nulls", type=_some_of(NULLS), default=NULLS, metavar="A,B,…",
        help=f"what to compare with, of {', '.join(NULLS)}; default: all",
    )  # fmt: skip
    parser.add_argument(
        "--draws", type=whole(1), default=usual.cheap, metavar="N",
        help=f"of overlap and linear CKA under each null; default: {usual.cheap}",
    )  # fmt: skip
    parser.add_argument(
        "--costly-draws", type=whole(0), default=usual.costly, metavar="N",
        help=f"of the costly measures under each null; default: {usual.costly}",
    )  # fmt: skip
    parser.add_argument(
        "--costly-measures", type=_some_of(FAMILIES), default=FAMILIES, metavar="A,B,…",
        help=f"which of them are drawn, of {', '.join(FAMILIES)}; default: all",
    )  # fmt: skip
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of the draws; default: 0")
    parser.add_argument(
        "--untrained", type=whole(0), default=2, metavar="N",
        help="how often the architecture is re-initialised for the null of that name; default: 2, 0: not",
    )  # fmt: skip
    parser.add_argument("--jobs", type=_jobs, default=1, help="processes; −1: as many as cores")
    parser.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler that computes instead")
    parser.add_argument("--afresh", action="store_true", help="compute again what is there already")


def run(args: argparse.Namespace) -> int:
    """Make the report; 0: all done, 3: part failed, 1: all failed."""
    from explorer.maths.evidence_draws import Draws
    from explorer.models.series import checkpoints_within
    from explorer.report.run import run_report

    drawn = tuple(null for null in args.nulls if null != UNTRAINED)
    draws = Draws(args.draws, args.costly_draws, args.seed, drawn, args.costly_measures)
    inputs = [given_input(given) for given in args.input]
    for given in (each.text for each in inputs if _looks_like_a_path(each.text)):
        print(f"There is no file {given}: these letters themselves are the input.", file=sys.stderr)
    for folder in map(Path, args.path):
        if within := checkpoints_within(folder):
            print(
                f"{folder} is measured, and not the {len(within)} checkpoints of its training that it holds. "
                f"For those give {folder}/{within[0].name}, and so on.", file=sys.stderr,
            )  # fmt: skip
    outcome = run_report(
        args.path, inputs, out=args.out, layers=args.layers, heads=args.heads, samples=args.samples,
        head_count=args.head_count, device=args.device, draws=draws,
        untrained=args.untrained if UNTRAINED in args.nulls else 0, jobs=args.jobs, dask=args.dask,
        progress=progress_bar, resume=not args.afresh,
    )  # fmt: skip
    print(file=sys.stderr)
    print(outcome.verdict)
    print(outcome.message)
    return outcome.exit_code
