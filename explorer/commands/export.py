"""`gramscope export`: a panel of one head to a file, without a window."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from explorer.console import given_input
from explorer.params import LEVEL_MAX, Contamination, Form, Params, Queries, Target, Variant

if TYPE_CHECKING:
    from explorer.models.base import Source

PANELS = ("figure", "attention", "spectrum", "projection", "outputs", "input")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; the defaults are the window's."""
    default = Params()
    parser.add_argument("path", metavar="PATH", help="a checkpoint, or “sample”, or “synthetic”")
    parser.add_argument("--out", required=True, metavar="FILE", help=".png, .svg, .pdf, .csv or .json")
    parser.add_argument("--panel", choices=PANELS, default="figure", help="default: all")
    parser.add_argument("--layer", type=int, default=0)
    parser.add_argument("--head", type=int, default=0)
    parser.add_argument("--query", type=int, help="the query token of a masked head (default: the last one)")
    parser.add_argument("--input", default="", metavar="TEXT|FILE", help="default: a built-in sample")
    parser.add_argument("--index", type=int, default=0, help="which line, image or built-in sample")
    parser.add_argument("--contamination", choices=get_args(Contamination), default=default.contamination)
    parser.add_argument("--level", type=float, default=0.0)
    parser.add_argument("--magnitude", type=float, default=default.magnitude)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--contaminate-values", action="store_true")
    parser.add_argument("--target", choices=get_args(Target), default=default.target, help="of an attack")
    parser.add_argument("--steps", type=int, default=default.steps, help="of PGD")
    parser.add_argument("--form", choices=get_args(Form), default=default.form)
    parser.add_argument("--queries", choices=get_args(Queries), help="default: as the source suggests")
    parser.add_argument("--lam", type=float, metavar="λ", help="default: the form's own")
    parser.add_argument("--mu", type=float, metavar="μ", help="default: N·W/(4‖K‖₁)")
    parser.add_argument("--iterations", type=int, default=default.iterations)
    parser.add_argument("--variant", choices=get_args(Variant), default=default.variant)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    parser.add_argument("--width-mm", type=float)
    parser.add_argument("--height-mm", type=float)
    parser.add_argument("--dpi", type=int)


def run(args: argparse.Namespace) -> int:
    """Evaluate the head and write the file."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from explorer.analysis import Evaluator
    from explorer.app import application
    from explorer.ui.headless import write_figure

    application()
    source = _source(args.path)
    params = Params(
        layer=args.layer, head=args.head, query=args.query, input=given_input(args.input, args.index),
        contamination=args.contamination,
        level=min(max(args.level, 0.0), LEVEL_MAX[args.contamination]),
        magnitude=args.magnitude, seed=args.seed, contaminate_values=args.contaminate_values,
        target=args.target, steps=args.steps,
        form=args.form, queries=args.queries or ("symmetric" if source.symmetric else "asymmetric"),
        lam=args.lam, mu=args.mu, iterations=args.iterations, variant=args.variant, device=args.device,
    )  # fmt: skip
    out = Path(args.out)
    *_, result = Evaluator()(params, source)
    write_figure(result, args.panel, out, args.width_mm, args.height_mm, args.dpi)
    print(f"wrote {out}")
    return 0


def _source(name: str) -> Source:
    from explorer.models.digits import sample_source
    from explorer.models.open import open_path
    from explorer.models.synthetic import SyntheticSource

    if name == "sample":
        return sample_source()
    return SyntheticSource() if name == "synthetic" else open_path(name)
