"""Jobs that go where names and modules cannot be reached: beyond PATH_MAX, into a chroot, under seccomp."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

import tfdarshan

LEVELS, LEVEL = 25, "d" * 200


@pytest.fixture
def deep(tmp_path):
    """Lead to a folder whose path is longer than PATH_MAX; return a descriptor of it."""
    handle = os.open(tmp_path, os.O_RDONLY)
    for _ in range(LEVELS):
        os.mkdir(LEVEL, dir_fd=handle)
        handle, above = os.open(LEVEL, os.O_RDONLY, dir_fd=handle), handle
        os.close(above)
    yield handle
    os.close(handle)
    subprocess.run(["rm", "-rf", tmp_path / LEVEL], check=True)


@contextmanager
def working_in(folder):
    """Work in a folder for a while."""
    before = os.open(".", os.O_RDONLY)
    os.fchdir(folder)
    yield
    os.fchdir(before)
    os.close(before)


def rows_of(session, name):
    files = session.files
    return files[files["path"].str.endswith(f"/{name}")]


@pytest.mark.parametrize("by_descriptor", [False, True])
def test_a_file_beyond_path_max_has_a_row(deep, tmp_path, by_descriptor):
    # GIVEN
    below = {"dir_fd": deep} if by_descriptor else {}

    # WHEN
    with working_in(deep), tfdarshan.profile(tmp_path / "logs", spool_dir=tmp_path) as session:
        handle = os.open("file.bin", os.O_CREAT | os.O_RDWR, **below)
        os.write(handle, bytes(1_234))
        os.close(handle)
        handle = os.open("./file.bin", os.O_RDONLY, **below)
        os.close(handle)
        handle = os.open("../file.bin", os.O_CREAT | os.O_RDWR, **below)
        os.close(handle)

    # THEN its folder is named by its number
    found = os.fstat(deep)
    folder = (
        f"(beyond PATH_MAX, device {os.major(found.st_dev)}:{os.minor(found.st_dev)}, inode {found.st_ino})"
    )
    rows = rows_of(session, "file.bin").set_index("path")
    assert rows.loc[f"{folder}/file.bin", "POSIX_OPENS"] == 2
    assert rows.loc[f"{folder}/file.bin", "POSIX_BYTES_WRITTEN"] == 1_234
    assert rows.loc[f"{folder}/../file.bin", "POSIX_OPENS"] == 1


def test_a_long_name_below_a_long_folder_has_a_row(tmp_path, monkeypatch):
    # GIVEN a folder that has a name, and a file below it that has none
    folder = tmp_path
    for _ in range(15):
        folder = folder / LEVEL
        folder.mkdir()
    monkeypatch.chdir(folder)
    below = "/".join([LEVEL] * 15)
    os.makedirs(below)

    # WHEN
    with tfdarshan.profile(tmp_path / "logs", spool_dir=tmp_path) as session:
        os.close(os.open(f"{below}/file.bin", os.O_CREAT | os.O_WRONLY))

    # THEN
    (path,) = rows_of(session, "file.bin")["path"]
    assert path.startswith("(beyond PATH_MAX, device ")
    assert path.endswith(f"/{below}/file.bin")
    monkeypatch.undo()
    subprocess.run(["rm", "-rf", tmp_path / LEVEL], check=True)


def test_a_descriptor_from_before_has_a_row(deep, tmp_path):
    # GIVEN a file that was opened before the session
    handle = os.open("early.bin", os.O_CREAT | os.O_RDWR, dir_fd=deep)

    # WHEN
    with tfdarshan.profile(tmp_path / "logs", spool_dir=tmp_path) as session:
        os.write(handle, bytes(777))
    os.close(handle)

    # THEN
    files = session.files
    written = files[files["path"].str.startswith("(beyond PATH_MAX")]
    assert written["POSIX_BYTES_WRITTEN"].tolist() == [777]


JOB = """
import os, sys, tfdarshan
session = tfdarshan.profile("logs", spool_dir="spool", tf_profiler=False)
session.start()
open("data.bin", "rb").read()
{leave}
session.stop()
print("went on", flush=True)
"""
LEAVES = {
    "chroot": 'os.chroot("empty"); os.chdir("/")',
    # nothing can be opened any more
    "rlimit": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))",
    "setuid": "import numpy, datetime; os.chmod('.', 0o700); os.setgid(65534); os.setuid(65534)",
}


@pytest.mark.parametrize("leave", LEAVES)
def test_a_stop_that_cannot_write_says_why(leave, tmp_path):
    # GIVEN
    if leave != "rlimit" and os.getuid():
        pytest.skip(f"{leave} needs root")
    (tmp_path / "empty").mkdir()
    (tmp_path / "spool").mkdir()
    (tmp_path / "data.bin").write_bytes(bytes(5_000))

    # WHEN the job takes away what the stop needs
    done = subprocess.run(
        [sys.executable, "-c", JOB.format(leave=LEAVES[leave])],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip

    # THEN the job goes on, and what is said is about files, not about modules
    assert done.stdout == "went on\n"
    said = done.stderr
    assert "was not written" in said
    assert "tfdarshan recover" in said
    assert "No module named" not in said
    assert "Traceback" not in said
    reason = {"chroot": "can no longer load ", "rlimit": "Too many open files", "setuid": ""}[leave]
    assert reason in said

    # THEN what was recorded is there
    recovered = subprocess.run(
        [sys.executable, "-m", "tfdarshan", "recover", "logs", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(json.loads(recovered.stdout)["recovered"]) == 1
    files = tfdarshan.open_session(tmp_path / "logs").files
    read = files.loc[files["path"] == str(tmp_path / "data.bin"), "POSIX_BYTES_READ"]
    assert read.tolist() == [5_000]


def test_a_recording_whose_folder_was_cleared_is_not_promised(tmp_path):
    # GIVEN a job whose spools somebody clears away, as logind does with /dev/shm at a logout
    (tmp_path / "spool").mkdir()
    (tmp_path / "data.bin").write_bytes(bytes(5_000))
    cleared = "import shutil; shutil.rmtree('spool')"

    # WHEN
    done = subprocess.run(
        [sys.executable, "-c", JOB.format(leave=cleared)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip

    # THEN the job goes on, and nothing is to be recovered
    assert done.stdout == "went on\n"
    assert "was not written: the spool" in done.stderr
    assert (
        "What was recorded is lost with that folder: name another, which nobody clears, with spool_dir or"
        in done.stderr
    )
    assert "tfdarshan recover" not in done.stderr
    assert not (tmp_path / "logs" / "plugins").exists()
