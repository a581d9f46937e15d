"""Writes the calls of a session as DFTracer writes its traces, for what reads those."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pyarrow.parquet as pq

HOST = "e696ebc220787810"
BATCH = 1 << 17


def write_trace(session: Path, folder: Path) -> Path:
    """Write `rank_0.pfw.gz`, a line of JSON a call with times in microseconds, and return its folder."""
    folder.mkdir(parents=True)
    (events,) = session.glob("*.events.parquet")
    file = pq.ParquetFile(events)
    files = sorted({number for (column,) in _batches(file, ["file"]) for number in column})
    hashes = {number: f"{number * 0x9E3779B97F4A7C15 % (1 << 64):016x}" for number in files}
    with gzip.open(folder / "rank_0.pfw.gz", "wt", compresslevel=1, encoding="ascii") as trace:
        trace.write("[\n")
        trace.write(_named("HH", "node-0", HOST))
        for number, digest in hashes.items():
            trace.write(_named("FH", f"/data/train/{number:07}.jpg", digest))
        _write_calls(file, hashes, trace)
        trace.write("]\n")
    return folder


def _named(kind: str, name: str, value: str) -> str:
    return f'{{"name":"{kind}","ph":"M","args":{{"hhash":"{HOST}","name":"{name}","value":"{value}"}}}}\n'


def _write_calls(file: Any, hashes: dict[int, str], trace: TextIO) -> None:
    count = 0
    for columns in _batches(file, ["operation", "tid", "file", "start_ns", "end_ns", "offset", "length"]):
        lines = [
            f'{{"id":{count + place},"name":"{name}","cat":"POSIX","pid":1000,"tid":{thread},'
            f'"ts":{start // 1000},"dur":{(end - start) // 1000},"ph":"X","args":{{"hhash":"{HOST}",'
            f'"level":2,"fhash":"{hashes[of]}","ret":{length},"count":{length},"offset":{offset}}}}}\n'
            for place, (name, thread, of, start, end, offset, length) in enumerate(zip(*columns, strict=True))
        ]
        trace.write("".join(lines))
        count += len(lines)


def _batches(file: Any, names: list[str]) -> Iterator[list[list[Any]]]:
    for batch in file.iter_batches(BATCH, columns=names):
        yield [batch.column(name).to_pylist() for name in names]
