"""Records that were found before, kept in the user's cache: finding those of small values reads all."""

from __future__ import annotations

import struct
from contextlib import suppress
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
import xxhash

from tfdarshan.durable.durable_file import durable_file
from tfdarshan.durable.user_folders import cache_folder
from tfdarshan.errors import TfdarshanError
from tfdarshan.native.lmdb_file import RECORD, LmdbFacts, LmdbFile

VERSION = 1
# Kept are those whose pages with keys come to so much, and whose own size is at most that.
LEAST_LEAF_BYTES = 8 << 20
MOST_KEPT_BYTES = 256 << 20
# All that are kept; beyond it the oldest go.
MOST_BYTES = 1 << 30

_FACTS = struct.Struct(f"<{len(fields(LmdbFacts))}Q")
_HEAD = struct.Struct("<8sQQ")  # magic, records, bytes of keys
_MAGIC = b"tfdlmdb%d" % VERSION
_DIGEST_BYTES = 16


def folder() -> Path:
    """Return where they are."""
    return cache_folder() / "lmdb"


def restore(file: LmdbFile, name: bytes | None) -> bool:
    """Have a file take its database's records as they were kept; say whether there were any."""
    with suppress(OSError, RuntimeError):
        content = memoryview(_path(file, name).read_bytes())
        if xxhash.xxh3_128_digest(content[:-_DIGEST_BYTES]) == content[-_DIGEST_BYTES:]:
            return _restored(file, content[:-_DIGEST_BYTES])
    return False


def _restored(file: LmdbFile, content: memoryview) -> bool:
    first = _HEAD.size + _FACTS.size
    if len(content) < first:
        return False
    magic, count, key_bytes = _HEAD.unpack_from(content)
    keys = first + count * RECORD.itemsize
    if magic != _MAGIC or keys + key_bytes != len(content):
        return False
    facts = LmdbFacts(*_FACTS.unpack_from(content, _HEAD.size))
    try:
        file.restore(
            np.frombuffer(content, RECORD, count, first), np.frombuffer(content[keys:], np.uint8), facts
        )
    except TfdarshanError:
        return False
    return True


def keep(file: LmdbFile, name: bytes | None) -> None:
    """Keep the records of the database that was indexed, if finding them read much, and if it can."""
    facts, records, keys = file.facts(), file.records(), file.keys()
    size = records.nbytes + keys.nbytes
    if facts.leaf_pages * facts.page_bytes < LEAST_LEAF_BYTES or size > MOST_KEPT_BYTES:
        return
    parts = (_HEAD.pack(_MAGIC, len(records), keys.nbytes), _FACTS.pack(*astuple(facts)), records.data, keys)
    digest = xxhash.xxh3_128()
    with suppress(OSError, RuntimeError):
        path = _path(file, name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with durable_file(path, shared=True) as written:
            for part in parts:
                digest.update(part)
                written.write(part)
            written.write(digest.digest())
        _make_room(path)


def _path(file: LmdbFile, name: bytes | None) -> Path:
    """Return the name for this database of this file, as it is now."""
    about, facts = Path(file.path).stat(), file.facts()
    known = (VERSION, about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, facts.transaction, name)
    return folder() / xxhash.xxh3_128_hexdigest(repr(known).encode())


def _make_room(newest: Path) -> None:
    kept = sorted(newest.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    total = 0
    for path in kept:
        total += path.stat().st_size
        if total > MOST_BYTES and path != newest:
            path.unlink(missing_ok=True)
