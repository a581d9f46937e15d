"""How to run the job that was recorded with the copies that a plan made."""

from __future__ import annotations

import re

PLAN = "plan.json"
PYTHON = re.compile(r"(?:\S*/)?python[\d.]*$")
# What Python takes before the script that the job's own line cannot be rebuilt with, but for `-m` and `-c`.
UNKNOWN = f"tfdarshan run --staged {PLAN} SCRIPT ARGS"


def staged_command(command: str, plan: str = PLAN) -> str:
    """Gives the job's own command line, as `tfdarshan run --staged` takes it.

    Args:
        command: The job's, as its session has it: words with blanks between them.
        plan: The plan's file.

    Returns:
        The line; of a job that no Python ran, or that was not run by a script, one with SCRIPT in it.
    """
    words = command.split()
    if not words or not PYTHON.match(words[0]):
        return UNKNOWN.replace(PLAN, plan)
    rest = _after_python(words[1:])
    if rest is None:
        return UNKNOWN.replace(PLAN, plan)
    return f"tfdarshan run --staged {plan} {' '.join(rest)}"


def _after_python(words: list[str]) -> list[str] | None:
    """Gives what follows Python's own options, or a `tfdarshan run`; None if nothing can be run again."""
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
        words = words[2:] if words[0] in ("-X", "-W") else words[1:]
    if words[:3] == ["-m", "tfdarshan", "run"]:
        return _without_staged(words[3:])
    if len(words) > 1 and words[0].rpartition("/")[2] == "tfdarshan" and words[1] == "run":
        return _without_staged(words[2:])
    # The quotes of code that was given on the command line are lost.
    return words if words and words[0] != "-c" else None


def _without_staged(words: list[str]) -> list[str]:
    """Leaves out a plan that the job ran with already."""
    if "--staged" in words:
        place = words.index("--staged")
        return words[:place] + words[place + 2 :]
    return words
