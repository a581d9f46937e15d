"""What every workload is run with: its files, its sessions, its size."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import tfdarshan
from tfdarshan.errors import ConfigurationError
from tfdarshan.terminal.progress import Progress
from tfdarshan.units import plural

from .cache_clearing import drop_from_cache, read_into_cache, said_of_cache
from .disk_room import check_room
from .images import ImageFile, ImageSet, is_whole_jpeg, write_images
from .machine import this_machine
from .malware_bytes import MalwareFile, write_malware
from .place import DATA, DEVICE, FUSE, Place
from .published_layout import find_images, find_malware
from .result import Arm, Result
from .settings import Scale, changed

File = TypeVar("File", ImageFile, MalwareFile)


class FileOnTier(Protocol):
    """What a session reads."""

    @property
    def path(self) -> Path: ...


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """The command line's choices, and the place the tier made."""

    workload: str
    place: Place
    work_dir: Path
    quick: bool
    repeats: int
    seed: int = 0
    files: int | None = None
    size_scale: float = 1.0
    data_dir: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    say: Callable[[str], None] = print

    def scaled(self, *, quick: Scale, published: Scale) -> Scale:
        """Return the settings to run with: small ones or the paper's, changed as the command line says.

        Raises:
            ConfigurationError: There is no such setting, or it does not take that value.
        """
        return changed(quick if self.quick else published, self.settings, self.workload)

    def new_result(self) -> Result:
        """Return an empty result with what is known already."""
        return Result(
            workload=self.workload,
            tier=self.place.tier,
            tier_said=self.place.said,
            quick=self.quick,
            repeats=self.repeats,
            machine=this_machine().line(),
        )

    def images(self, image_set: ImageSet, count: int, result: Result) -> list[ImageFile]:
        """Return the images to read: those of `--data-dir`, or generated ones.

        Files that are no whole JPEG stay in: the pipelines skip what cannot be decoded. They are counted.
        """
        if self.data_dir is None:
            folder, wanted = self._made_in / image_set.name, self.files or count
            with Progress(f"{image_set.name} files") as progress:
                files = write_images(folder, wanted, seed=self.seed, image_set=image_set, progress=progress)
        else:
            files = find_images(self.data_dir, self.files or count)
        files = self._placed(files)
        broken = sum(not is_whole_jpeg(file.path) for file in files)
        if broken:
            result.notes.append(f"{broken:,} of {len(files):,} files are no whole JPEG")
        return self._ready(files, result)

    def malware(self, count: int, result: Result) -> list[MalwareFile]:
        """Return the hex dumps to read: those of `--data-dir`, or generated ones."""
        if self.data_dir is None:
            folder, wanted = self._made_in / "malware", self.files or count
            with Progress("malware files") as progress:
                files = write_malware(
                    folder, wanted, seed=self.seed, size_scale=self.size_scale, progress=progress
                )
        else:
            files = find_malware(self.data_dir, self.files or count)
        files = self._placed(files)
        return self._ready(files, result)

    @contextmanager
    def session(
        self, arm: Arm, files: Sequence[FileOnTier], *, as_if: str | None = None, mapped: bool = False
    ) -> Iterator[tfdarshan.Profile]:
        """Record what is done inside, with files as the tier has them; the session is noted in the arm."""
        if self.place.keeps_cache:
            read_into_cache(file.path for file in files)
        else:
            drop_from_cache(file.path for file in files)
        self.place.make_ready()
        logdir = self.work_dir / "logs" / self.workload
        with tfdarshan.profile(logdir, mapped=mapped, **self.session_options(as_if)) as session:
            yield session
        arm.sessions.append(str(session.path))

    @property
    def _made_in(self) -> Path:
        """Where files are generated: a device is gone after the run, so they are copied to it."""
        if self.place.backend == DEVICE:
            return self.work_dir / DATA
        return self.place.backing or self.place.directory

    def session_options(self, as_if: str | None = None) -> dict[str, Any]:
        """Return the options of a session; another storage model than the place's own may be named."""
        read = [self.place.directory, *([] if self.data_dir is None else [self.data_dir])]
        folders = [f"{glob.escape(str(folder))}/" for folder in read]
        model = as_if or self.place.as_if
        return {"include": folders} | ({"as_if": model, "as_if_paths": folders} if model else {})

    def say_cache(self, paths: list[Path], result: Result) -> None:
        """Note what happens to the page cache before each run."""
        if self.place.keeps_cache:
            result.notes.append(f"page cache: it has the {plural(len(paths), 'file')} before each run")
        else:
            result.notes.append(said_of_cache(paths, self.place.fetched))

    def _ready(self, files: list[File], result: Result) -> list[File]:
        unreadable = [file for file in files if not os.access(file.path, os.R_OK)]
        if unreadable:
            result.notes.append(f"{len(unreadable):,} files cannot be read by this user and were skipped")
            files = [file for file in files if file not in unreadable]
        if not files:
            raise ConfigurationError(
                "there is no file to read: give another --data-dir, or none to have files made."
            )
        total_mb = sum(file.size_bytes for file in files) / 1e6
        result.settings |= {"files": len(files), "megabytes": round(total_mb, 1)}
        self.say_cache([file.path for file in files], result)
        is_copied = self.place.backend in (DEVICE, FUSE)
        folder = self.place.directory if self.data_dir is None or is_copied else self.data_dir
        self.say(f"{len(files):,} files, {total_mb:,.1f} MB, in {folder}")
        return files

    def _placed(self, files: list[File]) -> list[File]:
        """Copy the files onto a device made for this run; elsewhere they are read where they are shown."""
        if self.place.backend == FUSE and self.data_dir is None:
            return [replace(file, path=self.place.shown(file.path)) for file in files]
        if self.place.backend not in (DEVICE, FUSE):
            return files
        root = (self.place.backing or self.place.directory) / "copied"
        targets = [root / file.path.relative_to(self.data_dir or self._made_in) for file in files]
        missing = [
            file
            for file, target in zip(files, targets, strict=True)
            if not target.exists() or target.stat().st_size != file.size_bytes
        ]
        missing_paths = {file.path for file in missing}
        check_room(root, sum(file.size_bytes for file in missing), "the copy of the data set")
        with Progress("files copied") as progress:
            for done, (file, target) in enumerate(zip(files, targets, strict=True), start=1):
                if file.path in missing_paths:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    partial = target.with_name(target.name + ".partial")
                    shutil.copyfile(file.path, partial)
                    partial.replace(target)
                progress(done, len(files))
        return [
            replace(file, path=self.place.shown(target)) for file, target in zip(files, targets, strict=True)
        ]
