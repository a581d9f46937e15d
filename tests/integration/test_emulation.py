"""Storage emulation: calls last as long as the model says, and nothing else changes."""

from __future__ import annotations

import errno
import html
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfdarshan
from tfdarshan.errors import ConfigurationError
from tfdarshan.native import _bridge
from tfdarshan.storage_model import BUCKET, HDD, LUSTRE, StorageModel
from tfdarshan.units import plural

MIB = 1 << 20


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with three files of 2.5 MiB."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}").write_bytes(bytes([number]) * (5 * MIB // 2))
    return folder


def read_whole(path: Path) -> int:
    """Read a file by read() of 1 MiB until it returns nothing."""
    descriptor, total = os.open(path, os.O_RDONLY), 0
    while part := os.read(descriptor, MIB):
        total += len(part)
    os.close(descriptor)
    return total


def emulated(tmp_path: Path, data: Path, work: Callable[[], Any], as_if: str = "hdd") -> dict[str, Any]:
    """Run `work` on emulated storage and return the metadata's block of it."""
    with tfdarshan.profile(tmp_path / "logs", as_if=as_if, as_if_paths=[f"{data}/"]) as session:
        work()
    block: dict[str, Any] = session.meta[0]["emulation"]
    return block


def hdd_ns(byte_count: int, seeks: int) -> float:
    return byte_count / HDD.read_bandwidth * 1e9 + seeks * HDD.seek_s * 1e9


def test_each_file_is_a_seek_and_its_bytes(tmp_path: Path, data: Path) -> None:
    # WHEN three files are read whole, one after the other
    with tfdarshan.profile(tmp_path / "logs", as_if="hdd", as_if_paths=[f"{data}/"]) as session:
        for path in sorted(data.iterdir()):
            assert read_whole(path) == 5 * MIB // 2
    block = session.meta[0]["emulation"]
    # THEN the model says exactly 3 seeks and the bytes: what goes on where the last call ended does not seek
    assert block["calls"] == 3 + 3 * 3  # opens, and reads that returned something
    assert block["modelled_ns"] == pytest.approx(hdd_ns(3 * 5 * MIB // 2, seeks=3), abs=100)
    # AND the calls did last as long, in the trace as in the counters
    reads = session.events[session.events["operation"] == "read"]
    lasted = (reads["end_ns"] - reads["start_ns"]).tolist()
    whole = [ns for ns, length in zip(lasted, reads["length"], strict=True) if length == MIB]
    assert len(whole) == 6
    assert min(whole) >= hdd_ns(MIB, seeks=0) * 0.999
    assert session.files["POSIX_F_READ_TIME"].sum() * 1e9 >= hdd_ns(3 * 5 * MIB // 2, seeks=3) * 0.999


def test_a_bucket_is_asked_for_everything(tmp_path: Path, data: Path) -> None:
    # WHEN a file is stat'ed by three names of it, read whole in 3 reads and an empty one, written and synced
    def work() -> None:
        os.stat(data / "0")
        os.lstat(data / "0")
        here = os.open(data, os.O_RDONLY | os.O_DIRECTORY)
        os.stat("0", dir_fd=here)
        os.close(here)
        read_whole(data / "0")
        descriptor = os.open(data / "new", os.O_WRONLY | os.O_CREAT)
        os.write(descriptor, b"x" * 500)
        os.fsync(descriptor)
        os.fdatasync(descriptor)
        os.close(descriptor)

    began = time.perf_counter()
    block = emulated(tmp_path, data, work, as_if="bucket")
    # THEN each of these 3 stats, 2 opens, 4 reads, 1 write and 2 syncs took 10 ms, and nothing else did
    wire_ns = (5 * MIB // 2 + 500) / BUCKET.read_bandwidth * 1e9
    assert block["calls"] == 12
    assert block["modelled_ns"] == pytest.approx(12 * 10e6 + wire_ns, abs=200)
    assert time.perf_counter() - began > 0.120


def test_what_fails_or_lies_elsewhere_is_not_asked_for(tmp_path: Path, data: Path) -> None:
    def work() -> None:
        with pytest.raises(FileNotFoundError):
            os.stat(data / "missing")
        os.stat(tmp_path)
        with pytest.raises(OSError):
            os.fsync(9999)

    assert emulated(tmp_path, data, work, as_if="bucket")["calls"] == 0


def test_a_relative_path_is_looked_up(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data)
    assert emulated(tmp_path, data, lambda: os.stat("0"), as_if="bucket")["calls"] == 1


@pytest.mark.parametrize("link", ["linked/", "linked/[12]", "1"])
def test_a_path_that_leads_elsewhere_by_a_link_is_followed(tmp_path: Path, data: Path, link: str) -> None:
    # GIVEN a link to the folder, and one to a file in it
    (tmp_path / "linked").symlink_to(data)
    (tmp_path / "1").symlink_to(data / "1")
    path = tmp_path / ("1" if link == "1" else "linked/1")

    # WHEN
    with tfdarshan.profile(tmp_path / "logs", as_if="hdd", as_if_paths=[str(tmp_path / link)]) as session:
        read_whole(path)

    # THEN
    assert session.meta[0]["emulation"]["delayed_calls"] > 0


def test_the_counters_are_those_without_emulation(tmp_path: Path, data: Path) -> None:
    counts = []
    emulating: dict[str, Any] = {"as_if": "hdd", "as_if_paths": [f"{data}/"]}
    for options in ({}, emulating):
        with tfdarshan.profile(tmp_path / "logs", include=[f"{data}/"], **options) as session:
            for path in sorted(data.iterdir()):
                read_whole(path)
        rows = session.files[session.files["path"].str.startswith(f"{data}/")]
        names = ("POSIX_OPENS", "POSIX_READS", "TFD_ZERO_READS", "POSIX_BYTES_READ", "POSIX_SEQ_READS")
        counts.append([rows[name].tolist() for name in names])
    assert counts[0] == counts[1]
    assert counts[0][1] == [4, 4, 4]


def test_other_paths_and_later_sessions_are_left_alone(tmp_path: Path, data: Path) -> None:
    # GIVEN a file elsewhere
    other = tmp_path / "other"
    other.write_bytes(b"x" * MIB)
    # WHEN / THEN it is not slowed down
    assert emulated(tmp_path, data, lambda: read_whole(other))["calls"] == 0
    # AND a session without as_if slows nothing, has no such block and says nothing of it
    before = _bridge.emulation_totals()
    with tfdarshan.profile(tmp_path / "logs", include=[f"{data}/"]) as session:
        read_whole(data / "0")
    assert _bridge.emulation_totals() == before
    assert "emulation" not in session.meta[0]
    assert "EMULATED" not in session.summary()


def test_the_summary_says_that_times_are_emulated(tmp_path: Path, data: Path) -> None:
    with tfdarshan.profile(tmp_path / "logs", as_if="lustre", as_if_paths=[f"{data}/"]) as session:
        read_whole(data / "0")
    emulation = session.meta[0]["emulation"]
    assert emulation["model"]["open_s"] == LUSTRE.open_s
    # a call that lasted as long by itself, on a busy machine, has nothing to wait for
    assert emulation["calls"] == 4 >= (waited := emulation["delayed_calls"]) > 0
    assert "! EMULATED STORAGE: as if lustre, for " in session.summary()
    text = session.summary(verbose=True)
    assert "\nEMULATED STORAGE: as if lustre, for " in text
    assert f"Times are simulated, not this storage's: {plural(waited, 'call')} waited" in text


def test_latencies_of_threads_overlap(tmp_path: Path, data: Path) -> None:
    # WHEN 8 threads read 64 files of 1 KB: 5 ms each by the model
    files = [data / f"small-{number}" for number in range(64)]
    for path in files:
        path.write_bytes(b"x" * 1000)

    def work() -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(read_whole, files))

    shares = []
    for _ in range(3):  # a busy machine may keep threads from running
        with tfdarshan.profile(tmp_path / "logs", as_if="lustre", as_if_paths=[f"{data}/"]) as session:
            work()
        modelled_s = session.meta[0]["emulation"]["modelled_ns"] / 1e9
        assert modelled_s >= 64 * (LUSTRE.open_s + LUSTRE.read_s)
        events = session.events
        shares.append((events["end_ns"].max() - events["start_ns"].min()) / 1e9 / modelled_s)
    # THEN all of them waited, and together for less than one after the other
    assert min(shares) < 0.7, shares


def test_requests_of_threads_queue_for_the_one_arm(tmp_path: Path, data: Path) -> None:
    files = [data / f"small-{number}" for number in range(64)]
    for path in files:
        path.write_bytes(b"x" * 1000)

    def work() -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(read_whole, files))

    with tfdarshan.profile(tmp_path / "logs", as_if="hdd", as_if_paths=[f"{data}/"]) as session:
        work()
    # THEN all seeks follow each other, the shortest possible with 8 under way
    events = session.events
    elapsed_s = (events["end_ns"].max() - events["start_ns"].min()) / 1e9
    assert elapsed_s >= 64 * HDD.seek_time_s(8) * 0.95


def test_writes_by_stdio_cost_their_bytes_also_those_flushed_by_close(tmp_path: Path, data: Path) -> None:
    # WHEN NumPy writes 1 MiB and 1,000 bytes through fwrite
    def work() -> None:
        np.zeros(MIB, np.uint8).tofile(data / "large")
        np.zeros(1000, np.uint8).tofile(data / "small")

    block = emulated(tmp_path, data, work)
    # THEN both cost a seek and their bytes
    assert block["modelled_ns"] == pytest.approx(hdd_ns(MIB + 1000, seeks=2), abs=200)


def test_reads_by_stdio_cost_what_the_descriptor_moved(tmp_path: Path, data: Path) -> None:
    block = emulated(tmp_path, data, lambda: np.fromfile(data / "0", np.uint8))
    assert block["modelled_ns"] == pytest.approx(hdd_ns(5 * MIB // 2, seeks=1), rel=1e-3)


@pytest.mark.parametrize("call", ["pread", "readv", "preadv", "sendfile", "copy_file_range"])
def test_every_way_of_reading_costs_the_same(call: str, tmp_path: Path, data: Path) -> None:
    def work() -> None:
        source = os.open(data / "0", os.O_RDONLY)
        target = os.open(tmp_path / "copy", os.O_WRONLY | os.O_CREAT)
        buffer = bytearray(MIB)
        calls: dict[str, Callable[[], int]] = {
            "pread": lambda: len(os.pread(source, MIB, 0)),
            "readv": lambda: os.readv(source, [buffer]),
            "preadv": lambda: os.preadv(source, [buffer], 0),
            "sendfile": lambda: os.sendfile(target, source, 0, MIB),
            "copy_file_range": lambda: os.copy_file_range(source, target, MIB, 0),
        }
        assert calls[call]() == MIB
        os.close(source)
        os.close(target)

    assert emulated(tmp_path, data, work)["modelled_ns"] == pytest.approx(hdd_ns(MIB, seeks=1), abs=100)


@pytest.mark.parametrize("call", ["write", "pwrite", "writev", "pwritev"])
def test_every_way_of_writing_costs_the_same(call: str, tmp_path: Path, data: Path) -> None:
    def work() -> None:
        target = os.open(data / "new", os.O_WRONLY | os.O_CREAT)
        content = bytes(MIB)
        calls: dict[str, Callable[[], int]] = {
            "write": lambda: os.write(target, content),
            "pwrite": lambda: os.pwrite(target, content, 0),
            "writev": lambda: os.writev(target, [content]),
            "pwritev": lambda: os.pwritev(target, [content], 0),
        }
        assert calls[call]() == MIB
        os.close(target)

    assert emulated(tmp_path, data, work)["modelled_ns"] == pytest.approx(hdd_ns(MIB, seeks=1), abs=100)


def test_descriptors_from_before_count_and_reused_numbers_do_not(tmp_path: Path, data: Path) -> None:
    # GIVEN a file opened before the session, and one elsewhere that gets its number
    other = tmp_path / "other"
    other.write_bytes(b"x" * MIB)
    early = os.open(data / "0", os.O_RDONLY)

    def work() -> None:
        assert len(os.read(early, MIB)) == MIB
        os.close(early)
        late = os.open(other, os.O_RDONLY)
        assert late == early
        assert len(os.read(late, MIB)) == MIB
        elsewhere = os.open(data / "1", os.O_RDONLY)
        os.dup2(late, elsewhere)
        os.lseek(elsewhere, 0, os.SEEK_SET)
        assert len(os.read(elsewhere, MIB)) == MIB
        os.close(elsewhere)
        os.close(late)

    # THEN one read and one open were served: those of the data
    assert emulated(tmp_path, data, work)["calls"] == 2


def test_a_pipe_with_the_number_of_a_closed_file_is_not_slowed(tmp_path: Path, data: Path) -> None:
    def work() -> None:
        closed = os.open(data / "0", os.O_RDONLY)
        os.close(closed)
        outlet, inlet = os.pipe()
        assert outlet == closed
        os.write(inlet, b"x")
        assert os.read(outlet, 1) == b"x"
        os.close(outlet)
        os.close(inlet)

    # THEN only the open was served
    assert emulated(tmp_path, data, work)["calls"] == 1


def test_failures_and_their_errno_pass_unchanged(tmp_path: Path, data: Path) -> None:
    def work() -> None:
        with pytest.raises(FileNotFoundError):
            os.open(data / "nothing", os.O_RDONLY)
        descriptor = os.open(data / "0", os.O_RDONLY)
        with pytest.raises(OSError) as caught:
            os.write(descriptor, b"x")
        assert caught.value.errno == errno.EBADF
        os.close(descriptor)

    assert emulated(tmp_path, data, work)["calls"] == 1


def test_forked_children_share_the_device(tmp_path: Path, data: Path) -> None:
    def work() -> None:
        children = []
        for number in range(3):
            child = os.fork()
            if child == 0:
                read_whole(data / f"{number}")
                os._exit(0)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]

    assert emulated(tmp_path, data, work)["calls"] == 3 + 3 * 3


def test_without_paths_everything_recorded_is_emulated(tmp_path: Path, data: Path) -> None:
    with tfdarshan.profile(tmp_path / "logs", as_if="hdd", exclude=[f"{data}/1"]) as session:
        read_whole(data / "0")
        read_whole(data / "1")
    assert session.meta[0]["emulation"]["calls"] == 1 + 3


def test_run_emulates_too(run_python: Callable[..., Any], tmp_path: Path, data: Path) -> None:
    (tmp_path / "job.py").write_text(f"open({str(data / '0')!r}, 'rb', buffering=0).read(1000)\n")
    run = run_python("-m", "tfdarshan", "run", "--as-if", "lustre", "--as-if-paths", f"{data}/", "job.py")
    assert run.returncode == 0, run.stderr
    session = tfdarshan.open_session(tmp_path / "logs")
    assert session.meta[0]["emulation"]["calls"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"as_if": "tape"}, r"no storage model 'tape': take one of hdd, ssd, optane, lustre"),
        ({"as_if": "hdd", "engine": "darshan"}, "as_if goes with the builtin engine"),
        ({"as_if_paths": ["/data/"]}, "as_if_paths says where as_if applies: give as_if too"),
        ({"as_if": "hdd", "as_if_paths": "/data/"}, "as_if_paths must be a list"),
    ],
)
def test_options_that_cannot_be_used_are_refused(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        tfdarshan.profile(tmp_path, **options)


def test_a_model_that_serves_too_many_at_once_is_refused() -> None:
    with pytest.raises(tfdarshan.StorageError, match="1 to 64 calls at once"):
        _bridge.emulate(StorageModel(name="m", about="", concurrency=65), [])


@pytest.mark.parametrize("matched", [True, False])
def test_paths_that_no_file_matched_are_said(tmp_path: Path, data: Path, matched: bool) -> None:
    # GIVEN paths below which the job reads, or does not
    folder = data if matched else tmp_path / "elsewhere"
    with tfdarshan.profile(tmp_path / "logs", as_if="hdd", as_if_paths=[f"{folder}/"]) as session:
        for path in data.iterdir():
            path.read_bytes()

    said = f"no file that the job used matches as_if_paths={folder}/: nothing was emulated"
    assert (said in session.meta[0]["bounds"]) != matched
    assert ("nothing was emulated." in " ".join(session.summary().split())) != matched
    # AND times are called simulated if calls were slowed, and only then
    for text in (session.summary(), session.summary(verbose=True), html.unescape(session._repr_html_())):
        text = " ".join(text.split())
        assert ("times are simulated" in text.lower()) == matched
        assert ("emulated storage" in text.lower()) == matched
        assert ("nothing emulated" in text.lower()) != matched
