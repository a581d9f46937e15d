"""Records known calls in a session of which nothing is left, whatever becomes of it."""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tfdarshan.durable.user_folders import temporary_folder
from tfdarshan.errors import SessionDataError, StorageError
from tfdarshan.options import Options
from tfdarshan.recording.profiler import profile
from tfdarshan.recording.spool import choose_folder
from tfdarshan.sessions.session_data import SessionData

PREFIX = "tfdarshan-doctor-"


@contextmanager
def trial_session(calls: Callable[[Path], Any], **options: Any) -> Iterator[tuple[Path, Any, SessionData]]:
    """Record calls on files in a folder; yield the folder, what the calls returned, and the session.

    Folder, session and spool are removed after the block.

    Args:
        calls: What is recorded, given the folder.
        options: The session's.

    Raises:
        StorageError: The session could not be written.
    """
    spools = choose_folder(Options())
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=temporary_folder()) as name,
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=spools) as spool,
    ):
        folder = Path(name).resolve()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with profile(folder / "logs", include=[f"{folder}/"], spool_dir=spool, **options) as recording:
                returned = calls(folder)
        try:
            session = SessionData.open(recording.path)
        except SessionDataError as error:
            raise StorageError(f"{_why([str(warning.message) for warning in said])}.") from error
        yield folder, returned, session


def counters_of(session: SessionData, path: Path, names: Iterable[str]) -> Counter[str]:
    """Return the sums of a file's counters over all processes; 0 if the file is not in the session."""
    sums: Counter[str] = Counter(dict.fromkeys(names, 0))
    for process in session.processes:
        for row in process.table("files", ["path", *sums]).to_pylist():
            if row.pop("path") == str(path):
                sums.update(row)
    return sums


def _why(said: list[str]) -> str:
    """Return why no session was written; not that its spool is kept, which is removed."""
    failures = [sentence for sentence in said if " was not written: " in sentence]
    last = failures[-1].removeprefix("tfdarshan: ") if failures else "the session was not written"
    return last.partition(". What was recorded ")[0]
