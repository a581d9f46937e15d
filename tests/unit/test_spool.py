import os
import stat
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from tfdarshan.durable import user_folders
from tfdarshan.errors import SessionActiveError, StorageError
from tfdarshan.native.memory_left import UNLIMITED, MemoryLeft
from tfdarshan.options import Options
from tfdarshan.recording import memory_cap_limit, spool
from tfdarshan.recording.writing.children import known_children

MIB = 1 << 20


@pytest.fixture
def free(monkeypatch):
    """Free MiB by folder, in place of what the file systems say."""
    sizes: dict[str, int] = {}

    def statvfs(folder):
        return SimpleNamespace(f_bavail=sizes[str(folder)] * MIB, f_frsize=1)

    monkeypatch.setattr(os, "statvfs", statvfs)
    return sizes


@pytest.fixture
def default_folders(monkeypatch, tmp_path):
    """Stand for /dev/shm and TMPDIR."""
    monkeypatch.delenv("TFDARSHAN_SPOOL_DIR", raising=False)
    for name in ("shm", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(spool, "SHARED_MEMORY", tmp_path / "shm")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    return tmp_path


@pytest.mark.parametrize(
    ("shm_mib", "tmp_mib", "chosen", "capacity_mib"),
    [(4096, 9999, "shm", 1024), (64, 9999, "tmp", 1024), (64, 100, "tmp", 100), (200, 100, "shm", 200)],
)
def test_default_folder_is_the_first_with_room_or_the_roomier(
    default_folders, free, shm_mib, tmp_mib, chosen, capacity_mib
):
    # GIVEN
    free.update({str(default_folders / "shm"): shm_mib, str(default_folders / "tmp"): tmp_mib})

    # WHEN
    made = spool.make_spool(Options(), "s")

    # THEN
    assert made.directory.parent.name == chosen
    assert made.capacity_bytes == capacity_mib * MIB
    assert made.trace_limit_bytes == capacity_mib * MIB // 4
    assert len(made.notes) == (capacity_mib < 1024)


def test_lowered_cap_is_said(default_folders, free):
    free.update({str(default_folders / "shm"): 64, str(default_folders / "tmp"): 32})

    note = spool.make_spool(Options(), "s").notes[0]

    assert note.startswith(
        "memory_cap_mb lowered from 1024 to 64, trace_memory_mb from 256 to 16: the spool folder"
    )


@pytest.mark.parametrize(("ranks", "capacity_mib"), [(1, 1024), (8, 128), (64, 16), (500, 16)])
def test_ranks_of_a_host_share_the_cap(default_folders, free, ranks, capacity_mib):
    # GIVEN
    free.update({str(default_folders / "shm"): 4096, str(default_folders / "tmp"): 0})

    # WHEN
    made = spool.make_spool(Options(), "s", ranks)

    # THEN
    assert (made.capacity_bytes, made.notes) == (capacity_mib * MIB, ())
    assert made.trace_limit_bytes == capacity_mib * MIB // 4


def test_full_spool_folder_is_refused(default_folders, free):
    free.update({str(default_folders / "shm"): 3, str(default_folders / "tmp"): 5})

    said = r"has 5 MiB free and a session needs at least 16: .* spool_dir or TFDARSHAN_SPOOL_DIR"
    with pytest.raises(StorageError, match=said):
        spool.make_spool(Options(), "s")


def test_option_wins_over_environment(monkeypatch, tmp_path):
    # GIVEN
    monkeypatch.setenv("TFDARSHAN_SPOOL_DIR", "/nowhere")

    # WHEN / THEN
    assert spool.choose_folder(Options(spool_dir=tmp_path)) == tmp_path
    assert spool.choose_folder(Options()) == Path("/nowhere")


def test_missing_spool_folder_is_said(tmp_path):
    with pytest.raises(StorageError, match="cannot be used: No such file or directory; name another one"):
        spool.make_spool(Options(spool_dir=tmp_path / "nowhere"), "s")


def test_spool_directory_is_private_and_named_after_the_session(tmp_path):
    made = spool.make_spool(Options(spool_dir=tmp_path, trace=False), "2024_02_03")

    assert stat.S_IMODE(made.directory.stat().st_mode) == 0o700
    assert made.directory.name.startswith(f"tfdarshan-{os.getuid()}-2024_02_03-{os.getpid()}-")
    assert made.trace_limit_bytes == 0


def test_spool_being_recovered_by_another_process_is_left_alone(tmp_path):
    # GIVEN a child that recovers it, and has read it, until it is told to end
    path = tmp_path / "1.spool"
    path.touch()
    ready, done = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        with spool.recovering(path):
            path.read_bytes()
            os.write(ready[1], b"x")
            os.read(done[0], 1)
        os._exit(0)
    os.read(ready[0], 1)

    # WHEN / THEN
    with pytest.raises(SessionActiveError, match="another process is recovering"), spool.recovering(path):
        pass
    os.write(done[1], b"x")
    os.waitpid(child, 0)
    with spool.recovering(path):
        pass
    for end in (*ready, *done):
        os.close(end)


def test_the_tightest_limit_of_memory_lowers_the_cap_and_is_named(default_folders, free, monkeypatch):
    # GIVEN
    free.update({str(default_folders / "shm"): 4096, str(default_folders / "tmp"): 0})
    monkeypatch.setattr(memory_cap_limit, "is_in_memory", lambda _folder: True)
    left = {"cgroup": UNLIMITED, "address_space": UNLIMITED, "lockable": UNLIMITED}
    cases = [
        ({"cgroup": 400 * MIB}, 50, "the job's control group leaves 400 MiB of memory"),
        ({"cgroup": 40 * MIB}, 16, "the job's control group leaves 40 MiB of memory"),
        (
            {"cgroup": 800 * MIB, "address_space": 400 * MIB},
            50,
            "`ulimit -v` leaves 400 MiB of address space",
        ),
        ({"lockable": 160 * MIB}, 20, "`ulimit -l` leaves 160 MiB of memory that may be locked"),
    ]
    for limits, capacity_mib, why in cases:
        # WHEN
        monkeypatch.setattr(memory_cap_limit, "memory_left", partial(MemoryLeft, **(left | limits)))
        made = spool.make_spool(Options(), "s")

        # THEN
        assert made.capacity_bytes == capacity_mib * MIB
        trace = f"trace_memory_mb from 256 to {capacity_mib // 4}"
        assert made.notes == (f"memory_cap_mb lowered from 1024 to {capacity_mib}, {trace}: {why}",)


def test_too_little_address_space_is_refused_with_what_to_do(default_folders, free, monkeypatch):
    # GIVEN
    free.update({str(default_folders / "shm"): 4096, str(default_folders / "tmp"): 0})
    left = MemoryLeft(UNLIMITED, 20 * MIB, UNLIMITED)
    monkeypatch.setattr(memory_cap_limit, "memory_left", lambda: left)

    # WHEN / THEN
    with pytest.raises(
        StorageError, match="leaves 20 MiB of address space and a session needs at least 16: raise"
    ):
        spool.make_spool(Options(), "s")


def test_a_system_without_a_folder_for_temporary_files_records_in_shared_memory(
    default_folders, free, monkeypatch
):
    # GIVEN
    def no_folder():
        raise FileNotFoundError("No usable temporary directory found")

    free[str(default_folders / "shm")] = 4096
    monkeypatch.setattr(tempfile, "gettempdir", no_folder)
    monkeypatch.setattr(user_folders, "SHARED_MEMORY", default_folders / "shm")

    # WHEN / THEN
    assert spool.choose_folder(Options()) == default_folders / "shm"


def test_each_bound_names_what_to_do(default_folders, free, monkeypatch):
    # GIVEN a folder in memory that has more room, or less, than the control group leaves
    folder = default_folders / "shm"
    monkeypatch.setattr(memory_cap_limit, "is_in_memory", lambda _folder: True)
    left = MemoryLeft(800 * MIB, UNLIMITED, UNLIMITED)
    monkeypatch.setattr(memory_cap_limit, "memory_left", lambda: left)
    for free_mib, fix in (
        (4096, "raise its limit, or name a folder on a disk with --spool-dir"),
        (20, "make room there, or name another with --spool-dir"),
    ):
        free[str(folder)] = free_mib
        # WHEN / THEN
        assert memory_cap_limit.tightest_bound(folder, "--spool-dir").fix == fix


def test_a_spool_that_its_process_removed_is_left_out(tmp_path):
    # GIVEN a child that began as its session ended: its spool goes between the listing and the look
    assert known_children([tmp_path / "5.spool"], {}) == []
