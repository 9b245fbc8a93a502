"""The command line: a window by default, headless verbs beside it."""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import sys
import warnings
from collections.abc import Sequence

from explorer import __version__, screen
from explorer.errors import GramscopeError
from explorer.fallback import lastingly
from explorer.models.choices import NeedsHeads

VERBS = {
    "export": ("explorer.commands.export", "write a panel of a head to a file, without a window"),
    "inspect": ("explorer.commands.inspect", "say what would be opened, and what is missing"),
    "train-digits": ("explorer.commands.train_digits", "train the small digit models that are shipped"),
    "report": ("explorer.report.cli", "test every head's claim to do kernel PCA, to HTML, CSV and JSON"),
    "study": ("explorer.commands.study", "measure how accurate classifiers stay under contamination"),
    "pca-lab": ("explorer.lab.cli", "sweep attention-based PCA over its parameters"),
}


def _window_parser() -> argparse.ArgumentParser:
    verbs = "\n".join(f"  {name:14}{what}" for name, (_, what) in VERBS.items())
    parser = argparse.ArgumentParser(
        prog="gramscope",
        description="See attention as kernel principal component analysis.",
        epilog=f"verbs (each has its own --help):\n{verbs}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", nargs="*", metavar="PATH", help="a checkpoint: folder, file or files")
    parser.add_argument("--smoke", action="store_true", help="drive the window once by itself, and check it")
    parser.add_argument("--out", metavar="FOLDER", help="where --smoke exports to (default: temporary)")
    parser.add_argument(
        "--screenshots", metavar="FOLDER",
        help="save pictures of every page and dialog, and of PATH, light and dark, at three sizes of screen; "
        "takes minutes, as evidence, a study and a training are computed anew for each size",
    )  # fmt: skip
    parser.add_argument("--info", action="store_true", help="print versions, devices and paths")
    parser.add_argument("--version", action="version", version=f"gramscope {__version__}")
    return parser


def _run_verb(verb: str, argv: Sequence[str]) -> int:
    module_name, what = VERBS[verb]
    module = importlib.import_module(module_name)
    parser = argparse.ArgumentParser(prog=f"gramscope {verb}", description=what[0].upper() + what[1:] + ".")
    module.add_arguments(parser)
    args = parser.parse_args(argv)
    try:
        return int(module.run(args))
    except NeedsHeads as error:
        if not hasattr(args, "head_count"):
            raise
        raise GramscopeError(f"{error} Say it by --head-count N. {error.detail}.") from error


def _run_window(argv: Sequence[str]) -> int:
    args = _window_parser().parse_args(argv)
    if args.info:
        from explorer.commands.info import info

        print(info())
        return 0
    if args.smoke:
        from explorer.commands.smoke import smoke

        return smoke(args.out)
    if args.screenshots:
        from explorer.commands.screenshots import screenshots

        return screenshots(args.screenshots, args.path)
    from explorer.app import run

    return run(args.path)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 1, with a sentence, for what the person can mend."""
    multiprocessing.freeze_support()
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        warnings.filterwarnings("ignore", category=UserWarning, module="torch")  # of how a file was saved
        with screen.libraries():
            if argv and argv[0] in VERBS:
                return lastingly(lambda: _run_verb(argv[0], argv[1:]))
            return _run_window(argv)
    except GramscopeError as error:
        print(f"gramscope: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("gramscope: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
