"""Reading sessions: sums over modules, processes and sessions, and which passes storage served."""

import os

import numpy as np
import pyarrow as pa
import pytest

import tfdarshan
from tests.synthetic_session import SyntheticRun, write_session
from tfdarshan.analysis.storage.storage_share import fetched_bytes
from tfdarshan.session import open_session
from tfdarshan.staging.candidate import find_candidates
from tfdarshan.staging.run_facts import measured_runs, put_together, read_run, run_facts

RUN = SyntheticRun(duration_s=10, io_s=4, thread_s=8, readers=2)


def session(folder, run, paths, **counters):
    return open_session(
        write_session(
            folder,
            run,
            len(paths),
            lambda first, last: paths[first:last],
            lambda first, last: {name: np.asarray(values)[first:last] for name, values in counters.items()},
        )
    )


def read_file_use(sessions):
    return read_run(sessions)[0]


def by_path(use):
    return {path: row for row, path in enumerate(use.paths.to_pylist())}


def test_two_sessions_of_the_same_files_add_up(tmp_path):
    # GIVEN
    first = session(
        tmp_path / "1", RUN, ["/data/a", "/data/b"], size_bytes=[10, 20], POSIX_OPENS=[1, 2],
        POSIX_READS=[2, 4], POSIX_BYTES_READ=[10, 40], POSIX_F_READ_TIME=[0.5, 1.0],
        POSIX_F_OPEN_START_TIMESTAMP=[3, 4], POSIX_F_READ_END_TIMESTAMP=[5, 6],
    )  # fmt: skip
    second = session(
        tmp_path / "2", RUN, ["/data/b", "/data/c"], size_bytes=[20, 30], POSIX_OPENS=[3, 1],
        POSIX_BYTES_READ=[60, 30], POSIX_BYTES_WRITTEN=[0, 7], POSIX_F_READ_TIME=[2.0, 1.0],
        POSIX_F_OPEN_START_TIMESTAMP=[1, 2], POSIX_F_READ_END_TIMESTAMP=[9, 3],
    )  # fmt: skip

    # WHEN
    use = read_file_use([first, second])

    # THEN
    b = by_path(use)["/data/b"]
    assert sum(use.is_used) == 3
    assert (use.opens[b], use.bytes_read[b], use.size_bytes[b], use.read_s[b]) == (5, 100, 20, 3.0)
    assert use.bytes_written[by_path(use)["/data/c"]] == 7


def test_a_file_read_by_both_modules_is_one_file(tmp_path):
    # GIVEN NumPy's way: the descriptor's stream is another record of the same file
    found = session(
        tmp_path, RUN, ["/data/a"], size_bytes=[10], POSIX_OPENS=[2], POSIX_FILENOS=[1], STDIO_OPENS=[1],
        STDIO_FDOPENS=[1], POSIX_BYTES_READ=[4], STDIO_BYTES_READ=[6], POSIX_F_READ_TIME=[1],
        STDIO_F_READ_TIME=[2],
    )  # fmt: skip

    use = read_file_use([found])

    a = by_path(use)["/data/a"]
    assert (use.opens[a], use.bytes_read[a], use.read_s[a]) == (1, 10, 3)


def test_passes_are_told_apart_by_their_time(tmp_path):
    # GIVEN a file of 1 MB read three times: 20 ms from storage, then twice 0.2 ms from memory
    events = []
    for start, took in ((1.0, 20e-3), (2.0, 2e-4), (3.0, 2e-4)):
        events.append((1, "open", 2, 0, start, start + 1e-5))
        events.append((1, "pread", 2, 1_000_000, start + 1e-4, start + 1e-4 + took))
    run = SyntheticRun(duration_s=10, io_s=1, thread_s=1, events=events)
    found = session(
        tmp_path, run, ["/data/a"], size_bytes=[1_000_000], POSIX_OPENS=[3], POSIX_READS=[3],
        POSIX_BYTES_READ=[3_000_000], POSIX_F_READ_TIME=[20.4e-3],
    )  # fmt: skip

    # WHEN
    use = read_file_use([found])

    # THEN
    a = by_path(use)["/data/a"]
    assert use.storage_bytes[a] == pytest.approx(1_000_000)
    assert use.storage_s[a] == pytest.approx(20e-3, rel=1e-3)
    assert use.traced_share == 1


def test_small_reads_behind_read_ahead_belong_to_a_pass_from_storage(tmp_path):
    # GIVEN 64 reads of 4 KB: one in 32 waits 8 ms, the others take 2 us
    events = [(1, "open", 2, 0, 0.0, 1e-5)]
    for number in range(64):
        start = 0.001 + number * 1e-2
        events.append((1, "read", 2, 4096, start, start + (8e-3 if number % 32 == 0 else 2e-6)))
    run = SyntheticRun(duration_s=1, io_s=1, thread_s=1, events=events)
    found = session(
        tmp_path, run, ["/data/a"], size_bytes=[262_144], POSIX_OPENS=[1], POSIX_READS=[64],
        POSIX_BYTES_READ=[262_144], POSIX_F_READ_TIME=[0.016],
    )  # fmt: skip

    assert read_file_use([found]).storage_bytes.sum() == 262_144


def test_two_threads_passes_over_a_file_are_two(tmp_path):
    # GIVEN a thread served by storage, another by memory, through one descriptor
    events = [
        (1, "open", 2, 0, 0.0, 1e-5),
        (1, "pread", 2, 100_000, 0.01, 0.03), (2, "pread", 2, 100_000, 0.02, 0.02005),
    ]  # fmt: skip
    run = SyntheticRun(duration_s=1, io_s=1, thread_s=1, events=events)
    found = session(
        tmp_path, run, ["/data/a"], size_bytes=[100_000], POSIX_OPENS=[2], POSIX_READS=[2],
        POSIX_BYTES_READ=[200_000], POSIX_F_READ_TIME=[0.02],
    )  # fmt: skip

    assert read_file_use([found]).storage_bytes.sum() == 100_000


def test_without_segments_a_files_mean_read_decides(tmp_path):
    found = session(
        tmp_path, RUN, ["/data/slow", "/data/quick"], size_bytes=[10**6] * 2, POSIX_OPENS=[1, 1],
        POSIX_READS=[1, 1], POSIX_BYTES_READ=[10**6] * 2, POSIX_F_READ_TIME=[0.02, 1e-4],
    )  # fmt: skip

    use = read_file_use([found])

    rows = [by_path(use)[path] for path in ("/data/slow", "/data/quick")]
    assert (use.storage_bytes[rows].tolist(), use.traced_share) == ([10**6, 0], 0)


def test_readers_are_the_threads_that_share_the_work(tmp_path):
    found = session(tmp_path, SyntheticRun(duration_s=10, io_s=4, thread_s=8, readers=3), ["/data/a"])

    facts = run_facts([found])

    assert (facts.readers, facts.duration_s) == (pytest.approx(3), 10)


def test_what_the_kernel_charged_counts_a_waited_for_child_once(tmp_path):
    # GIVEN a child whose bytes are in its parent's
    session(tmp_path, SyntheticRun(duration_s=1, io_s=1, thread_s=1, read_bytes=700), ["/data/a"])
    child = SyntheticRun(
        duration_s=1, io_s=1, thread_s=1, read_bytes=300, pid=1001, owner=False,
        extra={"kernel": {"valid": True, "counted": "parent", "read_bytes": 300}},
    )  # fmt: skip
    found = session(tmp_path, child, ["/data/a"])

    assert fetched_bytes(found.meta) == 700


def test_only_files_that_are_still_what_was_read_can_be_staged(tmp_path):
    # GIVEN a file that is read only; and others that are renamed, replaced or deleted after or before that
    for name in ("kept", "renamed", "replaced", "deleted"):
        (tmp_path / name).write_bytes(bytes(5_000))
    with tfdarshan.profile(tmp_path / "logs", spool_dir=tmp_path) as session:
        (tmp_path / "new").write_bytes(bytes(5_000))
        os.replace(tmp_path / "new", tmp_path / "replaced")
        for name in ("kept", "renamed", "replaced", "deleted"):
            (tmp_path / name).read_bytes()
        os.rename(tmp_path / "renamed", tmp_path / "elsewhere")
        os.remove(tmp_path / "deleted")

    # WHEN
    use, _ = put_together(measured_runs([open_session(session.path)], slow=str(tmp_path)))
    found = find_candidates(use, slow=str(tmp_path), fast="/fast")

    # THEN
    assert use.paths.take(pa.array(found.rows)).to_pylist() == [str(tmp_path / "kept")]
    assert ("renamed, replaced or deleted in the session", 3) in [(p.reason, p.files) for p in found.left_out]
