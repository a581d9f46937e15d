"""A terminal of a given size: the command sees one on its streams, and the test reads what is shown."""

from __future__ import annotations

import fcntl
import math
import os
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tfdarshan.terminal.paint import WIDEST

COLOUR = re.compile(r"\x1b\[\d*m")


@dataclass(frozen=True)
class Shown:
    """What a command that has ended left.

    Attributes:
        code: Its exit code.
        text: What it wrote on stdout, without colours.
        errors: What it wrote on stderr, which is a pipe.
        coloured: Whether there were colours.
    """

    code: int
    text: str
    errors: bytes
    coloured: bool = False

    @property
    def completed(self) -> subprocess.CompletedProcess[bytes]:
        """The same as of a command whose stdout is a pipe."""
        return subprocess.CompletedProcess([], self.code, self.text.encode(), self.errors)

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


def shown_by(command: Callable[[], int], columns: int) -> Shown:
    """Calls a function in this process with stdout on a terminal of so many columns."""
    leader, terminal = _sized(columns)
    told: list[bytes] = []
    reader = threading.Thread(target=lambda: told.append(_all_of(leader)))
    reader.start()
    stdout = sys.stdout
    try:
        with open(terminal, "w", encoding="utf-8") as sys.stdout:
            code = command()
    finally:
        sys.stdout = stdout
        reader.join()
    return Shown(code, _plain(told[0]), b"")


def in_terminal(
    words: Sequence[str], columns: int | None, environment: Mapping[str, str] | None = None, **more
) -> Shown:
    """Run a command, or `tfdarshan WORDS` if they begin with a verb, with stdout on so many columns.

    Without columns, stdout is a pipe.
    """
    leader, terminal = os.pipe() if columns is None else _sized(columns)
    plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    whole = bool(words) and words[0].startswith(("/", "setpriv"))
    running = subprocess.Popen(
        words if whole else [sys.executable, "-m", "tfdarshan", *words],
        stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.PIPE,
        env={**plain, "TERM": "xterm-256color", **(environment or {})}, **more,
    )  # fmt: skip
    os.close(terminal)
    shown = _all_of(leader)
    errors = running.communicate(timeout=120)[1]
    return Shown(running.returncode, _plain(shown), errors, bool(COLOUR.search(shown.decode("latin-1"))))


def _sized(columns: int) -> tuple[int, int]:
    """Make a terminal: what is read from, and what is written to."""
    leader, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
    return leader, terminal


def _plain(shown: bytes) -> str:
    return COLOUR.sub("", shown.decode("utf-8", "backslashreplace").replace("\r\n", "\n"))


def _all_of(leader: int) -> bytes:
    """Read until nobody has the terminal open any more; stderr is read after that and has to be short."""
    parts = []
    try:
        while part := os.read(leader, 1 << 16):
            parts.append(part)
    except OSError:  # Linux says EIO where the other end is closed.
        pass
    finally:
        os.close(leader)
    return b"".join(parts)


OLD_STYLE = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def sentences(stderr: bytes) -> list[str]:
    """Return what stderr says without argparse's usage."""
    said = stderr.decode("utf-8", "backslashreplace")
    assert "Traceback" not in said, said
    assert "Exception ignored" not in said, said
    return re.sub(r"\Ausage: .*\n(?:\s+.*\n)*", "", said).splitlines()


COMMAND = re.compile(r"\s*(?:[+-] |[a-z ]+: )?`?tfdarshan ")


def too_wide(text: str, columns: int, fixes: set[str]) -> list[str]:
    """Return lines that are too wide, and could have been folded: no command, no program, no one word."""
    return [
        line
        for line in text.splitlines()
        if len(line) > min(columns, WIDEST)
        and not COMMAND.match(line)
        and re.sub(r"^\s*[+-] ", "", line).strip() not in fixes
        and len(line.split()) > 1
    ]


def rows_taken(lines: list[str], width: int) -> int:
    """Return the rows of a terminal that lines take."""
    return sum(max(math.ceil(len(line) / width), 1) for line in lines)
