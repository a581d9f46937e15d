"""The mirror: for every file that is not staged a link to the slow tier, so that one folder has them all."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from tfdarshan.errors import ConfigurationError, reason
from tfdarshan.staging.journal import LINK, Record
from tfdarshan.staging.plan_file import STATE_FOLDER, Plan
from tfdarshan.staging.publish import (
    TAKEN,
    TAKEN_BY_ANOTHER,
    Applied,
    FolderMaker,
    parents_of_name,
    sync_folders,
)
from tfdarshan.staging.stage_folder import StageFolder, state_folder

BATCH_LINKS = 1_000


def mirror_links(
    plan: Plan,
    stage: StageFolder,
    folders: FolderMaker,
    result: Applied,
    pretended: Container[str] | None = None,
) -> None:
    """Make the folders of the slow root and links to its files, where nothing has their names.

    Links to folders are linked as links, but for those that copies go into: they become folders. What is
    below the fast root is left out.

    Args:
        plan: The plan.
        stage: Its fast root.
        folders: Makes folders there.
        result: Links and problems are added.
        pretended: Names that are to be taken for copies; nothing is made then. None to make the links.

    Raises:
        ConfigurationError: The slow root is the whole file system.
    """
    if plan.slow_root == "/":
        raise ConfigurationError("/ cannot be mirrored: plan with --slow DIR, the folder of the data set.")
    batch: list[str] = []
    for name, is_folder in _walk(plan, result.problems):
        batch.append(f"{name}/" if is_folder else name)
        if len(batch) >= BATCH_LINKS:
            _link(plan, stage, folders, batch, result, pretended)
            batch = []
    _link(plan, stage, folders, batch, result, pretended)


def _walk(plan: Plan, problems: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """Yield each name below the slow root, and whether it is a folder; problems are added."""
    own = {os.path.realpath(folder) for folder in (plan.fast_root, state_folder(Path(plan.fast_root)))}
    copied_into = {folder for file in plan.files for folder in parents_of_name(file.name)}
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(plan.slow_root, folder)) as found:  # noqa: PTH118
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            problems[folder or plan.slow_root] = f"cannot be read: {reason(error)}"
            continue
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False) or (
                name in copied_into and os.path.isdir(entry.path)  # noqa: PTH112
            )
            leads_away = is_folder or entry.is_symlink()
            if name == STATE_FOLDER or (leads_away and os.path.realpath(entry.path) in own):
                continue
            if is_folder:
                waiting.append(name)
            yield name, is_folder


def _refuse_taken(plan: Plan, stage: StageFolder, names: Sequence[str], result: Applied) -> None:
    """Name what another file or another data set has on the fast tier: the mirror would show that instead."""
    for name in names:
        path = stage.path(name)
        if name.endswith("/") or name in result.problems or not os.path.lexists(path):
            continue
        owner = stage.journal.owner_of(name, path)
        if owner is None or not owner.stands_for(plan.original(name)):
            result.problems[name] = TAKEN if owner is None else TAKEN_BY_ANOTHER


def _link(
    plan: Plan,
    stage: StageFolder,
    folders: FolderMaker,
    names: Sequence[str],
    result: Applied,
    pretended: Container[str] | None,
) -> None:
    """Make a batch of links and folders; the journal has them first."""
    made, refused = folders.missing(names)
    result.problems.update(refused)
    links = [
        Record(LINK, name, plan.id, target=plan.original(name))
        for name in names
        if not name.endswith("/") and name not in refused and not os.path.lexists(stage.path(name))
    ]
    _refuse_taken(plan, stage, names, result)
    if pretended is not None:
        result.links += sum(link.name not in pretended for link in links)
        return
    new = {link.name for link in links}
    adopted = [
        record
        for name in names
        if name not in new and name not in result.problems
        for record in stage.journal.adopted(name, stage.path(name), plan.id)
    ]
    stage.journal.add([*made, *links, *adopted])
    touched = folders.make(made)
    for link in links:
        try:
            os.symlink(link.target, stage.path(link.name))  # noqa: PTH211
        except FileExistsError:
            result.problems[link.name] = "its name was taken by somebody else"
            continue
        result.links += 1
        touched.add(os.path.dirname(link.name))  # noqa: PTH120
    sync_folders(stage, touched)
