"""The oracle itself: what strace writes is understood, on files with the most awkward names."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.oracle import strace_log
from tests.integration.oracle.strace_log import StraceError, parse
from tests.integration.oracle.tally import FileTally, marker, tally, window

NEEDS_STRACE = pytest.mark.skipif(
    not strace_log.is_available(), reason="strace is missing, or may not trace here"
)
NAMES = [
    "plain",
    "with space",
    "a<b>c",
    'q"uo\\te',
    "new\nline",
    "\u00e9\u4e2d",
    "[1]",
    "x (deleted)",
    "a, b)",
    "= 5",
]
SCRIPT = """
import os, sys, threading
from pathlib import Path
directory = Path(sys.argv[1])
def use(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(fd, b"1234567")
    os.pread(fd, 5, 0)
    os.pread(fd, 5, 100)
    os.close(fd)
    os.stat(path)
(directory / "before").write_bytes(b"1")
os.access(sys.argv[2], 0)
threads = [threading.Thread(target=use, args=(directory / name,)) for name in sys.argv[4:]]
for thread in threads: thread.start()
for thread in threads: thread.join()
fd = os.open(directory / "other", os.O_RDWR | os.O_CREAT)
os.unlink(directory / "other")
os.writev(fd, [b"123", b"45"])
source = os.open(directory / "plain", os.O_RDONLY)
os.sendfile(fd, source, 0, 4)
os.copy_file_range(source, fd, 2)
os.fstat(fd)
try: os.open(directory / "missing", os.O_RDONLY)
except FileNotFoundError: pass
os.mkdir(directory / "folder")
os.access(sys.argv[3], 0)
(directory / "after").write_bytes(b"1")
"""


@NEEDS_STRACE
def test_calls_of_all_threads_in_the_window_are_tallied_by_file(tmp_path: Path) -> None:
    # GIVEN a script whose calls are known, traced
    script, data = tmp_path / "script.py", tmp_path / "data"
    script.write_text(SCRIPT)
    data.mkdir()
    edges = [marker("it", "begin"), marker("it", "end")]
    command = [sys.executable, str(script), str(data), *edges, *NAMES]
    done = strace_log.run(command, tmp_path / "log", timeout_s=60)
    assert done.returncode == 0, done.stderr

    # WHEN its log is read
    seen = tally(window(strace_log.read_calls(tmp_path / "log"), "it"), data)

    # THEN each file has its calls, and files used outside the window are not there
    used: dict[str, Any] = {
        "opens": 1,
        "reads": 2,
        "zero_reads": 1,
        "bytes_read": 5,
        "writes": 1,
        "bytes_written": 7,
    }
    expected = {str(data / name): FileTally(**used, path_stats=1) for name in NAMES}
    plain = expected[str(data / "plain")]
    plain.opens, plain.copy_reads, plain.copy_bytes_read = 2, 2, 6
    copied: dict[str, Any] = {"copy_writes": 2, "copy_bytes_written": 6}
    expected[str(data / "other")] = FileTally(
        opens=1, unlinks=1, writes=1, bytes_written=5, descriptor_stats=1, **copied
    )
    expected[str(data / "folder")] = FileTally(is_directory=True)
    assert seen == expected


@NEEDS_STRACE
def test_a_workload_that_did_not_end_is_an_error(tmp_path: Path) -> None:
    script = f"import os; os.access({marker('it', 'begin')!r}, 0)"
    strace_log.run([sys.executable, "-c", script], tmp_path / "log", timeout_s=60)
    with pytest.raises(StraceError, match=marker("it", "end")):
        window(strace_log.read_calls(tmp_path / "log"), "it")


@pytest.mark.parametrize(
    ("line", "name", "result", "error", "descriptors", "strings"),
    [
        ('1.000000002 read(3</a b>, ""..., 9) = 7', "read", 7, "", ["/a b"], [""]),
        ('1.000000002 read(3</a>(deleted), "", 9) = 0', "read", 0, "", ["/a"], [""]),
        ("1.000000002 read(9, 0x7f, 1) = -1 EBADF (Bad file descriptor)", "read", -1, "EBADF", [], []),
        ('1.000000002 open("/x\\nz", O_RDONLY) = 3</x\\nz>', "open", 3, "", [], ["/x\nz"]),
        (
            '1.000000002 openat(AT_FDCWD</h>, "a<1>", 0) = 3</h/a\\0741\\76>',
            "openat",
            3,
            "",
            ["/h"],
            ["a<1>"],
        ),
        (
            "1.000000002 mmap(0, 3, 1, 2, 4</m>, 0) = 0x7f7e82360000",
            "mmap",
            0x7F7E82360000,
            "",
            ["/m"],
            [],
        ),
        ("1.000000002 fcntl(4</m>, F_GETFL) = 0x8001 (flags O_WRONLY)", "fcntl", 0x8001, "", ["/m"], []),
        ('1.000000002 unlink("/\\303\\251\\377")  = 0', "unlink", 0, "", [], ["/\u00e9\udcff"]),
    ],
)
def test_a_line_is_parsed(
    line: str, name: str, result: int, error: str, descriptors: list[str], strings: list[str]
) -> None:
    call = parse(line, 7)
    assert (call.time_ns, call.tid, call.name, call.result, call.error) == (
        1_000_000_002,
        7,
        name,
        result,
        error,
    )
    assert call.descriptors == descriptors
    assert call.strings == strings
    assert call.result_path == {"open": "/x\nz", "openat": "/h/a<1>"}.get(name, "")


def test_a_line_that_is_no_call_is_an_error() -> None:
    with pytest.raises(StraceError, match="not a call"):
        parse("1.000000002 read(3</a>, <detached", 7)


def test_undecodable_bytes_survive() -> None:
    assert os.fsencode(strace_log.unescape("\\377\\0a")) == b"\xff\x00a"
