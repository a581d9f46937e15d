"""Libraries that cannot be used: one clear sentence, and with `auto` the builtin engine, which says why."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import tfdarshan
from tfdarshan.errors import EngineError
from tfdarshan.recording.engine import LIBRARY_VARIABLE, check_object, choose_engine

RunChild = Callable[..., str]


def _elf(path: Path, *, machine: int) -> Path:
    identification = b"\x7fELF" + bytes([2, 1, 1, 0]) + bytes(8)
    path.write_bytes(identification + struct.pack("<HHI", 3, machine, 1) + bytes(100))
    return path


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path, "cannot be read: No such file or directory"),
        (lambda path: (path.write_text("#!/bin/sh\necho no library\n"), path)[1], "is not a shared library"),
        (lambda path: _elf(path, machine=8), "is for another machine"),
    ],
    ids=["missing", "text", "other-machine"],
)
def test_a_file_that_is_no_library_is_refused_with_a_sentence(
    make: Callable[[Path], Path], said: str, tmp_path: Path
) -> None:
    # GIVEN a file that cannot be loaded
    path = make(tmp_path / "libdarshan.so")

    # WHEN it is named
    # THEN the error says why; with auto the builtin engine counts and says the same
    with pytest.raises(EngineError, match=said):
        check_object(path)
    engine = choose_engine("auto", path, files=1024, folder=tmp_path)
    assert engine.name == "builtin"
    assert said in engine.notes[0]


STUB = """
struct core { const char *header, *job; void *rest[20]; };
char job[1024] = "lib_ver=2.9.9";
struct core body = {"2.00", job, {0}}, *__darshan_core;
double __darshan_core_wtime_offset;
char __darshan_core_mutex;
void (*__real_close)(void);
int close(int fd) { return fd; }
void darshan_core_initialize(int count, char **arguments) { __darshan_core = &body; }
char *darshan_core_lookup_record_name(unsigned long id) { return 0; }
unsigned long darshan_core_gen_record_id(const char *name) { return 0; }
"""


def _compile(source: str, path: Path, *flags: str) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    path.with_suffix(".c").write_text(source)
    command = ["gcc", "-w", "-shared", "-fPIC", "-o", str(path), str(path.with_suffix(".c")), *flags]
    subprocess.run(command, check=True)
    return path


USE = """
import sys, tfdarshan
try:
    tfdarshan.profile(sys.argv[1], engine="darshan", darshan_library=sys.argv[2]).start()
except tfdarshan.TfdarshanError as error:
    print(error)
with tfdarshan.profile(sys.argv[1], darshan_library=sys.argv[2]) as session:
    pass
print(session.meta[0]["engine"]["name"])
print(session.summary())
"""


def test_an_unsupported_version_is_refused_and_auto_says_why(run_child: RunChild, tmp_path: Path) -> None:
    # GIVEN a libdarshan of another version
    library = _compile(STUB, tmp_path / "libdarshan.so")

    # WHEN it is asked for, and then left to choose
    said, engine, *summary = run_child(USE, str(tmp_path / "logs"), str(library)).splitlines()

    # THEN both say which version it is
    assert "is version 2.9.9 with log version 2.00" in said
    assert engine == "builtin"
    assert any("the builtin engine counted" in line for line in summary)


def test_a_missing_mpi_library_is_named(run_child: RunChild, tmp_path: Path) -> None:
    # GIVEN a libdarshan that needs a library which is not there
    _compile("void mpi(void) {}", tmp_path / "libmpi.so.99", "-Wl,-soname,libmpi.so.99")
    library = _compile(
        "void mpi(void); void use(void) { mpi(); }",
        tmp_path / "libdarshan.so",
        str(tmp_path / "libmpi.so.99"),
    )
    os.unlink(tmp_path / "libmpi.so.99")

    # WHEN it is asked for
    said, engine, *_ = run_child(USE, str(tmp_path / "logs"), str(library)).splitlines()

    # THEN the sentence names the missing library and what to do
    assert "needs libmpi.so.99, which the dynamic loader does not find: load the MPI module" in said
    assert engine == "builtin"


def test_without_any_libdarshan_auto_counts_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # GIVEN no libdarshan anywhere
    monkeypatch.delenv(LIBRARY_VARIABLE, raising=False)
    monkeypatch.setattr("tfdarshan.recording.engine._loader_knows", lambda name: False)

    # WHEN the engine is chosen
    # THEN auto is the builtin one without a word, and darshan an error that says what to do
    assert choose_engine("auto", None, files=1024, folder=tmp_path).notes == ()
    with pytest.raises(EngineError, match="no libdarshan was found: load your site's darshan module"):
        tfdarshan.profile(tmp_path / "logs", engine="darshan").start()
