"""Words a command line as somebody would type it."""

from __future__ import annotations

import posixpath
import re

PYTHON = re.compile(r"python[0-9.]*")
OURS = "tfdarshan"


def as_typed(command: str) -> str:
    """Return a command without the folders of its interpreter, and `tfdarshan` without an interpreter.

    "/opt/venv/bin/python /opt/venv/bin/tfdarshan run train.py" is "tfdarshan run train.py".
    """
    program, _, rest = command.partition(" ")
    name = posixpath.basename(program)
    if not PYTHON.fullmatch(name):
        return command
    script, _, words = rest.partition(" ")
    if posixpath.basename(script) == OURS:
        return f"{OURS} {words}".strip()
    return f"{name} {rest}".strip()
