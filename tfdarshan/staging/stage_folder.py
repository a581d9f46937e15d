"""The stager's own folder of a fast root: the lock, the journal, and the files that are not whole yet."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tfdarshan.durable.durable_file import sync_folder
from tfdarshan.errors import ConfigurationError, StorageError, reason
from tfdarshan.sessions.session_directory import write_json
from tfdarshan.staging.capacity import mount_point
from tfdarshan.staging.journal import FOLDER, ROOT, Journal, Record
from tfdarshan.staging.plan_file import STATE_FOLDER, Plan

ATTEMPTS = 20


class StageFolder:
    """What is known of a fast root, held under its lock."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = state_folder(root)
        self.temporary = self.folder / "tmp"
        self._plans = self.folder / "plans"
        self.journal = Journal(self.folder / "journal")

    def path(self, name: str) -> str:
        """Return the path of a name below the fast root."""
        return os.path.join(self.root, name)  # noqa: PTH118

    def plan_path(self, plan_id: str) -> Path:
        """Return where a plan is kept as it was applied: its own file may be replaced before the undo."""
        return self._plans / f"{plan_id}.json"

    def keep_plan(self, plan: Plan) -> None:
        """Keep a plan, to be undone by.

        Raises:
            OSError: It cannot be written.
        """
        self._plans.mkdir(exist_ok=True)
        write_json(self.plan_path(plan.id), plan.as_json())

    def forget_plan(self, plan_id: str) -> None:
        """Remove a plan that was undone."""
        self.plan_path(plan_id).unlink(missing_ok=True)

    def discard_temporary(self) -> None:
        """Remove the files that were not whole when an earlier run ended."""
        if self.temporary.is_dir():
            for path in self.temporary.iterdir():
                path.unlink()

    def remove(self) -> None:
        """Remove the folder: the journal last but for the lock, which is held until the end."""
        self.journal.close()
        self.discard_temporary()
        with contextlib.suppress(FileNotFoundError):
            self.temporary.rmdir()
        with contextlib.suppress(FileNotFoundError):
            for path in self._plans.iterdir():
                path.unlink()
            self._plans.rmdir()
        for name in (".journal.tmp", "journal", "lock"):
            (self.folder / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def refuse_unmounted(plan: Plan) -> None:
    """Refuse a fast tier that is not mounted: what is at its mount point is of another disk.

    Raises:
        StorageError: It is not mounted.
    """
    root, mount = Path(plan.fast_root).resolve(), plan.fast_mount
    if mount and root.is_relative_to(mount) and not Path(mount_point(plan.fast_root)).is_relative_to(mount):
        raise StorageError(
            f"{mount} is not mounted, and copies would go to another disk: mount it, or take `fast_mount` "
            "out of the plan."
        )


def journal_of(root: str) -> Journal:
    """Return what was staged below a fast root, without its lock: to look, not to change."""
    return Journal(state_folder(Path(root)) / "journal")


def state_folder(root: Path) -> Path:
    """Return the stager's folder of a fast root: beside the root, or in it.

    Programs take each folder of a data set for a class, so that a mirror has to have no other. A root that is
    mounted, or whose parent cannot be written, has the stager's folder in it.
    """
    beside = _beside(root)
    return beside if beside.is_dir() else root / STATE_FOLDER


def _beside(root: Path) -> Path:
    real = root.resolve()
    return real.parent / f"{STATE_FOLDER}-{real.name}"


@contextmanager
def locked_stage(plan: Plan, *, create: bool) -> Iterator[StageFolder | None]:
    """Yield a fast root's folder under its lock; None if there is none and `create` is False.

    Raises:
        ConfigurationError: Somebody else has the lock.
        StorageError: The folder cannot be made.
    """
    root = Path(plan.fast_root)
    try:
        lock, made = _lock(root, create=create)
    except OSError as error:
        raise StorageError(f"the fast root {root} cannot be used: {reason(error)}.") from error
    if lock is None:
        yield None
        return
    try:
        stage = StageFolder(root)
        try:
            if create:
                stage.temporary.mkdir(exist_ok=True)
                with contextlib.suppress(OSError):  # a full tier is told by the copies
                    stage.keep_plan(plan)
            stage.discard_temporary()
            if made is not None:
                stage.journal.add([Record(FOLDER, ROOT, plan.id, target=str(made))])
        except OSError as error:
            raise StorageError(f"the fast root {root} cannot be used: {reason(error)}.") from error
        try:
            yield stage
        finally:
            stage.journal.close()
    finally:
        os.close(lock)


def _made_root(root: Path) -> Path | None:
    """Make a fast root and the folders above it that are missing; return the outermost that was made."""
    made = None
    for folder in (*reversed(root.parents), root):
        if _made(folder):
            made = made or folder
    return made


def _make_state_folder(root: Path) -> None:
    """Make it in the root, and move it beside the root if that is on the same file system.

    Raises:
        ConfigurationError: There is one of somebody else, who could change copies on their way.
    """
    if not state_folder(root).is_dir():
        new = root / f"{STATE_FOLDER}.new"
        _made(new, 0o700)
        for place in (_beside(root), root / STATE_FOLDER):
            with contextlib.suppress(OSError):
                new.rename(place)
                sync_folder(place.parent)
            if place.is_dir():
                break
        with contextlib.suppress(OSError):  # another process was faster
            new.rmdir()
    folder = state_folder(root)
    if folder.stat().st_uid not in (os.geteuid(), root.stat().st_uid):
        raise ConfigurationError(f"{folder} belongs to another user: plan with another --fast DIR.")


def _made(folder: Path, mode: int = 0o777) -> bool:
    """Make a folder unless it is there; another process may make or remove it at any moment."""
    if folder.is_dir():
        return False
    try:
        folder.mkdir(mode)
    except FileExistsError:
        if _is_something_else(folder):
            raise
        return False
    return True


def _is_something_else(folder: Path) -> bool:
    try:
        return not stat.S_ISDIR(folder.stat().st_mode)
    except FileNotFoundError:
        return folder.is_symlink()


def _lock(root: Path, *, create: bool) -> tuple[int | None, Path | None]:
    """Return the lock file's descriptor, locked, and the outermost folder that was made for it.

    An undo may remove the file, or all of the root, while we wait to lock it.
    """
    made = None
    missing: FileNotFoundError | None = None
    for _ in range(ATTEMPTS):
        try:
            if create:
                made = _made_root(root) or made
                _make_state_folder(root)
            folder = state_folder(root)
            lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError as error:
            if not create:
                return None, None
            missing = error
            continue
        if _still_there(lock, folder / "lock", root):
            return lock, made
        os.close(lock)
    if missing is not None and not root.parent.is_dir():
        raise missing
    raise ConfigurationError(f"another `tfdarshan stage` keeps coming and going in {root}: try again.")


def _still_there(lock: int, path: Path, root: Path) -> bool:
    """Lock an open lock file; False if it is no longer the file of that path."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(lock), os.stat(path))  # noqa: PTH116
    except FileNotFoundError:
        return False
    except BlockingIOError as error:
        os.close(lock)
        raise ConfigurationError(
            f"another `tfdarshan stage` is at work in {root}: wait until it has ended."
        ) from error
