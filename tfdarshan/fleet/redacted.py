"""A catalogue's rows without names: tokens for users, programs and paths, and no text that may have any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pyarrow as pa


class Tokens(Protocol):
    """What makes tokens: `tfdarshan.reports.views.redaction.Redaction`."""

    def path(self, path: str) -> str:
        """Return a file's path of tokens."""

    def folder(self, path: str) -> str:
        """Return a folder's path of tokens."""

    def name(self, kind: str, name: str) -> str:
        """Return a name's token, which begins with a letter that says what it is of."""


# Nothing else tells what these have, and what they say may have names in it.
REMOVED = ("note", "fingerprint", "uid", "command", "job", "finding_title")
FOLDERS = ("mount_point", "input_folder")
NAMES = {"user": "u", "project": "p", "application": "a", "hosts": "h"}


def redacted(table: Any, tokens: Tokens) -> Any:
    """Return a catalogue's rows, of ARROW_SCHEMA, with tokens for names; of doubts only their number."""
    schema = table.schema

    def put(name: str, values: Sequence[Any]) -> None:
        nonlocal table
        place = schema.get_field_index(name)
        table = table.set_column(place, schema.field(name), pa.array(values, schema.field(name).type))

    def mapped(name: str, token: Callable[[str], str]) -> None:
        put(name, [None if value is None else token(value) for value in table[name].to_pylist()])

    # A user without a name is not the same as others without one.
    put("user", [_user(*both) for both in zip(*(table[n].to_pylist() for n in ("user", "uid")), strict=True)])
    for name in REMOVED:
        put(name, [None] * table.num_rows)
    mapped("input", tokens.path)
    for name in FOLDERS:
        mapped(name, tokens.folder)
    for name, kind in NAMES.items():
        mapped(name, lambda value, kind=kind: tokens.name(kind, value))  # type: ignore[misc]
    put("mounts", [_mounts(entries, tokens) for entries in table["mounts"].to_pylist()])
    put("doubts", [_number(doubts) for doubts in table["doubts"].to_pylist()])
    return table


def _user(name: str | None, uid: int | None) -> str | None:
    return f"uid {uid}" if name is None and uid is not None else name


def _mounts(entries: list[dict[str, Any]] | None, tokens: Tokens) -> list[dict[str, Any]] | None:
    if entries is None:
        return None
    return [
        entry | {"mount_point": entry["mount_point"] and tokens.folder(entry["mount_point"])}
        for entry in entries
    ]


def _number(doubts: list[str] | None) -> list[str] | None:
    return [f"{len(doubts)} (redacted)"] if doubts else doubts
