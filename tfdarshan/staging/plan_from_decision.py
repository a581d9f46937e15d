"""Makes a plan of a decision: looks at every chosen file as it is now."""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.errors import ConfigurationError
from tfdarshan.file_name import exact_name
from tfdarshan.staging.advice import Decision
from tfdarshan.staging.capacity import mount_point
from tfdarshan.staging.plan_file import Plan, PlannedFile, first_bad_name

THREADS, LOOKS = 16, 64


@dataclass(frozen=True)
class Planned:
    """The plan, and how many of the chosen files it does not have because they are gone or no longer fit."""

    plan: Plan
    gone: int
    no_room: int


def make_plan(
    decision: Decision,
    *,
    reserve_bytes: int,
    checksum: str = "blake2b",
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Planned:
    """Make the plan of what was decided; a decision against staging has no files.

    Args:
        decision: What was decided.
        reserve_bytes: What has to stay free on the fast tier.
        checksum: How copies are to be verified.
        progress: Called as `progress(files_looked_at, files)`.

    Raises:
        ConfigurationError: The files have no folder in common that copies could be named by.
    """
    question, advice = decision.advice.question, decision.advice
    chosen = decision.use.paths.take(pa.array(decision.rows)).to_pylist() if advice.helps else []
    # A job that spells a file's path in two ways has two rows of it.
    paths = list(dict.fromkeys(chosen))
    shared = common_folder(decision.use.paths.take(pa.array(decision.candidates)))
    root = question.slow or exact_name(shared)
    files, gone, no_room, used = [], 0, 0, 0
    with ThreadPoolExecutor(THREADS) as pool:
        for done, found in enumerate(pool.map(look_at, paths, chunksize=LOOKS), 1):
            progress(done, len(paths))
            if found is None or not found.name.startswith(root):
                gone += 1
                continue
            used += -(-found.size // question.block_bytes) * question.block_bytes
            if used > question.room_bytes:
                no_room += 1
                used -= -(-found.size // question.block_bytes) * question.block_bytes
                continue
            files.append(dataclasses.replace(found, name=found.name[len(root) :].lstrip("/")))
    files.sort(key=lambda file: file.name)
    bad = first_bad_name([file.name for file in files])
    if bad is not None:
        raise ConfigurationError(
            f"{bad!r} below {root} cannot be staged, because its name is taken or not plain: rename it."
        )
    promise = dataclasses.asdict(decision.promise)
    plan = Plan(
        root,
        question.fast,
        tuple(files),
        reserve_bytes,
        checksum,
        decision.advice.facts.paths,
        promise,
        fast_mount=mount_point(question.fast),
    )
    return Planned(plan, gone, no_room)


def look_at(path: str) -> PlannedFile | None:
    """Return the file that a session calls `path`, by its real name; None if there is no such regular file.

    A session writes bytes that are not UTF-8 as backslash escapes. Older ones did not tell them from a name
    that has these characters itself.
    """
    for name in dict.fromkeys((exact_name(path), path)):
        try:
            found = os.stat(name)  # noqa: PTH116
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(found.st_mode):
            return PlannedFile(name, found.st_size, found.st_mtime_ns)
    return None


def common_folder(paths: Any) -> str:
    """Return the deepest folder that all paths are below; "/" without paths.

    The first and the last path in order of their bytes have only that in common which all have. What
    stands for files without a row has no path.
    """
    paths = paths.filter(pc.starts_with(paths, "/"))
    if not len(paths):
        return "/"
    ends = pc.min_max(paths).as_py()
    folders = [os.path.dirname(str(ends[end])) for end in ("min", "max")]  # noqa: PTH120
    return str(os.path.commonpath(folders))
