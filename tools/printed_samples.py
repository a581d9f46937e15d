"""Samples of what commands print, taken from the golden files of tests/unit/golden.

A page marks one with `<!-- sample: 2 paragraphs of summary no-prefetch -->` and `<!-- end -->`, indented as
the text around it.
"""

from __future__ import annotations

import re
from pathlib import Path

GOLDEN = Path(__file__).parent.parent / "tests" / "unit" / "golden"
SAMPLE = re.compile(
    r"^(?P<indent> *)<!-- sample: (?P<count>\d+) paragraphs of (?P<command>[^\n]+?) -->\n.*?<!-- end -->",
    re.DOTALL | re.MULTILINE,
)
# What golden files have in place of a logdir: all of it for a path, the last part for what was typed.
FOLDER = re.compile(r"/tmp/golden-x+/[^/\s]+/([\w-]+)(?:/plugins/tfdarshan/\w+)?")
SHORTENED = re.compile(r"\.\.\.[\w-]*/([\w-]+)/plugins/tfdarshan/\w+")


def with_samples(text: str) -> str:
    """Return a page's text with each sample as the golden files have it."""
    return SAMPLE.sub(_filled, text)


def sample(command: str, count: int) -> str:
    """Return the first paragraphs of what a command prints, under the command, its logdir called "logs".

    Raises:
        LookupError: No golden file has the command.
    """
    paragraphs = _printed(command).split("\n\n")[:count]
    logdir = command.split()[1]
    said = SHORTENED.sub(r"\1", FOLDER.sub(r"\1", "\n\n".join(paragraphs).rstrip("\n")))
    named = re.sub(rf"(?<![\w-]){re.escape(logdir)}(?![\w-])", "logs", said)
    typed = re.sub(rf"(?<![\w-]){re.escape(logdir)}(?![\w-])", "logs", command)
    return f"$ tfdarshan {typed}\n{named}"


def _printed(command: str) -> str:
    head = f"$ tfdarshan {command}\n"
    for path in sorted(GOLDEN.glob("*.txt")):
        _, found, rest = path.read_text(encoding="utf-8").partition(head)
        if found:
            return rest.partition("\n$ tfdarshan ")[0]
    raise LookupError(f"no file of {GOLDEN} has {head.strip()!r}: add it to commands.py there.")


def _filled(match: re.Match[str]) -> str:
    indent, count, command = match["indent"], match["count"], match["command"]
    lines = ["```text", *sample(command, int(count)).split("\n"), "```"]
    marks = (f"<!-- sample: {count} paragraphs of {command} -->", "<!-- end -->")
    return "\n".join(f"{indent}{line}".rstrip() for line in (marks[0], *lines, marks[1]))
