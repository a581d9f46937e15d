r"""File names as they are written: exactly in tables and JSON, and without harm to a terminal in text.

A name on Linux is any bytes but NUL. In Python it is text in which each byte that is not UTF-8 is a lone
surrogate, as `os.fsdecode()` makes it, and JSON has that: `os.fsencode()` gives the bytes back. Tables hold
UTF-8 only: there such a byte is `\xff`, and the backslash of a name that has these very characters `\x5c`.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable

BYTE = re.compile(rb"\\x([0-9a-f]{2})")
LIKE_A_BYTE = re.compile(rb"\\(?=x[0-9a-f]{2})")
ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def table_name(name: bytes) -> str:
    """Return a name as tables hold it: UTF-8, from which `exact_name()` makes the name again."""
    if b"\\x" in name:
        name = LIKE_A_BYTE.sub(rb"\\x5c", name)
    return name.decode("utf-8", "backslashreplace")


def exact_name(name: str) -> str:
    """Return the name that a table's text stands for, bytes that are not UTF-8 as lone surrogates."""
    if "\\x" not in name:
        return name
    encoded = name.encode("utf-8", "surrogateescape")
    return os.fsdecode(BYTE.sub(lambda found: bytes([int(found[1], 16)]), encoded))


def printable(text: str) -> str:
    """Return text in one line that changes nothing on a terminal.

    What is not printable, as `str.isprintable()` says, becomes an escape: line ends, ESC and other control
    characters, marks that change the direction of writing, and bytes that are not UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def shell_word(path: str | os.PathLike[str]) -> str:
    """Return a path as one word of a command that people are to run."""
    word = os.fspath(path)
    return quoted(f"./{word}" if word.startswith("-") else word)


def quoted(word: str) -> str:
    r"""Return one word of a command that people are to run: printable, whatever the word holds.

    Line ends, other characters that are not printable, and bytes that are not UTF-8 are octal escapes within
    `$'...'`, which bash, zsh and ksh read.
    """
    return shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_typed, word))}'"


def shell_words(words: Iterable[str]) -> str:
    """Return a command that people are to run."""
    return " ".join(map(quoted, words))


def command_words(command: str) -> list[str]:
    """Return the words of a job's command, as its session has it; older sessions have them without quotes."""
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _typed(char: str) -> str:
    """Return a character within `$'...'`."""
    if char.isprintable():
        return f"\\{char}" if char in "\\'" else char
    errors = "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass"
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", errors))


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte, as os.fsdecode() has it
        code -= 0xDC00
    if char in ESCAPES:
        return ESCAPES[char]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
