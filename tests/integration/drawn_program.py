"""Programs that the laboratory draws: each fix does the same work as the program that it fixes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tfdarshan.workloads.laboratory.data_layout import layout_folder, place_data
from tfdarshan.workloads.laboratory.program import Folders, Program
from tfdarshan.workloads.laboratory.program_fixes import known_fixes
from tfdarshan.workloads.laboratory.program_source import source

COUNT, SIZE, EPOCHS = 32, 8192, 2
SUMMED = """\
TOTALS = []

def compute(batch):
    TOTALS.append(float(np.asarray(batch, np.float64).sum()))
"""


def folders_below(work: Path) -> Folders:
    made = Folders(
        data=work / "slow" / "data", out=work / "slow" / "out", fast=work / "fast", fast_out=work / "fast-out"
    )
    for folder in (made.out, made.fast_out):
        folder.mkdir(parents=True)
    return made


def place(program: Program, pool: Path) -> None:
    for layout, name in ((program.layout, program.folder), ("validation", "validation")):
        made = layout_folder(pool, layout, COUNT, SIZE, spread=False, shards=program.shards)
        for folder in (program.folders.data, program.folders.fast):
            place_data(made, folder / name, link=True)


def run(program: Program, work: Path, number: int) -> tuple[int, float]:
    """Return the number of batches that it trained on, and the sum of all that was in them."""
    text = source(program, work / f"logs-{number}").replace("def compute(batch):\n", SUMMED)
    file = work / f"train-{number}.py"
    # Not in processes that a program starts.
    checked = 'assert __name__ != "__main__" or validation_paths\n' if program.extra == "validation" else ""
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
    for number, fix in enumerate(known_fixes(program), start=1):
        if only and fix.name not in only:
            continue
        place(fix.program, pool)
        after = run(fix.program, work, number)
        assert after[0] == batches, fix.name
        # A conversion packs other bytes; which samples a cut leaves out is nobody's promise.
        if fix.program.folder == program.folder and not program.cut:
            # NumPy's and TensorFlow's sines of single precision differ in the last digit.
            assert after[1] == pytest.approx(total, rel=1e-5), fix.name
