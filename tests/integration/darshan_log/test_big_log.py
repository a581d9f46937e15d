"""A log of many records is imported in bounded memory: names and numbers grow with it, records do not."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import tfdarshan
from tests.pydarshan import darshan
from tfdarshan.formats import darshan_format
from tfdarshan.formats.export.log_file import log_file
from tfdarshan.formats.importing.darshan_log import import_darshan

# Both fill a row group, which is written as one.
FEW, MANY = 70_000, 110_000
# Of a record of 704 B, of which PyDarshan makes a dictionary of 2 kB.
MOST_BYTES_PER_RECORD = 1_000
IMPORT = """
import sys, threading
import darshan.backend.cffi_backend, pandas, pyarrow
from tfdarshan.formats.importing.darshan_log import import_darshan

def own_kb():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))

before, most, done = own_kb(), [0], threading.Event()

def watch():
    while not done.wait(0.005):
        most[0] = max(most[0], own_kb())

thread = threading.Thread(target=watch)
thread.start()
import_darshan(sys.argv[1], sys.argv[2])
done.set()
thread.join()
print(most[0] - before)
"""


def blocks(count):
    backend = darshan.backend.cffi_backend
    names, f_names = backend.counter_names("POSIX"), backend.fcounter_names("POSIX")
    for first in range(0, count, 4096):
        rows = np.zeros(min(4096, count - first), darshan_format.counter_record(len(names), len(f_names)))
        rows["id"] = np.arange(first, first + len(rows)) + 1000
        rows["counters"][:, names.index("POSIX_READS")] = 3
        rows["counters"][:, names.index("POSIX_BYTES_READ")] = np.arange(first, first + len(rows))
        rows["f_counters"][:, f_names.index("POSIX_F_READ_TIME")] = 0.25
        yield rows.tobytes()


def write_log(path, count):
    """Write a log of so many files, of which each was read three times."""
    job = np.zeros((), darshan_format.JOB)
    job["processes"], job["start_s"], job["end_s"] = 1, 1_700_000_000, 1_700_000_100
    with log_file(path) as log:
        log.add_job((job.tobytes() + b"job\0").ljust(darshan_format.JOB_REGION_BYTES, b"\0"))
        log.add_names(
            (number + 1000).to_bytes(8, "little") + f"/data/{number:07}.jpg\0".encode()
            for number in range(count)
        )
        log.add_module("POSIX", blocks(count), partial=False)
        log.finish()
    return path


def peak_kb(log: Path, logdir: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, log, logdir], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_records_are_not_kept_in_memory(tmp_path):
    # WHEN logs of few and of many records are imported
    few, many = (
        peak_kb(write_log(tmp_path / f"{count}.darshan", count), tmp_path / str(count))
        for count in (FEW, MANY)
    )

    # THEN a record more takes less than a record
    assert (many - few) * 1024 / (MANY - FEW) < MOST_BYTES_PER_RECORD


def test_batches_are_whole(tmp_path):
    # GIVEN a log of more records than a batch and than a row group
    count = 65_536 + 4_097
    imported = import_darshan(write_log(tmp_path / "big.darshan", count), tmp_path)

    # THEN every one is there once
    files = tfdarshan.open_session(imported.path).files
    assert imported.files == len(files) == count
    assert sorted(files["POSIX_BYTES_READ"]) == list(range(count))
    assert set(files["POSIX_READS"]) == {3}
    row = files[files["path"] == "/data/0065536.jpg"].iloc[0]
    assert row["POSIX_BYTES_READ"] == 65_536
