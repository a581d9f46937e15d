"""What a DataLoader looks like: what it is given, as far as fixes and the replay model go by it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tfdarshan.frameworks.adapter import DeclaredInput

ITERABLE = 1  # torch.utils.data._DatasetKind.Iterable
SHUFFLES = ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
DEFAULT_PREFETCH = 2


def look_of(loader: Any, iterator: Any) -> dict[str, Any]:
    """Return what a loader looks like, by an iterator over it: fields of `meta_shape.LoaderShape`.

    Args:
        loader: The loader; None if the iterator is older than the session.
        iterator: One of PyTorch's.
    """
    sampler = iterator._index_sampler
    order = getattr(sampler, "sampler", sampler)
    workers = int(getattr(iterator, "_num_workers", 0))
    iterable = int(getattr(iterator, "_dataset_kind", 0)) == ITERABLE
    look = {
        "framework": "pytorch",
        "dataset": type(iterator._dataset).__name__,
        "samples": None if iterable else _length(iterator._dataset),
        "batch_size": _whole(getattr(sampler, "batch_size", None)),
        "batched": bool(getattr(iterator, "_auto_collation", True)),
        "drop_last": bool(getattr(sampler, "drop_last", False)),
        "shuffled": type(order).__name__ in SHUFFLES,
        "iterable": iterable,
        "workers": workers,
        "prefetch_factor": int(getattr(iterator, "_prefetch_factor", 0) or 0),
        "persistent": bool(getattr(iterator, "_persistent_workers", False)),
        "pinned": bool(getattr(loader, "pin_memory", False) or getattr(iterator, "_pin_memory", False)),
        "in_order": bool(getattr(iterator, "_in_order", True)),
        "start_method": _start_method(loader) if workers else "",
    }
    return {name: value for name, value in look.items() if value is not None}


def worker_pids(iterator: Any) -> list[int]:
    """Return the process numbers of an iterator's workers."""
    return [int(worker.pid) for worker in getattr(iterator, "_workers", ()) if worker.pid is not None]


def _length(dataset: Any) -> int | None:
    with suppress(Exception):
        return len(dataset)
    return None


def _whole(number: Any) -> int | None:
    """Return a number that is whole, None of anything else: samplers of the job have what they like."""
    return number if isinstance(number, int) and number >= 0 else None


def _start_method(loader: Any) -> str:
    """Return how workers are started, as multiprocessing calls it."""
    import multiprocessing

    context = getattr(loader, "multiprocessing_context", None)
    method = None if context is None else context.get_start_method()
    return str(method or multiprocessing.get_start_method(allow_none=True) or "")


def training_look(meta: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what the first loader looks like that is trained on; None if there is none."""
    found = (meta.get("loaders") or {}).get("found", [])
    return next((one for one in found if one.get("training") and one.get("framework") == "pytorch"), None)


def declared(look: Mapping[str, Any]) -> DeclaredInput:
    """Return how a loader that looks so prepares batches."""
    workers = int(look.get("workers", 0))
    ahead = int(look.get("prefetch_factor", 0) or DEFAULT_PREFETCH)
    # Workers that have nothing to read make no batches.
    readers = min(int(look.get("working", 0)) or workers, workers)
    return DeclaredInput(readers=readers, prefetch=readers * ahead, processes=workers)
