"""The arms: LMDB as training jobs read it, and LMDBIO's remedies as far as `tfdarshan.lmdb` has them.

Each reader of n gives its own records to a tally. An arm is opened once for threads that share it and before
processes are forked, which then open what cannot be shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal

from tfdarshan.lmdb import Index, dataset
from tfdarshan.lmdb.record_order import shard_of

from .caffe_records import CaffeDatabase, Tally
from .handover import Handover

# What LMDBIO's COAL asks for at a time.
COALESCED_BYTES = 4 << 20
IN_FLIGHT = 16

Method = Literal["mapped, skipping", "mapped, shared", "mapped, own part", "index", "dataset"]


@dataclass(frozen=True, kw_only=True)
class ArmKind:
    """One way to read.

    Attributes:
        name: LMDBIO's name for it, or ours.
        method: What each reader does.
        stands: What of tfdarshan it is, or what stands in for it.
        direct: With the index: past the page cache.
        auto: With the index: what is in flight is chosen by what was measured.
        coalesced: With the index: neighbours are read by calls of up to 4 MiB, not record by record.
        staggered: Only one reader reads at a time.
        in_flight: The most reads of one reader that are under way at once.
    """

    name: str
    method: Method
    stands: str
    direct: bool = False
    auto: bool = False
    coalesced: bool = False
    staggered: bool = False
    in_flight: int = 1


LMDB = ArmKind(
    name="LMDB",
    method="mapped, skipping",
    stands="py-lmdb: each reader goes through all records by its own cursor, and skips the others' batches",
)
LMM = ArmKind(
    name="LMM",
    method="mapped, shared",
    stands='dataset(remedy="LMM"); here: one more reader goes through all by py-lmdb and hands batches out',
)
DM = ArmKind(
    name="DM",
    method="mapped, own part",
    stands="dataset(shard=(i, n)) in tfdarshan.lmdb; here: py-lmdb from its part's first key on",
)
DIO = ArmKind(
    name="DIO",
    method="index",
    direct=True,
    stands='Index(access="direct", threads=1), record by record; PROV is replaced by its walk of the pages',
)
COAL = ArmKind(
    name="COAL",
    method="index",
    direct=True,
    coalesced=True,
    stands='Index(access="direct", threads=1).read() of 4 MiB of records, merged',
)
STAG = ArmKind(
    name="STAG",
    method="index",
    direct=True,
    coalesced=True,
    staggered=True,
    stands='dataset(remedy="STAG"); here: COAL with a lock that one reader holds',
)
OURS_DIRECT = ArmKind(
    name="dataset, direct",
    method="dataset",
    direct=True,
    in_flight=IN_FLIGHT,
    stands='dataset(Index(access="direct"), shard=(i, n)): COAL with 16 reads in flight, and read ahead',
)
OURS = ArmKind(
    name="dataset",
    method="dataset",
    in_flight=IN_FLIGHT,
    auto=True,
    stands="dataset(path, shard=(i, n)), as it comes: through the page cache, with as many in flight as help",
)
OURS_MANY = ArmKind(
    name="dataset, 16 in flight",
    method="dataset",
    in_flight=IN_FLIGHT,
    stands='dataset(Index(path, access="cached"), shard=(i, n)): the same, with 16 however slow it gets',
)
OURS_ALONE = ArmKind(
    name="dataset, threads=1",
    method="dataset",
    stands="dataset(Index(path, threads=1), shard=(i, n)): through the page cache, one read at a time",
)
ARMS = (LMDB, LMM, DM, DIO, COAL, STAG, OURS, OURS_MANY, OURS_ALONE, OURS_DIRECT)


@dataclass(frozen=True)
class Job:
    """One run: who reads what, how.

    Attributes:
        arm: The way.
        database: What is read, all of it once.
        readers: How many read.
        turn: Held while reading where only one may.
        handover: What the reader that shares gives to the others.
    """

    arm: ArmKind
    database: CaffeDatabase
    readers: int
    turn: AbstractContextManager[Any]
    handover: Handover | None = None

    @property
    def workers(self) -> int:
        """How many threads or processes it takes; with LMM one more."""
        return self.readers + (self.handover is not None)


@contextmanager
def opened(job: Job, *, shared: bool) -> Iterator[Callable[[int, Tally], None]]:
    """Open the database; return what reader `i` calls.

    Args:
        job: The run.
        shared: Threads read: what cannot be used in a forked child is opened now, too.
    """
    if job.arm.method in ("index", "dataset"):
        access: Any = "direct" if job.arm.direct else "auto" if job.arm.auto else "cached"
        # Nobody writes to it: no transaction need be held, which no forked child may use.
        with Index(job.database.folder, access=access, threads=job.arm.in_flight, snapshot="check") as index:
            yield lambda which, tally: _READERS[job.arm.method](job, index, which, tally)
        return
    with _environment(job.database) if shared else nullcontext() as environment:

        def read(which: int, tally: Tally) -> None:
            with nullcontext(environment) if shared else _environment(job.database) as mine:
                _READERS[job.arm.method](job, mine, which, tally)

        yield read


def _environment(database: CaffeDatabase) -> Any:
    import lmdb

    # As jobs open a database that nobody writes to.
    return lmdb.open(str(database.folder), readonly=True, lock=False, create=False, max_readers=64)


def _skip_to_own(job: Job, environment: Any, which: int, tally: Tally) -> None:
    """Caffe's readers: LMDB can only go to the next record, so the other readers' are passed."""
    batch = job.database.kind.batch
    with environment.begin() as transaction:
        cursor = transaction.cursor()
        for place, _ in enumerate(cursor.iternext(keys=True, values=False)):
            if place // batch % job.readers == which:
                tally.take(cursor.key(), cursor.value())


def _read_own_part(job: Job, environment: Any, which: int, tally: Tally) -> None:
    first, last = shard_of(job.database.content.records, (which, job.readers))
    with environment.begin() as transaction:
        cursor = transaction.cursor()
        if not cursor.set_range(b"%0*d" % (job.database.kind.key_digits, first)):
            return
        for _ in range(first, last):
            tally.take(cursor.key(), cursor.value())
            cursor.next()


def _share(job: Job, environment: Any, which: int, tally: Tally) -> None:
    """The last worker reads; each of the others takes what it is handed."""
    assert job.handover is not None
    if which < job.readers:
        taken = job.handover.taken(which)
        try:
            for key, value in taken:
                tally.take(key, value)
        finally:
            # Where one reader failed, the one that shares would wait for room.
            for _ in taken:
                pass
        return
    try:
        _give_out(job, job.handover, environment)
    finally:
        # Also where reading failed: the others would wait.
        job.handover.finish()


def _give_out(job: Job, handover: Handover, environment: Any) -> None:
    to, held = 0, []
    with environment.begin() as transaction:
        for record in transaction.cursor():
            held.append(record)
            if len(held) == job.database.kind.batch:
                handover.give(to % job.readers, held)
                to, held = to + 1, []
    if held:
        handover.give(to % job.readers, held)


def _read_by_index(job: Job, index: Index, which: int, tally: Tally) -> None:
    for numbers in _asked_at_a_time(job, index, which):
        with job.turn:
            values = index.read(numbers)
        for number, value in zip(numbers, values, strict=True):
            tally.take(index.key(number), value)


def _asked_at_a_time(job: Job, index: Index, which: int) -> Iterable[range]:
    first, last = shard_of(len(index), (which, job.readers))
    mean_bytes = max(int(index.sizes.mean()), 1)
    step = max(COALESCED_BYTES // mean_bytes, 1) if job.arm.coalesced else 1
    return (range(start, min(start + step, last)) for start in range(first, last, step))


def _read_data_set(job: Job, index: Index, which: int, tally: Tally) -> None:
    for batch in dataset(index, batch=job.database.kind.batch, shard=(which, job.readers)):
        for number, value in zip(batch.numbers.tolist(), batch, strict=True):
            tally.take(index.key(number), value)


_READERS: dict[Method, Callable[[Job, Any, int, Tally], None]] = {
    "mapped, skipping": _skip_to_own,
    "mapped, shared": _share,
    "mapped, own part": _read_own_part,
    "index": _read_by_index,
    "dataset": _read_data_set,
}
