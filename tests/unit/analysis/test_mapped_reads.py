"""What the rows of mapped files say together, and what stays unknown."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from tfdarshan.analysis.files.coverage import measure_coverage
from tfdarshan.analysis.files.file_totals import FileTotals, _Zeros
from tfdarshan.analysis.files.mapped_reads import COLUMNS, MappedReads, mapped_reads
from tfdarshan.reports.text.mapped_text import mapped_fact, mapped_lines

WATCHED = {
    "watch": "watched", "error": 0, "samples_lost": 0, "mappings_lost": 0, "mappings_left_out": 0,
    "settled": 1, "watched_ns": 10, "sampled_ns": 10, "minor_faults": 90, "major_faults": 10,
    "sampled_faults": 100,
}  # fmt: skip


def row(path="/d/a", *, faults=10, bytes_in=4096, seconds=2.0, module="MMAP"):
    return dict(
        zip(COLUMNS, (path, module, 8192, 1, 8192, faults, 1, bytes_in, seconds, seconds, 0.5), strict=True)
    )


def process(*rows, asked=True, host="n1", **block):
    meta = {"host": host, "options": {"mapped": asked}} | ({"mapping": WATCHED | block} if rows else {})
    batch = pa.RecordBatch.from_pylist(list(rows)) if rows else None
    return SimpleNamespace(meta=meta, batches=lambda table, columns: iter([batch]))


def test_files_of_several_processes_are_joined():
    # GIVEN two processes that map one file: the page cache is the machine's, the faults are each its own
    reads = mapped_reads(
        [process(row(bytes_in=4096)), process(row(bytes_in=8192), row("/d/b", module="POSIX"))]
    )

    assert (reads.files, reads.mappings, reads.bytes_in, reads.bytes_unknown) == (1, 2, 8192, 0)
    assert (reads.faults, reads.fault_s, reads.sampled_share) == (20, 4.0, 1.0)
    assert reads.notes == ()


def test_each_host_has_a_page_cache_of_its_own():
    # GIVEN two processes of one host and one of another, which map one file
    told = row(bytes_in=4096) | {"MMAP_BYTES_TOUCHED": 4096, "MMAP_BYTES_EVICTED": 100}
    reads = mapped_reads([process(told), process(told), process(told, host="n2")])

    assert (reads.files, reads.bytes_in, reads.bytes_evicted, reads.bytes_touched) == (1, 8192, 200, 3 * 4096)


def test_touched_and_evicted_bytes_are_unknown_in_tables_of_before():
    # GIVEN two processes that map one file, of which a quarter of the faults was seen
    told = row() | {"MMAP_BYTES_TOUCHED": 4096, "MMAP_BYTES_EVICTED": 8192}
    reads = mapped_reads([process(told, sampled_ns=2, sampled_faults=25)] * 2)
    before = mapped_reads([process(row())])

    # THEN each touches for itself, and the page cache is the machine's
    assert (reads.bytes_touched, reads.bytes_evicted) == (2 * 4 * 4096, 8192)
    assert (before.bytes_touched, before.bytes_evicted) == (None, None)
    said = "\n".join(mapped_lines(reads))
    assert "about 32.8 kB" in said
    assert "at least 8.2 kB" in said
    assert "at least" not in "\n".join(mapped_lines(before))


def test_what_is_not_known_is_not_zero():
    # GIVEN a refusal, and a file whose bytes nobody could tell
    reads = mapped_reads(
        [process(row(faults=-1, bytes_in=-1, seconds=-1.0), row("/d/b"), watch="no events", error=1)]
    )

    assert (reads.faults, reads.fault_s, reads.wait_s, reads.sampled_share) == (None, None, None, None)
    assert (reads.bytes_in, reads.bytes_unknown) == (4096, 1)
    assert ["perf_event_open (EPERM: Operation not permitted)" in note for note in reads.notes] == [True]
    assert mapped_fact(reads) == "2 files, at least 4.1 kB came in, time in page faults unknown"


def test_looks_at_threads_are_lower_bounds():
    # GIVEN a refusal, and threads that were looked at instead
    looked = process(row(faults=-1, seconds=3.0), watch="no events", error=1, looks=500)
    reads = mapped_reads([looked])

    assert (reads.faults, reads.fault_s, reads.at_least, reads.sampled_share) == (None, 3.0, True, None)
    [note] = reads.notes
    assert note.endswith("their time is a lower bound from 500 looks at which threads were blocked in one")
    assert "at least 3.000 s in page faults" in mapped_fact(reads)
    assert any(">= 3.000 s" in line for line in mapped_lines(reads))


def test_a_part_of_the_faults_stands_for_all():
    # GIVEN that a quarter of the process's faults happened while faults were events
    reads = mapped_reads([process(row(), sampled_ns=2, sampled_faults=25)])

    assert (reads.faults, reads.fault_s, reads.sampled_share) == (40, 8.0, 0.25)
    assert ["25.0 % were seen" in note for note in reads.notes] == [True]
    assert "about 8.000 s in page faults" in mapped_fact(reads)
    assert any("about 40" in line for line in mapped_lines(reads))


def test_events_that_were_never_on_leave_faults_unknown():
    reads = mapped_reads([process(row(faults=0, seconds=0.0), sampled_ns=0, sampled_faults=0)])

    assert reads.faults is None
    assert "time in page faults unknown" in mapped_fact(reads)
    assert ["of the page faults none were seen" in note for note in reads.notes] == [True]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"settled": 0}, "1 process ended before"),
        ({"mappings_left_out": 2}, "2 mappings of files that there was no room for"),
        ({"mappings_lost": 1}, "page faults of 1 mapping are no file's"),
        ({"samples_lost": 3}, "no room for 3 samples"),
        ({"watch": "no thread", "error": 11}, "no thread could be started to watch them (EAGAIN"),
    ],
)
def test_what_is_missing_is_said(block, said):
    notes = mapped_reads([process(row(), **block)]).notes

    assert [said in note for note in notes] == [True]


@pytest.mark.parametrize(
    ("reads", "mmaps", "mapped"),
    [
        (mapped_reads([process(asked=False)]), 3, None),  # nobody looked
        (mapped_reads([process(asked=False)]), 0, 0),
        (mapped_reads([process(asked=True)]), 0, 0),
        (MappedReads(asked=True, files=2, bytes_in=4096), 2, 4096),
        (MappedReads(asked=True, files=2, bytes_in=4096, bytes_unknown=1), 2, None),
    ],
)
def test_coverage_knows_what_came_in_through_mappings_or_says_that_it_does_not(reads, mmaps, mapped):
    kernel = {"valid": True, "rchar": 10, "wchar": 0, "read_bytes": 0, "write_bytes": 0}
    files = FileTotals(_Zeros(POSIX_MMAPS=mmaps), 0, [], [], moved=((0, 0),))

    assert measure_coverage([{"pid": 1, "kernel": kernel}], files, reads).read.mapped == mapped


@pytest.mark.parametrize(("mmaps", "mapped"), [(2, 4096), (3, None)])
def test_coverage_knows_nothing_of_mappings_that_were_left_alone(mmaps, mapped):
    # GIVEN two large mappings that were watched, and three that were made
    kernel = {"valid": True, "rchar": 10, "wchar": 0, "read_bytes": 0, "write_bytes": 0}
    meta = {"pid": 1, "kernel": kernel, "options": {"mapped": "auto"}}
    files = FileTotals(_Zeros(POSIX_MMAPS=mmaps), 0, [], [], moved=((0, 0),))
    reads = MappedReads(asked=True, files=2, mappings=2, bytes_in=4096)

    assert measure_coverage([meta], files, reads).read.mapped == mapped
