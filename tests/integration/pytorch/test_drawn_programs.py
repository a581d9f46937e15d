"""The laboratory's programs of PyTorch run, and each fix does the same work as the program that it fixes."""

from __future__ import annotations

import itertools

import pytest

from tests.integration.drawn_program import COUNT, EPOCHS, SIZE, check, folders_below
from tfdarshan.workloads.laboratory.program import Folders, Program
from tfdarshan.workloads.laboratory.pytorch.loader_draw import ACCESSES, EXTRAS

pytestmark = pytest.mark.torch


def loader_programs(folders: Folders) -> list[Program]:
    extras = itertools.cycle(EXTRAS)
    maps = [
        Program(
            folders=folders, shape="torch_map", access=access, count=COUNT, size_bytes=SIZE, epochs=EPOCHS,
            threads=number % 3, extra=next(extras), marked=False, step_s=0.001, mixed=True,
            shuffle="paths", slow_path="/part-3/", start_method="forkserver" if number == 1 else "",
        )
        for number, access in enumerate(dict.fromkeys(ACCESSES))
    ]  # fmt: skip
    shards = [
        Program(
            folders=folders, shape="torch_iterable", access="shards", count=COUNT, size_bytes=SIZE,
            epochs=EPOCHS, threads=threads, shards=2, marked=False, step_s=0.001, start_method=method,
        )
        for threads, method in ((0, ""), (2, "spawn"))
    ]  # fmt: skip
    return [*maps, *shards]


OF_LOADERS = ("prefetch", "memory", "workers kept", "any order", "fewer workers", "staging", "moved")
OF_SAMPLES = ("listed once", "known size", "large reads", "kept open", "in order")
OF_LOOPS = ("background checkpoint", "one sync", "buffered writes", "validation parallel",
            "validation cached")  # fmt: skip


@pytest.mark.timeout(1800)
def test_programs_and_their_fixes_do_the_same_work(tmp_path):
    pytest.importorskip("torch")
    folders = folders_below(tmp_path / "storage")
    # Readers of shards make whole batches: 16 workers or 8 shards have fewer samples than that.
    for number, program in enumerate(loader_programs(folders)):
        work = tmp_path / str(number)
        work.mkdir()
        plain = program.access in ("file", "shards")
        check(program, tmp_path / "pool", work, only=OF_LOADERS if plain else OF_SAMPLES + OF_LOOPS)
