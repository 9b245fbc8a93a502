"""`gramscope study`: accuracy of classifiers under contamination, to CSV, JSON and a figure."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from explorer.console import POSITIVE, progress_bar, real
from explorer.errors import GramscopeError
from explorer.params import LEVEL_MAX, Form
from explorer.study.plan import DIGITS, KINDS, LEVELS, Setting, Swap

if TYPE_CHECKING:
    from explorer.study.table import Answers

FIGURES = ("figure.svg", "figure.pdf", "figure.png")
MOST_IMAGES = 500
"""Taken of a folder or table unless a number is given."""


def _kinds(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _levels(text: str) -> tuple[str, tuple[float, ...]]:
    kind, _, numbers = text.partition("=")
    return kind.strip(), tuple(float(part) for part in numbers.split(","))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    default = Setting(())
    parser.add_argument(
        "path", nargs="*", default=[DIGITS], metavar="[NAME=]PATH",
        help="image classifiers, or “digits” for the shipped ones (default); equal names make one row, whose "
        "models differ by their training seed",
    )  # fmt: skip
    parser.add_argument("--out", required=True, metavar="FOLDER", help="made if absent; a second run resumes")
    parser.add_argument(
        "--data", default="", metavar="FOLDER|TABLE",
        help="a folder with a subfolder a class, or a .csv/.tsv of file,label (default: the digits’ own)",
    )  # fmt: skip
    parser.add_argument("--images", type=int, help=f"at most so many of --data (default {MOST_IMAGES})")
    parser.add_argument("--kinds", type=_kinds, default=KINDS, metavar="A,B,…", help=", ".join(KINDS))
    parser.add_argument(
        "--levels", type=_levels, action="append", default=[], metavar="KIND=A,B,…",
        help="; ".join(f"{kind}={','.join(map(str, levels))}" for kind, levels in LEVELS.items()),
    )  # fmt: skip
    parser.add_argument("--seeds", type=int, default=default.seeds, help="of contamination (default 5)")
    parser.add_argument("--steps", type=int, default=default.steps, help="of PGD (default 10)")
    parser.add_argument(
        "--swap-rpc", action="store_true", help="add rows with RPC swapped into models trained without it"
    )
    parser.add_argument("--form", choices=get_args(Form), default="published", help="of the swapped RPC")
    parser.add_argument(
        "--lam", type=real(POSITIVE), metavar="λ", help="of the swapped RPC (default: the form's own)"
    )
    parser.add_argument("--iterations", type=int, default=2, help="of the swapped RPC (default 2)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")


def run(args: argparse.Namespace) -> int:
    """Make the study and write it.

    Raises
    ------
    GramscopeError
        If the arguments make no sense, or a model or the images do not suit.
    """
    from explorer.study.models import models_of
    from explorer.study.run import run_study
    from explorer.study.table import comparisons
    from explorer.study.words import sentences

    _check(args)
    swap = Swap(form=args.form, lam=args.lam, iterations=args.iterations) if args.swap_rpc else None
    setting = Setting(
        models_of(args.path, swap), str(Path(args.data).absolute()) if args.data else "",
        (args.images or MOST_IMAGES) if args.data else None, args.kinds, tuple(args.levels), args.seeds,
        args.steps, args.device,
    )  # fmt: skip
    outcome = run_study(setting, args.out, progress_bar)
    print(file=sys.stderr)
    _draw(outcome.answers, [outcome.folder / name for name in FIGURES])
    for sentence in (*outcome.answers.notes, *sentences(comparisons(outcome.answers))):
        print(sentence)
    print(f"{len(outcome.answers.right)} parts ({outcome.reused} were done already): {outcome.folder}")
    return 0


def _check(args: argparse.Namespace) -> None:
    unknown = [kind for kind in (*args.kinds, *dict(args.levels)) if kind not in KINDS]
    if unknown:
        raise GramscopeError(f"There is no kind “{unknown[0]}”. The kinds are {', '.join(KINDS)}.")
    for name, least in (("seeds", 1), ("steps", 1), ("iterations", 1), ("images", 1)):
        value = getattr(args, name)
        if value is not None and value < least:
            raise GramscopeError(f"--{name} is {value}; it must be {least} at least.")
    for kind, levels in args.levels:
        most = LEVEL_MAX[kind]
        if any(not 0 < level <= most for level in levels):
            raise GramscopeError(f"Levels of {kind} lie above 0 and up to {most:g}.")


def _draw(answers: Answers, paths: list[Path]) -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from explorer.app import application
    from explorer.ui.study_figure import write_study

    application()
    write_study(answers, paths)
