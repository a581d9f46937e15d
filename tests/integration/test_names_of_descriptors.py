"""Names below /proc and /dev that lead to a file: patterns apply to where the file is."""

import os
import subprocess
import sys

import pytest

import tfdarshan

NAMES = {
    "/dev/stdin": 0,
    "/dev/fd/{fd}": None,
    "/proc/self/fd/{fd}": None,
    "/proc/thread-self/fd/{fd}": None,
    "/proc/self/cwd/data": None,
    "/proc/self/root{path}": None,
}


def read_all(name: str) -> int:
    """Read a file without a buffer, by one call that gets it all and one that gets nothing."""
    descriptor = os.open(name, os.O_RDONLY)
    total = 0
    while got := len(os.read(descriptor, 1 << 16)):
        total += got
    os.close(descriptor)
    return total


@pytest.mark.parametrize("name", NAMES)
def test_name_that_leads_to_a_file(name, tmp_path, monkeypatch):
    # GIVEN a file that is open, as standard input too
    path = tmp_path / "data"
    path.write_bytes(b"x" * 4321)
    monkeypatch.chdir(tmp_path)
    descriptor, stdin = os.open(path, os.O_RDONLY), os.dup(0)
    os.dup2(descriptor, 0)

    # WHEN it is read by another name
    with tfdarshan.profile(tmp_path / "logs") as session:
        total = read_all(name.format(fd=descriptor, path=path))
    os.dup2(stdin, 0)
    os.close(stdin)
    os.close(descriptor)

    # THEN that is recorded of the file
    row = session.files[session.files["path"] == str(path)].iloc[0]
    assert total == 4321
    assert (row["POSIX_OPENS"], row["POSIX_BYTES_READ"], row["size_bytes"]) == (1, 4321, 4321)


@pytest.mark.parametrize("name", ["data", "data (deleted)"])
def test_a_deleted_file_has_the_name_that_it_had(name, tmp_path):
    # GIVEN a file that is open, to which the kernel's name now adds " (deleted)"
    path = tmp_path / name
    path.write_bytes(b"x" * 4321)
    descriptor = os.open(path, os.O_RDONLY)
    path.unlink()

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        total = read_all(f"/proc/self/fd/{descriptor}")
    os.close(descriptor)

    # THEN
    row = session.files[session.files["path"] == str(path)].iloc[0]
    assert total == 4321
    assert (row["POSIX_OPENS"], row["POSIX_BYTES_READ"]) == (1, 4321)


def test_standard_input_from_a_file(tmp_path):
    # GIVEN
    path = tmp_path / "data"
    path.write_bytes(b"x" * 4321)
    program = (
        "import os, sys, tfdarshan\n"
        "with tfdarshan.profile(sys.argv[1]) as session:\n"
        "    sys.stdin.buffer.read()\n"
        "row = session.files[session.files['path'] == sys.argv[2]].iloc[0]\n"
        "print(row['POSIX_BYTES_READ'])\n"
    )

    # WHEN
    with path.open("rb") as stdin:
        command = [sys.executable, "-c", program, tmp_path / "logs", path]
        printed = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=True).stdout

    # THEN
    assert printed == "4321\n"


def test_files_of_the_kernel_stay_left_out(tmp_path):
    with tfdarshan.profile(tmp_path / "logs") as session:
        read_all("/proc/self/stat")
        read_all("/dev/null")
        pipe, other = os.pipe()
        os.close(other)
        read_all(f"/dev/fd/{pipe}")
        os.close(pipe)
    assert not session.files["path"].str.contains("^/(?:proc|dev)/", regex=True).any()
