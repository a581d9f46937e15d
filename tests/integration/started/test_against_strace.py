"""What programs do that a job starts, in every way: file by file, as strace sees it."""

import os
import subprocess
import sys
import textwrap

import pytest

import tfdarshan
from tests.integration.oracle import strace_log
from tests.integration.oracle.rules import differences
from tests.integration.oracle.tally import marker, tally, window
from tests.integration.started.ways_to_start import EXECUTOR, FORKED, WAYS

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not strace_log.is_available(), reason="strace is missing, or may not trace here"),
]

FILES = 20
# What a program does with each file: other sizes for each, several calls of several kinds.
USES = """\
import os, sys
def use(path):
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        assert len(file.read(10)) == min(size, 10)
        file.seek(size // 2)
        assert len(file.read()) == size - size // 2
    descriptor = os.open(path, os.O_RDONLY)
    assert len(os.pread(descriptor, 1000, 1)) == min(max(size - 1, 0), 1000)
    os.close(descriptor)
    with open(path + ".copy", "wb", buffering=0) as file:
        file.write(bytes(size))
    return 100
"""
OPENS = USES + "for n in range(20): use(f'{sys.argv[1]}/{n}')"
JOB = f"""\
import concurrent.futures, multiprocessing
{USES}
import subprocess
import tfdarshan

DATA, OPENS = os.environ["JOB_DATA"], os.environ["JOB_OPENS"]

def read(number):
    return use(f"{{DATA}}/{{number}}")

def main():
    PYTHON = [sys.executable, "-c", OPENS, DATA]
    begin, end = sys.argv[1:]
    with tfdarshan.profile("logs"):
        os.access(begin, os.F_OK)
BODY
        os.access(end, os.F_OK)

if __name__ == "__main__":
    main()
"""
MORE_WAYS = {
    "ProcessPoolExecutor, fork": EXECUTOR.format("fork"),
    "fork and fexecve": FORKED.format("os.execve(os.open(PYTHON[0], os.O_RDONLY), PYTHON, os.environ)"),
    "fork and fexecve, an empty environment": FORKED.format(
        "os.execve(os.open(PYTHON[0], os.O_RDONLY), PYTHON, {})"
    ),
}
IN_ANY = ("Pool, spawn", "Pool, forkserver", "subprocess", "system", "fork and execv")


def check(python, tmp_path, way, environment):
    """Run a job whose programs use 20 files in one way, and compare each file."""
    # GIVEN
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(FILES):
        (folder / str(number)).write_bytes(bytes(1 + 1_357 * number))
    body = (WAYS | MORE_WAYS)[way]
    (tmp_path / "job.py").write_text(JOB.replace("BODY", textwrap.indent(body, " " * 8)))
    edges = [marker("started", edge) for edge in ("begin", "end")]

    # WHEN
    variables = environment | {"JOB_DATA": str(folder), "JOB_OPENS": OPENS}
    whole = [*strace_log.tracing(tmp_path), str(python), "job.py", *edges]
    ran = subprocess.run(whole, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=250)
    assert ran.returncode == 0, ran.stdout + ran.stderr

    # THEN
    session = tfdarshan.open_session(tmp_path / "logs")
    seen = tally(window(strace_log.read_calls(tmp_path), "started"), folder)
    found = differences("started", session.files, seen, folder)
    assert not found, "\n".join(found)
    assert session.problems == []
    assert len(seen) == 2 * FILES
    assert sum(file.bytes_written for file in seen.values()) == sum(1 + 1_357 * n for n in range(FILES))


@pytest.mark.parametrize("way", WAYS | MORE_WAYS)
def test_programs_that_are_started_count_as_strace_does(python, environment, tmp_path, way):
    check(python, tmp_path, way, environment)


@pytest.mark.parametrize("way", IN_ANY)
def test_an_installation_for_one_user_counts_as_strace_does(user_site, environment, tmp_path, way):
    interpreter = os.path.realpath(sys.executable)
    check(interpreter, tmp_path, way, environment | {"PYTHONUSERBASE": str(user_site)})
