"""Batches as PyTorch has them. The only module that imports torch, which it does when it is imported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tfdarshan.errors import ConfigurationError
from tfdarshan.lmdb.batch import Batch
from tfdarshan.lmdb.batched_records import Records
from tfdarshan.lmdb.mapped_batch import MappedBatch
from tfdarshan.lmdb.shared_reader import SharedRecords

try:
    from torch.utils.data import IterableDataset, get_worker_info
except ImportError as error:
    raise ConfigurationError(f"framework='torch' needs PyTorch: {error}.") from error


class TorchRecords(IterableDataset):  # type: ignore[misc]
    """Batches of records: for a DataLoader with batch_size=None, whose workers share the shard."""

    def __init__(self, records: Records | SharedRecords) -> None:
        super().__init__()
        self._records = records

    def __iter__(self) -> Iterator[Batch | MappedBatch]:
        worker: Any = get_worker_info()
        if worker is None:
            return iter(self._records)
        part = self._records.part(worker.id, worker.num_workers)
        if isinstance(part, Records):
            # Workers that are started anew for each pass count none: the loader draws them a seed for each.
            part = replace(part, seed=part.seed + worker.seed - worker.id)
        return iter(part)


def iterable(records: Records | SharedRecords) -> TorchRecords:
    """Return the data set."""
    return TorchRecords(records)
