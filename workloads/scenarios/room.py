"""Where a scenario's data is, how large it is, and what storage is played there."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Room:
    """A scenario's folders. `data` is where the job's files are; `fast` is on storage that is not slowed.

    Attributes:
        folder: Holds both, and the sessions.
        quick: Whether sizes are small: a second each instead of several.
        made: What `once` has made.
    """

    folder: Path
    quick: bool
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        """The job's files."""
        return self.folder / "data"

    @property
    def fast(self) -> Path:
        """Faster storage for copies."""
        return self.folder / "fast"

    @property
    def logs(self) -> Path:
        """The sessions."""
        return self.folder / "logs"

    def number(self, full: int, quick: int) -> int:
        """Return the one or the other."""
        return quick if self.quick else full

    def as_if(self, storage: str, *folders: Path) -> Mapping[str, Any]:
        """Return the options that play a storage in folders, by default where the data is."""
        slow = [f"{glob.escape(str(folder))}/" for folder in folders or (self.data,)]
        return {"as_if": storage, "as_if_paths": slow}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` made when it was first asked for: a job must not look for its data again."""
        if name not in self.made:
            self.made[name] = make()
        made: T = self.made[name]
        return made

    def files(self, name: str, count: int, size_bytes: int) -> list[Path]:
        """Return `count` files of random bytes, written where they are missing."""
        return self.once(f"{count} {name}", lambda: self._files(name, count, size_bytes))

    def _files(self, name: str, count: int, size_bytes: int) -> list[Path]:
        folder = self.data / name
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{number:05}" for number in range(count)]
        for path in paths:
            if not path.exists() or path.stat().st_size != size_bytes:
                path.write_bytes(os.urandom(size_bytes))
        return paths

    def staged(self, paths: list[Path]) -> list[Path]:
        """Return copies of files on the faster storage, made where they are missing."""
        return self.once(f"copies of {paths[0]}", lambda: self._staged(paths))

    def _staged(self, paths: list[Path]) -> list[Path]:
        copies = [self.fast / path.relative_to(self.data) for path in paths]
        for path, copy in zip(paths, copies, strict=True):
            if not copy.exists() or copy.stat().st_size != path.stat().st_size:
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
        return copies

    def make_ready(self) -> None:
        """Remove what a run has written, and read the data into the page cache.

        The emulated storage has no cache: it gives its own times to what the machine's disk would disturb.
        """
        for folder in (self.written, self.buffered):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        for folder in (self.data, self.fast):
            for path in folder.rglob("*"):
                if path.is_file():
                    path.read_bytes()

    @property
    def buffered(self) -> Path:
        """Where a job writes on the faster storage; empty before each run."""
        return self.fast / "buffered"

    @property
    def written(self) -> Path:
        """Where a job writes; empty before each run."""
        return self.data / "written"
