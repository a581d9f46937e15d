"""Writes to a database transaction after transaction, as a program of its own, and knows what each leaves.

    python -m tests.integration.lmdb_reader.writer FOLDER MOST_TRANSACTIONS PER_SECOND

A record's value follows from its key and the transaction that wrote it: what a snapshot must hold is known.
"""

import contextlib
import subprocess
import sys
import time
from pathlib import Path

RECORDS = 300
PER_TRANSACTION = 5
MAP_BYTES = 1 << 30
ROOT = Path(__file__).parent.parent.parent.parent


def key_of(number):
    return b"%06d" % number


def value_of(number, transaction):
    """Some have pages of their own, and each round has another size."""
    return b"%d/%d " % (number, transaction) * ((number * 131 + transaction * 37) % 700)


def written_by(transaction):
    """Which records a transaction replaces; the first writes all."""
    if transaction == 1:
        return list(range(RECORDS))
    return [(transaction * PER_TRANSACTION + place) % RECORDS for place in range(PER_TRANSACTION)]


def held_by(transaction):
    """All records as they are after a transaction."""
    last: dict[int, int] = {}
    for earlier in {1, *range(max(transaction - RECORDS // PER_TRANSACTION, 1), transaction + 1)}:
        for number in written_by(earlier):
            last[number] = max(earlier, last.get(number, 1))
    return [(key_of(number), value_of(number, last[number])) for number in range(RECORDS)]


def write(folder, most, per_second):
    import lmdb

    with lmdb.open(folder, map_size=MAP_BYTES, sync=False) as environment:
        start_s, done = time.monotonic(), 0
        while done < most:
            with environment.begin(write=True) as transaction:
                number = transaction.id()
                for record in written_by(number):
                    transaction.put(key_of(record), value_of(record, number))
            done += 1
            time.sleep(max(start_s + done / per_second - time.monotonic(), 0))


def run(folder, most, per_second=1e9):
    """Write so many transactions, and wait for them."""
    subprocess.run(command(folder, most, per_second), cwd=ROOT, check=True, timeout=120)


@contextlib.contextmanager
def beside(folder, per_second):
    """Write until the block is left."""
    writer = subprocess.Popen(command(folder, 1 << 60, per_second), cwd=ROOT)
    try:
        yield writer
        assert writer.poll() is None, "the writer ended early"
    finally:
        writer.kill()
        writer.wait()


def command(folder, most, per_second):
    return [sys.executable, "-m", __spec__.name, str(folder), str(most), str(per_second)]


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
