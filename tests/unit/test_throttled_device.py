"""The throttled device: what it says where it cannot be made, its limits, and that nothing of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.throttled_device import needs_device
from tests.tmpfs import mounted_tmpfs
from tfdarshan.errors import ConfigurationError, TfdarshanError
from tfdarshan.workloads import throttled_device as module
from tfdarshan.workloads.throttled_device import BLKIO, check_possible, clean_tiers, throttled_device

REPOSITORY = Path(__file__).parents[2]
# The limits are of the whole machine: another run of these tests beside this one sets its own.
BANDWIDTH = 50_000_000 + os.getpid()


def test_without_root_or_controller_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(ConfigurationError, match=r"cgroup v1.* is not there .*--backend emulation"):
        check_possible(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ConfigurationError, match=r"needs root.*--backend emulation"):
        check_possible(tmp_path)


@needs_device
def test_reads_and_writes_keep_to_the_limit(tmp_path: Path) -> None:
    size = 1 << 25
    with throttled_device(tmp_path, "t", bandwidth=BANDWIDTH, capacity_bytes=1 << 27) as device:
        path = device.mount_point / "file"
        for _ in range(2):
            # WHEN 32 MiB are written and synced, then read again
            device.renew_limits()
            start_s = time.monotonic()
            with path.open("wb") as file:
                file.write(b"x" * size)
                os.fsync(file.fileno())
            written_s = time.monotonic() - start_s
            with path.open("rb", buffering=0) as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                device.renew_limits()
                start_s = time.monotonic()
                while file.read(1 << 20):
                    pass
            read_s = time.monotonic() - start_s
            # THEN neither is faster than the limit
            assert size / written_s < 1.15 * BANDWIDTH
            assert size / read_s < 1.15 * BANDWIDTH
    assert_nothing_left(tmp_path)


@needs_device
def test_after_sigkill_clean_takes_everything_back(tmp_path: Path) -> None:
    # GIVEN a process that is killed with its device mounted
    program = (
        "import sys, time; from pathlib import Path\n"
        "from tfdarshan.workloads.throttled_device import throttled_device\n"
        f"folder = Path({str(tmp_path)!r})\n"
        f"with throttled_device(folder, 't', bandwidth={BANDWIDTH}, capacity_bytes=1 << 26):\n"
        "    print('mounted', flush=True); time.sleep(60)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    with child:
        assert child.stdout.readline() == "mounted\n"
        child.send_signal(signal.SIGKILL)
    assert len(module._mounts_below(tmp_path)) == len(module._loops_below(tmp_path)) == 1
    # WHEN
    done = clean_tiers(tmp_path)
    # THEN
    assert [line.split()[0] for line in done] == ["unmounted", "detached", "removed"]
    assert_nothing_left(tmp_path)
    assert clean_tiers(tmp_path) == []


@pytest.mark.parametrize("name", ["plain", "Läufe und mehr", "two\\words"])
def test_a_mount_below_a_link_to_a_folder_of_any_name_is_taken_back(tmp_path: Path, name: str) -> None:
    # GIVEN a work directory that is a link, and what a killed run has left there
    tiers, link = tmp_path / name / "tiers", tmp_path / "link"
    tiers.mkdir(parents=True)
    link.symlink_to(tmp_path / name)
    with mounted_tmpfs(tiers, "size=1m"):
        left = tiers / "t" / "mount"
        left.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(left)], check=True)
        try:
            # WHEN / THEN
            assert clean_tiers(link / "tiers" / "t") == [f"unmounted {left}"]
            assert not left.is_mount()
        finally:
            subprocess.run(["umount", "-l", str(left)], capture_output=True, check=False)


@needs_device
def test_too_large_a_device_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TfdarshanError, match=r"the device of tier t needs 1152.9 PB"):
        with throttled_device(tmp_path, "t", bandwidth=BANDWIDTH, capacity_bytes=1 << 60):
            pytest.fail("it was made")
    assert_nothing_left(tmp_path)


def assert_nothing_left(folder: Path) -> None:
    assert module._mounts_below(folder) == []
    assert module._loops_below(folder) == []
    assert list(folder.rglob("disk.img")) == []
    limits = (BLKIO / module.LIMITS[0]).read_text()
    assert f" {BANDWIDTH}" not in limits
