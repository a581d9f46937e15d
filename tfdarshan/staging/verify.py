"""Finds copies that are missing, stale, damaged or not ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tfdarshan.errors import reason
from tfdarshan.staging.copy_file import checksum_of
from tfdarshan.staging.journal import FILE, LINK, Journal, is_there
from tfdarshan.staging.plan_file import Plan, PlannedFile
from tfdarshan.staging.stage_folder import journal_of, refuse_unmounted

GOOD, MISSING, STALE, DAMAGED, FOREIGN, GONE = "good", "missing", "stale", "damaged", "foreign", "gone"
MEANINGS = {
    MISSING: "has no copy",
    STALE: "was changed since it was copied",
    DAMAGED: "its copy is not what was copied",
    FOREIGN: "what has its name on the fast tier was not staged",
    GONE: "the original is not there any more",
}


@dataclass
class Verified:
    """How many copies are good, and what is wrong with the others, by name: one of MEANINGS or an error."""

    good: int = 0
    wrong: dict[str, str] = field(default_factory=dict)
    dangling_links: list[str] = field(default_factory=list)


def verify_plan(
    plan: Plan,
    *,
    quick: bool = False,
    threads: int = 4,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Verified:
    """Look at every copy of the plan, and read it unless `quick`.

    Raises:
        StorageError: The journal cannot be read.
    """
    refuse_unmounted(plan)
    journal, result = journal_of(plan.fast_root), Verified()

    def look(file: PlannedFile) -> str:
        return _state(plan, journal, file, quick=quick)

    with ThreadPoolExecutor(threads) as pool:
        for done, (file, state) in enumerate(zip(plan.files, pool.map(look, plan.files), strict=True), 1):
            if state == GOOD:
                result.good += 1
            else:
                result.wrong[file.name] = state
            progress(done, len(plan.files))
    for name, records in journal.records.items():
        path = os.path.join(plan.fast_root, name)  # noqa: PTH118
        if records[-1].kind == LINK and _leads_nowhere(path):
            result.dangling_links.append(name)
    return result


def _state(plan: Plan, journal: Journal, file: PlannedFile, *, quick: bool) -> str:
    copy, original = os.path.join(plan.fast_root, file.name), plan.original(file.name)  # noqa: PTH118
    try:
        if not is_there(copy):
            return MISSING
    except OSError as error:
        return f"its copy cannot be looked at: {reason(error)}"
    owner = journal.owner_of(file.name, copy)
    if owner is None:
        known = any(record.kind == FILE for record in journal.records.get(file.name, ()))
        return DAMAGED if known else FOREIGN
    if owner.kind != FILE or not owner.stands_for(original):
        return MISSING
    try:
        found = os.stat(original)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return GONE
    except OSError as error:
        return f"its original cannot be looked at: {reason(error)}"
    if (found.st_size, found.st_mtime_ns) != (owner.size, owner.source_mtime_ns):
        return STALE
    try:
        whole = quick or checksum_of(copy, owner.policy) == owner.checksum
    except OSError as error:
        return f"its copy cannot be read: {reason(error)}"
    return GOOD if whole else DAMAGED


def _leads_nowhere(link: str) -> bool:
    """Return whether a link's target is gone; not whether it cannot be looked at."""
    try:
        os.stat(link)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return os.path.islink(link)  # noqa: PTH114
    except OSError:
        pass
    return False
