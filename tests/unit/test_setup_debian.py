"""What tools/setup-debian.sh says where it may install nothing, and what it runs where it may."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "tools" / "setup-debian.sh"


@pytest.fixture
def machine(tmp_path):
    """A PATH with nothing on it but what the script itself needs and what a test adds."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "tail", "mktemp", "rm", "touch", "chmod"):
        (folder / name).symlink_to(shutil.which(name))

    def add(name, body):
        program = folder / name
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)

    def run(*arguments):
        return subprocess.run(
            [SCRIPT, *arguments],
            env={"PATH": str(folder), "TMPDIR": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    add("id", "echo 1000")
    made: Any = run
    made.add, made.folder = add, folder
    return made


def test_missing_tools_are_named_and_nothing_fails(machine):
    # GIVEN a user who is not root, and apt-get
    machine.add("apt-get", "echo must not run >&2; exit 1")
    machine.add("strace", "exit 0")

    # WHEN a program is there and another is not
    ran = machine("tools", "strace", "valgrind")

    # THEN the missing one is named in one line
    assert ran.returncode == 0
    assert ran.stderr == (
        "tfdarshan: valgrind is missing: what needs it is skipped; as root: apt-get install valgrind\n"
    )


def test_root_installs_what_is_missing(machine):
    # GIVEN root, and an apt-get that knows a package only after an update
    machine.add("id", "echo 0")
    state = machine.folder / "updated"
    tool = machine.folder / "fio"
    machine.add(
        "apt-get",
        f'case "$*" in *update*) touch {state} ;; *install*fio) [ -e {state} ] || exit 100\n'
        f"printf '#!/bin/sh\\n' > {tool}; chmod +x {tool} ;; esac",
    )

    # WHEN it is asked for
    ran = machine("tools", "fio")

    # THEN it is installed
    assert (ran.returncode, ran.stderr) == (0, "tfdarshan: installing fio with apt-get\n")
    assert os.access(tool, os.X_OK)


def test_a_package_without_a_program_is_known_by_a_file(machine):
    # GIVEN root, and an apt-get that brings the file of one package
    machine.add("id", "echo 0")
    header = machine.folder / "fuse.h"
    machine.add("apt-get", f'case "$*" in *install*libfuse3-dev) touch {header} ;; *) exit 100 ;; esac')

    # WHEN it is asked for twice
    first, second = (machine("tools", f"{header}:libfuse3-dev") for _ in range(2))

    # THEN it is installed once
    assert (first.returncode, first.stderr) == (0, "tfdarshan: installing libfuse3-dev with apt-get\n")
    assert (second.returncode, second.stderr) == (0, "")


def test_building_without_compiler_fails_with_the_packages(machine):
    # GIVEN this Python, and no gcc
    machine.add("apt-get", "exit 1")

    # WHEN building is prepared
    ran = machine("build", sys.executable)

    # THEN one line says what root would install
    assert ran.returncode == 1
    assert "building needs" in ran.stderr
    assert "gcc" in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("version", [(3, 9), (3, 15)])
def test_python_of_another_version_is_refused(machine, version):
    # GIVEN a Python that says it is of that version
    code = f'"import sys; sys.version_info = {version}; $2"'
    machine.add(
        "python", f'[ "$1" = -V ] && echo Python {version[0]}.{version[1]} || {sys.executable} -c {code}'
    )

    # WHEN building with it is prepared
    ran = machine("build", "python")

    # THEN one line says which versions will do
    assert ran.returncode == 1
    assert f"python is Python {version[0]}.{version[1]}, and 3.10 to 3.14 is needed" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_python_that_is_not_there_is_named(machine):
    ran = machine("build", "/nowhere/python3")

    assert ran.returncode == 1
    assert ran.stderr.startswith("tfdarshan: /nowhere/python3 is not there")
