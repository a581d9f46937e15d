"""Has PyTorch's loaders and optimizers noted while a session records."""

from __future__ import annotations

import inspect
import json
import sys
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tfdarshan.frameworks.batch_log import Hooks, current, native
from tfdarshan.frameworks.late_import import follow_import
from tfdarshan.frameworks.pass_note import batch_note
from tfdarshan.frameworks.pytorch.batch_bytes import bytes_of
from tfdarshan.frameworks.pytorch.loader_look import look_of, worker_pids
from tfdarshan.frameworks.pytorch.worker_loop import WorkerLoop

if TYPE_CHECKING:
    from tfdarshan.frameworks.pytorch.exposed_wait import ExposedWaits

DATA, OPTIMIZER, COMPILER = "torch.utils.data", "torch.optim.optimizer", "torch._dynamo.config"
LOADERS, FETCHERS, WORKERS = (
    "torch.utils.data.dataloader", "torch.utils.data._utils.fetch", "torch.utils.data._utils.worker"
)  # fmt: skip
# With workers' numbers, from PyTorch 2.8 on: before, _process_data takes the batch alone.
NUMBERED = 3

_following: Following | None = None


class Following:
    """The hooks of one session."""

    def __init__(self) -> None:
        self._hooks = Hooks()
        self._handle: Any = None
        self._compiled: set[Any] = set()
        self._waits: ExposedWaits | None = None

    def begin_loaders(self) -> None:
        """Follow the loaders of PyTorch, which is imported."""
        from tfdarshan.frameworks.pytorch.exposed_wait import ExposedWaits

        log = current()
        if log is None:
            return
        loaders, fetchers, workers = (sys.modules[name] for name in (LOADERS, FETCHERS, WORKERS))
        iterators = loaders._BaseDataLoaderIter
        log.describe(
            iterators, lambda loader, one: (look_of(loader, one), worker_pids(one)), attrgetter("_dataset")
        )
        native().set_workers(workers)
        self._waits = ExposedWaits(native().note_exposed)
        native().set_waits(self._waits.begin)
        native().set_first(_note_first)
        hook = self._hooks.hook_all
        hook(loaders.DataLoader, "__iter__", "ITER", chosen=lambda one: not inspect.isgeneratorfunction(one))
        hook(iterators, "__next__", "NEXT")
        hook(iterators, "_process_data", "WORKER", chosen=_takes_worker)
        for fetcher in (fetchers._MapDatasetFetcher, fetchers._IterableDatasetFetcher):
            hook(fetcher, "fetch", "FETCH")
        # Workers that are started as programs are told by this what to note, and where.
        loop = WorkerLoop(str(log.folder), native().ahead(), workers._worker_loop)
        self._hooks.replace(workers, "_worker_loop", loop)

    def begin_optimizers(self) -> None:
        """Follow the optimizers of PyTorch, which is imported."""
        register = getattr(sys.modules[OPTIMIZER], "register_optimizer_step_post_hook", None)
        if register is not None:
            step = native().optimizer_step
            # torch.compile hands no optimizer to what it cannot trace, but its number.
            self._handle = register(lambda optimizer, *_: step(id(optimizer)))

    def begin_compiled(self) -> None:
        """Have torch.compile, which is imported, compile optimizers whose steps are noted as others."""
        self._compiled = getattr(sys.modules[COMPILER], "reorderable_logging_functions", set())
        self._compiled.add(native().optimizer_step)

    def end(self) -> None:
        """Put back what was replaced."""
        self._hooks.remove()
        if self._handle is not None:
            self._handle.remove()
        self._compiled.discard(native().optimizer_step)
        if self._waits is not None:
            self._waits.end()


def _note_first(number: int, batch: Any) -> None:
    """Note of what size the batches of a pass are, by its first one."""
    native().note(json.dumps(batch_note(number, *bytes_of(batch))).encode())


def _takes_worker(method: Any) -> bool:
    return len(inspect.signature(method).parameters) >= NUMBERED


def begin() -> None:
    """Follow PyTorch from now on, or from its import on."""
    global _following
    _following = Following()
    follow_import(DATA, _begin_loaders)
    follow_import(OPTIMIZER, _begin_optimizers)
    follow_import(COMPILER, _begin_compiled)


def end() -> None:
    """Follow PyTorch no more."""
    global _following
    following, _following = _following, None
    if following is not None:
        following.end()


def _begin_loaders() -> None:
    if _following is not None:
        _following.begin_loaders()


def _begin_optimizers() -> None:
    if _following is not None:
        _following.begin_optimizers()


def _begin_compiled() -> None:
    if _following is not None:
        _following.begin_compiled()
