"""Each function that the C library exports has a hook, a reason not to, or nothing to do with files."""

import ctypes.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNIT = Path(__file__).parent
HOOKS = UNIT.parents[1] / "csrc" / "hooks"
# Of the x86-64 and aarch64 C libraries from glibc 2.2.5 to 2.43.
OF_NO_FILE = frozenset((UNIT / "libc_functions_of_no_file.txt").read_text().split())


def hooked() -> set[str]:
    """Return the hooked functions and their aliases."""
    table = (HOOKS / "hook_table.h").read_text()
    return set(re.findall(r"^    [XA]\((\w+), (?=\"|\w+\))", table, re.MULTILINE))


def explained() -> list[str]:
    """List the functions that have a reason not to be hooked."""
    rows = re.findall(
        r"^\| (`.*`) \| \S.* \|$", (HOOKS / "functions_without_hook.md").read_text(), re.MULTILINE
    )
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def exported() -> set[str]:
    """Return the functions that programs may take from the C library of this machine."""
    libraries = [ctypes.util.find_library(name) for name in ("c", "rt", "pthread")]
    mapped = Path("/proc/self/maps").read_text()
    paths = {path for path in re.findall(r"(/\S+)", mapped) if Path(path).name in libraries}
    names = set()
    for path in paths:
        command = ["nm", "--dynamic", "--defined-only", "--with-symbol-versions", path]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        names |= set(re.findall(r" [TWi] (\w+)@(?!\S*PRIVATE)", listed))
    return names


def undecided(names: set[str]) -> set[str]:
    return names - hooked() - set(explained()) - OF_NO_FILE


def test_every_exported_function_is_decided_on():
    assert exported() > {"read", "malloc", "syscall"}
    assert undecided(exported()) == set(), "hook it, or add it to csrc/hooks/functions_without_hook.md"


def test_new_function_shows():
    assert undecided({"read", "strlen", "openat3"}) == {"openat3"}


@pytest.mark.parametrize("name", ["aio_read64", "dprintf", "fgetws", "__overflow", "openat2", "__read"])
def test_functions_have_hooks(name):
    assert name in hooked()


def test_each_function_stands_once():
    names = explained()
    assert len(names) == len(set(names))
    assert hooked() & set(names) == set()
    assert OF_NO_FILE & (hooked() | set(names)) == set()


@pytest.mark.skipif(not shutil.which("gcc"), reason="no compiler")
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_calls_on_wide_characters_are_not_compiled_in(tmp_path, level):
    # GIVEN a program that moves characters without a lock
    (tmp_path / "wide.c").write_text(
        "#define _GNU_SOURCE\n#include <stdio.h>\n#include <wchar.h>\n"
        "int main(void)\n"
        "{ return getwc_unlocked(stdin) + putwc_unlocked(L'x', stdout) + getc_unlocked(stdin); }"
    )

    # WHEN
    subprocess.run(["gcc", level, "-o", tmp_path / "wide", tmp_path / "wide.c"], check=True)
    command = ["nm", "--dynamic", "--undefined-only", tmp_path / "wide"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    called = set(re.findall(r" U (\w+)", listed))

    # THEN it calls what has a hook, and nothing of the inside of wide streams
    assert {"getwc_unlocked", "putwc_unlocked"} <= called & hooked()
    assert ("__uflow" in called) == (level != "-O0")
    assert not called & {"__wuflow", "__woverflow", "__wunderflow"}
