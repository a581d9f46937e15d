"""Reads and words TensorFlow's `checkpoint` state file without TensorFlow."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.checkpoint.burst_errors import BurstBufferError
from tfdarshan.errors import reason

STATE_NAME = "checkpoint"
FIELD = re.compile(r'^\s*(\w+)\s*:\s*(?:"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|(\S+))\s*$')
ESCAPE = re.compile(rb"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)")
UNQUOTABLE = re.compile(r"""[\x00-\x1f\x7f"'\\]""")
_WHAT_TO_DO = "write it anew with tf.train.update_checkpoint_state(), or move it away to start without"
LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


@dataclass(frozen=True)
class CheckpointState:
    """The fields of TensorFlow's CheckpointState message; names are relative to the state file's folder.

    Attributes:
        latest: The checkpoint to restore.
        kept: All checkpoints that are managed, from the oldest to the newest, with the time each was saved in
            seconds since the epoch.
        last_preserved_at: When the last checkpoint was saved that is kept for ever, in seconds since the
            epoch.
    """

    latest: str
    kept: tuple[tuple[str, float], ...]
    last_preserved_at: float

    @property
    def names(self) -> frozenset[str]:
        """All checkpoints that the state names."""
        return frozenset((self.latest, *(name for name, _ in self.kept)))

    def text(self) -> str:
        """Word the state as TensorFlow does."""
        lines = [f"model_checkpoint_path: {_quoted(self.latest)}"]
        lines += [f"all_model_checkpoint_paths: {_quoted(name)}" for name, _ in self.kept]
        lines += [f"all_model_checkpoint_timestamps: {saved_at!r}" for _, saved_at in self.kept]
        lines.append(f"last_preserved_timestamp: {self.last_preserved_at!r}")
        return "\n".join(lines) + "\n"


def read_state(folder: Path) -> CheckpointState | None:
    """Read a folder's state; None where there is none, or it is empty as after a power cut.

    Raises:
        BurstBufferError: It cannot be understood.
        OSError: It cannot be read.
    """
    path = folder / STATE_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise BurstBufferError(f"{path} is not a checkpoint state file: {reason(error)}.") from error
    return parse_state(text, folder) if text.strip("\0 \n") else None


def parse_state(text: str, folder: Path) -> CheckpointState:
    """Read a state from text.

    Raises:
        BurstBufferError: It cannot be understood.
    """
    fields: dict[str, list[str]] = {}
    for line in text.split("\n"):
        match = FIELD.match(line)
        if match:
            quoted = match[2] if match[2] is not None else match[3]
            fields.setdefault(match[1], []).append(match[4] if quoted is None else _unquoted(quoted))
        elif line.strip() and not line.lstrip().startswith("#"):
            raise BurstBufferError(f"{folder / STATE_NAME} is not a checkpoint state file: it has {line!r}.")
    latest = fields.get("model_checkpoint_path")
    if not latest:
        raise BurstBufferError(f"{folder / STATE_NAME} names no checkpoint.")
    newest, *names = (
        _relative(name, folder) for name in (latest[0], *fields.get("all_model_checkpoint_paths", []))
    )
    last = _seconds(fields.get("last_preserved_timestamp", ["0"])[0], folder)
    times = [_seconds(value, folder) for value in fields.get("all_model_checkpoint_timestamps", [])]
    if len(times) != len(names):
        times = [last] * len(names)
    return CheckpointState(newest, tuple(zip(names, times, strict=True)), last)


def _seconds(text: str, folder: Path) -> float:
    """Read a time; one that is not finite would be neither before nor after any other."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise BurstBufferError(f"{folder / STATE_NAME} is damaged: {text!r} is not a time; {_WHAT_TO_DO}.")
    return seconds


def _relative(name: str, folder: Path) -> str:
    if not name or "\0" in name:
        raise BurstBufferError(
            f"{folder / STATE_NAME} is damaged: {name!r} is not a checkpoint; {_WHAT_TO_DO}."
        )
    if not Path(name).is_absolute():
        return name
    relative = os.path.relpath(name, folder)
    return name if relative.startswith("..") else relative


def _quoted(name: str) -> str:
    return '"' + UNQUOTABLE.sub(lambda match: f"\\{ord(match[0]):03o}", name) + '"'


def _unquoted(text: str) -> str:
    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if code[:1] == b"x" and len(code) > 1:
            return bytes([int(code[1:], 16)])
        if code[:1].isdigit():
            return bytes([int(code, 8) & 0xFF])
        return LETTERS.get(code, code)

    return ESCAPE.sub(plain, text.encode()).decode("utf-8", "surrogateescape")
