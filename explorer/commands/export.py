"""`gramscope export`: a panel of one head to a file, without a window."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from explorer.console import POSITIVE, add_head_count, given_input, real, whole
from explorer.errors import GramscopeError
from explorer.params import LEVEL_MAX, Contamination, Form, Params, Queries, Target, Variant
from explorer.settings import prepare

if TYPE_CHECKING:
    from explorer.models.base import Source

PANELS = ("figure", "attention", "spectrum", "projection", "outputs", "input")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments; the defaults are the window's."""
    default = Params()
    parser.add_argument("path", metavar="PATH", help="a checkpoint, or “sample”, or “synthetic”")
    parser.add_argument("--out", required=True, metavar="FILE", help=".png, .svg, .pdf, .csv or .json")
    parser.add_argument("--panel", choices=PANELS, default="figure", help="default: all")
    parser.add_argument("--layer", type=whole(0), default=0)
    parser.add_argument("--head", type=whole(0), default=0)
    add_head_count(parser)
    parser.add_argument(
        "--query", type=whole(0), help="the query token of a masked head (default: the last one)"
    )
    parser.add_argument("--input", default="", metavar="TEXT|FILE", help="default: a built-in sample")
    parser.add_argument("--index", type=int, default=0, help="which line, image or built-in sample")
    parser.add_argument("--contamination", choices=get_args(Contamination), default=default.contamination)
    parser.add_argument("--level", type=float, default=0.0, help="; ".join(_ranges()))
    parser.add_argument("--magnitude", type=real(0), default=default.magnitude)
    parser.add_argument("--seed", type=whole(0), default=0)
    parser.add_argument("--contaminate-values", action="store_true")
    parser.add_argument("--target", choices=get_args(Target), default=default.target, help="of an attack")
    parser.add_argument("--steps", type=whole(1), default=default.steps, help="of PGD")
    parser.add_argument("--form", choices=get_args(Form), default=default.form)
    parser.add_argument("--queries", choices=get_args(Queries), help="default: as the source suggests")
    parser.add_argument("--lam", type=real(POSITIVE), metavar="λ", help="default: the form's own")
    parser.add_argument("--mu", type=real(POSITIVE), metavar="μ", help="default: N·W/(4‖K‖₁)")
    parser.add_argument("--iterations", type=whole(1), default=default.iterations)
    parser.add_argument("--variant", choices=get_args(Variant), default=default.variant)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    parser.add_argument("--width-mm", type=real(1))
    parser.add_argument("--height-mm", type=real(1))
    parser.add_argument("--dpi", type=whole(1))


def run(args: argparse.Namespace) -> int:
    """Evaluate the head and write the file."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from explorer.analysis import Evaluator
    from explorer.app import application
    from explorer.report.plan import refuse_unknown
    from explorer.ui.headless import write_figure

    _refuse_level(args.contamination, args.level)
    prepare(args.out)
    application()
    source = _source(args.path, args.head_count)
    refuse_unknown(source, [args.layer], [args.head])
    params = Params(
        layer=args.layer, head=args.head, query=args.query, input=given_input(args.input, args.index),
        contamination=args.contamination,
        level=args.level, magnitude=args.magnitude, seed=args.seed,
        contaminate_values=args.contaminate_values,
        target=args.target, steps=args.steps,
        form=args.form, queries=args.queries or ("symmetric" if source.symmetric else "asymmetric"),
        lam=args.lam, mu=args.mu, iterations=args.iterations, variant=args.variant, device=args.device,
    )  # fmt: skip
    out = Path(args.out)
    *_, result = Evaluator()(params, source)
    write_figure(result, args.panel, out, args.width_mm, args.height_mm, args.dpi)
    print(f"wrote {out}")
    return 0


def _ranges() -> Iterator[str]:
    """Say up to what level each kind goes, kinds of the same together."""
    for most in sorted(set(LEVEL_MAX.values())):
        yield f"0 to {most:g} of {', '.join(kind for kind, end in LEVEL_MAX.items() if end == most)}"


def _refuse_level(kind: Contamination, level: float) -> None:
    if not 0 <= level <= LEVEL_MAX[kind]:
        raise GramscopeError(f"--level is {level:g}; that of {kind} lies from 0 to {LEVEL_MAX[kind]:g}.")


def _source(name: str, head_count: int | None) -> Source:
    from explorer.models.digits import sample_source
    from explorer.models.open import open_path
    from explorer.models.synthetic import SyntheticSource

    if name == "sample":
        return sample_source()
    return SyntheticSource() if name == "synthetic" else open_path(name, heads=head_count)
