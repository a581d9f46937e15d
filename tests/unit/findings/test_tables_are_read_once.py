"""`tfdarshan summary` and `tfdarshan findings` read each table of a session once."""

from collections import Counter

import pyarrow.parquet as pq
import pytest

from tests.made_up_session import job_of, write_session
from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.findings.made_up_training import MS
from tfdarshan.commands import main


@pytest.fixture
def read(monkeypatch):
    """Counts how often each row group of each table is read, whichever columns of it."""
    counts: Counter[tuple[str, int]] = Counter()
    originals = {name: getattr(pq.ParquetFile, name) for name in ("read", "read_row_group", "iter_batches")}

    def counted(name):
        def call(file, *arguments, **options):
            groups = options.get("row_groups", arguments[:1] if name == "read_row_group" else None)
            for group in range(file.metadata.num_row_groups) if groups is None else groups:
                counts[tables[file.metadata.serialized_size, file.metadata.num_rows], group] += 1
            return originals[name](file, *arguments, **options)

        return call

    tables = {}
    for name in originals:
        monkeypatch.setattr(pq.ParquetFile, name, counted(name))

    def count(session, *words):
        for path in session.path.glob("*.parquet"):
            metadata = pq.read_metadata(path)
            tables[metadata.serialized_size, metadata.num_rows] = path.name
        assert len(tables) == len(list(session.path.glob("*.parquet")))
        counts.clear()
        assert main([*words]) == 0
        return dict(counts)

    return count


def ranks(logdir):
    """Writes a session of two processes, which read files of different numbers."""
    jobs = []
    for rank in range(2):
        calls = [
            (n * 10 * MS, (n * 10 + 5) * MS, 100 + rank, "pread", n % (3 + rank), 1000)
            for n in range(20 + rank)
        ]
        paths = [f"/data/{rank}/{number:03}" for number in range(3 + rank)]
        jobs.append(job_of(calls, paths, [1000] * len(paths), pid=100 + rank))
    return write_session(logdir, *jobs)


@pytest.mark.parametrize("verb", ["summary", "findings"])
@pytest.mark.parametrize("make", [ranks, lambda logdir: sketched(logdir, SKETCHES["one reader"])])
def test_each_table_is_read_once(tmp_path, capsys, read, verb, make):
    # GIVEN a session of two processes, and one with steps
    session = make(tmp_path)

    # WHEN
    found = read(session, verb, str(session.path))

    # THEN the tables of files and events were read, none twice
    assert {name.split(".")[-2] for name, _ in found} >= {"files", "events"}
    assert set(found.values()) == {1}
