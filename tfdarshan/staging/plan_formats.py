"""A plan as other movers take it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdarshan.staging.plan_file import Plan


@dataclass(frozen=True)
class Emitted:
    """The list itself, the command that uses it, and how many names it cannot hold (those with a newline)."""

    content: bytes
    usage: str
    left_out: int = 0


def emit(plan: Plan, name: str) -> Emitted:
    """Return the plan in one of FORMATS."""
    return FORMATS[name](plan)


def _rsync(plan: Plan) -> Emitted:
    usage = f"rsync -a --from0 --files-from=FILE {plan.slow_root}/ {plan.fast_root}/"
    return Emitted(_ended(plan, b"\0"), usage)


def _tar(plan: Plan) -> Emitted:
    usage = (
        f"tar -C {plan.slow_root} --null --verbatim-files-from -T FILE -cf - | tar -C {plan.fast_root} -xf -"
    )
    return Emitted(_ended(plan, b"\0"), usage)


def _juicefs(plan: Plan) -> Emitted:
    return _lines(plan, "juicefs warmup --file FILE")


def _list(plan: Plan) -> Emitted:
    return _lines(plan, "")


def _ended(plan: Plan, end: bytes) -> bytes:
    return b"".join(os.fsencode(file.name) + end for file in plan.files)


def _lines(plan: Plan, usage: str) -> Emitted:
    names = [file.name for file in plan.files if "\n" not in file.name]
    root = plan.slow_root.rstrip("/")
    content = b"".join(os.fsencode(f"{root}/{name}") + b"\n" for name in names)
    return Emitted(content, usage, len(plan.files) - len(names))


FORMATS: dict[str, Callable[[Plan], Emitted]] = {
    "rsync": _rsync,
    "tar": _tar,
    "juicefs": _juicefs,
    "list": _list,
}
