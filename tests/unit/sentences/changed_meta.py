"""Made-up sessions with other entries in their metadata, and with processes beside the first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.made_up_session import job_of, write_session
from tests.unit.sentences.rows import Maker
from tfdarshan.session import Session, open_session


def changed(maker: Maker, **meta: Any) -> Maker:
    """Return what makes a session with other entries in its metadata; those that are tables are merged."""

    def made_so(folder: Path) -> Session:
        session = maker(folder)
        for path in session.path.glob("*.meta.json"):
            content = json.loads(path.read_text())
            for name, value in meta.items():
                content[name] = content.get(name, {}) | value if isinstance(value, dict) else value
            path.write_text(json.dumps(content))
        return open_session(session.path)

    return made_so


def with_children(folder: Path, kernels: Sequence[dict[str, Any]], *, read: int = 1_000_000) -> Session:
    """Return a process that reads so many bytes, by the kernel's count too, and children that do.

    Args:
        folder: Where.
        kernels: What each child's metadata says of the kernel's figures.
        read: Bytes that each process reads, in one read of a second.
    """
    calls = [(0, 10**9, 1, "pread", 0, read)]
    owner = {"rchar": read, "read_bytes": read, "counted": "own"}
    jobs = [
        job_of(calls, ["/data/a"], [read], pid=100 + place, kernel=kernel, meta={"parent_pid": 100})
        for place, kernel in enumerate([owner, *kernels])
    ]
    session = write_session(folder, *jobs)
    return open_session(session.path)
