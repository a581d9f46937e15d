"""Times epochs over an LMDB database, page faults watched and not, by turns; prints the pairs as JSON."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import lmdb
import numpy as np

import tfdarshan
from tests.perf.timing import Timing
from tfdarshan.analysis.files.mapped_reads import mapped_reads

# By each kind so many passes over all records make an epoch of about two seconds.
PASSES = {"loop": 60, "tf.data": 4}
RECORDS, RECORD_BYTES, BATCH = 2400, 110_000, 32
LINE_BYTES = 64
WARM_UP = 1


def make_database(folder: Path) -> None:
    """Write a database whose records are of the size of ImageNet's, in the page cache from then on."""
    record = os.urandom(RECORD_BYTES)
    with lmdb.open(str(folder), map_size=1 << 30) as database, database.begin(write=True) as writing:
        for number in range(RECORDS):
            writing.put(b"%08d" % number, record)


def epoch(folder: Path, kind: str) -> None:
    """Read all records several times, in one mapping, by a loop over py-lmdb or by a tf.data generator."""
    with lmdb.open(str(folder), readonly=True, lock=False) as database:
        if kind == "loop":
            read_by_loop(database)
        else:
            read_by_generator(database)


def read_by_loop(database: Any) -> None:
    """Touch each cache line of each record where it lies, as decoding would."""
    for _ in range(PASSES["loop"]):
        with database.begin(buffers=True) as reading:
            for _, value in reading.cursor():
                np.frombuffer(value, np.uint8)[::LINE_BYTES].sum()


def read_by_generator(database: Any) -> None:
    """Have tf.data take records from a generator, and batch them."""
    import tensorflow as tf

    with database.begin() as reading:
        records = tf.data.Dataset.from_generator(
            lambda: (value for _, value in reading.cursor()),
            output_signature=tf.TensorSpec((), tf.string),
        )
        for _ in records.repeat(PASSES["tf.data"]).batch(BATCH).prefetch(2):
            pass


def timed_epoch(folder: Path, kind: str, logdir: Path, *, mapped: bool) -> tuple[Timing, Any]:
    """Times one in a session; gives what the session says of mapped reads, too."""
    gc.collect()
    with tfdarshan.profile(logdir, mapped=mapped) as session:
        cpu_ns, wall_ns = time.process_time_ns(), time.perf_counter_ns()
        epoch(folder, kind)
        timing = Timing(time.perf_counter_ns() - wall_ns, time.process_time_ns() - cpu_ns)
    return timing, session.session


def main() -> None:
    """Measure in the folder of the first argument, by the kind and as many pairs as the others say."""
    folder, kind, pairs = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    folder.mkdir(parents=True)
    make_database(folder / "data")
    for _ in range(WARM_UP):
        epoch(folder / "data", kind)
    measured, reckoned_ns, session = [], [], None
    for number in range(pairs):
        found = {}
        # Which comes first takes turns, too.
        for mapped in (number % 2 == 0, number % 2 == 1):
            found[mapped], told = timed_epoch(
                folder / "data", kind, folder / f"{number}-{mapped}", mapped=mapped
            )
            if mapped:
                session = told
                reckoned_ns.append(told.meta[0]["mapping"]["cost_ns"])
        measured.append([[found[mapped].wall_ns, found[mapped].cpu_ns] for mapped in (False, True)])
    assert session is not None
    reads = mapped_reads(session.processes)
    print(
        json.dumps(
            {
                "pairs": measured,
                "reckoned_ns": reckoned_ns,
                "faults": reads.faults,
                "share": reads.sampled_share,
            }
        )
    )


if __name__ == "__main__":
    main()
