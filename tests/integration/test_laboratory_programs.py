"""The laboratory's programs run, and each fix does the same work as the program that it fixes."""

from __future__ import annotations

import itertools

import pytest

from tests.integration.drawn_program import COUNT, EPOCHS, SIZE, check, folders_below
from tfdarshan.workloads.laboratory.program import ACCESSES, EXTRAS, TF_DATA, Folders, Program


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return folders_below(tmp_path_factory.mktemp("programs"))


def python_programs(folders: Folders) -> list[Program]:
    extras = itertools.cycle([extra for extra in EXTRAS if extra != "tf_checkpoint"])
    wanted = [("loop", access) for access in ACCESSES] + [("thread_pool", "file"), ("thread_pool", "random")]
    return [
        Program(
            folders=folders, shape=shape, access=access, count=COUNT, size_bytes=SIZE, epochs=EPOCHS,
            threads=2 if shape == "thread_pool" else 0, extra=next(extras), marked=number % 2 == 0,
            step_s=0.001, mixed=True, slow_path="/part-3/",
        )
        for number, (shape, access) in enumerate(wanted)
    ]  # fmt: skip


@pytest.mark.long
def test_python_programs_and_all_of_their_fixes_do_the_same_work(folders, tmp_path):
    for number, program in enumerate(python_programs(folders)):
        work = tmp_path / str(number)
        work.mkdir()
        check(program, tmp_path / "pool", work)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("shape", [*TF_DATA, "generator"])
def test_tensorflow_programs_and_all_of_their_fixes_do_the_same_work(folders, tmp_path, shape):
    pytest.importorskip("tensorflow")
    pytest.importorskip("PIL")
    looks = [("", "tf_checkpoint", "samples", "misplaced"), ("arithmetic", "validation", "", "misplaced")]
    for number, (decode, extra, shuffle, cache) in enumerate(looks):
        work = tmp_path / str(number)
        work.mkdir()
        tf_data = {"shuffle": shuffle, "cache": cache, "cut": number == 1, "chained": number == 1}
        program = Program(
            folders=folders, shape=shape, count=COUNT, size_bytes=SIZE, epochs=EPOCHS, step_s=0.001,
            decode=decode, extra=extra, mixed=True, slow_path="/part-3/",
            gzip=shape in ("interleave", "records") and number == 0,
            **(tf_data if shape in TF_DATA else {}),
        )  # fmt: skip
        check(program, tmp_path / "pool", work)
