"""Times epochs over an LMDB database, page faults watched and not, by turns; prints the pairs as JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import lmdb
import tensorflow as tf

import tfdarshan
from tests.perf.timing import Timing
from tfdarshan.analysis.mapped_reads import mapped_reads

RECORDS, RECORD_BYTES, BATCH = 2400, 110_000, 32
# So that an epoch takes ten seconds: to begin to watch is paid for in the first, and runs differ less.
PASSES = 20
WARM_UP = 1


def make_database(folder: Path) -> None:
    """Writes a database whose records are of the size of ImageNet's, in the page cache from then on."""
    record = os.urandom(RECORD_BYTES)
    with lmdb.open(str(folder), map_size=1 << 30) as database, database.begin(write=True) as writing:
        for number in range(RECORDS):
            writing.put(b"%08d" % number, record)


def epoch(folder: Path) -> None:
    """Reads all records, `PASSES` times, by a tf.data generator over py-lmdb, in a mapping of its own."""
    with lmdb.open(str(folder), readonly=True, lock=False) as database, database.begin() as reading:
        records = tf.data.Dataset.from_generator(
            lambda: (value for _, value in reading.cursor()),
            output_signature=tf.TensorSpec((), tf.string),
        )
        for _ in records.repeat(PASSES).batch(BATCH).prefetch(2):
            pass


def timed_epoch(folder: Path, logdir: Path, *, mapped: bool) -> tuple[Timing, Any]:
    """Times one in a session; gives what the session says of mapped reads, too."""
    with tfdarshan.profile(logdir, mapped=mapped) as session:
        cpu_ns, wall_ns = time.process_time_ns(), time.perf_counter_ns()
        epoch(folder)
        timing = Timing(time.perf_counter_ns() - wall_ns, time.process_time_ns() - cpu_ns)
    return timing, mapped_reads(session.session.processes)


def main() -> None:
    """Measures in the folder of the first argument, as many pairs as the second says."""
    folder, pairs = Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True)
    make_database(folder / "data")
    for _ in range(WARM_UP):
        epoch(folder / "data")
    measured, reads = [], None
    for number in range(pairs):
        found = {}
        # Which comes first takes turns, too.
        for mapped in (number % 2 == 0, number % 2 == 1):
            logdir = folder / f"{number}-{mapped}"
            found[mapped], told = timed_epoch(folder / "data", logdir, mapped=mapped)
            reads = told if mapped else reads
        measured.append([[found[mapped].wall_ns, found[mapped].cpu_ns] for mapped in (False, True)])
    assert reads is not None
    print(json.dumps({"pairs": measured, "faults": reads.faults, "share": reads.sampled_share}))


if __name__ == "__main__":
    main()
