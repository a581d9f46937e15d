"""Who keeps what was read makes none of the calls of later epochs, whoever served them."""

import pytest

from tests.scenario_sessions import MB
from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.findings.told import told
from tests.unit.sentences.counters_only import without_trace
from tfdarshan.findings import fits_in_memory
from tfdarshan.findings.finding import Finding
from tfdarshan.findings.measurement import measure
from tfdarshan.units import human_bytes

FILES, COMPUTE_MS, READ_MS, OPEN_MS = 60, 1.0, 1.0, 0.5


def job(logdir, *, epochs=3, first_ms=READ_MS, size=MB, of=1):
    """Return epochs of a loop that opens and reads a file of 1 MiB for each step, and computes for 1 ms.

    Reads take as long as copying out of the page cache; those of the first epoch may be storage's. Files are
    `of` times as large as what is read.
    """
    at, steps = 0.0, []
    calls: list[tuple] = []
    for epoch in range(epochs):
        for file in range(FILES):
            read = at + OPEN_MS
            end = read + (first_ms if epoch == 0 else READ_MS)
            calls += [(at, read, LOOP, "open", file, 0), (read, end, LOOP, "read", file, size)]
            steps.append((at, end + COMPUTE_MS, end - at))
            at = end + COMPUTE_MS
    return training(
        logdir, calls, steps, paths=[f"/data/{n}" for n in range(FILES)], sizes=[of * size] * FILES,
        meta={"machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 0.1}},
    )  # fmt: skip


def kept(session):
    return told(session, fits_in_memory)


def test_what_the_page_cache_serves_again_and_again_is_kept(tmp_path):
    # GIVEN three epochs of 1.5 ms of calls a step and 1 ms of compute, all of it from the page cache
    one = kept(job(tmp_path))

    # THEN two of three passes are spared, opens as well, but for what a batch takes to be handed over
    assert one.gain.saved_s == pytest.approx(1.5e-3 * 2 / 3, rel=0.2)
    assert one.title == "input that fits in memory is read 3.0 times"


def test_of_files_that_storage_served_first_later_copies_are_spared(tmp_path):
    # GIVEN a first epoch of 20 ms a read, and later ones from the page cache
    one = kept(job(tmp_path, first_ms=20.0))

    # THEN these are spared, and the first epoch is not
    assert one.gain.saved_s == pytest.approx(1.5e-3 * 2 / 3, rel=0.05)


def test_a_part_that_is_read_again_is_counted_by_itself(tmp_path):
    # GIVEN three epochs that read the first half of each file
    one = kept(job(tmp_path, of=2))

    # THEN
    assert one.title == "input that fits in memory is read 3.0 times"
    assert one.what.startswith(f"The job reads its {human_bytes(FILES * MB)} of input 3.0 times, ")
    assert one.gain.saved_s == pytest.approx(1.5e-3 * 2 / 3, rel=0.2)


def test_without_a_trace_it_is_not_known_which_part_is_read_again(tmp_path):
    # GIVEN the counters of these epochs alone
    one = fits_in_memory.find(measure(without_trace(job(tmp_path, of=2))))

    # THEN
    assert isinstance(one, Finding)
    assert one.title == "input that fits in memory is read at least 1.5 times"
    assert "of input at least 1.5 times, " in one.what


def test_one_epoch_has_nothing_to_keep(tmp_path):
    assert kept(job(tmp_path, epochs=1)) is None
