"""A plan as other movers take it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdarshan.file_name import shell_word

if TYPE_CHECKING:
    from tfdarshan.staging.plan_file import Plan

# The command that uses a list of each format.
FORMATS = {
    "rsync": "rsync -a --from0 --files-from={file} {slow}/ {fast}/",
    "tar": "tar -C {slow} --null --verbatim-files-from -T {file} -cf - | tar -C {fast} -xf -",
    "juicefs": "juicefs warmup --file {file}",
    "list": "",
}
ENDED_BY_NUL = ("rsync", "tar")


@dataclass(frozen=True)
class Emitted:
    """The list itself, the command that uses it, and how many names it cannot hold (those with a newline)."""

    content: bytes
    usage: str
    left_out: int = 0


def emit(plan: Plan, name: str, file: str = "FILE") -> Emitted:
    """Return the plan in one of FORMATS; `file` is where its list will be."""
    words = {"slow": plan.slow_root, "fast": plan.fast_root, "file": file}
    usage = FORMATS[name].format(**{word: shell_word(path) for word, path in words.items()})
    files = plan.files
    if name in ENDED_BY_NUL:
        return Emitted(b"".join(os.fsencode(file.name) + b"\0" for file in files), usage)
    names = [file.name for file in files if "\n" not in file.name]
    root = plan.slow_root.rstrip("/")
    content = b"".join(os.fsencode(f"{root}/{name}") + b"\n" for name in names)
    return Emitted(content, usage, len(files) - len(names))
