"""Which reads storage served: by the time of passes, and by the kernel's figure where that counts."""

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.storage.file_costs import FileCosts
from tfdarshan.analysis.storage.storage_passes import storage_passes
from tfdarshan.analysis.storage.storage_share import fetched_in_steps
from tfdarshan.findings import fits_in_memory
from tfdarshan.findings.finding import Finding
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.replayed import gain_of
from tfdarshan.native.input_sums import InputCalls

KB, MB = 1_000, 1_000_000


def passes(calls, sizes, block):
    """Add (start, end, thread, kind, file, length), so many at a time; return bytes from storage by file."""
    sums = storage_passes(np.array(sizes))
    for first in range(0, len(calls), block):
        start, end, thread, kind, file, length = (
            np.array(column) for column in zip(*calls[first : first + block], strict=True)
        )
        times = (start * MB).astype(np.int64), (end * MB).astype(np.int64)
        kinds = np.array([KIND[name] for name in kind], np.uint8)
        sums.add(InputCalls(*times, length=length, file=file, thread=thread, kind=kinds))
    sums.end()
    return sums.stored_bytes.tolist()


def some_calls():
    """Two threads read two files in pieces; the second pass over each is from memory."""
    calls, at = [], 0.0
    for again in range(2):
        for file in range(2):
            calls.append((at, at + 0.01, file, "open", file, 0))
            for part in range(10):
                taken = 8.0 if part % 5 == 0 and not again else 0.002
                calls.append((at + 1, at + 1 + taken, file, "read", file, 10 * KB))
                at += 10
            calls.append((at, at + 0.01, file, "close", file, 0))
    return calls


@pytest.mark.parametrize("block", [1, 3, 7, 1000])
def test_a_pass_is_judged_as_a_whole_whatever_the_blocks_it_comes_in(block):
    assert passes(some_calls(), [100 * KB] * 2, block) == [100 * KB] * 2


@pytest.mark.parametrize("block", [1, 5, 1000])
def test_of_a_file_that_stays_open_each_reading_is_a_pass(block):
    # GIVEN a file of 100 kB opened once and read three times, from storage first
    calls = [(0.0, 0.01, 1, "open", 0, 0)]
    for number in range(30):
        at = 10.0 * (number + 1)
        calls.append((at, at + (8.0 if number < 10 else 0.002), 1, "read", 0, 10 * KB))

    assert passes(calls, [100 * KB], block) == [100 * KB]
    # without a size nothing tells one reading from the next
    assert passes(calls, [-1], block) == [300 * KB]


def pages(slow, *, slow_ms, quick_ms=0.01, count=1_000):
    """Return a pass of small reads, some of which take longer, with equal gaps between them."""
    calls = [(0.0, 0.01, 1, "open", 0, 0)]
    for number in range(count):
        waits = number % (count // slow) == 0 and number // (count // slow) < slow if slow else False
        at = 10.0 * (number + 1)
        calls.append((at, at + (slow_ms if waits else quick_ms), 1, "read", 0, 4 * KB))
    return calls


@pytest.mark.parametrize(
    ("slow", "slow_ms", "quick_ms", "stored"),
    [
        (20, 2.0, 0.01, True),
        (0, 0.0, 0.01, False),
        (15, 2.0, 0.01, False),
        (20, 0.3, 0.01, False),
        (20, 2.0, 0.05, False),
    ],
    ids=["read ahead", "memory", "a few that waited", "half of the time", "less than the others take"],
)
def test_of_many_small_reads_those_that_waited_say_whether_storage_served_them(
    slow, slow_ms, quick_ms, stored
):
    # GIVEN 4 MB in reads of 4 kB, which take less than 100 us by the mean
    calls = pages(slow, slow_ms=slow_ms, quick_ms=quick_ms)

    assert passes(calls, [4_000 * KB], 64) == [4_000 * KB if stored else 0]


def test_reads_that_waited_for_a_processor_bring_too_little():
    # GIVEN 40 MB in reads of 4 kB, 20 of which wait 10 ms for a processor: no read brings 2 MB
    calls = pages(20, slow_ms=10.0, count=10_000)

    assert passes(calls, [40_000 * KB], 1_000) == [0]


def costs(read, slow):
    """Return the costs of files of which so many bytes were read, a byte a nanosecond, and so many slowly."""
    read, slow = np.array(read, float), np.array(slow, float)
    zeros = np.zeros(len(read))
    return FileCosts(zeros, zeros + 1, read, read / 1e9, zeros, zeros, slow / 1e9, slow, zeros)


@pytest.mark.parametrize(
    ("stored", "served"),
    [(None, [100, 0, 50]), (0, [0, 0, 0]), (75, [50, 0, 25]), (225, [100, 50, 75]), (10_000, [100] * 3)],
)
def test_the_kernel_knows_how_much_storage_served(stored, served):
    # GIVEN 300 bytes read, of which 150 seem to come from storage, or as many as the kernel says
    found = costs([100, 100, 100], [100, 0, 50]).fetched(stored, np.full(3, 100))

    assert found.slow_bytes.tolist() == pytest.approx(served)
    assert (found.slow_s * 1e9).tolist() == pytest.approx(served)
    assert found.storage_share == pytest.approx(sum(served) / 300)


@pytest.mark.parametrize(
    ("stored", "served"), [(150, [100, 50]), (200, [100, 100]), (500, [250, 250]), (10_000, [400, 400])]
)
def test_memory_has_nothing_of_a_file_before_storage_served_it_once(stored, served):
    # GIVEN two files of 100 bytes read four times over: one pass over the first seems to be storage's
    found = costs([400, 400], [100, 0]).fetched(stored, np.full(2, 100))

    # THEN what the kernel fetched beyond that is the other's first pass, and only then any later one's
    assert found.slow_bytes.tolist() == pytest.approx(served)


def test_memory_served_the_quick_reads_of_what_the_kernel_did_not_fetch():
    # GIVEN passes of 1,000 bytes in 110 ns, 100 ns of which 200 bytes took, though 500 bytes were fetched
    seen = costs([1_000], [1_000])
    seen = dataclasses.replace(
        seen, slow_s=np.array([110e-9]), slow_read_s=np.array([100e-9]), slow_read_bytes=np.array([200.0])
    )

    # THEN the slow reads are all storage's, and of the others the rest of the bytes
    found = seen.fetched(500, np.full(1, 1_000))
    assert found.slow_bytes.tolist() == pytest.approx([500])
    assert (found.slow_s * 1e9).tolist() == pytest.approx([100 + 10 * 300 / 800])
    # ... while of slow reads that moved more than was fetched a part was slow for another reason
    found = seen.fetched(50, np.full(1, 1_000))
    assert found.slow_bytes.tolist() == pytest.approx([50])
    assert (found.slow_s * 1e9).tolist() == pytest.approx([100 * 50 / 200])


@pytest.mark.parametrize(
    ("program", "keeps", "served"),
    [(0, True, 250), (100, True, 150), (100, False, 150), (300, True, 100), (300, False, 120)],
    ids=["none", "some", "some, no room", "all of it may be", "all of it may be, no room"],
)
def test_what_the_kernel_fetched_may_be_the_programs(program, keeps, served):
    # GIVEN a file of 100 bytes read four times over, 120 of which seem to be storage's, and 250 that the
    # kernel fetched for it and for modules
    seen = costs([400], [120])

    found = seen.fetched(250, np.full(1, 100), program, memory_keeps=keeps)

    # THEN as many as only the file can have are its own, at the least, else one pass where memory keeps it
    assert found.slow_bytes.tolist() == pytest.approx([served])


def test_what_the_kernel_fetched_took_the_reads_that_are_slower_than_memory(tmp_path):
    # GIVEN a loop that reads a file twice in 1,000 pieces, ahead of which the kernel reads: of the first pass
    # each 32nd waits 2.5 ms, so that they take less than 100 us each
    calls, at, piece = [], 0.0, 4 * KB
    for number in range(2_000):
        taken = 2.5 if number < 1_000 and number % 32 == 0 else 0.003
        calls.append((at, at + taken, LOOP, "pread", 0, piece))
        at += taken + 0.001
    kernel = {"rchar": 2_000 * piece, "read_bytes": 1_000 * piece}
    meta = {"machine": {"cpus": 8, "memory_bytes": 16_000_000_000, "cpu_s": 0.01}}
    sizes = [1_000 * piece]
    session = training(tmp_path, calls, paths=["/home/a"], sizes=sizes, kernel=kernel, meta=meta)

    found = measure(session)

    # THEN storage served the first pass, and nearly all of the time is that one's
    assert found.costs.storage_share == pytest.approx(0.5)
    first_s, later_s = 32 * 2.5e-3 + 968 * 3e-6, 1_000 * 3e-6
    assert found.costs.slow_s.sum() == pytest.approx(first_s, rel=0.03)
    # ... so to keep the file in memory spares no more than the later one took
    kept = fits_in_memory.find(found)
    assert isinstance(kept, Finding)
    gain = gain_of(found.job, kept.edits, found)
    assert gain.low_s <= later_s
    # ... by the reads that waited, for the mean of all is as short as memory takes
    alone = found.figures.pipeline.costs
    assert alone.slow_bytes.sum() == 1_000 * piece
    assert alone.slow_read_s is not None
    assert alone.slow_read_s.sum() == pytest.approx(32 * 2.5e-3)


@pytest.mark.parametrize(("path", "share"), [("/home/a", 0.0), ("/data/a", 1.0)])
def test_the_kernels_figure_counts_on_block_devices(tmp_path, path, share):
    # GIVEN slow reads, and a kernel that fetched nothing from the disk; it does not count what a server sends
    calls = [(20 * n, 20 * n + 20, 1, "pread", 0, MB) for n in range(20)]
    kernel = {"rchar": 20 * MB, "read_bytes": 0}
    session = training(tmp_path, calls, paths=[path], sizes=[20 * MB], kernel=kernel)

    figures = measure(session).figures

    assert figures.costs.storage_share == share
    assert (figures.stored_bytes is None) == (share == 1.0)


def test_emulated_storage_serves_what_the_page_cache_holds(tmp_path):
    calls = [(20 * n, 20 * n + 20, 1, "pread", 0, MB) for n in range(20)]
    meta = {"options": {"as_if": "hdd", "as_if_paths": ["/home/"]}}
    kernel = {"rchar": 20 * MB, "read_bytes": 0}
    session = training(tmp_path, calls, paths=["/home/a"], sizes=[20 * MB], kernel=kernel, meta=meta)

    assert measure(session).costs.storage_share == 1.0


def test_what_a_file_takes_is_the_time_of_all_threads_that_read_it(tmp_path):
    # GIVEN four threads that read one file at the same time, 10 ms each: the file itself is read for 100 ms
    calls = [(10 * n, 10 * n + 10, 1 + t, "pread", 0, MB) for n in range(10) for t in range(4)]
    found = measure(training(tmp_path, calls, sizes=[400 * MB]))

    assert found.costs.read_s.sum() == pytest.approx(0.4)
    assert dataclasses.asdict(found.figures.pipeline.readers)["readers"] == pytest.approx(4)


def test_pages_of_libraries_are_no_input():
    # GIVEN 32 steps that read 1 MB each, of which the first 8 fetch it, and one of these a library of 30 MB
    fetched = np.where(np.arange(32) < 8, 1_500_000, 0)
    fetched[3] += 30_000_000
    steps = {"rchar": np.full(32, 1_000_000), "read_bytes": fetched}

    # THEN the kernel fetched as much input as these 8 steps read, in pages half as large again as the input
    assert fetched_in_steps(steps, 1.5) == 8_000_000
    # ... and it is not known if a step does not say
    fetched[31] = -1
    assert fetched_in_steps(steps, 1.5) is None
    assert fetched_in_steps({name: values[:0] for name, values in steps.items()}, 1.5) is None
