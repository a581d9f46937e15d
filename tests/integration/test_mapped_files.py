"""Reads through mapped files: page faults against known ones, bytes against the kernel's, refusals said."""

import contextlib
import json
import mmap
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import tfdarshan
from tests.integration.mapped.touched_files import ALL, must_be_seen
from tfdarshan.analysis.calls.file_names import FileNames
from tfdarshan.analysis.calls.segments import load_segments
from tfdarshan.analysis.calls.some_segments import load_window
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.formats.export.chrome_trace import export_chrome_trace
from tfdarshan.formats.export.flat_tables import export_tables
from tfdarshan.reports.figures.single_calls import calls_figure

STRIDE = 4 << 20  # beyond what one fault maps
TOUCHES = 48


def mapped_row(session, path):
    """Return the files table's row of a mapped file, if its faults can be seen here."""
    reads = summarize(session.session).mapped
    if reads.faults is None:
        must_be_seen(reads.notes)
    files = session.files
    return files[(files["module"] == "MMAP") & (files["path"] == str(path))].iloc[0], reads


@pytest.fixture(autouse=True)
def every_fault(monkeypatch):
    """Have each fault seen, whatever that costs: counts are exact then."""
    for name, value in ALL.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def sparse(tmp_path):
    """A file of zeros that takes no room."""
    path = tmp_path / "sparse.bin"
    with path.open("wb") as file:
        file.truncate(STRIDE * TOUCHES)
    return path


def touch(mapped):
    return sum(mapped[at] for at in range(0, STRIDE * TOUCHES, STRIDE))


def test_each_fault_on_a_mapping_is_counted(sparse, tmp_path):
    # GIVEN / WHEN pages that lie far apart are touched, dropped and touched again
    with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
        with sparse.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            touch(mapped)
            mapped.madvise(mmap.MADV_DONTNEED)
            touch(mapped)

    # THEN each was a fault, and there are as many as that
    row, reads = mapped_row(session, sparse)
    assert reads.sampled_share == 1
    assert row["MMAP_MAPPINGS"] == 1
    assert row["MMAP_BYTES_MAPPED"] == STRIDE * TOUCHES
    assert row["MMAP_FAULTS"] == 2 * TOUCHES
    assert row["MMAP_BYTES_TOUCHED"] == 2 * TOUCHES * mmap.PAGESIZE
    assert 0 < row["MMAP_F_FAULT_TIME"] <= row["MMAP_F_WAIT_TIME"] < summarize(session.session).duration_s


def faults_of(session, path):
    """Return the page faults of a file in the events table, in order."""
    events = session.events
    return events[(events["operation"] == "fault") & (events["path"] == str(path))]


def test_each_fault_is_an_event_with_its_file_offset_and_thread(sparse, tmp_path):
    # GIVEN two mappings, of which one begins within the file / WHEN
    with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
        with sparse.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            touch(mapped)
            with mmap.mmap(file.fileno(), STRIDE, prot=mmap.PROT_READ, offset=2 * STRIDE) as part:
                reader = threading.Thread(target=part.__getitem__, args=(STRIDE - 1,))
                reader.start()
                reader.join()

    # THEN each is a row of the events table, and the totals of the file are theirs
    row, reads = mapped_row(session, sparse)
    assert reads.sampled_share == 1
    faults = faults_of(session, sparse)
    own = faults[faults["tid"] == os.getpid()]
    assert own["offset"].tolist() == [place * STRIDE for place in range(TOUCHES)]
    (other,) = faults[faults["tid"] != os.getpid()].to_dict("records")
    assert other["offset"] == 3 * STRIDE - mmap.PAGESIZE
    assert set(faults["module"]) == {"MMAP"}
    assert ((faults["flags"] & 32) > 0).sum() == row["MMAP_MAJOR_FAULTS"]
    took_s = (faults["end_ns"] - faults["start_ns"]).sum() / 1e9
    assert took_s == pytest.approx(row["MMAP_F_WAIT_TIME"])
    assert session.events["start_ns"].is_monotonic_increasing

    # and no count of calls has them
    summary = summarize(session.session)
    assert summary.calls == (session.events["module"] != "MMAP").sum()
    assert len(load_segments(session.session.processes, [np.zeros(9, int)])) == summary.calls


def test_exports_and_timeline_have_the_faults_beside_the_calls(sparse, tmp_path):
    with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
        touch(np.memmap(sparse, np.uint8, "r"))
    mapped_row(session, sparse)
    faults = len(faults_of(session, sparse))

    names = FileNames()
    window, _ = load_window(session.session.processes, (0, 1 << 62), names)
    shown = calls_figure(window, names, [thread.label for thread in window.threads])
    trace = export_chrome_trace(session.session, tmp_path / "trace.json")
    export_tables(session.session, tmp_path / "tables", "csv")

    assert faults > 0
    assert {drawn["name"]: len(drawn["x"]) for drawn in shown["data"]}["page fault"] == faults
    assert (trace.faults, trace.calls) == (faults, summarize(session.session).calls)
    told = [
        event
        for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        if event["name"] == "fault"
    ]
    assert [event["args"]["offset"] for event in told] == faults_of(session, sparse)["offset"].tolist()
    assert (tmp_path / "tables" / "events.csv").read_text().count('"fault"') == faults


def test_without_a_trace_no_fault_is_kept_and_the_totals_are(sparse, tmp_path):
    with tfdarshan.profile(tmp_path / "logs", mapped=True, trace=False) as session:
        touch(np.memmap(sparse, np.uint8, "r"))
    row, _ = mapped_row(session, sparse)

    assert len(session.events) == 0
    block = session.session.meta[0]["mapping"]
    assert block["faults_kept"] == 0
    assert block["faults_left_out"] == row["MMAP_FAULTS"] > 0


def test_faults_beyond_the_room_of_the_trace_are_counted(sparse, tmp_path):
    # GIVEN room for 4 blocks of 1,638 faults, half of it for quick ones / WHEN more are made
    with tfdarshan.profile(tmp_path / "logs", mapped=True, trace_memory_mb=1) as session:
        with sparse.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            for _ in range(200):
                touch(mapped)
                mapped.madvise(mmap.MADV_DONTNEED)

    # THEN each is in one of both counts
    row, _ = mapped_row(session, sparse)
    block = session.session.meta[0]["mapping"]
    assert block["faults_kept"] <= 4 * 1638
    assert block["faults_kept"] == len(faults_of(session, sparse)) > 0
    assert block["faults_kept"] + block["faults_left_out"] == row["MMAP_FAULTS"]
    notes = [note for note in summarize(session.session).mapped.notes if "found no room in the trace" in note]
    assert len(notes) == (block["faults_left_out"] > 0)


def test_a_mapping_of_before_is_found(sparse, tmp_path):
    # GIVEN a file that is mapped before anything is recorded, as NumPy does
    mapped = np.memmap(sparse, np.uint8, "r")

    # WHEN
    with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
        touch(mapped)

    # THEN
    row, reads = mapped_row(session, sparse)
    assert reads.sampled_share == 1
    assert row["MMAP_FAULTS"] == TOUCHES
    del mapped


def cached_bytes(path):
    """Return what of a file is in the page cache, by mincore in another process."""
    script = """
        import ctypes, mmap, os, sys
        size = os.path.getsize(sys.argv[1])
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
        fd = os.open(sys.argv[1], os.O_RDONLY)
        pages = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
        libc.mincore(libc.mmap(None, size, 1, 1, fd, 0), size, pages)
        print(sum(byte & 1 for byte in pages.raw) * mmap.PAGESIZE)
    """
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), path], capture_output=True, text=True, check=True
    )
    return int(told.stdout)


def test_bytes_in_are_the_growth_of_the_page_cache(tmp_path):
    # GIVEN a NumPy file that the page cache has no more
    path = tmp_path / "array.npy"
    np.save(path, np.arange(1 << 20, dtype=np.float64))
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if cached_bytes(path):
        pytest.skip("this file system keeps its pages in memory")

    # WHEN half of it is read through a mapping
    with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
        mapped = np.load(path, mmap_mode="r")
        before = cached_bytes(path)
        mapped[: 1 << 19].sum()
        del mapped

    # THEN what came in is what the kernel has more now, and what it had to evict meanwhile
    row, _ = mapped_row(session, path)
    if row["MMAP_BYTES_IN"] < 0:
        pytest.skip("this kernel has no cachestat")
    grown = cached_bytes(path) - before
    assert grown >= 4 << 20
    assert row["MMAP_BYTES_IN"] - row["MMAP_BYTES_EVICTED"] == grown
    assert summarize(session.session).coverage.read.mapped >= grown


def test_what_is_touched_in_order_is_nearly_all_of_it(sparse, tmp_path):
    # GIVEN 4 MiB in two places of a file, by turns, page by page
    with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
        one, other = (np.memmap(sparse, np.uint8, "r", offset=place * STRIDE) for place in (0, 2))
        for at in range(0, STRIDE, mmap.PAGESIZE):
            assert one[at] == other[at]
        del one, other

    # THEN a fault stands for the 16 pages that it may have mapped, but for the first in each place
    row, _ = mapped_row(session, sparse)
    firsts = row["MMAP_FAULTS"] - (row["MMAP_BYTES_TOUCHED"] // mmap.PAGESIZE - 2) // 16
    assert firsts == 2
    assert row["MMAP_BYTES_TOUCHED"] >= 2 * (STRIDE - 15 * mmap.PAGESIZE)


def test_bytes_that_leave_the_page_cache_are_told(tmp_path):
    # GIVEN a file that is in the page cache, and mapped without being touched
    path = tmp_path / "array.bin"
    path.write_bytes(bytes(8 << 20))
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        before = cached_bytes(path)
        with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
            mapped = np.memmap(path, np.uint8, "r")
            # WHEN it is evicted
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            del mapped
    left = before - cached_bytes(path)
    if not left:
        pytest.skip("this file system keeps its pages in memory")

    # THEN
    row, reads = mapped_row(session, path)
    if row["MMAP_BYTES_IN"] < 0:
        pytest.skip("this kernel has no cachestat")
    assert (row["MMAP_BYTES_EVICTED"], reads.bytes_evicted) == (left, left)


def test_what_watches_has_no_descriptor_of_the_programs(sparse, tmp_path):
    with tfdarshan.profile(tmp_path / "logs", mapped=True):
        with sparse.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            before = sorted(os.listdir("/proc/self/fd"))
            with mmap.mmap(file.fileno(), STRIDE, prot=mmap.PROT_READ) as second:
                touch(mapped)
                during = sorted(os.listdir("/proc/self/fd"))
                assert second[0] == 0
    # only the mmap object's own
    assert len(during) == len(before) + 1
    assert not any("tfd-mapping" in name for name in _thread_names())


def _thread_names():
    names = []
    for comm in Path("/proc/self/task").glob("*/comm"):
        with contextlib.suppress(OSError):  # it ended just now
            names.append(comm.read_text().strip())
    return names


def test_emulated_storage_does_not_slow_mapped_reads_and_says_so(sparse, tmp_path):
    with tfdarshan.profile(tmp_path / "logs", mapped=True, as_if="hdd") as session:
        mapped = np.memmap(sparse, np.uint8, "r")
        assert touch(mapped) == 0
        del mapped
    bounds = summarize(session.session).bounds
    assert [bound for bound in bounds if "did not slow reads through mappings" in bound]


def test_nothing_watches_if_it_is_told_not_to(sparse, tmp_path):
    # WHEN
    with tfdarshan.profile(tmp_path / "logs", mapped=False) as session:
        with sparse.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            touch(mapped)
            names = _thread_names()

    # THEN no thread was added, and what came in is unknown
    assert "tfd-mapping" not in names
    summary = summarize(session.session)
    assert (summary.mmaps, summary.mapped.files, summary.mapped.asked) == (1, 0, False)
    assert summary.coverage.read.mapped is None
    assert "MMAP" not in set(session.files["module"])


def in_child(of, path):
    """Have a forked child map a file and read it, and then do `of()`; return its metadata and its row."""
    with tfdarshan.profile(path.parent / "logs", mapped=True) as session:
        child = os.fork()
        if child == 0:
            touch(np.memmap(path, np.uint8, "r"))
            of()
        os.waitpid(child, 0)
    files = session.files
    [meta] = [meta for meta in session.session.meta if meta["pid"] == child]
    # What earlier tests left mapped is the child's, too.
    chosen = (files["module"] == "MMAP") & (files["pid"] == child) & (files["path"] == str(path))
    [row] = files[chosen].to_dict("records")
    return meta["mapping"], row, summarize(session.session).mapped


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_worker_that_exits_at_once_is_looked_at_before(sparse):
    # GIVEN a child that ends as those of multiprocessing do / WHEN
    mapping, row, reads = in_child(lambda: os._exit(0), sparse)

    # THEN all is known that could be seen here
    assert mapping["settled"] == 1
    assert not any("the last look" in note for note in reads.notes)
    if mapping["watch"] == "watched":
        assert row["MMAP_FAULTS"] > 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_bytes_of_a_killed_worker_are_unknown(sparse):
    mapping, row, reads = in_child(lambda: os.kill(os.getpid(), signal.SIGKILL), sparse)

    assert mapping["settled"] == 0
    assert (row["MMAP_BYTES_IN"], row["MMAP_BYTES_EVICTED"]) == (-1, -1)
    assert reads.bytes_unknown > 0
    assert any("the last look" in note for note in reads.notes)


def test_a_started_program_is_watched_too(sparse, tmp_path):
    read = "import sys, numpy as np; print(np.memmap(sys.argv[1], np.uint8, 'r')[0])"
    with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
        subprocess.run([sys.executable, "-c", read, sparse], check=True, capture_output=True)

    mapped = [meta for meta in session.session.meta if "mapping" in meta]
    assert [meta["pid"] for meta in mapped] != [os.getpid()]
    files = session.files
    [row] = files[(files["module"] == "MMAP") & (files["path"] == str(sparse))].to_dict("records")
    assert row["pid"] != os.getpid()
    assert row["MMAP_MAPPINGS"] == 1


def test_nothing_of_tfdarshan_s_own_is_among_mapped_files(sparse, tmp_path):
    # GIVEN the page that the processes of a job share, which the first session maps
    with tfdarshan.profile(tmp_path / "before"):
        pass
    with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
        touch(np.memmap(sparse, np.uint8, "r"))

    mapped = session.files[session.files["module"] == "MMAP"]["path"].astype(str)
    assert str(sparse) in set(mapped)
    assert not any("tfdarshan-job" in path for path in mapped)


def test_faults_of_several_processes_are_each_one_s_own(sparse, tmp_path):
    # GIVEN a file that a job and a program that it starts both map / WHEN
    read = "import sys, numpy as np; print(sum(np.memmap(sys.argv[1], np.uint8, 'r')[:: int(sys.argv[2])]))"
    with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
        touch(np.memmap(sparse, np.uint8, "r"))
        subprocess.run([sys.executable, "-c", read, sparse, str(STRIDE)], check=True, capture_output=True)
    _, reads = mapped_row(session, sparse)
    assert reads.sampled_share == 1

    # THEN its faults are told apart by process, in one order of time
    faults = faults_of(session, sparse)
    counts = faults.groupby("pid").size().to_dict()
    rows = session.files[(session.files["module"] == "MMAP") & (session.files["path"] == str(sparse))]
    assert counts == dict(zip(rows["pid"], rows["MMAP_FAULTS"], strict=True))
    assert len(counts) == 2
    assert min(counts.values()) >= TOUCHES
    assert faults["start_ns"].is_monotonic_increasing
