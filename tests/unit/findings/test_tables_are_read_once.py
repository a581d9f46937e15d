"""Each table of a session is read once, by commands, by all of the tab's views, and by all questions."""

from collections import Counter

import pyarrow.parquet as pq
import pytest

from tests.joint_training import MadeUpRank, joint_training
from tests.made_up_session import job_of, write_session
from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.findings.made_up_training import MS
from tfdarshan.commands import main
from tfdarshan.findings.measurement import measure, measure_leading
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.findings_view import diagnosis_for
from tfdarshan.reports.views.view_source import Source
from tfdarshan.sessions import opened_table
from tfdarshan.sessions.whole_file import open_regular
from tfdarshan.staging.advice import decide
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.question import Question


@pytest.fixture
def read(monkeypatch):
    """Count how often each row group of each table is read, whichever columns of it."""
    counts: Counter[tuple[str, int]] = Counter()
    readers = ("read", "read_row_group", "read_row_groups", "iter_batches")
    originals = {name: getattr(pq.ParquetFile, name) for name in readers}
    given = {"read_row_group": lambda group: [group], "read_row_groups": lambda groups: groups}

    def counted(name):
        def call(file, *arguments, **options):
            groups = given[name](arguments[0]) if name in given else options.get("row_groups")
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
    """Write a session of two processes, which read files of different numbers."""
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


def all_of_the_tab(session):
    source = Source(session)
    for _, view in VIEWS.values():
        view(source)
    diagnosis_for(session, files=source.read_files)


def all_of_the_advice(session):
    decide([session], Question(fast="/fast", room_bytes=1 << 40), LOCAL_SSD)


@pytest.fixture
def opened(monkeypatch):
    """Count how often each table of files is opened."""
    counts: Counter[str] = Counter()

    def counted(path):
        counts[str(path)] += path.name.endswith(".files.parquet")
        return open_regular(path)

    monkeypatch.setattr(opened_table, "open_regular", counted)
    return counts


@pytest.mark.parametrize("ask", [all_of_the_tab, all_of_the_advice, measure, measure_leading])
@pytest.mark.parametrize("count", [None, 1, 3])
def test_the_files_of_each_rank_are_opened_once(tmp_path, opened, ask, count):
    # GIVEN a session of so many ranks, or of two processes without ranks
    dealt = [[[step, step + rank] for step in range(4)] for rank in range(count or 0)]
    session = joint_training(tmp_path, list(map(MadeUpRank, dealt))) if count else ranks(tmp_path)
    opened.clear()

    # WHEN
    ask(session)

    # THEN
    # Advice asks the model of the leading rank, whose tables are read by themselves.
    more = 1 if ask in (all_of_the_tab, all_of_the_advice) and count else 0
    assert set(+opened) == set(map(str, session.path.rglob("*.files.parquet")))
    assert set((+opened).values()) <= {1, 1 + more}
    assert len(+opened) == (count or 2)
