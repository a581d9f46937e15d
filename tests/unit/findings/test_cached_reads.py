"""What the page cache served, by step and by epoch."""

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.analysis.cached_reads import cached_by_epoch, cached_by_step
from tfdarshan.analysis.file_table import load_files
from tfdarshan.analysis.segments import load_segments
from tfdarshan.analysis.step_windows import step_windows
from tfdarshan.sessions.step_table import step_marks

PATHS = ["/data/a", "/data/b"]


def loaded(tmp_path):
    """Two epochs over two files of 1 MB, one a step: 20 ms from storage first, then 1 ms from memory."""
    calls = [(100 * n, 100 * n + (20 if n < 2 else 1), 1, "pread", n % 2, 1_000_000) for n in range(4)]
    session = training(tmp_path, calls, epochs_of_steps(4, 100, 10), paths=PATHS, sizes=[1_000_000] * 2)
    files = load_files(session.processes)
    return session, files, load_segments(session.processes, files.index)


def test_each_step_says_what_came_from_memory(tmp_path):
    session, files, segments = loaded(tmp_path)

    table = cached_by_step(segments, files, step_windows(step_marks(session.processes)))

    assert table["bytes"].tolist() == [1_000_000] * 4
    assert table["cached_bytes"].tolist() == [0, 0, 1_000_000, 1_000_000]
    assert table["thread_s"].round(6).tolist() == [0.02, 0.02, 0.001, 0.001]


def test_each_epoch_says_what_came_from_memory(tmp_path):
    _, files, segments = loaded(tmp_path)

    table = cached_by_epoch(segments, files)

    assert table.index.tolist() == [1, 2]
    assert table["reads"].tolist() == [2, 2]
    assert table["cached_bytes"].tolist() == [0, 2_000_000]
    assert table["cached_thread_s"].round(6).tolist() == [0.0, 0.002]


def test_an_epoch_of_many_small_reads_is_storages_by_those_that_waited(tmp_path):
    # GIVEN a file of 4 MB that is read twice page after page, of which every 50th page waits 2 ms at first
    calls, at = [], 0.0
    for number in range(2_000):
        taken = 2.0 if number < 1_000 and number % 50 == 0 else 0.01
        calls.append((at, at + taken, 1, "pread", 0, 4_000))
        at += taken + 0.01
    session = training(tmp_path, calls, epochs_of_steps(4, at / 4, 1), paths=PATHS[:1], sizes=[4_000_000])
    files = load_files(session.processes)

    table = cached_by_epoch(load_segments(session.processes, files.index), files)

    assert table["cached_bytes"].tolist() == [0, 4_000_000]
