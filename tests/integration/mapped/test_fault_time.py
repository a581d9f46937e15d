"""Time in page faults, their number and bytes that came in, against touches timed in the process itself."""

import shutil
from pathlib import Path

import pytest

from tests.integration.mapped.touched_files import (
    NOBODY,
    build_touch,
    must_be_seen,
    open_folder,
    touched,
    touches,
    write_file,
)
from tests.integration.storage_probe.fuse_storage import make_server, needs_fuse, storage, tried_again
from tests.throttled_device import needs_device
from tfdarshan.workloads.throttled_device import throttled_device

LATENCY = {"read_s": 0.003, "concurrency": 64, "page_cache": 1}
ON_LATENCY, ON_THROTTLED = 0.95, 0.92
SIZE, BANDWIDTH = 48 << 20, 80_000_000
WINDOW = 128 << 10  # that the kernel reads ahead
SECTOR = 512


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build_touch(tmp_path_factory.mktemp("touch"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return make_server(tmp_path_factory.mktemp("server"))


def checked(told, least):
    """Hold the session against the oracle."""
    if told["seen_s"] is None:
        must_be_seen(told["notes"])
    assert told["share"] == 1
    assert told["seen_faults"] == told["faults"]
    assert told["seen_bytes"] == told["came_in"]
    assert least <= told["seen_s"] / told["touch_s"] <= 1.0001
    return told


@needs_fuse
@pytest.mark.parametrize("order", ["sequential", "strided", "random"])
@pytest.mark.parametrize("threads", [1, 4])
@tried_again
def test_fault_time_on_latency_storage(capsys, library, server, tmp_path, order, threads):
    # GIVEN storage of 3 ms a read / WHEN pages of a mapped file are touched, each touch timed
    with open_folder() as folder:
        write_file(tmp_path / "file", SIZE)
        with storage(server, tmp_path, folder / "m", **LATENCY) as mount:
            told = touched(library, mount / "file", order, threads, folder)

    # THEN the session has their time, number and bytes, and they did wait
    checked(told, ON_LATENCY)
    assert told["touch_s"] > 0.5
    assert told["came_in"] == SIZE if order == "sequential" else told["came_in"] > SIZE // 4


@needs_fuse
@tried_again
def test_fault_time_as_a_user_without_privilege(capsys, library, server, tmp_path):
    with open_folder() as folder:
        write_file(tmp_path / "file", SIZE)
        tmp_path.chmod(0o755)
        with storage(server, tmp_path, folder / "m", **LATENCY) as mount:
            told = touched(library, mount / "file", "random", 4, folder, user=NOBODY)

    # THEN the same is seen
    checked(told, ON_LATENCY)
    assert told["faults"] >= touches("random", SIZE)


def sectors_read(number):
    """Return what a device has read, in bytes."""
    return int(Path(f"/sys/dev/block/{number}/stat").read_text().split()[2]) * SECTOR


@needs_device
@pytest.mark.parametrize(("order", "user"), [("sequential", 0), ("random", 0), ("sequential", NOBODY)])
@tried_again
def test_fault_time_on_a_throttled_device(capsys, library, tmp_path, order, user):
    # GIVEN an ext4 file system on a device of so much a second
    with open_folder() as folder:
        with throttled_device(folder, "mapped", bandwidth=BANDWIDTH, capacity_bytes=256 << 20) as device:
            path = write_file(device.mount_point / "file", SIZE)
            if user:
                shutil.chown(path, user, user)  # so that the kernel tells it what is in memory
            device.renew_limits()
            before = sectors_read(device.number)
            told = touched(library, path, order, 2, folder, user=user)
            read = sectors_read(device.number) - before

    # THEN the session has their time, number and bytes; the device read as much, but for a window a reader
    checked(told, ON_THROTTLED)
    assert abs(read - told["seen_bytes"]) <= 2 * WINDOW
