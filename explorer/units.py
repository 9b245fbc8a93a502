"""Work cut into units: what is finished is kept in a folder, so that a killed run goes on from there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from explorer import __version__
from explorer.errors import GramscopeError
from explorer.settings import atomic_write

Record = dict[str, Any]


class Store:
    """The records of finished units, one JSON file each, named by the unit's key, with the program's version.

    Parameters
    ----------
    folder : Path
        Made if absent.

    Raises
    ------
    GramscopeError
        If it cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GramscopeError(
                f"The folder {folder.parent} cannot be made: {error.strerror}.", str(error)
            ) from error

    def kept(self, key: str) -> Record | None:
        """Return the record that an earlier run has finished; None where there is none, or half of one."""
        path = self.folder / f"{key}.json"
        if not path.exists():
            return None
        try:
            record = json.loads(path.read_bytes())
        except ValueError:
            return None
        found = record.get("record") if isinstance(record, dict) else None
        return found if isinstance(found, dict) and found else None

    def keep(self, key: str, record: Record) -> None:
        """Write a finished record, whole or not at all.

        Raises
        ------
        GramscopeError
            If the system refuses.
        """
        text = json.dumps({"program": f"Gramscope {__version__}", "record": record})
        atomic_write(self.folder / f"{key}.json", text.encode())


def stamp(path: Path) -> list[object]:
    """Return what changes when a file or the files of a folder do; nothing for what is not there."""
    if not path.exists():
        return []
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files if file.is_file()]
