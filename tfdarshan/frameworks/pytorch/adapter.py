"""What PyTorch tells of a job."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from tfdarshan.frameworks.adapter import Adapter, DeclaredInput
from tfdarshan.frameworks.pytorch import follow_loaders
from tfdarshan.frameworks.pytorch.loader_look import declared, training_look, training_looks
from tfdarshan.frameworks.pytorch.loader_words import LoaderWords
from tfdarshan.frameworks.pytorch.torch_save import SAVES
from tfdarshan.frameworks.pytorch.trainer_words import TrainerWords
from tfdarshan.frameworks.words import Saves, Words


class PyTorch(Adapter):
    """PyTorch, of a script that nobody has changed."""

    name: ClassVar[str] = "pytorch"
    batches: ClassVar[str] = "PyTorch's batches"
    optimizers: ClassVar[str] = "PyTorch's optimizer"
    # Tensors of workers: in shared memory, and sockets over which descriptors are passed.
    transport: ClassVar[tuple[str, ...]] = ("/dev/shm/torch_", "/pymp-")
    saves: ClassVar[tuple[Saves, ...]] = (SAVES,)
    trains_in: ClassVar[str] = "torch"

    def begin(self) -> None:
        """Follow PyTorch, from its import on."""
        follow_loaders.begin()

    def end(self) -> dict[str, Any]:
        """Stop that: what was noted is in the folder."""
        follow_loaders.end()
        return {}

    def rank_variables(self) -> dict[str, str]:
        """Return what the process group says, which ranks are in that the job has started itself."""
        distributed = sys.modules.get("torch.distributed")
        with suppress(Exception):
            if distributed is not None and distributed.is_initialized():
                rank, size = distributed.get_rank(), distributed.get_world_size()
                return {"RANK": str(rank), "WORLD_SIZE": str(size)}
        return {}

    def declared(self, meta: Mapping[str, Any]) -> DeclaredInput | None:
        """Return how the training loader prepares batches."""
        look = training_look(meta)
        return None if look is None else declared(look)

    def words(self, meta: Mapping[str, Any]) -> Words | None:
        """Return how fixes of the training loader are typed."""
        looks = training_looks(meta)
        if not looks:
            return None
        return TrainerWords(looks[0]) if looks[0].get("trainer") else LoaderWords(*looks)


ADAPTER = PyTorch()
