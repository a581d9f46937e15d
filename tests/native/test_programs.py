"""The hazards as C programs, one folder each: plain, with sanitizers, under valgrind.

`make test` runs them plain; `make test-native` runs the variants that TFD_NATIVE_VARIANTS names. A program
gets a folder for its spools and, where a number is given below, how often to repeat what it does.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BUILD = HERE.parent.parent / "build" / "native"
VARIANTS = os.environ.get("TFD_NATIVE_VARIANTS", "plain").split()
VALGRIND = (
    "valgrind",
    "--quiet",
    "--error-exitcode=99",
    "--fair-sched=yes",
    f"--suppressions={HERE / 'valgrind.supp'}",
)
# A child lacks its parent's spool, and valgrind searches the gap for pointers until the end of days.
# The sanitizer takes locks for that which other threads may have held at the fork.
WITHOUT_LEAK_CHECK = ("--leak-check=no",)
WITH_LEAK_CHECK = ("--leak-check=full", "--errors-for-leak-kinds=definite")
SKIP = 77
# Spools written to a disk make the programs many times slower.
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 2 << 30

# Folder, and for each variant that makes sense the number of repeats ("" is the program's own choice).
# The sanitizers take no preloaded library before theirs, no small stacks, and misread the stack of a
# cancelled thread; what valgrind does to limits, mappings and stacks is its own. The environment that a
# libdarshan is loaded with stays on purpose: leak checks would name it.
HAZARDS = {
    "another_patcher": {"plain": "", "sanitize": "", "valgrind": ""},
    "append_kill": {"plain": "", "sanitize": ""},
    "attach_cycles": {"plain": "10000", "sanitize": "1000", "valgrind": "50"},
    "blocked_read": {"plain": "", "sanitize": "", "valgrind": ""},
    "cancellation": {"plain": "200", "valgrind": "10"},
    "closed_descriptors": {"plain": "", "sanitize": "", "valgrind": ""},
    "data_pointers": {"plain": "", "sanitize": "", "valgrind": ""},
    "dup2_over_tracked": {"plain": "", "sanitize": "", "valgrind": ""},
    "emulated_storage": {"plain": "20", "valgrind": "2"},
    "fd_reuse": {"plain": "5000", "sanitize": "1000", "valgrind": "20"},
    "fold_counters": {"plain": "", "sanitize": "", "valgrind": ""},
    "fold_kill": {"plain": "", "sanitize": ""},
    "fork_in_fork": {"plain": "", "sanitize": ""},
    "fork_in_handler": {"plain": "1000", "sanitize": "300"},
    "fork_loader_lock": {"plain": "200", "sanitize": "100"},
    "fork_threads": {"plain": "1000", "sanitize": "500", "valgrind": "8"},
    "fork_wall": {"plain": ""},
    "full_file_system": {"plain": "", "sanitize": "", "valgrind": "20000"},
    "hidden_library": {"plain": "", "sanitize": "", "valgrind": ""},
    "kept_errno": {"plain": "", "sanitize": "0", "valgrind": "0"},
    "late_dlopen": {"plain": "", "sanitize": "", "valgrind": ""},
    "lazy_binding": {"plain": "", "sanitize": "", "valgrind": ""},
    "list_locked_at_fork": {"plain": "50"},
    "nested_sessions": {"plain": "", "sanitize": "", "valgrind": ""},
    "no_pie": {"plain": "", "sanitize": "", "valgrind": ""},
    "no_plt": {"plain": "", "sanitize": "", "valgrind": ""},
    "open_while_loading": {"plain": "", "sanitize": "", "valgrind": ""},
    "packed_event": {"plain": "", "sanitize": "", "valgrind": "97"},
    "path_hash": {"plain": "", "sanitize": "", "valgrind": ""},
    "preloaded_interposer": {"plain": ""},
    "pressure": {"plain": "", "sanitize": "", "valgrind": "60000"},
    "raw_fork": {"plain": "", "sanitize": "", "valgrind": ""},
    "refused_library": {"plain": "", "sanitize": ""},
    "relro": {"plain": "", "sanitize": ""},
    "resource_limits": {"plain": "", "sanitize": ""},
    "signal_handler": {"plain": "", "sanitize": "", "valgrind": ""},
    "slot_kinds": {"plain": "", "sanitize": "", "valgrind": ""},
    "small_stack": {"plain": ""},
    "spool_damage": {"plain": "", "sanitize": "", "valgrind": ""},
    "spool_reader": {"plain": "", "sanitize": "", "valgrind": ""},
    "stop_in_child": {"plain": "", "sanitize": "", "valgrind": ""},
    "stop_requested": {"plain": "", "sanitize": "", "valgrind": ""},
    "tf_plugin": {"plain": "200", "sanitize": "50", "valgrind": "3"},
    "thread_exit": {"plain": "10000", "sanitize": "10000", "valgrind": "80"},
    "tmpfile_mode": {"plain": "", "sanitize": "", "valgrind": ""},
    "unready_library": {"plain": ""},
    "unload": {"plain": "", "sanitize": "", "valgrind": ""},
    "vfork_child": {"plain": "", "sanitize": "", "valgrind": ""},
}
FORKING = {
    "closed_descriptors",
    "emulated_storage",
    "fork_in_fork",
    "fork_in_handler",
    "fork_loader_lock",
    "fork_threads",
    "late_dlopen",
    "list_locked_at_fork",
    "raw_fork",
    "stop_in_child",
    "stop_requested",
    "tf_plugin",
    "thread_exit",
    "vfork_child",
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


def command(hazard: str, variant: str) -> list[str | Path]:
    if variant != "valgrind":
        return [BUILD / variant / hazard / "main"]
    leaks = WITHOUT_LEAK_CHECK if hazard in FORKING else WITH_LEAK_CHECK
    return [*VALGRIND, *leaks, BUILD / "plain" / hazard / "main"]


@pytest.fixture
def folder(tmp_path):
    if not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < MEMORY_BYTES:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="tfdarshan-native-", dir=MEMORY) as name:
        yield Path(name)


def test_every_folder_is_listed():
    assert sorted(HAZARDS) == sorted(path.parent.name for path in HERE.glob("*/main.c"))


@pytest.mark.parametrize(("hazard", "variant"), CASES)
def test_program(hazard, variant, folder):
    # GIVEN a program that checks what it sees itself
    if variant == "valgrind" and not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    build("sanitize" if variant == "sanitize" else "plain")
    arguments = [folder, *HAZARDS[hazard][variant].split()]

    leaks = "detect_leaks=0" if hazard in FORKING else "detect_leaks=1"

    # WHEN it runs
    ran = subprocess.run(
        [*command(hazard, variant), *arguments],
        env={**os.environ, "ASAN_OPTIONS": leaks},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )

    # THEN every check in it held, and no tool complained
    if ran.returncode == SKIP:
        pytest.skip(ran.stderr.strip() or "this machine does not let the program try")
    assert ran.returncode == 0, ran.stdout + ran.stderr
