"""How long a drawn job may take, before anything ran: to draw jobs that can be run, not their truth."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from .pipeline_draw import Cause, Drawn
from .program import CHECKPOINTS, LOADERS
from .storage_kind import StorageKind

# Measured on one core of 2020, in round numbers; they only have to be right within a factor of two.
DECODE_S_PER_BYTE = {"jpeg": 25e-9, "arithmetic": 1e-9, "": 0.5e-9}
GZIP_S_PER_BYTE = 5e-9
FILE_S, RECORD_S = 1e-4, 2e-5  # of a processor, for each sample
# What the kernel asks storage for at a time: for a read of a whole sample, and for a stream of records.
WHOLE_BYTES = {"fuse": 131_072, "ext4": 1 << 20, "emulated": math.inf}
STREAM_BYTES = {"fuse": 131_072, "ext4": 262_144, "emulated": 262_144}
PROCESSORS = 2
FREE = StorageKind("fuse", "free", "no storage")


@dataclass(frozen=True)
class Sample:
    """What reading one sample asks of the storage."""

    opens: float = 0.0
    stats: float = 0.0
    reads: float = 1.0
    empty: float = 0.0
    seeks: float = 0.0

    def waits_s(self, storage: StorageKind) -> float:
        """Return the seconds of latency, one request after another."""
        number = storage.number
        return (
            self.opens * number("open_s")
            + self.stats * number("stat_s")
            + self.reads * number("read_s")
            + (0.0 if storage.keeps_pages else self.empty * number("empty_read_s"))
        )

    def queued_s(self, size_bytes: int, storage: StorageKind) -> float:
        """Return the seconds of the device's one queue."""
        rates = [storage.number("bandwidth"), storage.number("bucket_rate")]
        moves = max([size_bytes / rate for rate in rates if rate], default=0.0)
        calls = self.reads / storage.number("operations_per_s") if storage.number("operations_per_s") else 0.0
        return moves + calls + self.seeks * storage.number("seek_s")


def sample_of(drawn: Drawn, storage: StorageKind) -> Sample:
    """Return what a sample of this program asks of that storage."""
    size = drawn["size_bytes"]
    requests, streamed = max(1.0, size / WHOLE_BYTES[storage.medium]), size / STREAM_BYTES[storage.medium]
    if drawn["shape"] in ("interleave", "records"):
        return Sample(reads=streamed, seeks=streamed * (drawn["shape"] == "interleave"))
    if drawn["shape"] == "map":
        return Sample(opens=1, stats=1, reads=requests, empty=1, seeks=1)
    pages = size / 4096
    chunks = requests if storage.keeps_pages else size / drawn.get("chunk_bytes", 8192)
    return {
        "shards": Sample(reads=streamed),
        "stats": Sample(opens=1, stats=4, reads=requests, empty=1, seeks=1),
        "small_reads": Sample(opens=1, reads=chunks, empty=1, seeks=1),
        "reopened": Sample(opens=1, reads=requests, seeks=1),
        "random": Sample(reads=requests, seeks=1),
        "sqlite": Sample(reads=2 + pages, seeks=2),
    }.get(drawn["access"], Sample(opens=1, reads=requests, empty=1, seeks=1))


@dataclass(frozen=True)
class Expected:
    """Seconds: of a batch's input in the first epoch and in later ones, of a step, of a validation pass."""

    first_s: float
    later_s: float
    step_s: float
    loop_s: float
    ahead: bool
    epochs: int

    def _batch_s(self, input_s: float) -> float:
        beside = max(input_s, self.step_s) if self.ahead else input_s + self.step_s
        return beside + self.loop_s

    @property
    def batch_s(self) -> float:
        """Return the seconds of one batch of each epoch, all epochs together."""
        return self._batch_s(self.first_s) + (self.epochs - 1) * self._batch_s(self.later_s)


def expected(drawn: Drawn, storage: StorageKind, *, warm: bool, samples: int = 1000) -> Expected:
    """Return what a batch of this job is expected to take.

    Args:
        drawn: The program.
        storage: Under its data and what it writes.
        warm: The storage's caches hold everything.
        samples: How many there are, of which one may be slow.
    """
    times = storage.slower(samples)
    cached = storage.keeps_pages or storage.number("server_cache") > 0 or drawn.get("cache") == "right"
    reads_s = _reads_s(drawn, storage, times)
    work_s = _work_s(drawn)
    return Expected(
        first_s=work_s + (0.0 if warm and storage.keeps_pages else reads_s),
        later_s=(0.0 if drawn.get("cache") == "right" else work_s) + (0.0 if cached else reads_s),
        step_s=drawn["step_s"],
        loop_s=_loop_s(drawn, storage),
        ahead=drawn.get("prefetch", False) or drawn.get("ahead", False),
        epochs=drawn["epochs"],
    )


def _reads_s(drawn: Drawn, storage: StorageKind, times: float) -> float:
    """Return the seconds of reading a batch, as many samples at a time as there are readers."""
    sample, readers = sample_of(drawn, storage), _readers(drawn)
    queued_s = sample.queued_s(drawn["size_bytes"], storage)
    alone_s = queued_s + sample.waits_s(storage)
    return float(drawn["batch"] * times * max(queued_s, alone_s / min(readers, storage.at_a_time)))


def _readers(drawn: Drawn) -> int:
    return PROCESSORS if drawn["threads"] < 0 else max(1, drawn["threads"])


def _work_s(drawn: Drawn) -> float:
    size, decode = drawn["size_bytes"], drawn.get("decode", "")
    a_byte = DECODE_S_PER_BYTE[decode] * drawn.get("rounds", 1)
    a_byte += GZIP_S_PER_BYTE * drawn.get("gzip", False)
    if drawn.get("decode") == "jpeg":
        size *= 0.56  # what the pictures come to
    each_s = size * a_byte + (RECORD_S if drawn["shape"] in ("interleave", "records") else FILE_S)
    at_a_time = min(PROCESSORS, _readers(drawn)) if drawn["shape"] in ("map", *LOADERS) else 1
    return float(drawn["batch"] * each_s / at_a_time)


def _loop_s(drawn: Drawn, storage: StorageKind) -> float:
    """Return the seconds of what the loop does besides, for each step; validation is set by its own count."""
    if drawn["extra"] == "synced_log":
        return storage.number("sync_s") + _write_s(storage, 4096, 1) + 1e-3 * (storage.medium == "ext4")
    if drawn["extra"] == "small_writes":
        return _write_s(storage, drawn["lines"] * drawn["line_bytes"], drawn["lines"])
    if drawn["extra"] in CHECKPOINTS:
        size: float = 8 * drawn["weights"]
        # The emulation delays calls, and one of them writes an array.
        calls = max(1.0, size / WHOLE_BYTES[storage.medium])
        return (_write_s(storage, size, calls) + size / 1e9) / float(drawn["every"])
    return float(drawn["step_s"] * drawn.get("validated", 0.0)) if drawn["extra"] == "validation" else 0.0


def _write_s(storage: StorageKind, size_bytes: float, calls: float) -> float:
    if storage.medium == "ext4":
        return 0.0  # into the page cache
    rate = storage.number("bandwidth")
    return calls * storage.number("write_s") + (size_bytes / rate if rate else 0.0)


def costs(cause: Cause, drawn: Drawn, storage: StorageKind, *, warm: bool) -> float:
    """Return how many times longer the job takes with a cause than without it."""
    now = expected(drawn, storage, warm=warm)
    if cause == "reading":
        after = dataclasses.replace(expected(drawn, FREE, warm=warm), loop_s=now.loop_s)
    elif cause == "decoding":
        after = expected(drawn | {"decode": "", "gzip": False}, storage, warm=warm)
    else:
        after = dataclasses.replace(now, loop_s=0.0)
    return now.batch_s / after.batch_s
