"""The plan: which files are to be staged, from where to where, and how they were when it was made.

A JSON file, `version` 1. Names are relative to `slow_root` and `fast_root`; a byte that is not UTF-8 is a
lone surrogate (U+DC80 to U+DCFF), as Python has it in file names, escaped.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.errors import ConfigurationError, StorageError, reason
from tfdarshan.native.versions import VERSION
from tfdarshan.sessions.session_directory import write_json
from tfdarshan.sessions.whole_file import JSON_GROWTH, read_whole
from tfdarshan.staging.checksum import POLICIES

FORMAT = "tfdarshan staging plan"
PLAN_VERSION = 1


@dataclass(frozen=True)
class PlannedFile:
    """A file: its name below the roots, its size, and when it was last changed."""

    name: str
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class Plan:
    """A plan.

    Attributes:
        slow_root: Folder below which the originals are.
        fast_root: Folder below which their copies go.
        files: The files, sorted by name.
        reserve_bytes: What has to stay free on the fast tier.
        checksum: How copies are verified, one of `checksum.POLICIES`.
        sessions: Directories of the sessions that the plan rests on.
        promise: What the plan promises (`question.Promise`), empty if nothing.
        written_by: Version of tfdarshan that made the plan.
        fast_mount: Where the fast tier's file system was mounted then, "" if that is not known.
    """

    slow_root: str
    fast_root: str
    files: tuple[PlannedFile, ...]
    reserve_bytes: int = 0
    checksum: str = "blake2b"
    sessions: tuple[str, ...] = ()
    promise: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    written_by: str = VERSION
    fast_mount: str = ""

    @property
    def id(self) -> str:
        """Names the plan by its roots and its files' names, whatever their sizes."""
        names = "\0".join([self.slow_root, self.fast_root, *(file.name for file in self.files)])
        return hashlib.sha256(os.fsencode(names)).hexdigest()[:16]

    def original(self, name: str) -> str:
        """Return the path of the original of a name."""
        return os.path.join(self.slow_root, name)  # noqa: PTH118

    def as_json(self) -> dict[str, Any]:
        """Return what the file holds."""
        return {"format": FORMAT, "version": PLAN_VERSION, "id": self.id, **dataclasses.asdict(self)}


def write_plan(plan: Plan, path: Path) -> None:
    """Write the plan, durably, replacing what is there.

    Raises:
        StorageError: It cannot be written.
    """
    try:
        write_json(path, plan.as_json())
    except OSError as error:
        raise StorageError(
            f"the plan {path} cannot be written: {reason(error)}; name another file with -o."
        ) from error


def read_plan(path: Path) -> Plan:
    """Read a plan.

    Raises:
        ConfigurationError: It is missing, damaged, of a newer version, or names files outside its roots.
    """
    from tfdarshan.sessions.checked_json import DecodingError, NotJsonError, check, decode_json
    from tfdarshan.staging.plan_shape import PlanShape

    try:
        data = decode_json(read_whole(path, growth=JSON_GROWTH))
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ConfigurationError(f"{path} is not a plan; `tfdarshan advise -o PLAN` writes one.")
        _check_version(data.get("version"), path)
        shape = check(data, PlanShape)
    except OSError as error:
        raise ConfigurationError(
            f"the plan {path} cannot be read: {reason(error)}; `tfdarshan advise -o PLAN` writes one."
        ) from error
    except NotJsonError as error:
        raise ConfigurationError(
            f"{path} is not a plan: {error}; `tfdarshan advise -o PLAN` writes one."
        ) from error
    except DecodingError as error:
        raise _damaged(path, str(error)) from error
    files = tuple(PlannedFile(file.name, file.size, file.mtime_ns) for file in shape.files)
    plan = Plan(**{name: getattr(shape, name) for name in shape.__struct_fields__} | {"files": files})
    _check(plan, path)
    return plan


def _check_version(version: object, path: Path) -> None:
    if not isinstance(version, int):
        raise _damaged(path, "it has no version")
    if version != PLAN_VERSION:
        raise ConfigurationError(
            f"the plan {path} has version {version} and this tfdarshan reads version "
            f"{PLAN_VERSION}: upgrade with `pip install -U tfdarshan`."
        )


def _damaged(path: Path, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"the plan {path} is damaged: {what}; `tfdarshan advise -o PLAN` writes a new one."
    )


def _check(plan: Plan, path: Path) -> None:
    """Refuse a plan that would read or write outside its roots, or copy files onto themselves."""
    for root in (plan.slow_root, plan.fast_root):
        if not os.path.isabs(root) or "\0" in root:  # noqa: PTH117
            raise _damaged(path, f"{root!r} is not an absolute path")
    if any("\0" in session for session in plan.sessions):
        raise _damaged(path, "it names a session that has no such path")
    if plan.checksum not in POLICIES:
        raise ConfigurationError(
            f"the plan {path} names the checksum {plan.checksum!r}: use {', '.join(POLICIES)}."
        )
    bad = first_bad_name([file.name for file in plan.files])
    if bad is not None:
        raise _damaged(path, f"{bad!r} is not a name below its roots")
    if os.path.realpath(plan.slow_root) == os.path.realpath(plan.fast_root):
        raise ConfigurationError(
            f"the plan {path} copies {plan.slow_root} onto itself: plan with another --fast DIR."
        )


def first_bad_name(names: Sequence[str]) -> str | None:
    """Return the first name that is not relative, plain, and below where it starts; None if all are."""
    for name in names:
        if not is_below(name) or name.split("/", 1)[0] == STATE_FOLDER:
            return name
    return None


def is_below(name: str) -> bool:
    """Return whether a name is relative, plain, and leads to nothing but what is below where it starts."""
    return "\0" not in name and not any(part in ("", ".", "..") for part in name.split("/"))


# Where the stager keeps what it needs to know, below `fast_root`.
STATE_FOLDER = ".tfdarshan-stage"
