"""`size_bytes` and offsets of files that others change too: the oracle is the file itself."""

import ctypes
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfdarshan

MORE = "import os, sys; f = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND); os.write(f, b'b' * 1000)"


def recorded(session, path):
    """Return the file's row, and offset and length of each write to it."""
    rows = session.files[session.files["path"] == str(path)]
    events = session.events[session.events["path"] == str(path)]
    writes = events[events["operation"].isin(["write", "writev", "pwrite", "pwritev"])]
    assert len(rows) == 1
    return rows.iloc[0], list(zip(writes["offset"], writes["length"], strict=True))


def test_two_processes_append_to_one_file(tmp_path):
    # GIVEN a process that is not recorded and appends between our writes
    path = tmp_path / "log"
    with tfdarshan.profile(tmp_path / "logs", follow_children=False) as session:
        with path.open("ab", buffering=0) as file:
            file.write(b"a" * 2000)
            subprocess.run([sys.executable, "-S", "-c", MORE, path], check=True)

            # WHEN we write again
            file.write(b"a" * 4000)

    # THEN the size is the file's, and each write is where its bytes are
    row, writes = recorded(session, path)
    assert (row["size_bytes"], row["POSIX_BYTES_WRITTEN"]) == (path.stat().st_size, 6000) == (7000, 6000)
    assert writes == [(0, 2000), (3000, 4000)]


def append_by_pwrite(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.pwrite(descriptor, b"b" * 50, 7)
    os.close(descriptor)


def append_by_fcntl(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    os.write(descriptor, b"b" * 50)
    os.close(descriptor)


def append_by_flag(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    os.pwritev(descriptor, [b"b" * 50], 7, os.RWF_APPEND)
    os.close(descriptor)


def append_to_descriptor_from_before(path: Path) -> None:
    os.write(OPENED_BEFORE[path], b"b" * 50)


OPENED_BEFORE: dict[Path, int] = {}
APPENDS = (append_by_pwrite, append_by_fcntl, append_by_flag, append_to_descriptor_from_before)


@pytest.mark.parametrize("append", APPENDS, ids=lambda append: append.__name__)
def test_each_way_to_append_is_at_the_end(append, tmp_path):
    # GIVEN a file of 300 bytes
    path = tmp_path / "file"
    path.write_bytes(b"a" * 300)
    OPENED_BEFORE[path] = os.open(path, os.O_WRONLY | os.O_APPEND)

    # WHEN bytes are appended
    with tfdarshan.profile(tmp_path / "logs") as session:
        append(path)
    os.close(OPENED_BEFORE.pop(path))

    # THEN they are recorded where they are
    row, writes = recorded(session, path)
    assert path.read_bytes() == b"a" * 300 + b"b" * 50
    assert (row["size_bytes"], writes) == (350, [(300, 50)])


def test_file_that_a_child_fills(tmp_path):
    # GIVEN a file that is made here and never written here
    path = tmp_path / "output"

    # WHEN a program without Python gets it as its standard output
    with tfdarshan.profile(tmp_path / "logs") as session, path.open("wb") as file:
        subprocess.run(["head", "-c", "5000000", "/dev/zero"], stdout=file, check=True)

    # THEN its size is the file's
    row, _ = recorded(session, path)
    assert row["size_bytes"] == path.stat().st_size == 5_000_000


def test_characters_given_back_to_a_stream(tmp_path):
    # GIVEN a C stream
    path = tmp_path / "text"
    path.write_bytes(b"x" * 5000)
    program = tmp_path / "give_back.so"
    source = tmp_path / "give_back.c"
    source.write_text(
        "#include <stdio.h>\n"
        "int give_back(const char *path) {\n"
        "    int count = 0;\n"
        '    FILE *file = fopen(path, "r");\n'
        "    for (int i = 0; i < 3; i++)\n"
        "        ungetc(fgetc(file), file);\n"
        "    while (fgetc(file) != EOF)\n"
        "        count++;\n"
        "    fclose(file);\n"
        "    return count;\n"
        "}\n"
    )
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", program, source], check=True)

    # WHEN characters are given back and the file is read to its end
    with tfdarshan.profile(tmp_path / "logs") as session:
        count = ctypes.CDLL(program).give_back(os.fsencode(path))

    # THEN it is no longer for it
    row, _ = recorded(session, path)
    assert count == row["size_bytes"] == path.stat().st_size == 5000
    reads = session.events[(session.events["path"] == str(path)) & (session.events["operation"] == "fread")]
    assert (reads["offset"] + reads["length"]).max() == 5000
