"""Which folders TensorBoard's `--logdir` and `--logdir_spec` name, resolved as TensorBoard resolves them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.sessions.session_directory import REMOTE_URL

# Source: the help of --logdir_spec: `name1:/path/1,name2:/path/2`; a path that begins with / has no name.
NAMED = re.compile(r"(?P<name>[^/:][^:]*):(?!//)(?P<path>.*)", re.DOTALL)


@dataclass(frozen=True)
class Logdir:
    """A folder of runs; `name` comes before the names of its runs, "" if it has none."""

    path: Path
    name: str = ""


def logdirs_of(context: Any) -> list[Logdir]:
    """Return the local folders that a TensorBoard shows: of remote ones there are no sessions.

    Args:
        context: TensorBoard's, of which `logdir` and `flags.logdir_spec` are read.
    """
    if context.logdir:
        return _local([("", context.logdir)])
    specification = getattr(getattr(context, "flags", None), "logdir_spec", "") or ""
    return _local([_named(one) for one in specification.split(",") if one])


def _named(specification: str) -> tuple[str, str]:
    found = NAMED.fullmatch(specification)
    return ("", specification) if found is None else (found["name"], found["path"])


def _local(named: list[tuple[str, str]]) -> list[Logdir]:
    # A relative path is below the folder where TensorBoard was started.
    return [
        Logdir(Path(os.path.abspath(os.path.expanduser(path))), name)  # noqa: PTH100, PTH111 - an unknown ~ stays
        for name, path in named
        if not REMOTE_URL.match(path)
    ]
