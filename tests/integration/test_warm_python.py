"""Programs run in forks of a process that has TensorFlow imported, and run as `python` would run them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tfdarshan.session import open_session
from tfdarshan.workloads.laboratory.warm_python import warm_python

pytestmark = pytest.mark.long
READ = """\
import pathlib, sys, time
began_s = time.perf_counter()
import tensorflow as tf
import tfdarshan
took_s = time.perf_counter() - began_s
with tfdarshan.profile(sys.argv[1]):
    for path in tf.data.Dataset.from_tensor_slices([sys.argv[2]] * 5):
        assert len(tf.io.read_file(path).numpy()) == 12345
print(__name__, took_s)
"""


@pytest.fixture(scope="module")
def warm():
    pytest.importorskip("tensorflow")
    with warm_python("tensorflow", os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2", "GIVEN": "yes"}) as made:
        yield made


def run(warm, folder: Path, text: str, *arguments: str, limit_s: float = 120.0):
    (folder / "train.py").write_text(text)
    return warm.run([str(folder / "train.py"), *arguments], folder, limit_s)


def test_a_program_runs_and_is_recorded_as_in_a_process_of_its_own(warm, tmp_path):
    # GIVEN five reads of one file by TensorFlow
    data = tmp_path / "data.bin"
    data.write_bytes(bytes(12345))

    # WHEN warm, and in a fresh process
    done = run(warm, tmp_path, READ, str(tmp_path / "warm"), str(data))
    subprocess.run([sys.executable, tmp_path / "train.py", tmp_path / "cold", data], check=True)

    # THEN it is the main program, imports next to nothing, and its session has the same calls and bytes
    assert (done.code, done.err) == (0, done.err)
    name, took_s = done.out.split()
    assert name == "__main__"
    assert float(took_s) < 2
    files = [open_session(tmp_path / logs).files for logs in ("warm", "cold")]
    read = [one[one.path == str(data)] for one in files]
    assert list(read[0].POSIX_BYTES_READ) == list(read[1].POSIX_BYTES_READ) == [5 * 12345]
    assert list(read[0].POSIX_READS) == list(read[1].POSIX_READS)
    assert list(read[0].POSIX_OPENS) == list(read[1].POSIX_OPENS) == [5]


def test_what_one_program_leaves_the_next_does_not_see(warm, tmp_path):
    first = run(
        warm, tmp_path, "import builtins, os\nbuiltins.left = 1\nos.environ['LEFT'] = '1'\nprint(os.getpid())"
    )
    seen = "'left' in dir(__builtins__), 'LEFT' in os.environ, os.environ['GIVEN']"
    second = run(warm, tmp_path, f"import os\nprint({seen}, os.getpid())")
    assert second.out.split()[:3] == ["False", "False", "yes"]
    assert second.out.split()[3] != first.out.strip()


def test_how_it_ends_is_seen(warm, tmp_path):
    failed = run(warm, tmp_path, "raise ValueError('no such thing')")
    assert failed.code == 1
    assert failed.err.splitlines()[-1] == "ValueError: no such thing"
    assert run(warm, tmp_path, "import sys; sys.exit(3)").code == 3
    assert run(warm, tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)").code == -15


def test_exit_functions_run(warm, tmp_path):
    done = run(warm, tmp_path, "import atexit; atexit.register(print, 'at the end')")
    assert done.out == "at the end\n"


def test_what_takes_too_long_is_killed_and_the_next_runs(warm, tmp_path):
    began_s = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run(warm, tmp_path, "import time; time.sleep(600)", limit_s=1.0)
    assert time.monotonic() - began_s < 300
    assert run(warm, tmp_path, "print(1)").out == "1\n"


def test_what_it_started_is_killed_with_it(warm, tmp_path):
    # GIVEN a program that starts another one
    text = (
        "import pathlib, subprocess\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "pathlib.Path('child').write_text(str(child.pid))\n"
        "child.wait()"
    )

    # WHEN it takes too long
    with pytest.raises(subprocess.TimeoutExpired):
        run(warm, tmp_path, text, limit_s=10.0)

    # THEN that one has ended, too, or is about to
    child = Path("/proc") / (tmp_path / "child").read_text()
    while child.exists() and ") Z " not in (child / "stat").read_text():
        time.sleep(0.01)
