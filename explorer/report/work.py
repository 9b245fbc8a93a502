"""Have units computed: here one after the other, in processes through joblib, or on a Dask cluster."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.errors import GramscopeError, Stopped
from explorer.fallback import lastingly
from explorer.models.base import ShouldStop, never
from explorer.report.compute import DESK, Desk, Record, compute
from explorer.report.plan import Unit

RETRIES = 3
"""How often a unit is tried again after its Dask worker died."""
ENDED = "A worker process ended unexpectedly, most often for lack of memory. Run again with fewer jobs."


@dataclass(frozen=True, eq=False)
class Done:
    """What became of a unit.

    Attributes
    ----------
    unit : Unit
    record : dict or None
        Its numbers; None if it failed.
    failure : str
        A sentence.
    detail : str
        A traceback, where the failure is not one a person can act on.
    """

    unit: Unit
    record: Record | None = None
    failure: str = ""
    detail: str = ""


def attempt(unit: Unit, should_stop: ShouldStop = never, desk: Desk = DESK) -> Done:
    """Compute one unit; a failure is a result, so that the others go on.

    Raises
    ------
    Stopped
        If `should_stop` said so.
    """
    try:
        return Done(unit, lastingly(lambda: compute(unit, should_stop, desk)))
    except Stopped:
        raise
    except GramscopeError as error:
        return Done(unit, failure=str(error), detail=error.detail)
    except Exception as error:  # each model family raises what it likes
        return Done(unit, failure=f"{type(error).__name__}: {error}", detail=traceback.format_exc())


def serially(units: Sequence[Unit], should_stop: ShouldStop = never, desk: Desk = DESK) -> Iterator[Done]:
    """Compute units one after the other in this process."""
    try:
        for unit in units:
            if should_stop():
                raise Stopped
            yield attempt(unit, should_stop, desk)
    finally:
        desk.close()


def in_processes(units: Sequence[Unit], jobs: int, should_stop: ShouldStop = never) -> Iterator[Done]:
    """Compute units in several processes of this machine."""
    from joblib import Parallel, delayed
    from joblib.externals.loky import get_reusable_executor
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    waiting = {unit.name: unit for unit in units}
    results = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
        delayed(attempt)(unit) for unit in units
    )
    try:
        for done in results:
            waiting.pop(done.unit.name)
            yield done
            if should_stop():
                raise Stopped
    except TerminatedWorkerError:
        yield from (Done(unit, failure=ENDED) for unit in waiting.values())
    finally:
        get_reusable_executor().shutdown(wait=True, kill_workers=bool(waiting))


def on_dask(units: Sequence[Unit], address: str, should_stop: ShouldStop = never) -> Iterator[Done]:
    """Compute units on a Dask cluster; those of a worker that dies go to another.

    Raises
    ------
    GramscopeError
        If Dask is not installed, or there is no cluster at the address.
    """
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise GramscopeError(
            "Dask is not installed. Install it with: pip install 'gramscope[dask]'", str(error)
        ) from error
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise GramscopeError(
            f"There is no Dask scheduler at {address}. Start one, and give its address as tcp://host:port.",
            str(error),
        ) from error
    with client:
        futures = client.map(attempt, units, pure=False, retries=RETRIES)
        by_key = {future.key: unit for future, unit in zip(futures, units, strict=True)}
        try:
            for future in as_completed(futures, loop=client.loop):
                failed = future.status != "finished"
                yield Done(by_key[future.key], failure=_reason(future)) if failed else future.result()
                if should_stop():
                    raise Stopped
        finally:
            client.cancel(futures)


def _reason(future: Any) -> str:
    return f"The Dask cluster could not compute this: {future.exception()!r}"
