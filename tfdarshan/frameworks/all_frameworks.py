"""The frameworks that tfdarshan knows. Adding one is a folder, and a name in this list."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tfdarshan.frameworks.adapter import Adapter, DeclaredInput
from tfdarshan.frameworks.words import Saves, Words

# Each is a folder whose adapter.py has ADAPTER. The first that knows a job's input answers for it.
FRAMEWORKS = ("pytorch", "grain", "tensorflow", "plain")


@lru_cache(maxsize=1)
def adapters() -> tuple[Adapter, ...]:
    """Return the adapters, in the order of FRAMEWORKS. They import no framework."""
    return tuple(adapter_of(name) for name in FRAMEWORKS)


def adapter_of(name: str) -> Adapter:
    """Return the adapter of a folder."""
    found: Adapter = importlib.import_module(f"tfdarshan.frameworks.{name}.adapter").ADAPTER
    return found


def rank_variables() -> dict[str, str]:
    """Return RANK and WORLD_SIZE of this process, as the job has told a framework; else nothing."""
    return next((told for one in adapters() if (told := one.rank_variables())), {})


def declared_input(meta: Mapping[str, Any]) -> DeclaredInput | None:
    """Return how a job prepares its training batches; None if no framework can tell."""
    return next((told for one in adapters() if (told := one.declared(meta)) is not None), None)


def words_of(meta: Mapping[str, Any]) -> Words | None:
    """Return how fixes of a job's input are typed; None if no framework can tell."""
    return next((told for one in adapters() if (told := one.words(meta)) is not None), None)


def all_saves() -> tuple[Saves, ...]:
    """Return the kinds of checkpoints that are known; the last one is of files of any name."""
    return tuple(one for adapter in adapters() for one in adapter.saves)


def transport_parts() -> tuple[str, ...]:
    """Return what the paths of files have in them that carry batches between a job's processes."""
    return tuple(part for one in adapters() for part in one.transport)
