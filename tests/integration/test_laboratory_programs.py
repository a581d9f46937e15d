"""The laboratory's programs run, and each cure does the same work as the program that it cures."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from tfdarshan.workloads.laboratory.data_layout import layout_folder, place_data
from tfdarshan.workloads.laboratory.known_cure import known_cures
from tfdarshan.workloads.laboratory.program import ACCESSES, EXTRAS, TF_DATA, Folders, Program
from tfdarshan.workloads.laboratory.program_source import source

COUNT, SIZE, EPOCHS = 32, 8192, 2
SUMMED = """\
TOTALS = []

def compute(batch):
    TOTALS.append(float(np.asarray(batch, np.float64).sum()))
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    work = tmp_path_factory.mktemp("programs")
    made = Folders(
        data=work / "slow" / "data", out=work / "slow" / "out", fast=work / "fast", fast_out=work / "fast-out"
    )
    for folder in (made.out, made.fast_out):
        folder.mkdir(parents=True)
    return made


def place(program: Program, pool: Path) -> None:
    for layout in {program.layout, "validation"}:
        made = layout_folder(pool, layout, COUNT, SIZE, spread=False)
        for folder in (program.folders.data, program.folders.fast):
            place_data(made, folder / layout, link=True)


def run(program: Program, work: Path, number: int) -> tuple[int, float]:
    """Return the number of batches that it trained on, and the sum of all that was in them."""
    text = source(program, work / f"logs-{number}").replace("def compute(batch):\n", SUMMED)
    file = work / f"train-{number}.py"
    checked = "assert validation_paths\n" if program.extra == "validation" else ""
    file.write_text(f"import numpy as np\n{text}\n{checked}print(len(TOTALS), sum(TOTALS))\n")
    ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert ran.returncode == 0, f"{program}\n{ran.stderr}"
    assert " s of training" in ran.stdout
    batches, total = ran.stdout.splitlines()[-1].split()
    return int(batches), float(total)


def check(program: Program, pool: Path, work: Path, *, only: tuple[str, ...] = ()) -> None:
    place(program, pool)
    batches, total = run(program, work, 0)
    assert batches == (COUNT // 16 - program.cut) * EPOCHS
    for number, cure in enumerate(known_cures(program), start=1):
        if only and cure.name not in only:
            continue
        place(cure.program, pool)
        after = run(cure.program, work, number)
        assert after[0] == batches, cure.name
        # A conversion packs other bytes; which samples a cut leaves out is nobody's promise.
        if cure.program.layout == program.layout and not program.cut:
            # NumPy's and TensorFlow's sines of single precision differ in the last digit.
            assert after[1] == pytest.approx(total, rel=1e-5), cure.name


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
def test_python_programs_and_all_of_their_cures_do_the_same_work(folders, tmp_path):
    for number, program in enumerate(python_programs(folders)):
        work = tmp_path / str(number)
        work.mkdir()
        check(program, tmp_path / "pool", work)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("shape", [*TF_DATA, "generator"])
def test_tensorflow_programs_and_all_of_their_cures_do_the_same_work(folders, tmp_path, shape):
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
