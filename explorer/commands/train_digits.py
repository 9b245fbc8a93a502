"""`gramscope train-digits`: train the small digit models that are shipped."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from explorer.console import whole
from explorer.settings import prepare

VARIANTS = ("softmax", "symmetric", "rpc")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("--variant", nargs="+", choices=VARIANTS, default=VARIANTS, help="default: all three")
    parser.add_argument("--seed", nargs="+", type=whole(0), default=[0], help="one model a seed (default: 0)")
    parser.add_argument("--steps", type=whole(1), default=None, help="of the optimizer (default: 900)")
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=Path(), help="default: here; made if absent"
    )


def run(args: argparse.Namespace) -> int:
    """Train, write digits-VARIANT-SEED.safetensors, and say how many test digits each names rightly."""
    from explorer.models.digits_training import Training, train_digits

    training = Training() if args.steps is None else Training(steps=args.steps)
    wanted = [(variant, seed) for variant in args.variant for seed in args.seed]
    paths = [args.out / f"digits-{variant}-{seed}.safetensors" for variant, seed in wanted]
    for path in paths:
        prepare(path)
    for path, (variant, seed) in zip(paths, wanted, strict=True):
        trained = train_digits(variant, seed, path, training=training, progress=_report)
        print(f"\r{path}: {trained.accuracy:.2%} of the test digits{' ' * 20}")
    return 0


def _report(done: int, total: int, what: str) -> None:
    if sys.stderr.isatty() or done % 100 == 0:
        end = "\r" if sys.stderr.isatty() else "\n"
        print(f"{what}, step {done} of {total}", end=end, file=sys.stderr, flush=True)
