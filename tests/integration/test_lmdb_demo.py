"""LMDB records by a tf.data generator over py-lmdb: on late storage, a disk that seeks, and a slow device.

The finding names file, share and fix; what it promises once the mount is probed the line as printed gives.
"""

from __future__ import annotations

import gc
import shutil
import subprocess
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import tfdarshan
import tfdarshan.lmdb
from tests import later_tensorflow as tf
from tests.integration.mapped.mapped_job import NOISE, found_in, is_kept, mapped_job
from tests.integration.mapped.touched_files import ALL
from tests.integration.storage_probe.fuse_storage import make_server, needs_fuse, storage, tried_again
from tests.throttled_device import needs_device
from tfdarshan.commands import main
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.mapped_fixes import fixes_of
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.replayed import gain_of
from tfdarshan.workloads.cache_clearing import drop_from_cache
from tfdarshan.workloads.throttled_device import throttled_device

lmdb = pytest.importorskip("lmdb")
tf.needs("tensorflow")
pytestmark = [needs_fuse, pytest.mark.long]
KIB = 1 << 10
BATCH = 4
LARGE_BATCH = 32  # takes several windows of those that the kernel reads ahead
LATE: dict[str, float] = {"read_s": 0.004, "concurrency": 64, "page_cache": 1}
DISK: dict[str, float] = {"seek_s": 0.008, "bandwidth": 163e6, "concurrency": 1, "page_cache": 1}
BANDWIDTH, WINDOW, SECTOR = 8_000_000, 128 << 10, 512
PROMISES = {"mapped_wait"}


@pytest.fixture(autouse=True)
def every_fault(monkeypatch):
    """Have each fault seen, whatever that costs: on a busy machine the guard may leave too few."""
    for name, value in ALL.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return make_server(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def backing(tmp_path_factory):
    """4,800 records of 16 KB, 79 MB; gives the folder and the keys."""
    folder = tmp_path_factory.mktemp("records")
    keys = [b"%06d" % number for number in range(4800)]
    noise = np.random.default_rng(1)
    with lmdb.open(str(folder), map_size=1 << 28) as database, database.begin(write=True) as writing:
        for key in keys:
            writing.put(key, noise.bytes(16 * KIB))
    return folder, keys


@contextmanager
def late(server, backing, tmp_path):
    """Yield what shows the records on storage of 4 ms a read, each time with nothing in memory."""
    yield lambda: storage(server, backing, tmp_path / "m", **LATE)


@contextmanager
def disk(server, backing, tmp_path):
    """Likewise on a disk of one head, 8 ms for each jump."""
    yield lambda: storage(server, backing, tmp_path / "m", **DISK)


@contextmanager
def throttled(server, backing, tmp_path):
    """Likewise on a device that the kernel holds to so much a second."""
    room = {"bandwidth": BANDWIDTH, "capacity_bytes": 256 << 20}
    with throttled_device(tmp_path, "demo", **room) as device:
        source = subprocess.check_output(["findmnt", "-no", "SOURCE", device.mount_point], text=True).strip()
        subprocess.run(["blockdev", "--setra", str(WINDOW // SECTOR), source], check=True)
        shown = shutil.copytree(backing, device.mount_point / "records")

        @contextmanager
        def cold():
            gc.collect()
            drop_from_cache(sorted(shown.iterdir()))
            device.renew_limits()
            yield shown

        yield cold


def train(logdir, folder, keys, batch=BATCH, **how):
    """Take these records' batches as the demo does; return the session and the seconds of the steps."""

    def batches():
        # Within the session: of what was mapped before, FUSE does not tell what came in.
        options = {"readonly": True, "lock": False, **how}
        with lmdb.open(str(folder), **options) as database, database.begin() as reading:
            records = tf.data.Dataset.from_generator(
                lambda: (reading.get(key) for key in keys), output_signature=tf.TensorSpec((), tf.string)
            )
            yield from records.batch(batch).prefetch(2)

    return mapped_job(logdir, batches(), steps=len(keys) // batch)


def train_fixed(logdir, line, keys, batch=BATCH):
    """Take as many batches of the data set that the line as printed makes; return the steps' seconds."""
    names: dict[str, Any] = {"tfdarshan": tfdarshan, "batch_size": batch}
    # TensorFlow keeps a data set until the interpreter ends, and with it the file system busy.
    exec(line.replace(', framework="tensorflow"', ""), names)
    _, seconds = mapped_job(logdir, names["dataset"], steps=len(keys) // batch)
    names.clear()
    return seconds


def probed(logdir, shown):
    """Measure the storage under the session's mapped file, as the finding says to; return the findings."""
    with shown():
        assert main(["probe", "--logdir", str(logdir)]) == 0
    return found_in(tfdarshan.open_session(logdir))


def anywhere(keys, count):
    return [keys[number] for number in np.random.default_rng(2).permutation(len(keys))[:count]]


def is_named(finding, path):
    """Hold a finding to file, share and fix, and to a range that is one."""
    assert finding.files == (str(path),)
    assert finding.cost_share > 0.1
    assert finding.fix.line
    low, high = finding.gain.speedup_range
    assert 1 <= low < finding.gain.speedup <= high


@pytest.mark.parametrize("kind", [late, disk], ids=["late", "disk"])
@tried_again
def test_merged_reads_give_a_generator_what_is_promised(capsys, server, backing, tmp_path, kind):
    # GIVEN 480 records that lie anywhere
    folder, keys = backing
    chosen = anywhere(keys, 480)
    with kind(server, folder, tmp_path) as shown:
        with shown() as place:
            path = place / "data.mdb"
            _, before_s = train(tmp_path / "logs", place, chosen)

        # WHEN
        finding = probed(tmp_path / "logs", shown)["mapped_wait"]

        # THEN file, share and fix are named, by the verdict as well
        is_named(finding, path)
        assert f"tfdarshan.lmdb.dataset({str(path)!r}" in finding.fix.line
        assert diagnose(tfdarshan.open_session(tmp_path / "logs")).verdict.finding == "mapped_wait"
        assert finding.gain.speedup_range[0] > 1

        # and the line as printed gives what is promised
        with shown():
            after_s = train_fixed(tmp_path / "fixed", finding.fix.line, chosen)
    is_kept(finding.gain, before_s, after_s)


@tried_again
def test_larger_windows_give_a_generator_what_is_promised(capsys, server, backing, tmp_path):
    # GIVEN all records in order, 512 KiB a step
    folder, keys = backing
    with late(server, folder, tmp_path) as shown:
        with shown() as place:
            path = place / "data.mdb"
            _, before_s = train(tmp_path / "logs", place, keys, LARGE_BATCH)

        # WHEN
        is_named(probed(tmp_path / "logs", shown)["mapped_wait"], path)

        # THEN what larger windows give is promised, too, though another fix may give more
        measures = measure(tfdarshan.open_session(tmp_path / "logs"))
        (window,) = (one for one in fixes_of(measures) if "read_ahead_kb" in one.fix.line)
        with shown() as place:
            subprocess.run(["sh", "-c", window.fix.line], check=True)
            _, after_s = train(tmp_path / "fixed", place, keys, LARGE_BATCH)
    is_kept(gain_of(measures.job, window.edits, measures), before_s, after_s)


@needs_device
@tried_again
def test_single_pages_give_a_generator_on_a_slow_device_what_is_promised(capsys, server, backing, tmp_path):
    # GIVEN 240 records that lie anywhere, on a device of 8 MB/s
    folder, keys = backing
    chosen = anywhere(keys, 240)
    with throttled(server, folder, tmp_path) as shown:
        with shown() as place:
            path = place / "data.mdb"
            _, before_s = train(tmp_path / "logs", place, chosen)

        # WHEN
        findings = probed(tmp_path / "logs", shown)

        # THEN
        finding = findings["mapped_wait"]
        is_named(finding, path)
        assert diagnose(tfdarshan.open_session(tmp_path / "logs")).verdict.finding == "mapped_wait"
        assert "lmdb.open(path, readonly=True, readahead=False)" in finding.fix.line
        with shown() as place:
            _, after_s = train(tmp_path / "fixed", place, chosen, readahead=False)
    is_kept(finding.gain, before_s, after_s)


@needs_device
@tried_again
def test_on_a_slow_device_nothing_is_promised_to_reads_in_order(capsys, server, backing, tmp_path):
    # GIVEN 960 records in order, on a device of 8 MB/s
    folder, keys = backing
    with throttled(server, folder, tmp_path) as shown:
        with shown() as place:
            path = str(place / "data.mdb")
            _, before_s = train(tmp_path / "logs", place, keys[:960])

        # WHEN
        findings = probed(tmp_path / "logs", shown)

        # THEN
        assert not [name for name in PROMISES & set(findings) if findings[name].kind == "problem"]

        # and merged reads are in fact no quicker
        with shown():
            line = f"dataset = tfdarshan.lmdb.dataset({path!r}, batch=batch_size)"
            after_s = train_fixed(tmp_path / "fixed", line, keys[:960])
    assert after_s > before_s / NOISE


@tried_again
def test_a_disk_that_reads_in_order_is_promised_nothing_that_it_does_not_give(
    capsys, server, backing, tmp_path
):
    folder, keys = backing
    with disk(server, folder, tmp_path) as shown:
        with shown() as place:
            train(tmp_path / "logs", place, keys[:1200])

        findings = probed(tmp_path / "logs", shown)

    # the kernel reads ahead while steps compute: none of the problems is a mapped file's
    assert not [name for name in PROMISES & set(findings) if findings[name].kind == "problem"]
