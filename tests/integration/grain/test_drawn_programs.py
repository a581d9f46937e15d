"""The laboratory's programs of Grain run, and each fix does the same work as the program that it fixes."""

from __future__ import annotations

import itertools

import pytest

from tests.integration.drawn_program import COUNT, EPOCHS, SIZE, check, folders_below
from tfdarshan.workloads.laboratory.grain.grain_draw import ACCESSES, EXTRAS
from tfdarshan.workloads.laboratory.program import GRAIN, Folders, Program


def programs(folders: Folders) -> list[Program]:
    extras = itertools.cycle(EXTRAS)
    return [
        Program(
            folders=folders, shape=GRAIN, access=access, count=COUNT, size_bytes=SIZE, epochs=EPOCHS,
            threads=3 * (number % 2), prefetch_factor=number % 3, ahead=number % 2 > 0, extra=next(extras),
            marked=False, step_s=0.001, mixed=True, shuffle="paths", slow_path="/part-3/",
        )
        for number, access in enumerate(dict.fromkeys(ACCESSES))
    ]  # fmt: skip


OF_DATASETS = ("parallel", "fewer threads", "prefetch", "memory", "staging", "moved")
OF_SAMPLES = ("listed once", "known size", "large reads", "kept open", "in order")


@pytest.mark.timeout(1800)
def test_programs_and_their_fixes_do_the_same_work(tmp_path):
    pytest.importorskip("grain")
    folders = folders_below(tmp_path / "storage")
    for number, program in enumerate(programs(folders)):
        work = tmp_path / str(number)
        work.mkdir()
        check(program, tmp_path / "pool", work, only=OF_DATASETS if number < 2 else OF_SAMPLES)


@pytest.mark.timeout(600)
def test_processes_read_what_threads_do(tmp_path):
    pytest.importorskip("grain")
    program = Program(
        folders=folders_below(tmp_path / "storage"), shape=GRAIN, count=COUNT, size_bytes=SIZE, epochs=EPOCHS,
        threads=2, ahead=True, decode="arithmetic", marked=False, step_s=0.001, extra="validation",
    )  # fmt: skip
    check(program, tmp_path / "pool", tmp_path, only=("decode calls", "validation parallel"))
