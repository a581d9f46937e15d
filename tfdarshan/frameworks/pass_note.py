"""What is noted when a pass over a loader begins, of its first batch, and of a process that may be a rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# Of the files into which a process notes its batches. Source: csrc/batches/batch_log.h.
SUFFIX = ".batches"


def pass_note(
    number: int, looks: Mapping[str, Any], workers: Iterable[int], data_set: int = 0
) -> dict[str, Any]:
    """Return what is to be noted when a pass begins.

    Args:
        number: Its number within the process.
        looks: What its loader looks like: fields of `meta_shape.LoaderShape`.
        workers: The process numbers of its workers.
        data_set: The number of its data set, 0 if that is unknown.
    """
    return {"pass": number, "loader": dict(looks), "workers": list(workers), "data_set": data_set}


def batch_note(number: int, whole_bytes: int, small_bytes: int) -> dict[str, Any]:
    """Return what is to be noted of the first batch of a pass.

    Args:
        number: The pass's number within the process.
        whole_bytes: The batch's bytes.
        small_bytes: What it would have with integers of one byte for floats.
    """
    return {"batch_of": number, "batch_bytes": whole_bytes, "small_bytes": small_bytes}


def rank_note(variables: Mapping[str, str], cpu_s: float) -> dict[str, Any]:
    """Return what is to be noted of a process that another one has started, as its first pass or step begins.

    Args:
        variables: What launchers and process groups say, by the names of torchrun's variables.
        cpu_s: The processor time that it has taken.
    """
    names = {"rank": "RANK", "world_size": "WORLD_SIZE", "local_rank": "LOCAL_RANK"}
    numbers = {key: int(text) for key, name in names.items() if (text := variables.get(name, "")).isdecimal()}
    return {"start_cpu_s": cpu_s, **numbers}
