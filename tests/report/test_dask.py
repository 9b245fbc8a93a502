"""A report on a Dask cluster of this machine, one of whose workers is killed while it works."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.errors import GramscopeError
from explorer.maths.evidence_draws import Draws
from explorer.report.run import ReportOutcome, run_report

pytest.importorskip("distributed", reason="Dask is an optional dependency")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed")

DRAWS = Draws(cheap=100, costly=4)
STARTS_WITHIN_S = 120


@dataclass(frozen=True)
class Cluster:
    address: str
    workers: list[subprocess.Popen[bytes]]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Run a scheduler and two workers without nannies, so that a killed one stays dead."""
    place = tmp_path / "scheduler.json"
    python = [sys.executable, "-m", "dask"]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1"}

    def start(*command: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*python, *command], env=quiet, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        processes.callback(process.wait)
        processes.callback(process.kill)
        return process

    with ExitStack() as processes:
        start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", str(place),
        )  # fmt: skip
        until = time.monotonic() + STARTS_WITHIN_S
        while not place.exists() or not place.read_text():
            assert time.monotonic() < until, "the scheduler did not start"
            time.sleep(0.1)
        workers = [
            start(
                "worker", "--scheduler-file", str(place), "--no-nanny", "--no-dashboard", "--nthreads", "1",
                "--local-directory", str(tmp_path / f"worker-{i}"),
            )
            for i in range(2)
        ]  # fmt: skip
        yield Cluster(json.loads(place.read_text())["address"], workers)


def numbers_of(outcome: ReportOutcome) -> Any:
    """Read everything a report holds but when it was made, and the time that it took."""
    document = json.loads((outcome.folder / "report.json").read_text())
    assert document.pop("created")
    for unit in document["units"]:
        assert unit.pop("seconds") > 0
    return document


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Compute on as many threads as the workers, since another number of them rounds otherwise."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_a_killed_worker_costs_time_but_no_number(cluster: Cluster, one_thread: None, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_one(done: int, total: int, name: str) -> None:
        if done == 2 and not killed:
            killed.append(total - done)
            cluster.workers[0].send_signal(signal.SIGKILL)

    apart = run_report(
        "controls", out=tmp_path / "apart", draws=DRAWS, dask=cluster.address, progress=kill_one
    )
    assert killed and killed[0] > 0 and cluster.workers[0].wait(10) == -signal.SIGKILL
    assert apart.exit_code == 0 and not apart.failures and apart.reused == 0
    alone = run_report("controls", out=tmp_path / "alone", draws=DRAWS)
    assert alone.computed == apart.computed
    assert numbers_of(alone) == numbers_of(apart)


def test_no_scheduler_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match="no Dask scheduler"):
        run_report("controls", out=tmp_path, draws=DRAWS, dask="tcp://127.0.0.1:9")
