import asyncio
import os
import threading
import warnings
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import numpy as np
import pytest

import tfdarshan

SIZE = 1_234_567
CHUNK = 100_000


@pytest.fixture
def logdir(tmp_path):
    return tmp_path / "logs"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(SIZE))
    return path


def read_in_chunks(path):
    handle = os.open(path, os.O_RDONLY)
    while os.read(handle, CHUNK):
        pass
    os.close(handle)


def row(session, path, module="POSIX"):
    files = session.files
    found = files[(files["path"] == str(path)) & (files["module"] == module)]
    assert len(found) == 1
    return found.iloc[0]


def test_no_other_user_can_read_a_recording(logdir, spool_folder):
    # GIVEN a user who lets others read and write all files
    before = os.umask(0)
    try:
        # WHEN
        with tfdarshan.profile(logdir):
            (folder,) = spool_folder.iterdir()
            modes = [path.stat().st_mode & 0o777 for path in (folder, *folder.glob("*.spool"))]
    finally:
        os.umask(before)

    # THEN
    assert modes == [0o700, 0o600]


def test_counts_of_plain_reads_are_exact(logdir, data):
    # WHEN
    with tfdarshan.profile(logdir) as session:
        read_in_chunks(data)

    # THEN
    counted = row(session, data)
    expected = {
        "POSIX_OPENS": 1,
        "POSIX_READS": 14,
        "TFD_ZERO_READS": 1,
        "POSIX_BYTES_READ": SIZE,
        "POSIX_MAX_BYTE_READ": SIZE - 1,
        "POSIX_WRITES": 0,
        "POSIX_SIZE_READ_10K_100K": 13,
        "POSIX_SIZE_READ_0_100": 1,
        "POSIX_CONSEC_READS": 13,
        "POSIX_SEQ_READS": 13,
        "size_bytes": SIZE,
        "pid": os.getpid(),
    }
    assert {name: counted[name] for name in expected} == expected
    assert counted["fs_type"]
    assert str(data).startswith(counted["mount_point"])


def test_counts_of_plain_writes_are_exact(logdir, tmp_path):
    # GIVEN
    path = tmp_path / "out.bin"

    # WHEN
    with tfdarshan.profile(logdir) as session:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o640)
        for _ in range(7):
            os.write(handle, bytes(12_345))
        os.fsync(handle)
        os.close(handle)

    # THEN
    counted = row(session, path)
    names = (
        "POSIX_OPENS",
        "POSIX_WRITES",
        "POSIX_BYTES_WRITTEN",
        "POSIX_FSYNCS",
        "POSIX_READS",
        "POSIX_MODE",
    )
    assert [counted[name] for name in names] == [1, 7, 7 * 12_345, 1, 0, 0o640]


def test_events_carry_what_was_called(logdir, data):
    # WHEN
    with tfdarshan.profile(logdir) as session:
        handle = os.open(data, os.O_RDONLY)
        os.pread(handle, 333, 4_444)
        os.close(handle)

    # THEN
    events = session.events
    mine = events[events["path"] == str(data)]
    assert mine["operation"].tolist() == ["open", "pread", "close"]
    pread = mine.iloc[1]
    assert (pread["offset"], pread["length"], pread["error"]) == (4_444, 333, 0)
    assert (pread["pid"], pread["tid"]) == (os.getpid(), threading.get_native_id())
    assert (pread["module"], events["start_ns"].is_monotonic_increasing) == ("POSIX", True)
    assert (events["start_ns"] >= 0).all()
    assert (events["start_ns"] <= events["end_ns"]).all()
    assert events["end_ns"].max() <= session.meta[0]["duration_ns"]


def test_failed_calls_are_counted_by_errno(logdir, tmp_path):
    # WHEN
    with tfdarshan.profile(logdir) as session:
        for _ in range(3):
            with pytest.raises(FileNotFoundError):
                os.open(tmp_path / "missing", os.O_RDONLY)

    # THEN
    failures = {(f["operation"], f["name"]): f["calls"] for f in session.meta[0]["failures"]}
    assert failures["open", "ENOENT"] == 3
    assert "ENOENT" in session.summary()


def test_numpy_round_trip_is_counted(logdir, tmp_path):
    # GIVEN an array whose file is 128 + 8 * 10,007 bytes
    path = tmp_path / "array.npy"
    array = np.arange(10_007, dtype=np.int64)

    # WHEN
    with tfdarshan.profile(logdir) as session:
        np.save(path, array)
        loaded = np.load(path)

    # THEN
    assert (loaded == array).all()
    files = session.files
    mine = files[files["path"] == str(path)]
    written = mine["POSIX_BYTES_WRITTEN"].sum() + mine["STDIO_BYTES_WRITTEN"].sum()
    assert written == path.stat().st_size == 128 + 8 * 10_007


def test_include_and_exclude(logdir, tmp_path):
    # GIVEN
    for name in ("a.dat", "b.dat", "c.dat"):
        (tmp_path / name).write_bytes(bytes(1_000))

    # WHEN
    with tfdarshan.profile(logdir, exclude=[f"{tmp_path}/"], include=["*/b.dat"]) as session:
        for name in ("a.dat", "b.dat", "c.dat"):
            read_in_chunks(tmp_path / name)

    # THEN
    assert session.files["path"].tolist() == [str(tmp_path / "b.dat")]
    assert session.meta[0]["other"]["excluded"]["bytes_read"] == 2_000


def test_pieces_of_shared_memory_have_a_row_for_each_family_of_names(logdir):
    # GIVEN pieces whose names are a process's and random, and a file that is opened by name
    named, opened = (Path(f"/dev/shm/tfdarshan-{os.getpid()}{end}") for end in (".bin", "-1.bin"))
    opened.write_bytes(b"y")
    copied = opened.open("rb")
    with tfdarshan.profile(logdir, include=["/dev/shm/*"]) as session:
        for _ in range(200):
            piece = SharedMemory(create=True, size=4096)
            piece.close()
            piece.unlink()
        named.write_bytes(b"x")
        copied.read(1)
        named.unlink()

    # THEN pieces of one beginning are one row, with all of their calls
    files = session.files
    pieces = files[~files["path"].isin([str(named), str(opened)])]
    assert pieces["path"].tolist() == ["/dev/shm/psm_*"]
    assert pieces["TFD_TRUNCATES"].sum() == 200
    assert row(session, named)["POSIX_BYTES_WRITTEN"] == 1

    # AND so is a file that was open before: it has its name still
    assert row(session, opened)["POSIX_BYTES_READ"] == 1
    copied.close()
    opened.unlink()


def test_trace_off_keeps_counters_and_no_segments(logdir, data):
    # WHEN
    with tfdarshan.profile(logdir, trace=False) as session:
        read_in_chunks(data)

    # THEN
    assert row(session, data)["POSIX_READS"] == 14
    assert len(session.events) == 0
    assert list(session.events.columns)[-1] == "path"
    assert session.meta[0]["bounds"] == []
    assert "14" in session.summary()


def test_coverage_adds_up(logdir, data):
    # WHEN
    with tfdarshan.profile(logdir) as session:
        for _ in range(20):
            read_in_chunks(data)

    # THEN what libc read for itself is less than a percent of 24 MB
    kernel = session.meta[0]["kernel"]
    assert kernel["valid"]
    assert 0.99 < 20 * SIZE / kernel["rchar"] <= 1


def test_decorator_makes_one_session_a_call(logdir, data):
    # GIVEN
    @tfdarshan.profile(logdir)
    def work(times, *, end):
        """Read."""
        for _ in range(times):
            read_in_chunks(data)
        return end

    # WHEN
    results = [work(1, end="x"), work(2, end="y")]

    # THEN
    assert results == ["x", "y"]
    assert (work.__name__, work.__doc__) == ("work", "Read.")
    sessions = [tfdarshan.open_session(path) for path in tfdarshan.find_sessions(logdir)]
    assert [row(session, data)["POSIX_OPENS"] for session in sessions] == [1, 2]


def test_decorated_coroutine_is_recorded_to_its_end(logdir, data):
    # GIVEN
    @tfdarshan.profile(logdir)
    async def work():
        await asyncio.sleep(0)
        read_in_chunks(data)
        return 5

    # WHEN / THEN
    assert asyncio.run(work()) == 5
    assert row(tfdarshan.open_session(logdir), data)["POSIX_OPENS"] == 1


def test_generator_cannot_be_decorated(logdir):
    with pytest.raises(tfdarshan.ConfigurationError, match="is a generator"):

        @tfdarshan.profile(logdir)
        def work():
            yield 1


def test_exception_in_the_block_propagates_and_the_session_is_written(logdir, data):
    # WHEN
    session = tfdarshan.profile(logdir)
    with pytest.raises(ZeroDivisionError), session:  # noqa: PT012
        read_in_chunks(data)
        1 / 0  # noqa: B018

    # THEN
    assert row(session, data)["POSIX_READS"] == 14


def test_nested_session_is_refused_and_the_first_is_unharmed(logdir, data, tmp_path):
    # WHEN
    with tfdarshan.profile(logdir) as session:
        with pytest.raises(
            tfdarshan.SessionActiveError, match="a session already records this process, into"
        ):
            tfdarshan.profile(tmp_path / "other").start()
        read_in_chunks(data)

    # THEN
    assert row(session, data)["POSIX_READS"] == 14
    assert not (tmp_path / "other").exists()


def test_concurrent_sessions_are_refused_but_one(logdir):
    # GIVEN eight threads that start at once
    sessions = [tfdarshan.profile(logdir) for _ in range(8)]
    barrier, refused = threading.Barrier(8), []

    def start(session):
        barrier.wait()
        try:
            session.start()
        except tfdarshan.SessionActiveError as error:
            refused.append((session, str(error)))

    # WHEN
    threads = [threading.Thread(target=start, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    # THEN
    assert len(refused) == 7
    (winner,) = set(sessions) - {session for session, _ in refused}
    assert all(str(winner.path) in sentence for _, sentence in refused)
    winner.stop()
    assert tfdarshan.find_sessions(logdir) == [winner.path]


def test_start_twice_and_stop_twice_are_refused(logdir):
    # GIVEN
    session = tfdarshan.profile(logdir)

    # WHEN / THEN
    with pytest.raises(tfdarshan.SessionActiveError, match="is not recording: call start"):
        session.stop()
    session.start()
    with pytest.raises(tfdarshan.SessionActiveError, match="already records this process"):
        session.start()
    with pytest.raises(tfdarshan.SessionActiveError, match="is still recording"):
        session.summary()
    session.stop()
    with pytest.raises(tfdarshan.SessionActiveError, match="is not recording"):
        session.stop()


def test_stop_within_the_block_is_fine(logdir, data):
    with tfdarshan.profile(logdir) as session:
        read_in_chunks(data)
        session.stop()

    assert row(session, data)["POSIX_READS"] == 14


def test_session_that_was_never_started_is_said(logdir):
    with pytest.raises(tfdarshan.SessionActiveError, match="never started"):
        tfdarshan.profile(logdir).summary()


def test_session_ends_with_the_interpreter(run_python, tmp_path):
    # GIVEN
    program = "import tfdarshan; tfdarshan.profile('logs').start(); open('x.bin', 'wb').write(bytes(4567))"

    # WHEN
    done = run_python("-c", program)

    # THEN
    assert (done.returncode, done.stderr) == (0, "")
    session = tfdarshan.open_session(tmp_path / "logs")
    assert row(session, tmp_path / "x.bin")["POSIX_BYTES_WRITTEN"] == 4567


def test_logdir_is_checked_before_attaching(tmp_path):
    # GIVEN
    (tmp_path / "file").write_text("x")

    # WHEN / THEN
    with pytest.raises(tfdarshan.StorageError, match="choose a folder you can write to"):
        tfdarshan.profile(tmp_path / "file").start()
    with pytest.raises(tfdarshan.StorageError, match="logdir /proc/x cannot be written"):
        tfdarshan.profile("/proc/x").start()


def test_failed_start_leaves_nothing_behind(logdir, spool_folder, monkeypatch):
    # GIVEN
    monkeypatch.setenv("TFDARSHAN_SPOOL_DIR", "/nowhere")

    # WHEN
    with pytest.raises(tfdarshan.StorageError):
        tfdarshan.profile(logdir).start()

    # THEN
    assert not logdir.exists() or not list(logdir.iterdir())
    assert list(spool_folder.iterdir()) == []


def test_spool_and_marker_are_gone_after_a_session(logdir, spool_folder):
    # WHEN
    with tfdarshan.profile(logdir) as session:
        during = [path.name for path in session.path.iterdir()], len(list(spool_folder.iterdir()))

    # THEN
    assert during == (["recording.json"], 1)
    assert list(spool_folder.iterdir()) == []
    host = session.meta[0]["host"]
    kinds = ("events.parquet", "files.parquet", "meta.json", "overview.parquet")
    assert sorted(path.name for path in session.path.iterdir()) == [
        f"{host}.{os.getpid()}.{kind}" for kind in kinds
    ]


def test_threads_have_their_own_rows(logdir, tmp_path):
    # GIVEN
    paths = [tmp_path / f"{number}.bin" for number in range(16)]
    for path in paths:
        path.write_bytes(bytes(50_000))

    # WHEN
    with tfdarshan.profile(logdir) as session:
        threads = [threading.Thread(target=read_in_chunks, args=(path,)) for path in paths]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    # THEN
    events = session.events
    mine = events[events["path"].isin([str(path) for path in paths])]
    assert len(mine) == 16 * 4
    assert (mine.groupby("path", observed=True)["tid"].nunique() == 1).all()
    assert [row(session, path)["POSIX_BYTES_READ"] for path in paths] == [50_000] * 16


def test_warnings_as_errors_never_reach_the_job(logdir, monkeypatch, capsys):
    # GIVEN a session that cannot be written, in a job where warnings are errors
    from tfdarshan.recording.writing import writer

    def fail(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "write_session", fail)

    # WHEN
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tfdarshan.profile(logdir):
            pass

    # THEN
    said = capsys.readouterr().err
    assert "was not written: No space left on device" in said
    assert "tfdarshan recover" in said
