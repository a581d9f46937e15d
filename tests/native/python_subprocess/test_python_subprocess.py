"""subprocess: its child of vfork moves and closes descriptors in the parent's memory.

With the tested Python, where _posixsubprocess is a library, and with the system's, where it is part of the
program and nothing of tfdarshan's package is installed: there the core is loaded by ctypes.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.native.built_programs import BUILD, build
from tests.native.python_script import counted, run_profiled

SYSTEM_PYTHON = Path("/usr/bin/python3")
CHILDREN, BYTES = 30, 100

USE = """
import os, subprocess, sys

def use(data, other, children, size):
    first, second = os.open(data, os.O_RDONLY), os.open(other, os.O_RDONLY)
    for number in range(children):
        os.pread(first, size, 0)
        with open(other, "rb", buffering=0) as standard_input:
            ways = ({"close_fds": False}, {"close_fds": True}, {"pass_fds": (second,)})
            ran = subprocess.run(["cat"], stdin=standard_input, stdout=subprocess.PIPE, **ways[number % 3])
        assert len(ran.stdout) == os.path.getsize(other), ran
        failed = False
        try:
            subprocess.run(["/nonexistent/program"])
        except FileNotFoundError:
            failed = True
        assert failed
        os.pread(first, size, 0)
        os.pread(second, size, 0)
    os.close(first)
    os.close(second)
"""

PACKAGE = (
    USE
    + """
import tfdarshan
data, other, children, size = sys.argv[1:]
with tfdarshan.profile("logs"):
    use(data, other, int(children), int(size))
"""
)

CORE = (
    USE
    + """
import ctypes, json

class Options(ctypes.Structure):
    _fields_ = [("directory", ctypes.c_char_p), ("capacity_bytes", ctypes.c_uint64),
                ("trace_limit_bytes", ctypes.c_uint64), ("include", ctypes.c_void_p),
                ("include_count", ctypes.c_size_t), ("exclude", ctypes.c_void_p),
                ("exclude_count", ctypes.c_size_t), ("exclude_followed", ctypes.c_size_t),
                ("follow_children", ctypes.c_int), ("darshan", ctypes.c_int), ("mapped", ctypes.c_int),
                ("program_library", ctypes.c_void_p)]

core = ctypes.CDLL(sys.argv[5])
core.tfd_last_error.restype = ctypes.c_char_p
data, other, children, size = sys.argv[1:5]
options = Options(os.getcwd().encode(), 64 << 20, 32 << 20, None, 0, None, 0, 0, 1, 0, 0, None)
report = (ctypes.c_uint64 * 8)()
assert core.tfd_session_start(ctypes.byref(options), report) == 0, core.tfd_last_error()
use(data, other, int(children), int(size))
assert core.tfd_session_stop(report) == 0, core.tfd_last_error()
print(json.dumps({"pid": os.getpid(), "spools": [name for name in os.listdir() if name.endswith(".spool")]}))
"""
)


@pytest.fixture
def files(tmp_path):
    data, other = tmp_path / "data", tmp_path / "other"
    data.write_bytes(bytes(1000))
    other.write_bytes(bytes(5000))
    return data, other


def test_descriptors_of_the_parent_keep_their_files(tmp_path, files):
    # WHEN
    data, other = files
    session = run_profiled(tmp_path, PACKAGE, str(data), str(other), str(CHILDREN), str(BYTES))

    # THEN all reads are charged to the right file, and none of the children's calls are
    assert counted(session, data, "POSIX_OPENS") == 1
    assert counted(session, data, "POSIX_READS") == 2 * CHILDREN
    assert counted(session, data, "POSIX_BYTES_READ") == 2 * CHILDREN * BYTES
    assert counted(session, other, "POSIX_OPENS") == 1 + CHILDREN
    assert counted(session, other, "POSIX_READS") == CHILDREN
    assert len(set(session.files["pid"])) == 1


@pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason="there is no system Python")
def test_builtin_posixsubprocess(tmp_path, files):
    # GIVEN a Python whose fork_exec is in the program itself
    build("plain")
    script = tmp_path / "script.py"
    script.write_text(CORE)
    arguments = [*files, CHILDREN, BYTES, BUILD / "plain" / "libtfdcore.so"]

    # WHEN
    ran = subprocess.run(
        [SYSTEM_PYTHON, script, *map(str, arguments)],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr

    # THEN
    from tfdarshan.native.spool_reader import SpoolReader

    said = json.loads(ran.stdout)
    assert said["spools"] == [f"{said['pid']}.spool"]
    with SpoolReader(tmp_path / said["spools"][0]) as reader:
        events = [
            (path, length)
            for batch in reader.event_batches(1 << 16)
            for path, length in zip(reader.paths(batch.file), batch.length.tolist(), strict=True)
            if length == BYTES
        ]
    assert events.count((str(files[0]), BYTES)) == 2 * CHILDREN
    assert events.count((str(files[1]), BYTES)) == CHILDREN
