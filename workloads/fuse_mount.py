"""A folder on storage as slow as described: our own small FUSE server, built when it is first needed.

It needs root, /dev/fuse, gcc, pkg-config and Debian's libfuse3-dev. The model is that of `fuse/device.c`:
latencies of an open, a read, a read of nothing, a stat, a write and a sync, so many at a time; one queue for
bandwidth, operations and seeks; a token bucket; slowness that comes and goes; one slow path; a cache in the
server, and the kernel's own or none.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import ConfigurationError, StorageError

SOURCES = Path(__file__).parent / "fuse"
DEVICE = Path("/dev/fuse")
PACKAGES = "apt-get install fuse3 libfuse3-dev gcc pkg-config"

# A server on a busy machine has so long to take a signal.
TOLD_WITHIN_S = 5.0
# Where something is still open it has so long to end by itself.
ENDS_WITHIN_S = 10.0


@dataclass(frozen=True)
class FuseMount:
    """A mounted one. Calls take no time before `begin`: until then caches can be filled."""

    mount_point: Path
    server: int

    def begin(self) -> None:
        """Make calls take their time from now on: the server ignores the signal once it was told."""
        os.kill(self.server, signal.SIGUSR1)
        status = Path(f"/proc/{self.server}/status")
        until_s = time.monotonic() + TOLD_WITHIN_S
        while not _is_ignored(status.read_text(encoding="utf-8")) and time.monotonic() < until_s:
            time.sleep(0.001)

    def answered(self) -> int:
        """Return how many requests the server has answered: each answer is one write to /dev/fuse."""
        return self._counted("syscw")

    def bytes_given(self) -> int:
        """Return how many bytes it has answered with."""
        return self._counted("wchar")

    def _counted(self, name: str) -> int:
        lines = Path(f"/proc/{self.server}/io").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _is_ignored(status: str) -> bool:
    """Return whether a process ignores the signal to begin, by its status in /proc."""
    sets = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigIgn:")]
    return any(ignored >> (signal.SIGUSR1 - 1) & 1 for ignored in sets)


def check_fuse(device: Path = DEVICE) -> None:
    """Return where such storage can be made.

    Raises:
        ConfigurationError: It cannot, and why.
    """
    if os.geteuid() != 0:
        raise ConfigurationError("storage by FUSE needs root.")
    if not device.exists():
        raise ConfigurationError(f"storage by FUSE needs {device}, which is not there.")
    missing = [name for name in ("gcc", "pkg-config", "fusermount3") if shutil.which(name) is None]
    if not missing and subprocess.run(["pkg-config", "--exists", "fuse3"]).returncode:
        missing = ["libfuse3-dev"]
    if missing:
        raise ConfigurationError(f"storage by FUSE needs {', '.join(missing)}: {PACKAGES}")


def build_server(folder: Path) -> Path:
    """Compile the server into a folder, unless it is there; return its path.

    Raises:
        StorageError: The compiler refuses it.
    """
    program = folder / "slow_storage"
    sources = sorted(SOURCES.glob("*.c"))
    if program.exists() and program.stat().st_mtime > max(path.stat().st_mtime for path in SOURCES.iterdir()):
        return program
    folder.mkdir(parents=True, exist_ok=True)
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "fuse3"], capture_output=True, text=True, check=True
    ).stdout.split()
    warnings = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    built = subprocess.run(
        ["gcc", *warnings, "-o", str(program), *map(str, sources), *flags, "-lpthread"],
        capture_output=True,
        text=True,
    )
    if built.returncode:
        raise StorageError(f"{SOURCES.name}/ was not compiled: {built.stderr.strip().splitlines()[0]}")
    return program


def described(model: Mapping[str, float | str]) -> str:
    """Return a model as the server's one line."""
    return " ".join(f"{name}={value}" for name, value in model.items())


@contextmanager
def fuse_mount(
    program: Path, backing: Path, mount_point: Path, model: Mapping[str, float | str]
) -> Iterator[FuseMount]:
    """Mount it for a while: nothing is cached at first, and nothing of it stays.

    Args:
        program: What `build_server` gave.
        backing: The folder that is shown.
        mount_point: Where; it is made if it is missing.
        model: The words of `fuse/device.c` and their values; times in seconds, rates
            in bytes or calls a second.

    Raises:
        StorageError: The server does not take the model, or cannot mount.
    """
    mount_point.mkdir(parents=True, exist_ok=True)
    server = subprocess.Popen(
        [str(program), str(backing), described(model), str(mount_point)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    assert server.stderr is not None
    try:
        if server.stdout.readline().strip() != "mounted":
            raise StorageError(f"no storage by FUSE: {server.stderr.read().strip() or 'the server ended'}")
        yield FuseMount(mount_point, server.pid)
    finally:
        _end(server, mount_point)


def _end(server: subprocess.Popen[str], mount_point: Path) -> None:
    """Unmount as soon as nothing is open any more; after a while whatever is open."""
    if server.poll() is None:
        busy = subprocess.run(["fusermount3", "-u", str(mount_point)], capture_output=True).returncode
        if busy:
            subprocess.run(["fusermount3", "-u", "-z", str(mount_point)], capture_output=True)
        try:
            server.wait(timeout=ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            server.kill()
    server.communicate()
