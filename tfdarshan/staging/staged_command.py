"""The commands that stage a recorded job's files: write the plan, make the copies, run the job with them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfdarshan.file_name import command_words, exact_name, shell_word, shell_words

PLAN = "plan.json"
# What a session has in place of the words that there was no room for.
CUT = "..."
PYTHON = re.compile(r"(?:.*/)?python[\d.]*$")
# What Python takes before the script that the job's own line cannot be rebuilt with, but for `-m` and `-c`.
UNKNOWN = f"tfdarshan run --staged {PLAN} SCRIPT ARGS"


@dataclass(frozen=True)
class StagedJob:
    """A recorded job, and what of it is to be staged.

    Attributes:
        command: The job's command line, as its session has it.
        session: The session's path, or what stands for it.
        root: The folder that has all files that may be staged; "/" if they have none in common.
        everything: Whether all files that fit are to be copied, also where a few of them give nearly all.
        room_bytes: The room that was asked for; None for what there is.
        place: The folder or file that is copied alone, "" for all that was read.
        mirrored: Whether the job is to read copies and links in one folder, whoever runs it.
        log: The Darshan log that no session was kept of, "" if there is a session.
    """

    command: str
    session: str
    root: str
    everything: bool
    room_bytes: int | None = None
    log: str = ""
    place: str = ""
    mirrored: bool = False

    @property
    def lines(self) -> str:
        """All commands, a line each; DIR is the folder on the fast tier."""
        session = "LOGDIR" if self.log else shell_word(self.session)
        imported = [f"tfdarshan import {shell_word(self.log)} --logdir {session}"] if self.log else []
        words = [f"tfdarshan advise --logdir {session} --fast DIR"]
        words += self._below
        words += [] if self.room_bytes is None else [f"--capacity {self.room_bytes}"]
        words += ["--all"] if self.everything else []
        root = "DATA" if self.root == "/" else exact_name(self.root)
        run = apply_and_run(self.command, root, mirrored=self.mirrored)
        return "\n".join([*imported, f"{' '.join(words)} -o {PLAN}", *run])

    @property
    def _below(self) -> list[str]:
        """Say below what to stage, where that is not for `advise` to find out."""
        if self.place:
            return [f"--slow {shell_word(exact_name(self.place))}"]
        mirrored = self.mirrored or not is_redirected(self.command)
        return ["--slow DATA"] if self.root == "/" and mirrored else []


def apply_and_run(
    command: str, root: str, fast: str = "DIR", plan: str = PLAN, *, mirrored: bool = False
) -> list[str]:
    """Return the commands that carry a plan out, and run the job with its copies.

    A job that no Python runs is not led to copies, and neither is what a job asks by name: then it gets a
    folder that has all files, and reads that.

    Args:
        command: The job's, as its session has it.
        root: The folder that the originals are in.
        fast: The folder on the fast tier.
        plan: The plan's file.
        mirrored: Whether the job is to read such a folder in any case.
    """
    apply = f"tfdarshan stage apply {shell_word(plan)}"
    if is_redirected(command) and not mirrored:
        return [apply, staged_command(command, shell_word(plan))]
    words = command_words(command)
    below = re.compile(rf"(^|=){re.escape(root)}(?=/|$)")
    moved = [below.sub(lambda found: f"{found[1]}{fast}", word) for word in words]
    job = shell_words(moved)
    job += f"  # with {fast} in place of {shell_word(root)}" if moved == words else ""
    return [f"{apply} --mirror", job]


def is_redirected(command: str) -> bool:
    """Return whether `tfdarshan run --staged` can lead the job to copies: Python runs it, or nobody knows."""
    words = command_words(command)
    return not words or PYTHON.match(words[0]) is not None


def staged_command(command: str, plan: str = PLAN) -> str:
    """Return the job's own command line, as `tfdarshan run --staged` takes it.

    Args:
        command: The job's, as its session has it.
        plan: The plan's file.

    Returns:
        The line; of a job that was not run by a script, one with SCRIPT in it.
    """
    words = command_words(command)
    rest = None if words[-1:] == [CUT] else _after_python(words[1:])
    if rest is None:
        return UNKNOWN.replace(PLAN, plan)
    return f"tfdarshan run --staged {plan} {shell_words(rest)}"


def _after_python(words: list[str]) -> list[str] | None:
    """Return what follows Python's own options, or a `tfdarshan run`; None if nothing can be run again."""
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
        words = words[2:] if words[0] in ("-X", "-W") else words[1:]
    if words[:3] == ["-m", "tfdarshan", "run"]:
        return _without_staged(words[3:])
    if len(words) > 1 and words[0].rpartition("/")[2] == "tfdarshan" and words[1] == "run":
        return _without_staged(words[2:])
    # Older sessions lost the quotes of code that was given on the command line.
    return words if words and words[0] != "-c" else None


def _without_staged(words: list[str]) -> list[str]:
    """Leave out a plan that the job ran with already."""
    if "--staged" in words:
        place = words.index("--staged")
        return words[:place] + words[place + 2 :]
    return words
