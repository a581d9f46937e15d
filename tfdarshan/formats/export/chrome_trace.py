"""Writes a session's calls as Chrome trace JSON, which Perfetto and chrome://tracing open."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tfdarshan.analysis.calls.segments import EVENTS, FAULTS, META, Segments, Thread, segment_blocks
from tfdarshan.analysis.calls.thinned_times import TABLE, sample_sentence
from tfdarshan.analysis.files.file_table import FileTable, load_files
from tfdarshan.analysis.ranks.process_list import named_processes
from tfdarshan.analysis.ranks.thread_names import ThreadNames
from tfdarshan.analysis.time.overview_times import overview_times
from tfdarshan.analysis.time.untraced import untraced_sentence
from tfdarshan.durable.output_file import output_file
from tfdarshan.file_name import exact_name
from tfdarshan.sessions.schema import FAULT_MODULE
from tfdarshan.terminal.progress import counter

if TYPE_CHECKING:
    from tfdarshan.sessions.process_data import ProcessData
    from tfdarshan.sessions.session_data import SessionData

NS_PER_US = 1000
COUNTER_PARTS = 2_000


@dataclass(frozen=True)
class ChromeTrace:
    """What was written. Page faults are no calls.

    Attributes:
        path: The file.
        calls: How many calls.
        faults: How many page faults on mapped files.
        threads: How many threads made them.
        complete: False if some calls are not in the file.
        sample: Sentences that say which calls are a sample, and counters sums; "" if all calls are there.
    """

    path: Path
    calls: int
    faults: int
    threads: int
    complete: bool
    sample: str


def export_chrome_trace(
    session: SessionData,
    path: Path,
    *,
    force: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ChromeTrace:
    """Write one complete event per call or page fault on a mapped file, and bandwidth as counters.

    It is compressed where the name ends in .gz.

    Times are microseconds since the session's start, with three decimals: nothing is rounded. `progress` is
    told the calls written, and all of them.

    Raises:
        SessionDataError: A table is damaged or missing.
        StorageError: The file is there and not to be replaced, or cannot be written.
    """
    wrote = counter(progress, sum(map(_calls_kept, session.meta)))
    calls = _Calls(session, wrote)
    with output_file(path, force=force) as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=3, mtime=0, filename="") as packed:
                _write(packed, session, calls)
        else:
            _write(raw, session, calls)
    said = _sample(session)
    return ChromeTrace(path, calls.calls, calls.faults, len(calls.threads), calls.complete, said)


def _sample(session: SessionData) -> str:
    said = (sample_sentence(session.meta), untraced_sentence(session.meta, "bandwidth counters are"))
    return " ".join(filter(None, said))


def _calls_kept(meta: dict[str, Any]) -> int:
    """Return how many calls of a process are in its tables."""
    return int(meta["counts"]["segments"]) + int((meta["tables"].get(TABLE) or {}).get("rows", 0))


def _write(out: IO[bytes] | gzip.GzipFile, session: SessionData, calls: _Calls) -> None:
    """Write it. Who made calls is known when all of them were seen, so threads are named last."""
    said = _sample(session)
    about = f'"otherData":{{"sample":{json.dumps(said)}}},' if said else ""
    out.write(f'{{"displayTimeUnit":"ns",{about}"traceEvents":[\n'.encode())
    first = True
    for lines in (_process_names(session), _counters(session), calls.lines(), calls.thread_names()):
        for line in lines:
            out.write((line if first else ",\n" + line).encode())
            first = False
    out.write(b"\n]}\n")


def _process_names(session: SessionData) -> Iterator[str]:
    numbers, named = _numbers(session.processes), named_processes(session.processes)
    for process, number, one in zip(session.processes, numbers, named, strict=True):
        rank = "" if process.rank is None else f"rank {process.rank}, "
        command = process.meta.get("command") or one.label
        yield _named("process_name", number, 0, f"{rank}{process.meta['host']}: {command}")
        yield _named("process_labels", number, 0, one.label, "labels")


def _numbers(processes: Sequence[ProcessData]) -> list[int]:
    """Give each process a number of its own: its id, and another one where another host's has it."""
    numbers: list[int] = []
    taken = {process.pid for process in processes}
    for process in processes:
        number = process.pid
        if number in numbers:
            number = max(taken) + 1
            taken.add(number)
        numbers.append(number)
    return numbers


def _named(what: str, pid: int, tid: int, name: str, kind: str = "name") -> str:
    return json.dumps({"name": what, "ph": "M", "pid": pid, "tid": tid, "args": {kind: name}})


def _counters(session: SessionData) -> Iterator[str]:
    table = overview_times(session.processes, COUNTER_PARTS).bandwidth
    pid = session.processes[0].pid
    rows = zip(table["start_ns"], table["read_bytes_per_s"], table["write_bytes_per_s"], strict=True)
    for start_ns, read, written in rows:
        counters = {"read B/s": round(read), "written B/s": round(written)}
        event = {"name": "bandwidth", "ph": "C", "pid": pid, "ts": start_ns / NS_PER_US, "args": counters}
        yield json.dumps(event)


class _Calls:
    """The calls of a session, read row group by row group.

    Attributes:
        calls: How many were seen.
        faults: How many page faults on mapped files.
        threads: Who made them.
        complete: False if some calls are in no table.
    """

    def __init__(self, session: SessionData, wrote: Callable[[int], None]) -> None:
        self._session, self._wrote = session, wrote
        self._numbers = _numbers(session.processes)
        self.calls = self.faults = 0
        self.threads: tuple[Thread, ...] = ()
        self.complete = all(_calls_kept(meta) == meta["counts"]["events"] for meta in session.meta)

    def lines(self) -> Iterator[str]:
        """Yield blocks of lines."""
        processes = self._session.processes
        files = load_files(processes)
        for block in segment_blocks(processes, files.index, tables=[EVENTS, FAULTS, TABLE]):
            self.threads = block.threads
            for part in block.blocks():
                yield _lines(part, self._numbers, _paths(files, part.file.tolist()))
                faults = int(part.is_fault.sum())
                self.faults += faults
                self.calls += len(part) - faults
                self._wrote(len(part) - faults)

    def thread_names(self) -> Iterator[str]:
        """Yield the threads' names."""
        processes = self._session.processes
        names = ThreadNames(processes, [one.label for one in named_processes(processes)])
        for thread in self.threads:
            yield _named(
                "thread_name", self._numbers[thread.process], thread.tid, names.within_process(thread)
            )


def _lines(block: Segments, numbers: Sequence[int], paths: Sequence[str]) -> str:
    """Word calls; what repeats (names, threads) is encoded once."""
    heads = [
        f'{{"name":{json.dumps(operation.name)},"cat":"{operation.module}","ph":"X",'
        for operation in block.operations
    ]
    threads = [f'"pid":{numbers[thread.process]},"tid":{thread.tid},' for thread in block.threads]
    has_place = [
        operation.io_class != META or operation.module == FAULT_MODULE for operation in block.operations
    ]
    columns: Sequence[list[Any]] = [
        column.tolist()
        for column in (
            block.operation, block.thread, block.start_ns, block.end_ns - block.start_ns, block.length,
            block.offset, block.error,
        )
    ]  # fmt: skip
    lines = []
    for (kind, thread, start, taken, length, offset, error), path in zip(
        zip(*columns, strict=True), paths, strict=True
    ):
        moved = f',"bytes":{length},"offset":{offset}' if has_place[kind] else ""
        failed = f',"errno":{error}' if error else ""
        sign, start = ("-", -start) if start < 0 else ("", start)  # a call may begin before the session
        lines.append(
            f'{heads[kind]}{threads[thread]}"ts":{sign}{start // NS_PER_US}.{start % NS_PER_US:03},'
            f'"dur":{taken // NS_PER_US}.{taken % NS_PER_US:03},"args":{{"file":{path}{moved}{failed}}}}}'
        )
    return ",\n".join(lines)


def _paths(files: FileTable, places: list[int]) -> list[str]:
    column = files.rows["path"]
    encoded = {place: json.dumps(exact_name(column.iloc[place])) for place in set(places)}
    return [encoded[place] for place in places]
