"""What a dataset or loader of Grain's looks like, as far as fixes and the replay model go by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from tfdarshan.frameworks.adapter import DeclaredInput
from tfdarshan.frameworks.batch_log import Part

# What an iterator or a dataset has of what it is made of, by Grain's names.
MADE_OF = ("_parents", "_maybe_nonnative_parent", "_map_parent", "_iter_parent", "_datasets", "_iterator")
MOST_STAGES = 200
LOADER = "DataLoader"


def look_of(iterator: Any) -> dict[str, Any]:
    """Return what it looks like, by an iterator over it: fields of `meta_shape.LoaderShape`."""
    loader = getattr(iterator, "_data_loader", None)
    stages = list(_stages(iterator))
    names = [type(stage).__name__ for stage in stages]
    options = _first([loader, *stages], "_read_options")
    batch_size = _whole(_first(stages, "_batch_size")) if loader is None else _batch_size_of(loader)
    threads, buffer = (
        _whole(getattr(options, name, None)) for name in ("num_threads", "prefetch_buffer_size")
    )
    of_batch = batch_size if batch_size and (loader is not None or _is_of_samples(stages)) else 1
    look = {
        "framework": "grain",
        "dataset": type(loader or iterator).__name__,
        "samples": _samples(iterator),
        "batch_size": batch_size,
        "shuffled": any("Shuffle" in name for name in names)
        or bool(_first([loader], "_sampler", "_shuffle")),
        "workers": _workers([loader, *stages], names),
        "threads": threads,
        "buffer": buffer,
        "buffer_batches": None if buffer is None else buffer // of_batch,
        "buffer_batch": of_batch if of_batch > 1 else None,
    }
    return {name: value for name, value in look.items() if value is not None}


def data_set_of(iterator: Any) -> Part:
    """Return what an iterator's data set is known by from pass to pass: its source, and which slice of that.

    Datasets for training and for validation may look alike, and a job may make them anew for each epoch. A
    source that nobody can watch, such as a list, is known by what holds it.
    """
    holders = _holders(iterator)
    slices = [one for one in holders if type(one).__name__.startswith("Slice")]
    which = tuple(getattr(one, name, None) for one in slices for name in ("_start", "_stop", "_step"))
    holder, source = _source(holders)
    return Part(source if type(source).__weakrefoffset__ else holder, which)


def _holders(iterator: Any) -> list[Any]:
    """Return what may hold the source of an iterator's data set."""
    return [getattr(iterator, "_data_loader", None), *_stages(iterator)]


def _source(holders: list[Any]) -> tuple[Any, Any]:
    """Return what holds the source, and the source; without one, the first stage twice."""
    for holder in holders:
        source = getattr(holder, "_data_source", getattr(holder, "_source", None))
        if source is not None:
            return holder, source
    return holders[-1], holders[-1]


def _samples(iterator: Any) -> int | None:
    """Return how many samples the source of an iterator's data set has, None if it does not say."""
    with suppress(Exception):
        return _whole(len(_source(_holders(iterator))[1]))
    return None


def _stages(iterator: Any) -> Iterator[Any]:
    """Yield an iterator, and what it is made of, the last stage first."""
    found, seen = [iterator], set[int]()
    while found and len(seen) < MOST_STAGES:
        stage = found.pop(0)
        if stage is None or id(stage) in seen:
            continue
        seen.add(id(stage))
        yield stage
        for name in MADE_OF:
            below = getattr(stage, name, None)
            found += below if isinstance(below, (tuple, list)) else [below]


def _first(stages: list[Any], *names: str) -> Any:
    """Return the first stage's attribute of an attribute, and so on, of those that have it."""
    for stage in stages:
        found = stage
        for name in names:
            found = getattr(found, name, None)
        if found is not None:
            return found
    return None


def _whole(number: Any) -> int | None:
    """Return a number that is whole; what Grain tunes by itself is none."""
    return number if isinstance(number, int) and number >= 0 else None


def _workers(stages: list[Any], names: list[str]) -> int:
    """Return how many processes read: as a loader or a stage says, or one for each part of a dataset.

    Before 0.2.16 a single stage had all processes.
    """
    asked = _whole(_first(stages, "_multiprocessing_options", "num_workers"))
    return asked or sum(name.startswith("ProcessPrefetchIter") for name in names)


def _batch_size_of(loader: Any) -> int | None:
    """Return the size of the batches of a loader, as its last operation that has one says.

    What versions of Grain make of the operations differs, and is in other processes if the loader has some.
    """
    sizes = (_whole(getattr(one, "batch_size", None)) for one in reversed(getattr(loader, "_operations", ())))
    return next((size for size in sizes if size), None)


def _is_of_samples(stages: list[Any]) -> bool:
    """Return whether the buffer of threads has samples, as they are put together behind it."""
    kinds = (
        name
        for stage in stages
        for name in ("_read_options", "_batch_size")
        if getattr(stage, name, None) is not None
    )
    return next(kinds, "") == "_batch_size"


def training_look(meta: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what the first one looks like that is trained on, if its threads are known; else None."""
    found = (meta.get("loaders") or {}).get("found", [])
    return next(
        (
            one
            for one in found
            if one.get("training") and one.get("framework") == "grain" and one.get("threads") is not None
        ),
        None,
    )


def declared(look: Mapping[str, Any]) -> DeclaredInput:
    """Return how one that looks so prepares batches: processes have so many threads each."""
    threads, workers = int(look["threads"]), int(look.get("workers", 0))
    return DeclaredInput(
        readers=workers * max(threads, 1) if workers else threads,
        prefetch=max(int(look.get("buffer_batches", 0)), workers),
        processes=workers or None,
    )
