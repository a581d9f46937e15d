"""Give finished copies their names, and makes folders for them: never over anything that is not ours."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field

from tfdarshan.durable.durable_file import sync_folder
from tfdarshan.staging.copy_file import CopyError
from tfdarshan.staging.journal import FOLDER, Record
from tfdarshan.staging.stage_folder import StageFolder

NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
# Why a name is left to what has it on the fast tier.
TAKEN = "is on the fast tier already and was not staged: left as it is"
TAKEN_BY_ANOTHER = "another plan staged a file of another folder by this name: plan with another --fast DIR"


@dataclass
class Applied:
    """What carrying out a plan did. `problems` has the name of each file that was not staged, and why.

    `stopped` says why the run ended before all files were tried, "" if it did not.
    """

    copied: int = 0
    copied_bytes: int = 0
    there: int = 0
    links: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    stopped: str = ""


class FolderMaker:
    """Makes the folders that copies and links go into.

    A folder is written to the journal before it is made. Parents that are symbolic links are refused: what is
    behind them may be the slow tier.
    """

    def __init__(self, stage: StageFolder, plan_id: str) -> None:
        self._stage, self._plan_id = stage, plan_id
        self._known: set[str] = {""}

    def missing(self, names: Iterable[str]) -> tuple[list[Record], dict[str, str]]:
        """Return records of the folders to be made for `names`, and why some names cannot have theirs."""
        records: list[Record] = []
        refused: dict[str, str] = {}
        planned: set[str] = set()
        for name in names:
            for folder in parents_of_name(name):
                if folder in self._known or folder in planned:
                    continue
                state = self._state(folder)
                if state == "blocked":
                    refused[name] = f"{self._stage.path(folder)} is in the way: it is not a folder"
                    break
                if state == "missing":
                    records.append(Record(FOLDER, folder, self._plan_id))
                    planned.add(folder)
                else:
                    self._known.add(folder)
        return records, refused

    def make(self, records: Iterable[Record]) -> set[str]:
        """Make them; return the folders whose entries have to be synced."""
        touched = set()
        for record in records:
            # Not makedirs: a fast root that vanished would be made anew on the file system below it.
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._stage.path(record.name))  # noqa: PTH102
            self._known.add(record.name)
            touched.add(os.path.dirname(record.name))  # noqa: PTH120
        return touched

    def _state(self, folder: str) -> str:
        try:
            found = os.lstat(self._stage.path(folder))
        except FileNotFoundError:
            return "missing"
        except NotADirectoryError:
            return "blocked"
        return "there" if stat.S_ISDIR(found.st_mode) else "blocked"


def publish(temporary: str, target: str, *, replace: bool) -> None:
    """Give a finished file its name; the name shows all of it or nothing.

    Args:
        temporary: Where it is now.
        target: Its name.
        replace: Whether what has the name now is ours and may be replaced.

    Raises:
        CopyError: Somebody else has taken the name.
        OSError: It cannot be named.
    """
    if replace:
        os.replace(temporary, target)  # noqa: PTH105
        return
    try:
        # Unlike rename, link never replaces: a name that was taken a moment ago is kept.
        os.link(temporary, target, follow_symlinks=False)
    except FileExistsError as error:
        raise CopyError("its name was taken by somebody else") from error
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if os.path.lexists(target):
            raise CopyError("its name was taken by somebody else") from error
        os.rename(temporary, target)  # noqa: PTH104
        return
    os.unlink(temporary)  # noqa: PTH108


def sync_folders(stage: StageFolder, names: Iterable[str]) -> None:
    """Make the entries of folders durable."""
    for name in names:
        sync_folder(stage.path(name))


def parents_of_name(name: str) -> list[str]:
    """Return the folders above a name, the outermost first."""
    parts = name.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
