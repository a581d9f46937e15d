"""The hazards as C programs, one folder each: plain, with sanitizers, under valgrind, under ThreadSanitizer.

`make test` runs them plain, and again with a core that counts which of its lines run (see
tools/line_coverage.py); `make test-native` runs the variants that TFD_NATIVE_VARIANTS names. A program
gets a folder for its spools and, where a number is given below, how often to repeat what it does; a target of
libFuzzer gets the folder of its inputs instead.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.native.built_programs import BUILD, HERE, build

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
NO_ROOM_FOR_THREAD_SANITIZER = "ThreadSanitizer: unexpected memory mapping"
# Spools written to a disk make the programs many times slower.
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 2 << 30

# Folder, and for each variant that makes sense the number of repeats ("" is the program's own choice).
# The sanitizers take no preloaded library before theirs, no small stacks, and misread the stack of a
# cancelled thread; what valgrind does to limits, mappings and stacks is its own. The environment that a
# libdarshan is loaded with stays on purpose: leak checks would name it.
# ThreadSanitizer, which is "thread", makes a fork of vfork, wraps dlopen, in which it looks at the list of
# libraries that older_child must not wait for, allows no threads in the child of
# a process with threads, allocates in a child that a signal handler forks, and needs memory where a limit
# leaves none or a stack is small; it cannot follow a library that is not relocated yet; and stepped through
# one instruction at a time, fold_kill takes hours and shows nothing, for it has one thread.
HAZARDS = {
    "another_patcher": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "append_kill": {"plain": "", "sanitize": "", "thread": ""},
    "attach_backoff": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "attach_cycles": {"plain": "200", "sanitize": "1000", "thread": "200", "valgrind": "50"},
    "blocked_read": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "bypassed_calls": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "call_sums": {"plain": "", "sanitize": "", "thread": "100", "valgrind": "30"},
    "cancellation": {"plain": "200", "thread": "100", "valgrind": "10"},
    "cgroup_limits": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "closed_descriptors": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "data_pointers": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "dup2_over_tracked": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "emulated_storage": {"plain": "20", "thread": "5", "valgrind": "2"},
    "ended_threads": {"plain": "1000", "sanitize": "3000", "thread": "1000"},
    "every_hook": {"plain": "", "sanitize": "", "valgrind": ""},
    "fault_budget": {"plain": "", "sanitize": ""},
    "fault_windows": {"plain": "", "sanitize": ""},
    "fd_reuse": {"plain": "5000", "sanitize": "1000", "thread": "500", "valgrind": "20"},
    "fold_counters": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "fold_kill": {"plain": "", "sanitize": ""},
    "fold_thread": {"plain": "20", "sanitize": "60", "thread": "20"},
    "fork_in_fork": {"plain": "", "sanitize": ""},
    "fork_in_handler": {"plain": "300", "sanitize": "300", "thread": "300"},
    "fork_loader_lock": {"plain": "200", "sanitize": "100", "thread": "100"},
    "fork_threads": {"plain": "300", "sanitize": "500", "valgrind": "8"},
    "fork_wall": {"plain": "", "thread": ""},
    "full_file_system": {"plain": "", "sanitize": "", "thread": "20000", "valgrind": "20000"},
    "fuzz_journal": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "fuzz_lmdb": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "fuzz_spool": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "fuzz_xspace": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "glob_match": {"plain": "", "sanitize": "100000"},
    "hidden_library": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "input_sums": {"plain": "", "sanitize": "", "thread": "100", "valgrind": "100"},
    "kept_errno": {"plain": "", "sanitize": "0", "thread": "0", "valgrind": "0"},
    "late_dlopen": {"plain": "", "sanitize": "", "valgrind": ""},
    "lazy_binding": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "list_locked_at_fork": {"plain": "50", "thread": "50"},
    "lmdb_ahead": {"plain": "20", "sanitize": "10", "thread": "10", "valgrind": "2"},
    "lmdb_damage": {"plain": "2000", "sanitize": "", "thread": "500", "valgrind": "200"},
    "many_mounts": {"plain": "", "sanitize": "", "valgrind": ""},
    "mapped_files": {"plain": "1000", "sanitize": "1000", "thread": "200", "valgrind": "20"},
    "mapped_ranges": {"plain": "", "sanitize": "", "valgrind": ""},
    "mapped_refused": {"plain": "", "sanitize": ""},
    "mapped_reuse": {"plain": "10000", "sanitize": "10000"},
    "nested_sessions": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "no_pie": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "no_plt": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "older_child": {"plain": "", "sanitize": "", "valgrind": "3"},
    "open_while_loading": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "packed_event": {"plain": "", "sanitize": "", "thread": "97", "valgrind": "97"},
    "path_hash": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "preloaded_interposer": {"plain": "", "thread": ""},
    "pressure": {"plain": "", "sanitize": "", "thread": "60000", "valgrind": "60000"},
    "protected_range": {"plain": "", "sanitize": "", "valgrind": ""},
    "raw_fork": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "read_order": {"plain": "", "sanitize": "", "thread": "100", "valgrind": "100"},
    "refused_library": {"plain": "", "sanitize": "", "thread": ""},
    "relro": {"plain": "", "sanitize": "", "thread": ""},
    "resource_limits": {"plain": "", "sanitize": ""},
    "shared_streams": {"plain": "", "sanitize": "", "thread": "200", "valgrind": "100"},
    "signal_handler": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "simulated_jobs": {"plain": "", "sanitize": "", "thread": "100", "valgrind": "100"},
    "slot_kinds": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "small_stack": {"plain": ""},
    "spool_damage": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "spool_reader": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "staged_opens": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "stop_in_child": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "stop_requested": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "storage_passes": {"plain": "", "sanitize": "", "thread": "100", "valgrind": "100"},
    "tf_plugin": {"plain": "200", "sanitize": "50", "thread": "50", "valgrind": "3"},
    "thinned_calls": {"plain": "", "sanitize": ""},
    "thread_exit": {"plain": "10000", "sanitize": "10000", "thread": "1000", "valgrind": "80"},
    "tmpfile_mode": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "unready_library": {"plain": ""},
    "untraced_calls": {"plain": "", "sanitize": ""},
    "unload": {"plain": "", "sanitize": "", "thread": "", "valgrind": ""},
    "vfork_child": {"plain": "", "sanitize": "", "valgrind": ""},
}
# Plain, in the long tests: so many cycles or runs; a kill after each instruction, of which each 499th counts.
LONG = {
    "attach_cycles": "10000",
    "ended_threads": "5000",
    "fold_thread": "200",
    "fork_in_handler": "1000",
    "fork_threads": "1000",
    "thinned_calls": "499",
    "untraced_calls": "97",
}
# Single-stepped, the processor's own copying of memory is a step for each byte.
COPYING = "glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000"
FORKING = {
    "bypassed_calls",
    "closed_descriptors",
    "emulated_storage",
    "ended_threads",
    "every_hook",
    "fold_thread",
    "fork_in_fork",
    "fork_in_handler",
    "fork_loader_lock",
    "fork_threads",
    "late_dlopen",
    "list_locked_at_fork",
    "mapped_files",
    "mapped_refused",
    "older_child",
    "raw_fork",
    "stop_in_child",
    "stop_requested",
    "tf_plugin",
    "thread_exit",
    "vfork_child",
}
# The names of staged files are never freed: a thread may be looking at them.
LEAKING = FORKING | {"staged_opens"}

# To step through a fold that counts its lines takes minutes, and small stacks want an optimised core. Neither
# runs lines that no other does.
COUNTED = [hazard for hazard in HAZARDS if hazard not in ("fold_kill", "small_stack")]

CASES = [(hazard, variant) for hazard, fits in HAZARDS.items() for variant in fits if variant in VARIANTS]
CASES += [(hazard, "coverage") for hazard in COUNTED if "coverage" in VARIANTS]


def repeats(hazard: str, variant: str) -> str:
    """To run each line once the fewest do."""
    fits = HAZARDS[hazard]
    slowest = next(name for name in ("valgrind", "thread", "sanitize", "plain") if name in fits)
    return fits[slowest if variant == "coverage" else variant]


def command(hazard: str, variant: str) -> list[str | Path]:
    if variant == "coverage":
        return ["env", f"LD_LIBRARY_PATH={BUILD / variant}", BUILD / "plain" / hazard / "main"]
    if variant != "valgrind":
        return [BUILD / variant / hazard / "main"]
    leaks = WITHOUT_LEAK_CHECK if hazard in LEAKING else WITH_LEAK_CHECK
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


@pytest.mark.long
@pytest.mark.parametrize(("hazard", "repeats"), LONG.items())
def test_what_takes_minutes(hazard, repeats, folder):
    build("plain")
    program = BUILD / "plain" / hazard / "main"
    stepped = {**os.environ, "GLIBC_TUNABLES": COPYING}
    subprocess.run([program, folder, repeats], env=stepped, check=True, timeout=600)


@pytest.mark.parametrize(("hazard", "variant"), CASES)
def test_program(hazard, variant, folder):
    # GIVEN a program that checks what it sees itself
    if variant == "valgrind" and not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    build("plain" if variant in ("coverage", "valgrind") else variant)
    if variant == "coverage":
        build(variant, "core")
    inputs = HERE / hazard / "corpus"
    arguments = [folder, *([inputs] if inputs.is_dir() else repeats(hazard, variant).split())]

    leaks = "detect_leaks=0" if hazard in LEAKING else "detect_leaks=1"

    # WHEN it runs
    ran = subprocess.run(
        [*command(hazard, variant), *arguments],
        env={**os.environ, "ASAN_OPTIONS": leaks, "GLIBC_TUNABLES": COPYING},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )

    # THEN every check in it held, and no tool complained
    if ran.returncode == SKIP:
        pytest.skip(ran.stderr.strip() or "this machine does not let the program try")
    if NO_ROOM_FOR_THREAD_SANITIZER in ran.stderr:
        pytest.skip(
            "this kernel places mappings where ThreadSanitizer wants its own: setarch -R make test-native"
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
