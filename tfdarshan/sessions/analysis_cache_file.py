"""What the calls of a large session were added up to, kept beside its tables for whoever reads it next.

Nothing needs it: without it, or of another state of the tables or another version, all is added up anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from tfdarshan.native.versions import VERSION
from tfdarshan.sessions.frozen_values import FrozenError, frozen_bytes, thawed
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.rank_folder import logdir_of
from tfdarshan.sessions.whole_file import read_whole

FILE = "partials.kept"
# Set in the environment: nothing is written beside a session.
KEEP_NOTHING = "TFDARSHAN_KEEP_NOTHING"
# Raised by whoever changes what is kept, or how it is worked out.
KEPT_VERSION = 33
# A session of fewer calls and fewer processes is looked at as quickly.
LEAST_CALLS, LEAST_PROCESSES = 1 << 20, 64
# What takes more is not kept.
MOST_BYTES = 256 << 20

Kept = TypeVar("Kept")


class AnalysisCache:
    """What was worked out of some processes' calls, by name.

    Args:
        folder: The session's folder, where it is kept.
        processes: The processes.
        classes: The dataclasses that it consists of, by name.
    """

    def __init__(self, folder: Path, processes: Sequence[ProcessData], classes: Mapping[str, type]) -> None:
        self._path = folder / FILE
        self._values: dict[str, Any] = {}
        self._changed = False
        self._of = _state(processes) if _is_large(processes) else None
        if self._of is not None:
            self._values = _read(self._path, self._of, classes)

    def get(self, name: str, make: Callable[[], Kept]) -> Kept:
        """Return what is kept by a name; what `make` gives, and is kept from now on, if there is nothing."""
        if name not in self._values:
            self.put(name, make())
        found: Kept = self._values[name]
        return found

    def find(self, name: str) -> Any:
        """Return what is kept by a name, None if nothing is."""
        return self._values.get(name)

    def put(self, name: str, value: Any) -> None:
        """Keep something from now on."""
        self._values[name] = value
        self._changed = True

    def save(self) -> None:
        """Write what was added, all at once; a folder that cannot be written keeps nothing."""
        if self._of is None or not self._changed or os.environ.get(KEEP_NOTHING):
            return
        self._changed = False
        content = frozen_bytes({"of": self._of, "values": self._values})
        if len(content) > MOST_BYTES:
            return
        unfinished = self._path.with_name(f".{FILE}.{os.getpid()}")
        with suppress(OSError):
            try:
                unfinished.write_bytes(content)
                unfinished.replace(self._path)
            finally:
                unfinished.unlink(missing_ok=True)


def _is_large(processes: Sequence[ProcessData]) -> bool:
    calls = sum(int(process.meta["counts"]["segments"]) for process in processes)
    # Of no process there is nothing to keep.
    return len(processes) > 0 and (calls >= LEAST_CALLS or len(processes) >= LEAST_PROCESSES)


def _state(processes: Sequence[ProcessData]) -> dict[str, Any] | None:
    """Return what tells the tables from any others, and who worked something out of them."""
    files: list[Any] = []
    with suppress(OSError):
        paths = (process.table_path(table) for process in processes for table in process.meta["tables"])
        for path in sorted(set(paths)):
            found = path.stat()
            files.append([path.parent.name, path.name, found.st_size, found.st_mtime_ns])
        files += [_trace_state(process) for process in processes if process.meta.get("tensorflow")]
        files += [[process.shift_ns, int(process.meta["counts"]["events"])] for process in processes]
        return {"kept_version": KEPT_VERSION, "tfdarshan": VERSION, "files": files}
    return None


def _trace_state(process: ProcessData) -> list[Any]:
    """Return what tells TensorFlow's trace from any other, and from none: it says when steps were."""
    trace = logdir_of(process.directory) / str(process.meta["tensorflow"]["trace"])
    with suppress(OSError):
        found = trace.stat()
        return [trace.name, found.st_size, found.st_mtime_ns]
    return [trace.name]


def _read(path: Path, of: dict[str, Any], classes: Mapping[str, type]) -> dict[str, Any]:
    with suppress(OSError, FrozenError):
        if path.stat().st_size > MOST_BYTES:
            return {}
        content = thawed(read_whole(path), classes)
        if isinstance(content, dict) and content.get("of") == of and isinstance(content.get("values"), dict):
            values: dict[str, Any] = content["values"]
            return values
    return {}
