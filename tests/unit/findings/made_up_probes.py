"""Probes of made-up storage."""

from __future__ import annotations

import dataclasses

from tests.closed_readers import Delay, Queue, calls_of
from tests.unit.storage_probe.made_up_cells import cells_of
from tfdarshan.storage_probe.probe_result import result_of
from tfdarshan.storage_probe.prober import Probing

WAITING, FULL = (lambda: Delay(5)), (lambda: Queue(0, 5))
PIPE = lambda: Queue(0.1, 0, 1 / 20_000)  # noqa: E731 - 20 MB/s


def probe_of(storage, mount, *, at_ns=10**18, sizes=(4_096, 131_072)):
    """Return what a probe of made-up storage finds."""
    found = Probing(seconds=4.0, moved=10**7, asked=100, opened=12)
    for size, small in zip(sizes, (True, False), strict=True):
        cells = cells_of(
            lambda readers, size=size: calls_of(
                storage(), readers=readers, rest_ms=lambda noise: 0.0, count=48, size=lambda noise: size
            )
        )
        found.cells += [dataclasses.replace(cell, small=small) for cell in cells]
    return result_of(found, folder="/data", mount=(mount, "nfs"), host="node7", at_ns=at_ns, seed=1)
