"""`gramscope inspect`: what would be opened."""

from __future__ import annotations

import argparse

from explorer.console import add_head_count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("path", metavar="PATH", help="a checkpoint: folder or file")
    add_head_count(parser)


def run(args: argparse.Namespace) -> int:
    """Print what the path holds."""
    from explorer.models.inspect import inspect_path

    print(inspect_path(args.path, heads=args.head_count))
    return 0
