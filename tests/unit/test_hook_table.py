"""csrc/hooks/hook_table.h: its types are the C library's, and a row and a body are a hooked function."""

import shutil
import subprocess
from pathlib import Path

import pytest

CSRC = Path(__file__).parent.parent.parent / "csrc"

LIBC_DECLARES = """
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "hooks/function_types.h"
#define X(symbol, ...) tfd_##symbol##_function symbol;
TFD_HOOKS(X)
"""
ROW = """#define TFD_MAPPING_HOOKS(X, O) \\
    X(posix_fallocate, "truncate", SYNC, FD, int, (int fd, off_t offset, off_t length), \\
      (fd, offset, length)) \\
"""
BODY = """
int tfd_wrap_posix_fallocate(int fd, off_t offset, off_t length)
{
    uint64_t start = tfd_ticks();
    int status = TFD_NEXT(posix_fallocate)(fd, offset, length);
    tfd_record_descriptor(TFD_OP_TRUNCATE, fd, -1, offset + length, status != 0, start);
    return status;
}
"""


@pytest.fixture
def csrc(tmp_path):
    """A copy of the C core to change."""
    return Path(shutil.copytree(CSRC, tmp_path / "csrc"))


def compiled(csrc, source):
    """Compile a file of the core without optimization and return the names in its symbol table."""
    target = csrc / "compiled.o"
    command = ["gcc", "-std=c11", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-cast-function-type"]
    command += ["-Wno-missing-field-initializers", f"-I{csrc}", "-c", "-o", target, csrc / source]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    listed = subprocess.run(["nm", target], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def test_hooked_functions_have_the_types_that_the_c_library_declares(csrc):
    # GIVEN a file that sees the C library's headers, and declares each hooked function as its row says
    (csrc / "declared.c").write_text(LIBC_DECLARES)

    # WHEN / THEN no declaration contradicts another
    compiled(csrc, "declared.c")


def test_a_row_and_a_body_are_a_hooked_function(csrc):
    # GIVEN a function that is not hooked, given a row and a wrapper's body
    table, wrappers = csrc / "hooks" / "hook_table.h", csrc / "wrappers" / "wrap_path.c"
    assert "posix_fallocate" not in table.read_text()
    changed = table.read_text().replace("#define TFD_MAPPING_HOOKS(X, O)", ROW.rstrip("\\\n"), 1)
    table.write_text(changed)
    wrappers.write_text(wrappers.read_text() + BODY)

    # WHEN the files are compiled that make functions of rows
    names = {
        source: compiled(csrc, source)
        for source in (
            "wrappers/wrap_path.c",
            "wrappers/wrapper_table.c",
            "emulation/emulation.c",
            "darshan/guard.c",
        )
    }

    # THEN its wrapper is in the table, and it has its functions for emulated storage and for libdarshan
    assert "tfd_wrap_posix_fallocate" in names["wrappers/wrap_path.c"]
    assert "tfd_wrap_posix_fallocate" in names["wrappers/wrapper_table.c"]
    assert "emulated_posix_fallocate" in names["emulation/emulation.c"]
    assert {"guard_posix_fallocate", "real_posix_fallocate"} <= names["darshan/guard.c"]
