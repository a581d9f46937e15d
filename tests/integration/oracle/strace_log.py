"""Runs a command under strace and gives its file system calls, in order of time.

Every thread writes a log of its own (`-ff`), so no call is split into "unfinished" and "resumed"
halves. Descriptors come with the path the kernel knows (`-y`), data is not printed (`-s 0`).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TRACED = (
    "access,close,copy_file_range,creat,dup,dup2,dup3,fcntl,fdatasync,fstat,fsync,ftruncate,lseek,lstat,"
    "mkdir,mkdirat,mmap,newfstatat,open,openat,openat2,pread64,preadv,preadv2,pwrite64,pwritev,pwritev2,"
    "read,readv,rename,renameat,renameat2,rmdir,sendfile,splice,stat,statx,truncate,unlink,unlinkat,"
    "write,writev"
)
_STRACE = (
    *("strace", "-f", "--seccomp-bpf", "-y", "-s", "0", "-e", f"trace={TRACED}", "-e", "signal=none"),
    "--absolute-timestamps=format:unix,precision:ns",
)
_PATH = r"<(?P<path>(?:[^<>\\]|\\.)*)>"
_LINE = re.compile(
    r"(?P<seconds>\d+)\.(?P<fraction>\d{9}) (?P<name>\w+)\((?P<arguments>.*)\)\s+= "
    rf"(?P<result>-?\d+|0x[0-9a-f]+)(?:{_PATH}(?:\(deleted\))?)?(?: (?P<error>E\w+))?(?: \(.*\))?"
)
_REMARK = re.compile(r"^\S+ (?:\+\+\+|---)|<unfinished \.\.\.>|\) += \?$")  # exits, and calls they ended
_TOKEN = re.compile(rf'(?P<fd>\b\d+|AT_FDCWD){_PATH}|"(?P<string>(?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_CONTROL = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f", b"a": b"\a", b"b": b"\b"}


class StraceError(Exception):
    """strace could not be run, or wrote something this module does not understand."""


@dataclass(frozen=True)
class Call:
    """One system call."""

    time_ns: int  # CLOCK_REALTIME at entry
    tid: int
    name: str
    arguments: str  # as strace prints them
    result: int  # -1 when it failed, and for the rare call without a result
    error: str  # errno's name, "" on success
    result_path: str  # of the descriptor it returned, else ""

    @property
    def descriptors(self) -> list[str]:
        """Paths of the descriptors among the arguments, in order; AT_FDCWD gives the directory."""
        paths = (match["path"] for match in _TOKEN.finditer(self.arguments))
        return [unescape(path) for path in paths if path is not None]

    @property
    def strings(self) -> list[str]:
        """The quoted arguments in order: paths, and empty strings for data."""
        strings = (match["string"] for match in _TOKEN.finditer(self.arguments))
        return [unescape(text) for text in strings if text is not None]


@cache
def is_available() -> bool:
    """Return whether strace is installed, knows our options and may trace here."""
    try:
        return subprocess.run([*_STRACE, "-o", os.devnull, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def run(
    command: Sequence[str],
    log_directory: Path,
    *,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `command` under strace; each thread's log goes to `log_directory`."""
    log_directory.mkdir(parents=True)
    whole = [*tracing(log_directory), *command]
    return subprocess.run(whole, capture_output=True, text=True, timeout=timeout_s, env=environment)


def tracing(log_directory: Path) -> list[str]:
    """Return what comes before a command that is traced; several may write to the same folder."""
    return [*_STRACE, "-ff", "-o", str(log_directory / "thread")]


def read_calls(log_directory: Path) -> list[Call]:
    """Return the calls of all threads, sorted by time.

    Raises:
        StraceError: A line is not what this module knows.
    """
    logs = sorted(log_directory.glob("thread.*"))
    if not logs:
        raise StraceError(f"strace left no log in {log_directory}")
    calls = [call for log in logs for call in _read_log(log)]
    return sorted(calls, key=lambda call: call.time_ns)


def unescape(text: str) -> str:
    """Return the path strace printed as `text`: escapes undone, bytes decoded by os.fsdecode."""
    return os.fsdecode(_ESCAPE.sub(_escaped_byte, os.fsencode(text)))


def _escaped_byte(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if code[:1].isdigit() else _CONTROL.get(code, code)


def _read_log(log: Path) -> list[Call]:
    tid = int(log.suffix[1:])
    with log.open(encoding="utf-8", errors="surrogateescape") as lines:
        return [parse(line.rstrip("\n"), tid) for line in lines if not _REMARK.search(line)]


def parse(line: str, tid: int) -> Call:
    """Return the call of one line of a log.

    Raises:
        StraceError: It is not a complete call.
    """
    match = _LINE.fullmatch(line)
    if match is None:
        raise StraceError(f"strace wrote a line that is not a call: {line!r}")
    return Call(
        time_ns=int(match["seconds"]) * 1_000_000_000 + int(match["fraction"]),
        tid=tid,
        name=match["name"],
        arguments=match["arguments"],
        result=int(match["result"], 0),
        error=match["error"] or "",
        result_path=unescape(match["path"] or ""),
    )
