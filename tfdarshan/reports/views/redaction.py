"""Replaces paths by tokens, so that a report can be shown to others.

A name's token is the same wherever it appears, in every report made with the same key: folders stay
recognisable as folders, and an extension stays, for it says what kind of file it is.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import re
from functools import lru_cache
from typing import Any

import pandas as pd
import pyarrow as pa

from tfdarshan.analysis.files.coverage import Coverage
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.file_totals import FileEntry
from tfdarshan.analysis.ranks.process_list import ProcessEntry
from tfdarshan.analysis.ranks.rank_table import without_names
from tfdarshan.analysis.summary_data import SummaryData
from tfdarshan.checkpoint.ledger import CheckpointRow
from tfdarshan.sessions.process_role import MAIN

EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
# What a bound says of its process's role may be the name of a script.
ROLE_OF_BOUND = re.compile(r"^(process \d+) \(.*?\): ")
# A path or an option's value, and all that follows: a name may have blanks in it, and others come after it.
NAMES_OF_BOUND = re.compile(r"\S*/.*|(?<=\w=)\S.*", re.DOTALL)
HIDDEN = "(redacted)"


class Redaction:
    """Makes tokens.

    Args:
        key: Without it nobody can check whether a token stands for a name they guess.
    """

    def __init__(self, key: str = "") -> None:
        self._key = key.encode()
        self._token = lru_cache(maxsize=1 << 16)(self._make_token)

    def path(self, path: str) -> str:
        """Return a path of tokens; what is no path stays."""
        if not path.startswith("/"):
            return path
        *folders, name = path.split("/")[1:]
        return "/".join(["", *(self._token("d", folder) for folder in folders), self._token("f", name)])

    def folder(self, path: str) -> str:
        """Return a folder's path of tokens."""
        return "/".join(["", *(self._token("d", part) for part in path.split("/")[1:] if part)]) or "/"

    def name(self, kind: str, name: str) -> str:
        """Return the token of a name that is no path; `kind` is a letter that says what it is of."""
        return self._token(kind, name)

    def _make_token(self, kind: str, name: str) -> str:
        digest = hmac.new(self._key, name.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()
        found = EXTENSION.search(name) if kind == "f" else None
        return f"{kind}-{digest[:10]}{found[0] if found else ''}"


def redacted_files(files: FileTable, redaction: Redaction) -> FileTable:
    """Return the file table with tokens for paths and mount points."""
    paths = pa.array([redaction.path(path) for path in files.rows["path"]], pa.string())
    rows = files.rows.assign(path=pd.Series(pd.arrays.ArrowExtensionArray(paths)))
    mounts = files.rows["mount_point"].cat
    rows["mount_point"] = mounts.rename_categories(
        [redaction.folder(point) if point else "" for point in mounts.categories]
    )
    return FileTable(rows, files.index)


def redacted_summary(data: SummaryData, redaction: Redaction) -> SummaryData:
    """Return the summary with tokens for paths, and without command, host and where the session is."""

    def hidden(entries: list[FileEntry]) -> list[FileEntry]:
        return [dataclasses.replace(entry, path=redaction.path(entry.path)) for entry in entries]

    engine = {name: value for name, value in data.engine.items() if name in ("name", "version")}
    return dataclasses.replace(
        data,
        path=HIDDEN,
        command=HIDDEN,
        host=HIDDEN,
        engine=engine,
        emulation=redacted_emulation(data.emulation),
        process_list=[_redacted_process(entry) for entry in data.process_list],
        bounds=[NAMES_OF_BOUND.sub(HIDDEN, ROLE_OF_BOUND.sub(r"\1: ", bound)) for bound in data.bounds],
        problems=[HIDDEN for _ in data.problems],
        overlapping_sessions=[HIDDEN for _ in data.overlapping_sessions],
        slowest_files=hidden(data.slowest_files),
        most_read_files=hidden(data.most_read_files),
        mapped=dataclasses.replace(
            data.mapped,
            slowest=tuple(
                dataclasses.replace(one, path=redaction.path(one.path)) for one in data.mapped.slowest
            ),
        ),
        coverage=_redacted_coverage(data.coverage),
        ranks=None if data.ranks is None else without_names(data.ranks, redaction.folder),
    )


def _redacted_coverage(coverage: Coverage) -> Coverage:
    """Return what was seen without the names of programs that were not recorded."""
    starts = sum(coverage.unrecorded.starts.values())
    unrecorded = dataclasses.replace(coverage.unrecorded, starts={HIDDEN: starts} if starts else {})
    return dataclasses.replace(coverage, unrecorded=unrecorded)


def _redacted_process(entry: ProcessEntry) -> ProcessEntry:
    """Return a process by kind and number, without its host and its script's name."""
    number = entry.name.rpartition(":")[2]
    label = role_label(entry.role, entry.number, number, entry.rank)
    return dataclasses.replace(entry, name=number, label=label, host=HIDDEN)


def role_label(kind: str, number: int, process: str, rank: int | None = None) -> str:
    """Return what a process is called without its script: "main", "rank 3, worker 1", "program (4711)"."""
    if kind == MAIN:
        return kind if rank is None else f"rank {rank}"
    label = f"{kind} {number}" if number else f"{kind} ({process})"
    return label if rank is None else f"rank {rank}, {label}"


def redacted_emulation(emulation: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what is said of emulated storage without the patterns of its paths."""
    if emulation is None:
        return None
    return emulation | {"paths": [HIDDEN] if emulation["paths"] else []}


def redacted_ledger(rows: list[CheckpointRow], redaction: Redaction) -> list[CheckpointRow]:
    """Return the burst buffer's ledger with tokens for names, and without the reasons, which name paths."""

    def hidden(name: str | None) -> str | None:
        return None if name is None else redaction.path(f"/{name}")[1:]

    return [
        dataclasses.replace(
            row,
            checkpoint=hidden(row.checkpoint),
            target=hidden(row.target),
            reason=None if row.reason is None else HIDDEN,
        )
        for row in rows
    ]
