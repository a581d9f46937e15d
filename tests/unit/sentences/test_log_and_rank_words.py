"""What is said of a log's other layers, of the ranks of a job, and of clocks that do not agree."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.joint_training import MadeUpRank, joint_training
from tests.unit.findings.made_up_ranks import shards
from tests.unit.sentences.counters_only import as_log
from tests.unit.sentences.raw_figures import raw
from tests.unit.sentences.sessions import SESSIONS
from tests.unit.sentences.shown import page_text, printed
from tfdarshan.analysis.calls.wall_clock import clocks_apart
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.reports.text.ranks_text import rank_lines
from tfdarshan.session import Session, open_session
from tfdarshan.sessions.schema import LAYER_COLUMNS
from tfdarshan.units import human_bytes, human_seconds, plural

MIB = 1 << 20
CATEGORY = pa.dictionary(pa.int32(), pa.string())
MPI = {
    "module": "MPI-IO", "path": "/data/a", "rank": -1, "opens": 4, "reads": 10, "writes": 20,
    "collective": 30, "bytes_read": 10 * MIB, "bytes_written": 20 * MIB, "read_s": 1.0, "write_s": 2.0,
    "meta_s": 0.5,
}  # fmt: skip
HDF5 = {"module": "H5F", "path": "/data/b.h5", "rank": 0, "opens": 3, "meta_s": 0.25}
FIFO = {"module": "FIFO", "path": "/run/pipe", "rank": 0, "opens": 1, "reads": 7, "writes": 2, "read_s": 60.0}
SOCKET = {"module": "SOCKET", "path": "socket:1", "rank": 0, "reads": 1, "read_s": 5.0}
LUSTRE = {"module": "LUSTRE", "rank": -1, "stripe_size_bytes": MIB}
STRIPED = [LUSTRE | {"path": f"/data/{n}", "stripe_count": 1 + n, "osts": f"{n},{n + 1}"} for n in range(3)]


def log_with(folder: Path, *rows: dict[str, Any]) -> Session:
    """Return a session of a log that has such records besides POSIX and STDIO."""
    session = as_log(SESSIONS["one reader"](folder))
    if not rows:
        return session
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    types = {"int64": pa.int64(), "float64": pa.float64(), "str": pa.string(), "category": CATEGORY}
    schema = pa.schema([(column.name, types[column.dtype]) for column in LAYER_COLUMNS])
    filled = [{name: row.get(name) for name in schema.names} for row in rows]
    name = meta["tables"]["events"]["file"].replace("events", "layers")
    pq.write_table(pa.Table.from_pylist(filled, schema), session.path / name)
    meta["tables"]["layers"] = {"file": name, "rows": len(rows)}
    path.write_text(json.dumps(meta))
    return open_session(session.path)


def said(session: Session) -> dict[str, str]:
    """Return what each place says of it."""
    path = str(session.path)
    return {
        "brief": printed("summary", path), "all": printed("summary", path, "-v"),
        "page": page_text(session, "overview"),
    }  # fmt: skip


LEFT_OUT = ": left out of the time in I/O, where a call waits for the other end"


EVERYWHERE = ("brief", "all", "page")


NOTE = "Their bytes reach files as POSIX calls: do not add the two. Seconds are added up over ranks."


@dataclass(frozen=True)
class Records:
    """A log's records, where what they are is said, and what; records of which it is not."""

    words: str
    places: tuple[str, ...]
    true: tuple[dict[str, Any], ...]
    false: tuple[dict[str, Any], ...]


TABLE = (
    Records("Other layers of the log (their bytes reach files as POSIX calls: do not add them to those)",
            ("all",), (MPI,), (FIFO,)),
    Records("Besides POSIX and STDIO", ("all",), (FIFO,), (MPI,)),
    Records(NOTE, ("page",), (MPI,), ()),
    Records(f"MPI-IO: 4 opens, {human_bytes(10 * MIB)} read, {human_bytes(20 * MIB)} written, "
            f"{human_seconds(3.5)} in calls", ("brief",), (MPI,), (HDF5,)),
    # Two records of a module are added up.
    Records(f"HDF5 files: 6 opens, {human_seconds(0.5)} in calls", ("brief",), (HDF5, HDF5), (HDF5,)),
    Records(f"1 FIFO with 9 reads and writes and {human_seconds(60.0)} in calls{LEFT_OUT}",
            EVERYWHERE, (FIFO, MPI), (MPI,)),
    Records(f"2 FIFOs with 18 reads and writes and {human_seconds(120.0)} in calls and 1 socket with 1 read "
            f"or write and {human_seconds(5.0)} in calls{LEFT_OUT}", EVERYWHERE, (FIFO, SOCKET, FIFO),
            (FIFO,)),
    Records("3 files, 1 to 3 stripes of 1 MiB each, on 4 OSTs", EVERYWHERE, tuple(STRIPED),
            (STRIPED[0],)),
    Records("1 file, 1 stripe of 1 MiB, on 2 OSTs", EVERYWHERE, (STRIPED[0],), tuple(STRIPED)),
)  # fmt: skip


@pytest.mark.parametrize("records", TABLE, ids=lambda records: records.words[:30])
def test_what_a_log_has_besides_is_said_and_nothing_else(records, tmp_path):
    there = said(log_with(tmp_path / "true", *records.true))
    elsewhere = said(log_with(tmp_path / "false", *records.false))

    assert [place for place in there if records.words in there[place]] == list(records.places), there
    assert [place for place in elsewhere if records.words in elsewhere[place]] == []


def test_time_at_a_fifo_is_in_no_time_of_files(tmp_path):
    # GIVEN a log with a minute at a FIFO, and one without
    with_it, without = (
        said(log_with(tmp_path / str(len(rows)), *rows))["brief"] for rows in ((FIFO, MPI), (MPI,))
    )

    # THEN the verdict's share of the time is the same
    share = without.split("its processes spent at most ")[1].split(" of their time")[0]
    assert f"its processes spent at most {share} of their time" in with_it


def job(folder: Path, *ranks: dict[str, Any]) -> Session:
    """Return a job of so many ranks, each on a host of its own unless it says otherwise."""
    dealt = shards(len(ranks), 4)
    return joint_training(
        folder, [MadeUpRank(steps, **one) for steps, one in zip(dealt, ranks, strict=True)], noise=0.0
    )


@pytest.mark.parametrize("most", [1, 2, 3, 8])
def test_a_line_of_a_rank_is_of_its_own_tables(most, tmp_path):
    # GIVEN three ranks, of which the last takes three times as long, and the second twice
    session = job(tmp_path, {}, {"times": 2.0}, {"times": 3.0})
    found = raw(session)

    # WHEN
    head, *lines = rank_lines(summarize(session).ranks, most)

    # THEN those that wait longest come first
    assert head.split() == ["rank", "host", "waits", "a", "step", "a", "step", "read", "in", "calls", "files"]
    for line, rank in zip(lines[:most], (2, 1, 0), strict=False):
        steps = found.steps[found.steps["rank"] == rank]
        calls = found.events[found.events["rank"] == rank]
        files = found.files[(found.files["rank"] == rank) & (found.files["POSIX_BYTES_READ"] > 0)]
        step_ns = steps["end"].max() - steps["start"].min()
        expected = (
            human_seconds(steps["wait"].mean() / 1e9), human_seconds(step_ns / len(steps) / 1e9),
            human_bytes(files["POSIX_BYTES_READ"].sum()), human_seconds(found.union_s(calls)),
            f"{len(files)}",
        )  # fmt: skip
        assert " ".join(line.split()) == f"{rank} n0 {' '.join(expected)}"
    # A last rank has a line of its own: to say that there is one more would take as much room.
    left = 0 if most >= 2 else 3 - most
    assert (f"and {plural(left, 'more rank')}" in lines) == (left > 0)
    assert len(lines) == (3 if most >= 2 else most + 1)


UNKNOWN = (
    "nobody knows how the clocks of the 2 hosts compare, and their sessions are taken to begin together: no "
    "time in calls is given over all of them: see each rank's"
)


@pytest.mark.parametrize(
    ("ranks", "said_of_clocks"),
    [
        (({}, {}), ""),
        (({}, {"host": "n1"}), UNKNOWN),
        (({"server_offset_ns": 0}, {"host": "n1", "server_offset_ns": 0}), ""),
        (
            ({"server_offset_ns": 0, "times": 0.1}, {"host": "n1", "server_offset_ns": 0, "times": 0.1}),
            "the clocks of the 2 hosts are known to ",
        ),
    ],
    ids=["one host", "unknown", "known", "not well enough"],
)
def test_clocks_that_do_not_agree_are_said_to(ranks, said_of_clocks, tmp_path):
    # GIVEN calls of 4 ms, or of 0.4 ms, and clocks that are known to 1 ms each, or not at all
    session = job(tmp_path, *ranks)

    # WHEN
    words = clocks_apart(session.processes)
    shown = printed("summary", str(session.path), "-v")

    # THEN
    assert words.startswith(said_of_clocks)
    assert bool(words) == bool(said_of_clocks)
    assert ("see each rank's" in shown) == bool(words)
    if words and "unknown" not in said_of_clocks and said_of_clocks != UNKNOWN:
        found = raw(session)
        call_s = (found.events["end_ns"] - found.events["start_ns"]).mean() / 1e9
        assert f" and a call lasts {human_seconds(call_s)}: no time in calls is given over all" in words
