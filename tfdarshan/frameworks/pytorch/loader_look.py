"""What a DataLoader looks like: what it is given, as far as fixes and the replay model go by it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tfdarshan.frameworks.adapter import DeclaredInput

ITERABLE = 1  # torch.utils.data._DatasetKind.Iterable
# Samplers and functions of PyTorch's own, the first for shuffle=True: a loader has them if none is given.
SHUFFLE = "RandomSampler"
OWN_SAMPLERS = {SHUFFLE, "SequentialSampler", "_InfiniteConstantSampler"}
# PyTorch's own for batch_size=.
BATCHES = "BatchSampler"
OWN_COLLATES = ("default_collate", "default_convert")
# The argument that says how workers are started.
CONTEXT = "multiprocessing_context"
# Folders into which Python and Debian install packages.
PACKAGES = {"site-packages", "dist-packages"}
# What a batch sampler may hold: frameworks put their own around the loader's.
HELD = ("batch_sampler", "sampler")
DEFAULT_PREFETCH = 2
# The module of Hugging Face's Trainer, which makes the loaders that its loops go over.
TRAINER = "transformers.trainer"


def look_of(loader: Any, iterator: Any) -> dict[str, Any]:
    """Return what a loader looks like, by an iterator over it: fields of `meta_shape.LoaderShape`.

    Args:
        loader: The loader; None if the iterator is older than the session.
        iterator: One of PyTorch's.
    """
    samplers = _samplers(iterator)
    orders = {one.__name__ for one in type(samplers[-1]).__mro__}
    batch_size = _first(samplers, "batch_size")
    workers = int(getattr(iterator, "_num_workers", 0))
    iterable = int(getattr(iterator, "_dataset_kind", 0)) == ITERABLE
    look: dict[str, Any] = {
        "framework": "pytorch",
        "dataset": type(iterator._dataset).__name__,
        "installed": _is_installed(type(iterator._dataset).__module__) or None,
        "samples": None if iterable else _length(iterator._dataset),
        "batch_size": batch_size,
        "batched": bool(getattr(iterator, "_auto_collation", True)),
        "drop_last": bool(_first(samplers, "drop_last")),
        "shuffled": SHUFFLE in orders,
        "iterable": iterable,
        "workers": workers,
        "prefetch_factor": int(getattr(iterator, "_prefetch_factor", 0) or 0),
        "persistent": bool(getattr(iterator, "_persistent_workers", False)),
        "pinned": bool(getattr(loader, "pin_memory", False) or getattr(iterator, "_pin_memory", False)),
        "in_order": bool(getattr(iterator, "_in_order", True)),
        "start_method": _start_method(loader) if workers else "",
        "runs_jax": "jax" in sys.modules or None,
    }
    makes_batches = look["batched"] and not _is_of_batch_size(iterator._index_sampler)
    given = {
        "sampler": not makes_batches and not orders & OWN_SAMPLERS,
        "batch_sampler": makes_batches,
        "collate_fn": getattr(getattr(iterator, "_collate_fn", None), "__name__", "") not in OWN_COLLATES,
        "worker_init_fn": getattr(loader, "worker_init_fn", None) is not None,
        CONTEXT: getattr(loader, CONTEXT, None) is not None,
    }
    look |= {"given": [name for name, is_given in given.items() if is_given] or None, "trainer": _trainer()}
    return {name: value for name, value in look.items() if value is not None}


def _trainer() -> list[str] | None:
    """Return the class of the Trainer whose loop begins this pass, and its arguments'; None without one."""
    frame = sys._getframe() if TRAINER in sys.modules else None
    while frame is not None and frame.f_globals.get("__name__") != TRAINER:
        frame = frame.f_back
    made = None if frame is None else frame.f_locals.get("self")
    arguments = getattr(made, "args", None)
    return None if arguments is None else [type(made).__name__, type(arguments).__name__]


def _samplers(iterator: Any) -> list[Any]:
    """Return a loader's batch sampler, what that holds, and last what says the order of samples."""
    found = [iterator._index_sampler]
    for name in HELD:
        held = getattr(found[-1], name, None)
        found += [] if held is None else [held]
    return found


def _is_of_batch_size(sampler: Any) -> bool:
    """Return whether a batch sampler is PyTorch's own, whatever frameworks have put around it."""
    while (held := getattr(sampler, HELD[0], None)) is not None:
        sampler = held
    return type(sampler).__name__ == BATCHES


def _first(samplers: list[Any], name: str) -> int | None:
    """Return an attribute of the first that has it as a number: samplers of the job have what they like."""
    numbers = (getattr(one, name, None) for one in samplers)
    return next((one for one in numbers if isinstance(one, int) and one >= 0), None)


def worker_pids(iterator: Any) -> list[int]:
    """Return the process numbers of an iterator's workers."""
    return [int(worker.pid) for worker in getattr(iterator, "_workers", ()) if worker.pid is not None]


def _is_installed(module: str) -> bool:
    """Return whether a module is a package's, whose lines nobody changes."""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return not PACKAGES.isdisjoint(file.split("/"))


def _length(dataset: Any) -> int | None:
    with suppress(Exception):
        return len(dataset)
    return None


def _start_method(loader: Any) -> str:
    """Return how workers are started, as multiprocessing calls it."""
    import multiprocessing

    context = getattr(loader, CONTEXT, None)
    method = None if context is None else context.get_start_method()
    return str(method or multiprocessing.get_start_method(allow_none=True) or "")


def training_looks(meta: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what the loaders look like that are trained on, the first that was used first."""
    found = (meta.get("loaders") or {}).get("found", [])
    return [one for one in found if one.get("training") and one.get("framework") == "pytorch"]


def training_look(meta: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what the first loader looks like that is trained on; None if there is none."""
    return next(iter(training_looks(meta)), None)


def declared(look: Mapping[str, Any]) -> DeclaredInput:
    """Return how a loader that looks so prepares batches."""
    workers = int(look.get("workers", 0))
    ahead = int(look.get("prefetch_factor", 0) or DEFAULT_PREFETCH)
    # Workers that have nothing to read make no batches.
    readers = min(int(look.get("working", 0)) or workers, workers)
    # The batch that a worker is at is one of those that it is ahead.
    return DeclaredInput(
        readers=readers, prefetch=readers * (ahead - 1), processes=workers, whole_batches=True,
        kept=bool(look.get("persistent")),
    )  # fmt: skip
