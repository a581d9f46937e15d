"""LMDB databases as Caffe's tools make them, and what reading all of one must give."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import xxhash

from ..disk_room import check_room

FACTS = "records.json"
TRANSACTION_BYTES = 32 << 20
# Datum's fields: channels, height, width, data, label.
_CHANNELS, _HEIGHT, _WIDTH, _DATA, _LABEL = 0x08, 0x10, 0x18, 0x22, 0x28


@dataclass(frozen=True, kw_only=True)
class RecordKind:
    """A data set's records: uncompressed images of `side` x `side` x 3 bytes, and how many a batch has."""

    name: str
    side: int
    key_digits: int
    batch: int


CIFAR10 = RecordKind(name="cifar10", side=32, key_digits=5, batch=32)
IMAGENET = RecordKind(name="imagenet", side=256, key_digits=8, batch=4)


@dataclass(frozen=True)
class Content:
    """What a database holds, or what some readers were given of one.

    Attributes:
        records: Their number.
        value_bytes: Sum of the sizes of their values.
        digest: Sum of the values' hashes, each seeded with its record's key, modulo 2^64: the order in which
            records come does not matter, one that is missing, twice or under another's key does.
    """

    records: int
    value_bytes: int
    digest: int


class Tally:
    """Counts the records that one reader is given."""

    def __init__(self) -> None:
        self.records = self.value_bytes = self.digest = 0

    def take(self, key: bytes, value: bytes | memoryview) -> None:
        """Take a record; all of its bytes are looked at."""
        self.records += 1
        self.value_bytes += len(value)
        self.digest += xxhash.xxh64_intdigest(value, int(key))

    def content(self) -> Content:
        """Return what was taken."""
        return Content(self.records, self.value_bytes, self.digest % 2**64)


def together(parts: Iterable[Content]) -> Content:
    """Return what several readers were given."""
    every = list(parts)
    return Content(
        sum(part.records for part in every),
        sum(part.value_bytes for part in every),
        sum(part.digest for part in every) % 2**64,
    )


@dataclass(frozen=True)
class CaffeDatabase:
    """One on disk."""

    kind: RecordKind
    folder: Path
    content: Content

    @property
    def path(self) -> Path:
        """Its data file."""
        return self.folder / "data.mdb"

    @property
    def size_bytes(self) -> int:
        """The size of the data file."""
        return self.path.stat().st_size


def make_database(folder: Path, kind: RecordKind, count: int, seed: int) -> CaffeDatabase:
    """Return the database of `count` records, written where it is missing.

    What it must hold is known from the records that were written, not from reading it.

    Raises:
        StorageError: There is no room for it.
    """
    # Keys are in the order of numbers only if all have as many digits.
    kind = replace(kind, key_digits=max(kind.key_digits, len(str(count - 1))))
    made = folder / f"{kind.name}-{count}-seed-{seed}"
    if not made.is_dir():
        check_room(
            folder, int(1.4 * count * (3 * kind.side**2 + 64)), f"{count:,} {kind.name} records in LMDB"
        )
        partial = made.with_name(made.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        content = _write(partial, kind, count, seed)
        (partial / FACTS).write_text(json.dumps(asdict(content)), encoding="ascii")
        partial.replace(made)
    return CaffeDatabase(kind, made, Content(**json.loads((made / FACTS).read_text(encoding="ascii"))))


def _write(folder: Path, kind: RecordKind, count: int, seed: int) -> Content:
    import lmdb

    tally = Tally()
    map_bytes = 2 * count * (3 * kind.side**2 + 4096) + (64 << 20)
    with lmdb.open(str(folder), map_size=map_bytes, sync=False) as environment:
        for numbers in _transactions(kind, count):
            with environment.begin(write=True) as transaction:
                for number in numbers:
                    key, value = b"%0*d" % (kind.key_digits, number), datum(kind, number, seed)
                    transaction.put(key, value, append=True)
                    tally.take(key, value)
        environment.sync(True)
    (folder / "lock.mdb").unlink(missing_ok=True)
    return tally.content()


def _transactions(kind: RecordKind, count: int) -> Iterator[range]:
    each = max(TRANSACTION_BYTES // (3 * kind.side**2), 1)
    return (range(start, min(start + each, count)) for start in range(0, count, each))


def datum(kind: RecordKind, number: int, seed: int) -> bytes:
    """Return record `number`: Caffe's Datum in protobuf's encoding, of pixels that the seed draws."""
    pixels = np.random.default_rng([seed, number]).bytes(3 * kind.side**2)
    shape = bytes([_CHANNELS, 3, _HEIGHT]) + _varint(kind.side) + bytes([_WIDTH]) + _varint(kind.side)
    return shape + bytes([_DATA]) + _varint(len(pixels)) + pixels + bytes([_LABEL, number % 10])


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])
