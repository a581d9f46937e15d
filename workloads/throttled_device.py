"""A real block device for a tier: an ext4 file system in a file, its bandwidth limited by the block layer.

Needs root, loop devices and the blkio controller of cgroup v1. The limits are written to the root group, as
only there they also apply to pages written back later; no process is moved. Such a limit is a bandwidth and
nothing else: one thread reaches it, so nothing scales with threads here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import ConfigurationError, StorageError, reason

from .disk_room import check_room

TIERS = "tiers"  # folder below the work directory
IMAGE = "disk.img"
MOUNT = "mount"
BLKIO = Path("/sys/fs/cgroup/blkio")
LIMITS = ("blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device")


@dataclass(frozen=True)
class ThrottledDevice:
    """A mounted one."""

    mount_point: Path
    number: str  # major:minor
    bandwidth: int
    blkio: Path

    def renew_limits(self) -> None:
        """Make the next read and write begin with an empty allowance.

        The kernel lets reads catch up on the time in which there were only writes: after 2 s of writing, 2 s
        worth of reads pass at full speed. Setting a limit again starts anew.
        """
        _limit(self.number, self.bandwidth, self.blkio)


@contextmanager
def throttled_device(
    work_dir: Path, name: str, *, bandwidth: int, capacity_bytes: int, blkio: Path = BLKIO
) -> Iterator[ThrottledDevice]:
    """Yield a new file system, mounted; it is unmounted and removed at the end.

    Args:
        work_dir: The file that holds it is made in `tiers/<name>` below.
        name: Of the tier.
        bandwidth: Limit for reads and for writes, in bytes per second.
        capacity_bytes: Size of the file system; the file grows as it is written.
        blkio: Root group of cgroup v1's blkio controller.

    Raises:
        ConfigurationError: This machine or this user cannot have one.
        StorageError: A step failed.
    """
    check_possible(blkio)
    folder = work_dir.absolute() / TIERS / name
    clean_tiers(folder, blkio)
    check_room(folder, capacity_bytes, f"the device of tier {name}")
    (folder / MOUNT).mkdir(parents=True, exist_ok=True)
    try:
        device = _mount(folder, bandwidth, capacity_bytes, blkio)
        yield ThrottledDevice(folder / MOUNT, _number_of(Path(device).name), bandwidth, blkio)
    finally:
        clean_tiers(folder, blkio)


def check_possible(blkio: Path = BLKIO) -> None:
    """Return where a throttled device can be made.

    Raises:
        ConfigurationError: It cannot, and why.
    """
    instead = "use the emulation (--backend emulation), which needs neither root nor a device."
    if os.geteuid() != 0:
        raise ConfigurationError(f"a throttled device needs root, for loop devices and mount: {instead}")
    if not (blkio / LIMITS[0]).exists():
        raise ConfigurationError(
            f"a throttled device needs the blkio controller of cgroup v1, and {blkio / LIMITS[0]} is not "
            f"there (cgroup v2 has no limits for its root group): {instead}"
        )
    if not Path("/dev/loop-control").exists():
        raise ConfigurationError(f"a throttled device needs loop devices, and there are none: {instead}")


def clean_tiers(folder: Path, blkio: Path = BLKIO) -> list[str]:
    """Unmount, detach and remove every device whose file lies in or below `folder`; say what it did.

    It asks the kernel what there is, so that it also finds what a killed run left behind.

    Raises:
        StorageError: Something is still in use.
    """
    # The kernel names files by their own paths, and a work directory may be a link.
    folder, done = folder.resolve(), []
    for mount_point in _mounts_below(folder):
        _call("umount", str(mount_point))
        done.append(f"unmounted {mount_point}")
    for device, number in _loops_below(folder):
        _limit(number, 0, blkio)
        _call("losetup", "--detach", device)
        done.append(f"detached {device}, its limits lifted")
    for image in sorted(folder.rglob(IMAGE)):
        image.unlink()
        done.append(f"removed {image}")
        with suppress(OSError):
            (image.parent / MOUNT).rmdir()
            image.parent.rmdir()
    return done


def _mount(folder: Path, bandwidth: int, capacity_bytes: int, blkio: Path) -> str:
    image = folder / IMAGE
    with image.open("wb") as file:
        file.truncate(capacity_bytes)
    # All of the file system is made now: nothing is to be written in the background while it is measured.
    _call("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(image))
    device = _call("losetup", "--find", "--show", "--direct-io=on", str(image))
    _limit(_number_of(Path(device).name), bandwidth, blkio)
    _call("mount", "-o", "noatime", device, str(folder / MOUNT))

    return device


def _limit(number: str, bandwidth: int, blkio: Path) -> None:
    """Limit a device, or lift the limits with 0."""
    for name in LIMITS:
        try:
            (blkio / name).write_text(f"{number} {bandwidth}\n", encoding="ascii")
        except OSError as error:
            raise StorageError(
                f"the limit of device {number} was not set in {blkio / name}: {reason(error)}: "
                "use --backend emulation."
            ) from error


def _mounts_below(folder: Path) -> list[Path]:
    names = [line.split()[1] for line in Path("/proc/self/mounts").read_bytes().splitlines()]
    points = [Path(os.fsdecode(name.decode("unicode_escape").encode("latin-1"))) for name in names]
    return [point for point in reversed(points) if folder in point.parents]


def _loops_below(folder: Path) -> list[tuple[str, str]]:
    """Return the loop devices on files below the folder, with their numbers; removed files count."""
    found = []
    for backing in sorted(Path("/sys/block").glob("loop*/loop/backing_file")):
        with suppress(OSError):
            path = Path(os.fsdecode(backing.read_bytes().strip().removesuffix(b" (deleted)")))
            if folder in path.parents:
                name = backing.parent.parent.name
                found.append((f"/dev/{name}", _number_of(name)))
    return found


def _number_of(name: str) -> str:
    return Path(f"/sys/block/{name}/dev").read_text(encoding="ascii").strip()


def _call(*command: str) -> str:
    # Where root did not log in, PATH may lack what only root runs.
    folders = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    try:
        program = shutil.which(command[0], path=folders) or command[0]
        run = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise ConfigurationError(
            f"{command[0]} is not installed: apt-get install e2fsprogs mount, or use --backend emulation."
        ) from error
    except subprocess.CalledProcessError as error:
        words = (error.stderr or "").strip().splitlines()[:1] or [f"exit code {error.returncode}"]
        raise StorageError(
            f"{' '.join(command)} failed: {words[0]}: try `tfdarshan workload clean`."
        ) from error
    return run.stdout.strip()
