"""A disk in a file: ext4 on a loop device, whose state at one instant can be copied. Needs root."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IMAGE_BYTES = 24 << 20
# Readings before the writer is held up: then a cut falls between two of its system calls.
READINGS = 20
CLEAN_AFTER_RECOVERY = (0, 1)


def run(*command: object) -> str:
    """Run a program; its output."""
    ran = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert ran.returncode == 0, f"{command}: {ran.stderr}"
    return ran.stdout.strip()


def make_image(image: Path) -> None:
    """Make an empty file system."""
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    run("mkfs.ext4", "-q", "-F", "-J", "size=1", image)


@contextmanager
def mounted(image: Path, folder: Path) -> Iterator[Path]:
    """Yield the folder where the image is mounted through a loop device."""
    folder.mkdir(exist_ok=True)
    device = run("losetup", "--find", "--show", image)
    try:
        run("mount", "-t", "ext4", device, folder)
        try:
            yield folder
        finally:
            run("umount", folder)
    finally:
        run("losetup", "--detach", device)


def state_at_an_instant(image: Path, writer: subprocess.Popen[str] | None = None) -> bytes:
    """Copy what the disk holds at one instant, with nothing synced before.

    Read twice: where both are equal nothing was written between the end of the first reading and the
    beginning of the second, so that the disk held exactly this at that time. A writer that never gives such a
    moment is stopped for one.
    """
    first = image.read_bytes()
    for reading in itertools.count():
        if reading == READINGS and writer is not None:
            writer.send_signal(signal.SIGSTOP)
        second = image.read_bytes()
        if first == second:
            break
        first = second
        assert reading < 100 * READINGS, "the disk never held still"
    if writer is not None:
        writer.send_signal(signal.SIGCONT)
    return second


@contextmanager
def after_power_cut(state: bytes, folder: Path) -> Iterator[Path]:
    """Yield the folder with what a machine finds after it was cut off in this state."""
    image = folder / "cut.img"
    image.write_bytes(state)
    ran = subprocess.run(["e2fsck", "-p", image], capture_output=True, text=True, check=False)
    assert ran.returncode in CLEAN_AFTER_RECOVERY, ran.stdout + ran.stderr
    run("e2fsck", "-f", "-n", image)
    with mounted(image, folder / "cut") as found:
        yield found


def can_mount() -> bool:
    """Return whether this user may mount loop devices here, and has the programs for it."""
    programs = all(map(shutil.which, ("losetup", "mkfs.ext4", "e2fsck")))
    return programs and os.geteuid() == 0 and Path("/dev/loop-control").exists()
