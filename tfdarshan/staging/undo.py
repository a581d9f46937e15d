"""Takes back what a plan made: exactly that, and nothing that somebody changed since."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tfdarshan.durable.durable_file import durable_file
from tfdarshan.errors import StorageError, reason
from tfdarshan.staging.journal import FOLDER, LINK, ROOT, Record, is_there
from tfdarshan.staging.plan_file import Plan
from tfdarshan.staging.stage_folder import StageFolder, locked_stage, refuse_unmounted


@dataclass
class Undone:
    """What was removed, what was left and why, the names that other plans keep, and these plans' files."""

    files: int = 0
    links: int = 0
    folders: int = 0
    kept: dict[str, str] = field(default_factory=dict)
    of_other_plans: list[str] = field(default_factory=list)
    other_plans: list[str] = field(default_factory=list)


def undo_plan(
    plan: Plan, *, dry_run: bool = False, progress: Callable[[int, int], None] = lambda done, total: None
) -> Undone:
    """Remove the copies, links and folders that were made for the plan.

    The journal goes last, so an undo that was cut off is finished by the next one. What other plans staged or
    use below the same root stays, and so does a copy that was changed since: it is somebody's work now.

    Raises:
        ConfigurationError: Another run is at work there.
        StorageError: The journal cannot be read or written.
        OSError: A copy cannot be looked at or removed; the journal has it still.
    """
    refuse_unmounted(plan)
    with locked_stage(plan, create=False) as stage:
        if stage is None:
            return Undone()
        result = Undone()
        ours = [
            name
            for name, records in stage.journal.records.items()
            if any(record.plan == plan.id for record in records)
        ]
        gone = set()
        for done, name in enumerate(ours, 1):
            if _remove(stage, name, plan.id, result, dry_run=dry_run):
                gone.add(name)
            progress(done, len(ours))
        others = _of_other_plans(stage, plan.id)
        result.of_other_plans = list(others)
        found = (
            stage.plan_path(name) for name in sorted({name for names in others.values() for name in names})
        )
        result.other_plans = [str(path) for path in found if path.exists()]
        if dry_run:
            result.folders = _left_empty(stage, gone)
        else:
            _finish(stage, plan, result)
        return result


def _remove(stage: StageFolder, name: str, plan_id: str, result: Undone, *, dry_run: bool) -> bool:
    """Remove a copy or a link, or say what a dry run would; return whether it goes."""
    path = stage.path(name)
    if stage.journal.records[name][-1].kind == FOLDER or not is_there(path):
        return False
    owners = stage.journal.owners_of(name, path)
    if any(owner.plan != plan_id for owner in owners):
        return False
    if not owners:
        result.kept[name] = "was changed or replaced since it was staged"
        return False
    if not dry_run:
        os.unlink(path)  # noqa: PTH108
    if owners[0].kind == LINK:
        result.links += 1
    else:
        result.files += 1
    return True


def _of_other_plans(stage: StageFolder, plan_id: str) -> dict[str, set[str]]:
    """Return the copies and links that other plans had made, or use, with the ids of these plans."""
    found = {}
    for name, records in stage.journal.records.items():
        plans = {
            record.plan
            for record in records
            if record.plan != plan_id and record.kind != FOLDER and record.is_of(stage.path(name))
        }
        if plans:
            found[name] = plans
    return found


def _finish(stage: StageFolder, plan: Plan, result: Undone) -> None:
    """Remove the folders that are empty, then the journal, or this plan's part of it."""
    records = stage.journal.records
    # A folder may hold other plans' copies, whoever had it made.
    others = {
        name: [record for record in found if record.plan != plan.id or record.kind == FOLDER]
        for name, found in records.items()
    }
    staged_by_others = any(record.kind != FOLDER for found in others.values() for record in found)
    for name in _folders(records):
        with contextlib.suppress(OSError):
            os.rmdir(stage.path(name))  # noqa: PTH106
            result.folders += 1
            others.pop(name, None)
    if staged_by_others:
        _rewrite(stage, [record for found in others.values() for record in found])
        stage.forget_plan(plan.id)
        return
    made = [Path(record.target or stage.root) for record in records.get(ROOT, ())]
    stage.remove()
    # The folders above the root that were made for it, as far as nobody else has used them.
    with contextlib.suppress(OSError):
        for folder in (stage.root, *stage.root.parents):
            if any(folder.is_relative_to(outermost) for outermost in made):
                folder.rmdir()


def _left_empty(stage: StageFolder, gone: set[str]) -> int:
    """Return how many of the folders that were made have nothing but what goes."""
    count = 0
    for name in _folders(stage.journal.records):
        with contextlib.suppress(OSError):
            if all(f"{name}/{entry}" in gone for entry in os.listdir(stage.path(name))):  # noqa: PTH208
                gone.add(name)
                count += 1
    return count


def _folders(records: dict[str, list[Record]]) -> list[str]:
    """Name the folders that were made, the innermost first."""
    found = [name for name, found in records.items() if found[-1].kind == FOLDER and name != ROOT]
    return sorted(found, key=lambda name: -name.count("/"))


def _rewrite(stage: StageFolder, records: list[Record]) -> None:
    """Replace the journal by one with these records, at once."""
    stage.journal.close()
    try:
        with durable_file(stage.folder / "journal") as file:
            for record in records:
                file.write(json.dumps(asdict(record)).encode("ascii") + b"\n")
    except OSError as error:
        raise StorageError(
            f"the stager's journal in {stage.folder} cannot be written: {reason(error)}; make room in "
            f"{stage.root}, if need be by deleting a copy, and undo the plan again."
        ) from error
