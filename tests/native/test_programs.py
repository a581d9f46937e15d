"""The hazards as C programs, one folder each: plain, with sanitizers, under valgrind.

`make test` runs them plain; `make test-native` runs the variants that TFD_NATIVE_VARIANTS names. A program
gets a folder for its spool as its only argument.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BUILD = HERE.parent.parent / "build" / "native"
VARIANTS = os.environ.get("TFD_NATIVE_VARIANTS", "plain").split()
VALGRIND = ("valgrind", "--quiet", "--error-exitcode=99", "--fair-sched=yes")

# Folder and the variants that make sense for it.
HAZARDS = {
    "kept_errno": ("plain", "sanitize", "valgrind"),
    "fold_counters": ("plain", "sanitize", "valgrind"),
    "fold_kill": ("plain", "sanitize"),
    "spool_damage": ("plain", "sanitize", "valgrind"),
    "spool_reader": ("plain", "sanitize", "valgrind"),
}

CASES = [(hazard, variant) for hazard, fits in HAZARDS.items() for variant in fits if variant in VARIANTS]


def build(variant: str) -> None:
    made = subprocess.run(
        ["make", "--no-print-directory", "-s", "-C", HERE, f"VARIANT={variant}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr


def test_every_folder_is_listed():
    assert sorted(HAZARDS) == sorted(path.parent.name for path in HERE.glob("*/main.c"))


@pytest.mark.parametrize(("hazard", "variant"), CASES)
def test_program(hazard, variant, tmp_path):
    # GIVEN a program that checks what it sees itself
    if variant == "valgrind" and not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    built = "sanitize" if variant == "sanitize" else "plain"
    build(built)
    program = BUILD / built / hazard / "main"

    # WHEN it runs
    command = [*(VALGRIND if variant == "valgrind" else ()), program, tmp_path]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)

    # THEN every check in it held, and no tool complained
    assert ran.returncode == 0, ran.stdout + ran.stderr
