"""Folders as values: what is in them, down to the last byte and the time of change."""

import os
import random
import stat
from pathlib import Path

from tfdarshan.staging.plan_file import STATE_FOLDER, Plan, PlannedFile

ODD_NAMES = (
    "a b.jpg",
    "line\nbreak.bin",
    "-rf",
    "ü.bin",
    os.fsdecode(b"\xff\xfe.bin"),
    ".hidden",
    "\\xff",
    "'\"$",
)


def make_files(folder: Path, count: int, seed: int = 0, largest: int = 100_000) -> None:
    """Write `count` files of random sizes and bytes in nested folders; the first ones have odd names."""
    choice = random.Random(seed)
    for number in range(count):
        name = ODD_NAMES[number] if number < len(ODD_NAMES) else f"{number:04}.bin"
        parent = folder / ("", "x", "x/y", "z")[number % 4]
        parent.mkdir(parents=True, exist_ok=True)
        (parent / name).write_bytes(choice.randbytes(choice.randrange(largest)))


def plan_of(slow: Path, fast: Path, **more) -> Plan:
    """Return a plan that has every file below `slow`."""
    files = []
    for folder, _, names in os.walk(slow):
        for name in names:
            path = os.path.join(folder, name)
            found = os.stat(path)
            files.append(PlannedFile(os.path.relpath(path, slow), found.st_size, found.st_mtime_ns))
    return Plan(str(slow), str(fast), tuple(sorted(files, key=lambda file: file.name)), **more)


def snapshot(folder: Path, *, times: bool = True) -> dict[str, tuple]:
    """Return everything below a folder but for the stager's own: kind, mode, time, and bytes or target."""
    found = {}
    for parent, folders, names in os.walk(folder):
        if STATE_FOLDER in folders:
            folders.remove(STATE_FOLDER)
        for name in (*folders, *names):
            path = os.path.join(parent, name)
            entry = os.lstat(path)
            what: str | bytes = b""
            if stat.S_ISLNK(entry.st_mode):
                what = os.readlink(path)
            elif stat.S_ISREG(entry.st_mode):
                what = Path(path).read_bytes()
            changed = (entry.st_mtime_ns, entry.st_ino) if times and not stat.S_ISDIR(entry.st_mode) else ()
            found[os.path.relpath(path, folder)] = (entry.st_mode, *changed, what)
    return found


def differing(slow: Path, fast: Path) -> list[str]:
    """Name the files below `fast` that are not byte for byte those below `slow`."""
    originals, copies = snapshot(slow, times=False), snapshot(fast, times=False)
    return [
        name
        for name, entry in copies.items()
        if stat.S_ISREG(entry[0]) and (name not in originals or originals[name][-1] != entry[-1])
    ]
