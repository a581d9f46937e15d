"""Holds what a session says of a format's mapped reads against the kernel."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

from tests.integration.mapped.mapped_formats import COLUMNS, ROWS
from tests.integration.mapped.touched_files import ALL, must_be_seen
from tests.throttled_device import possible
from tfdarshan.workloads.throttled_device import throttled_device

SCRIPT = Path(__file__).with_name("mapped_formats.py")
WINDOW, SECTOR = 128 << 10, 512
BYTES = ROWS * COLUMNS * 8
# getrusage also counts faults that calls make, as a read() into new memory: these are no events.
OF_CALLS = 64


def sectors_read(number):
    """Return what a device has read, in bytes; None if it is none of its own."""
    if number is None:
        return None
    return int(Path(f"/sys/dev/block/{number}/stat").read_text().split()[2]) * SECTOR


@contextmanager
def place(folder):
    """Yield a folder on a device of its own, and its number; if there can be none, `folder` and None."""
    if not possible():
        yield folder, None
        return
    with throttled_device(folder, "formats", bandwidth=1 << 30, capacity_bytes=256 << 20) as device:
        yield device.mount_point, device.number


def reads_of(name, command, folder, environment):
    """Have a format written and read; return what is known of that, and what the device read meanwhile."""
    run = functools.partial(
        subprocess.run, env={**os.environ, **ALL, **environment}, capture_output=True, text=True
    )
    paths = []
    with place(folder) as (data, number):
        for kind in ("warm", "data"):
            (data / kind).mkdir()
            made = run([*command, SCRIPT, name, "make", data / kind])
            assert made.returncode == 0, made.stderr
            paths.append(made.stdout.splitlines()[-1])
        read = [*command, SCRIPT, name, "read", paths[1], folder / "logs", paths[0]]
        before = sectors_read(number)
        ran = run(read)
        assert ran.returncode == 0, ran.stderr
        after = sectors_read(number)
    return json.loads(ran.stdout.splitlines()[-1]), None if before is None else after - before


def check_format(name, command, folder, environment=None):
    """Assert that faults are those of getrusage, and bytes those of the page cache and the device."""
    told, device_bytes = reads_of(name, command, folder, environment or {})
    if told["seen_faults"] is None:
        must_be_seen(told["notes"])
    assert told["sum"] == (ROWS * COLUMNS) * (ROWS * COLUMNS - 1) // 2
    assert told["share"] == 1
    assert 0 <= told["kernel"] - told["events"] <= OF_CALLS
    assert 0 < told["seen_faults"] <= told["events"]
    assert told["seen_s"] >= told["longest_s"] > 0
    # What the format's library reads by calls before it maps the file is no mapped read.
    assert told["seen_bytes"] + WINDOW >= BYTES
    assert 0 <= told["came_in"] - told["seen_bytes"] <= WINDOW
    if device_bytes is not None:
        # The file that was read first is the same once more.
        assert abs(device_bytes - 2 * told["seen_bytes"]) <= 2 * WINDOW
