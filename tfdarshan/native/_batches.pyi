"""The module of csrc/batches/hook.c: hooks of Python methods, and what they note of batches."""

from collections.abc import Callable
from typing import Any

ITER: int
NEXT: int
WORKER: int
FETCH: int

class Hook:
    """Stands in for a method of a class: calls it, and notes when."""

    def __init__(self, kind: int, original: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def __wrapped__(self) -> Any: ...

def begin(folder: str, on_pass: Callable[[Any, Any], int] | None) -> None: ...
def set_workers(module: Any) -> None: ...
def end() -> None: ...
def note(text: bytes) -> None: ...
def step(
    number: int,
    begin_ns: int,
    end_ns: int,
    wait_ns: int,
    rchar: int,
    read_bytes: int,
    epoch: int,
    source: int,
    /,
) -> None: ...
def optimizer_step(optimizer: Any, args: Any, kwargs: Any) -> None: ...
