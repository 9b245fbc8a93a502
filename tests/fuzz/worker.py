"""Reads damaged files in a process of its own, which may hang or crash; `tests.fuzz.hunt` looks after it.

Each input is announced on standard output before it is read, and afterwards what came of it, the seconds
that it took and the bytes that it needed at most.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.errors import GramscopeError
from tests.fuzz.hunt import HANG_S
from tests.fuzz.mutate import damaged
from tests.fuzz.readers import READERS, Reader

MEMORY = 2 * 2**30
NO_MEMORY = re.compile(
    r"MemoryError|not enough memory|can't allocate|Unable to allocate|bad_alloc", re.IGNORECASE
)
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "subprocess.Popen", "os.remove",
             "socket.connect", "os.rename", "os.mkdir", "os.rmdir", "shutil.", "ctypes.dlopen")  # fmt: skip


class Watch:
    """Notes what a reader must never do: start programs, reach out, change or write files."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.on = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on:
            return
        writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
        if writes or event.startswith(FORBIDDEN):
            self.seen.append(f"{event}{args!r:.200}")


def status(field: str) -> int:
    """Return a size of this process in bytes, as Linux calls it: VmSize, VmRSS, VmHWM."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", text)[1]) * 1024  # type: ignore[index]


def limit_memory() -> None:
    """Let this process have two GiB more than it has now."""
    resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + MEMORY, resource.RLIM_INFINITY))


def measured(reader: Reader, path: Path, watch: Watch) -> tuple[str, float, int]:
    """Read one file; return what is wrong, the seconds, and the most memory beyond that before, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the highest so far
    before, begin = status("VmRSS"), time.perf_counter()
    wrong = verdict(reader, path, watch)
    return wrong, time.perf_counter() - begin, max(status("VmHWM") - before, 0)


def verdict(reader: Reader, path: Path, watch: Watch) -> str:
    """Read one file; return what is wrong, or nothing."""
    watch.seen.clear()
    watch.on = True
    faulthandler.dump_traceback_later(HANG_S, exit=True)
    try:
        reader.read(path)
    except GramscopeError as error:
        told = "".join(traceback.format_exception(error)) + error.detail
        if NO_MEMORY.search(told):
            return f"more than {MEMORY:,} bytes: {told[-1500:]}"
    except BaseException:
        return traceback.format_exc()[-2500:]
    finally:
        faulthandler.cancel_dump_traceback_later()
        watch.on = False
    return f"forbidden: {watch.seen[:3]}" if watch.seen else ""


def inputs(reader: Reader, valid: bytes, first: int, count: int) -> Iterator[tuple[str, bytes]]:
    for seed in range(first, first + count):
        yield str(seed), damaged(valid, seed, reader.structured)


def recorded(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.glob("*")):
        yield path.name, path.read_bytes()


def work(plan: list[tuple[str, int, int]], cases: Path | None) -> None:
    """Go through a plan of (reader, first seed, count), or through the `cases` that once broke a reader."""
    watch = Watch()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        made = {name: Path(temporary) / name for name, _, _ in plan}
        targets = {}
        for name, folder in made.items():
            folder.mkdir()
            targets[name] = READERS[name].make(folder)
            READERS[name].read(targets[name])  # what is valid is read, and imports are over
        limit_memory()
        for name, first, count in plan:
            reader, target = READERS[name], targets[name]
            valid = target.read_bytes()
            for label, data in recorded(cases / name) if cases else inputs(reader, valid, first, count):
                say("reading", name, label)
                target.write_bytes(data)
                say("read", name, label, *measured(reader, target, watch))
            target.write_bytes(valid)


def say(*news: str | float) -> None:
    os.write(1, (json.dumps(news) + "\n").encode())


if __name__ == "__main__":
    work(json.loads(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
