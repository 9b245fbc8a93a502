"""Command line of the laboratory: a sweep or the phase diagram, to CSV and a figure."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from explorer.errors import GramscopeError
from explorer.lab.experiments import DEFAULTS, THETAS, Cell, Phase, Sweep
from explorer.lab.files import phase_files, sweep_files
from explorer.lab.setting import Data, Family, Kind, Setting
from explorer.lab.sweep import run_phase, run_sweep
from explorer.lab.threads import one_thread
from explorer.settings import atomic_write, prepare

FAMILIES = ("spiked", "power", "flat", "wishart", "per-prompt", "rows", "covariance")

LEAST = {
    "d": 2, "length": 1, "batch": 1, "steps": 1, "seeds": 1, "rank": 1, "nu": 1, "iterations": 1,
    "theta": 0, "rate": 0, "coupling": 0, "level": 0, "magnitude": 0,
}  # fmt: skip
LEAST_VALUE = {"L": 1, "d": 2, "nu": 1, "theta": 0, "lambda": 0, "level": 0, "phase": 0.01}

Row = TypeVar("Row")


def numbers(text: str) -> tuple[float, ...]:
    """Read numbers separated by commas."""
    return tuple(float(part) for part in text.split(","))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the laboratory's options."""
    parser.add_argument(
        "--sweep", required=True, choices=list(DEFAULTS),
        help="what to vary (lambda: λσ_1; level: of contamination), or the (c, θ) phase diagram",
    )  # fmt: skip
    parser.add_argument("--out", required=True, metavar="NAME", help="writes NAME.csv and NAME.svg")
    parser.add_argument("--values", type=numbers, metavar="A,B,…", help="values to go through (phase: of c)")
    parser.add_argument("--thetas", type=numbers, metavar="A,B,…", help="phase: values of θ")
    parser.add_argument("--kind", choices=["softmax", "linear", "both"], default="both")
    parser.add_argument("--structure", choices=["one", "heads", "frame", "free"], default="one")
    parser.add_argument("--rank", type=int, default=1, help="heads, or columns of a frame")
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument(
        "--data", default="", metavar="FILE", help="a CSV or NPY table for --family rows or covariance"
    )
    parser.add_argument("--whiten", action="store_true", help="whiten the rows")
    parser.add_argument("--d", type=int, default=10, help="features of a token")
    parser.add_argument("--theta", type=float, default=3.0, help="strength of the spike")
    parser.add_argument(
        "--nu", type=int, help="degrees of freedom of the Wishart covariances (default: infinite)"
    )
    parser.add_argument("--length", type=int, default=64, metavar="L", help="tokens in a prompt")
    parser.add_argument("--coupling", type=float, default=1.0, help="λ in units of 1/σ_1")
    parser.add_argument("--batch", type=int, default=256, help="prompts in a step")
    parser.add_argument("--rate", type=float, default=0.1, help="learning rate, in units in which σ_1 = 1")
    parser.add_argument("--steps", type=int, default=300, help="steps of each run")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each value")
    parser.add_argument(
        "--contamination", choices=["none", "sparse", "tokens", "gaussian", "replace"], default="none"
    )
    parser.add_argument("--level", type=float, default=0.05, help="fraction hit, or the noise's deviation")
    parser.add_argument("--magnitude", type=float, default=10.0, help="in deviations of an entry")
    parser.add_argument("--clean", action="store_true", help="clean prompts by principal attention pursuit")
    parser.add_argument("--iterations", type=int, default=2, help="of the pursuit")


def run(args: argparse.Namespace) -> int:
    """Run what `args` ask for and write NAME.csv and NAME.svg, or for a phase diagram NAME-softmax.svg, ….

    Raises
    ------
    GramscopeError
        If a setting makes no sense, or a file cannot be read or written.
    """
    _check(args)
    for suffix in _suffixes(args):
        prepare(args.out + suffix)
    with one_thread():
        files = _phase(args) if args.sweep == "phase" else _sweep(args)
    for suffix, text in files.items():
        path = Path(args.out + suffix)
        atomic_write(path, text.encode())
        print(path)
    return 0


def _check(args: argparse.Namespace) -> None:
    """Refuse numbers that no experiment can have."""
    given = {name: getattr(args, name) for name in LEAST if getattr(args, name) is not None}
    for name, value in given.items():
        if not LEAST[name] <= value < math.inf:
            raise GramscopeError(f"--{name} is {value}; it must be {LEAST[name]} at least, and finite.")
    if args.contamination not in ("none", "gaussian") and args.level > 1:
        raise GramscopeError(f"--level is {args.level}; a fraction is 1 at most.")
    _check_values("--values", args.values or (), LEAST_VALUE[args.sweep])
    _check_values("--thetas", args.thetas or (), LEAST_VALUE["phase"])


def _check_values(name: str, values: Sequence[float], least: float) -> None:
    for value in values:
        if not least <= value < math.inf:
            raise GramscopeError(f"{name} has {value:g}; each must be {least:g} at least, and finite.")


def _kinds(args: argparse.Namespace) -> tuple[Kind, ...]:
    return ("softmax", "linear") if args.kind == "both" else (args.kind,)


def _suffixes(args: argparse.Namespace) -> tuple[str, ...]:
    """Return what follows the name in the files that will be written."""
    figures = [f"-{kind}.svg" for kind in _kinds(args)] if args.sweep == "phase" else [".svg"]
    return ".csv", *figures


def _sweep(args: argparse.Namespace) -> dict[str, str]:
    family: Family = args.family or ("wishart" if args.sweep == "nu" else "spiked")
    data = Data(family, args.d, args.theta, degrees=args.nu, path=args.data, whiten=args.whiten)
    setting = Setting(
        data, structure=args.structure, rank=args.rank, length=args.length, coupling=args.coupling,
        batch=args.batch, rate=args.rate, contamination=args.contamination, level=args.level,
        magnitude=args.magnitude, clean=args.clean, iterations=args.iterations,
    )  # fmt: skip
    values = args.values or DEFAULTS[args.sweep]
    sweep = Sweep(setting, args.sweep, values, _kinds(args), args.seeds, args.steps)
    points = _collect(run_sweep(sweep, lambda: False), sweep.runs)
    return sweep_files(sweep, points)


def _phase(args: argparse.Namespace) -> dict[str, str]:
    cs, thetas = args.values or DEFAULTS["phase"], args.thetas or THETAS
    done: list[tuple[Phase, Sequence[Cell]]] = []
    for kind in _kinds(args):
        phase = Phase(kind, args.d, cs, thetas, args.seeds, args.steps)
        done.append((phase, _collect(run_phase(phase, lambda: False), phase.runs)))
    return phase_files(done)


def _collect(rows: Iterator[Row], total: int) -> Sequence[Row]:
    """Gather rows, telling on the error stream how far it is."""
    found = []
    for row in rows:
        found.append(row)
        print(f"\r{len(found)} of {total}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found
