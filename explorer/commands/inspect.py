"""`gramscope inspect`: what would be opened."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("path", metavar="PATH", help="a checkpoint: folder or file")
    parser.add_argument("--heads", type=int, help="how many heads, where the file does not say")


def run(args: argparse.Namespace) -> int:
    """Print what the path holds."""
    from explorer.models.inspect import inspect_path

    print(inspect_path(args.path, heads=args.heads))
    return 0
