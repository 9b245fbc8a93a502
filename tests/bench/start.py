"""`python -m tests.bench.start PROGRAM …`: size on disk, time to first paint, time to the sample's picture.

A PROGRAM is a bundle's folder, or a `gramscope` command (of a checkout or an installed wheel). Each is
started three times; the first, which warms the file cache, does not count.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

RUNS = 3
FIRST, PICTURE = r"first paint ([\d.]+) s", r"the sample's picture ([\d.]+) s"


def megabytes(folder: Path) -> float:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


def measure(program: Path) -> None:
    command = program / "gramscope" if program.is_dir() else program
    environment = {"QT_QPA_PLATFORM": "offscreen"} | os.environ
    said = [
        subprocess.run(
            [command, "--smoke"], capture_output=True, text=True, check=True, env=environment
        ).stdout
        for _ in range(RUNS)
    ][1:]
    size = f"{megabytes(program):.0f} MB, " if program.is_dir() else ""
    times = [min(float(re.search(what, text)[1]) for text in said) for what in (FIRST, PICTURE)]  # type: ignore[index]
    print(f"{program}: {size}first paint {times[0]:.2f} s, the sample's picture {times[1]:.2f} s")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        measure(Path(name).absolute())
