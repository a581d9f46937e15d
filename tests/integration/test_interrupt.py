"""Ctrl-C while a session is started or written: nothing is lost, and the job ends as interrupted."""

import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest

import tfdarshan
from tfdarshan.commands import main

ENTRY_POINT = "import sys; from tfdarshan.commands import main; sys.exit(main())"

# Interrupts itself as often as it is told where the function it is told begins.
INTERRUPTED = """
import importlib, os, signal, sys, tfdarshan
point, times = sys.argv[1], int(sys.argv[2])
module, _, name = point.partition(":")
owner = importlib.import_module(module)
*path, name = name.split(".")
for part in path:
    owner = getattr(owner, part)
original = getattr(owner, name)
def struck(*arguments, **options):
    global times
    times, now = 0, times
    for _ in range(now):
        os.kill(os.getpid(), signal.SIGINT)
    return original(*arguments, **options)
setattr(owner, name, struck)
def work():
    with open("x.bin", "wb") as file:
        file.write(bytes(4567))
"""
JOBS = {
    "run": "work()\n",
    "with": "with tfdarshan.profile('logs'): work()\n",
    "at exit": "tfdarshan.profile('logs').start()\nwork()\n",
}
POINTS = (
    "tfdarshan.recording.active_recording:Recording.detach",
    "tfdarshan.recording.profiler:Profile.release",
    "tfdarshan.recording.writing.writer:write_session",
    "tfdarshan.recording.writing.writer:write_events",
    "tfdarshan.recording.writing.writer:write_json",
    "tfdarshan.recording.active_recording:remove_spool",
)
# In `make test` each point with one way and each way with two points, in the long tests all.
EACH_POINT = [
    pytest.param(point, way, marks=() if number % len(JOBS) == place % len(JOBS) else pytest.mark.long)
    for number, point in enumerate(POINTS)
    for place, way in enumerate(JOBS)
]


def run_job(folder, job, *arguments, way="with"):
    """Run a job, under `tfdarshan run` where that is the way."""
    (folder / "job.py").write_text(job)
    words = ["-c", ENTRY_POINT, "run", "job.py"] if way == "run" else ["job.py"]
    return subprocess.run(
        [sys.executable, *words, *arguments],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def written_bytes(folder):
    files = tfdarshan.open_session(folder / "logs").files
    return files.loc[files["path"] == str(folder / "x.bin"), "POSIX_BYTES_WRITTEN"].tolist()


@pytest.mark.parametrize(("point", "way"), EACH_POINT)
def test_the_session_is_written_and_the_job_ends_by_sigint(tmp_path, spool_folder, point, way):
    # WHEN
    done = run_job(tmp_path, INTERRUPTED + JOBS[way], point, "1", way=way)

    # THEN
    assert done.returncode == -signal.SIGINT, done.stderr
    assert "Exception ignored" not in done.stderr
    assert ("KeyboardInterrupt" in done.stderr) == (way == "with")
    assert done.stderr.count("tfdarshan recover") == 1
    assert written_bytes(tmp_path) == [4567]
    assert list(spool_folder.iterdir()) == []


@pytest.mark.parametrize(("point", "way"), EACH_POINT[: -len(JOBS)])  # but for the removal of the spool
def test_a_second_interrupt_ends_at_once_and_loses_nothing(tmp_path, monkeypatch, point, way):
    # WHEN
    done = run_job(tmp_path, INTERRUPTED + JOBS[way], point, "2", way=way)

    # THEN it has ended as an interrupted job does
    assert done.returncode == -signal.SIGINT, done.stderr
    assert "Exception ignored" not in done.stderr
    # AND what it printed writes the session, where it had not been
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"`(tfdarshan recover [^`]*)`", done.stderr)
    assert commands
    assert main(shlex.split(commands[-1])[1:]) == 0
    assert written_bytes(tmp_path) == [4567]


def test_an_interrupt_while_the_spool_is_removed_leaves_none(tmp_path, spool_folder):
    # WHEN
    done = run_job(
        tmp_path, INTERRUPTED + JOBS["with"], "tfdarshan.recording.active_recording:remove_spool", "2"
    )

    # THEN
    assert done.returncode == -signal.SIGINT
    assert "interrupted before it was written" not in done.stderr
    assert written_bytes(tmp_path) == [4567]
    assert list(spool_folder.iterdir()) == []


def test_a_job_that_was_interrupted_before_ends_by_sigint(tmp_path):
    # GIVEN a job that Ctrl-C has ended, and whose session is written in an exit function
    job = "import tfdarshan\ntfdarshan.profile('logs').start()\nraise KeyboardInterrupt\n"

    # WHEN
    done = run_job(tmp_path, job)

    # THEN
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")
    assert tfdarshan.open_session(tmp_path / "logs").path.exists()


@pytest.mark.parametrize("times", [1, 2])
def test_a_job_that_catches_it_goes_on(tmp_path, times):
    # GIVEN
    job = INTERRUPTED + (
        "try:\n    with tfdarshan.profile('logs'): work()\n"
        "except KeyboardInterrupt: print('saved')\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
    )

    # WHEN
    done = run_job(tmp_path, job, "tfdarshan.recording.writing.writer:write_files", str(times))

    # THEN
    assert (done.returncode, done.stdout) == (0, "saved\nTrue\n"), done.stderr
    assert ("interrupted before it was written" in done.stderr) == (times == 2)


def test_a_handler_of_the_jobs_own_runs_at_once(tmp_path):
    # GIVEN
    job = INTERRUPTED + (
        "handled = []\n"
        "signal.signal(signal.SIGINT, lambda *_: handled.append((tmp := 'logs', any(\n"
        "    name.endswith('.meta.json') for _, _, names in os.walk('logs') for name in names))))\n"
        "with tfdarshan.profile('logs'): work()\n"
        "print(handled)\n"
    )

    # WHEN
    done = run_job(tmp_path, job, "tfdarshan.recording.writing.writer:write_files", "1")

    # THEN
    assert (done.returncode, done.stdout, done.stderr) == (0, "[('logs', False)]\n", "")
    assert written_bytes(tmp_path) == [4567]


def test_a_handler_that_raises_keeps_what_was_recorded(tmp_path):
    # GIVEN a job that ends in its handler, as jobs that a scheduler stops do
    job = INTERRUPTED + (
        "def end(*_): sys.exit(5)\n"
        "signal.signal(signal.SIGINT, end)\n"
        "with tfdarshan.profile('logs'): work()\n"
    )

    # WHEN
    done = run_job(tmp_path, job, "tfdarshan.recording.writing.writer:write_files", "1")

    # THEN
    assert (done.returncode, done.stderr.count("\n")) == (5, 1)
    assert "interrupted before it was written" in done.stderr
    assert main(["recover", str(tmp_path / "logs")]) == 0
    assert written_bytes(tmp_path) == [4567]


IN_THE_BACKGROUND = """
import atexit, os, signal, sys, threading, time, tfdarshan
from tfdarshan.sessions import background_writer
ending = threading.Event()
def write():
    main = threading.main_thread().ident
    while sys._current_frames()[main].f_code.co_name != "_shutdown":
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
    while not ending.wait(10):  # it came just before the wait began, which it then does not end
        os.kill(os.getpid(), signal.SIGINT)
    recording.write()
profile = tfdarshan.profile("logs").start()
with open("x.bin", "wb") as file:
    file.write(bytes(4567))
profile.detach()
recording = profile.release()
background_writer.submit(write)
atexit.register(ending.set)
"""


def test_a_session_that_is_written_in_the_background_is_waited_for(tmp_path, spool_folder):
    # GIVEN a job at whose end a session is still being written, as one of TensorFlow's profiler is

    # WHEN Ctrl-C comes while Python waits for the thread
    run_job(tmp_path, IN_THE_BACKGROUND)

    # THEN
    assert written_bytes(tmp_path) == [4567]
    assert list(spool_folder.iterdir()) == []


@pytest.mark.parametrize("way", ["run", "with"])
@pytest.mark.parametrize(
    "point",
    [
        "tfdarshan.native._bridge:start_session",
        "tfdarshan.recording.active_recording:write_marker",
        "tfdarshan.recording.steps:begin_log",
    ],
)
def test_an_interrupted_start_leaves_nothing_behind(tmp_path, spool_folder, way, point):
    # GIVEN
    job = INTERRUPTED + JOBS["with"]
    if way == "run":
        job = (
            INTERRUPTED
            + "import runpy\nfrom tfdarshan.commands import main\nsys.exit(main(['run', 'x.py']))\n"
        )
        (tmp_path / "x.py").write_text("")

    # WHEN
    done = run_job(tmp_path, job, point, "1")

    # THEN
    assert done.returncode == -signal.SIGINT
    assert "Exception ignored" not in done.stderr
    assert not any((tmp_path / "logs").rglob("*"))
    assert list(spool_folder.iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize("way", JOBS)
def test_interrupts_at_any_time_lose_nothing(tmp_path, spool_folder, way):
    # GIVEN a job of many files, which says when its I/O is done, and how long it then takes to end
    job = (
        "import os, tfdarshan\n"
        "def work():\n"
        "    for n in range(3000): open('x.bin', 'ab').close()\n"
        "    open('x.bin', 'wb').write(bytes(4567))\n"
        "    open('done', 'w').close()\n"
    ) + JOBS[way]
    words = ["-c", ENTRY_POINT, "run", "job.py"] if way == "run" else ["job.py"]
    (tmp_path / "job.py").write_text(job)
    generator = random.Random(20_261_122)
    began = time.monotonic()
    spans: list[float] = []
    for number in range(41):
        folder = tmp_path / str(number)
        folder.mkdir()
        process = subprocess.Popen(
            [sys.executable, *(word.replace("job.py", str(tmp_path / "job.py")) for word in words)],
            cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while not (folder / "done").exists():
            assert time.monotonic() - began < 3000
            time.sleep(0.001)
        reached = time.monotonic()
        if number:
            # WHEN
            time.sleep(generator.uniform(0, 1.2 * spans[0]))
            process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
        spans.append(time.monotonic() - reached)

        # THEN
        assert process.returncode in ((0, -signal.SIGINT) if number else (0,)), said
        assert "Exception ignored in atexit" not in said
        assert written_bytes(folder) == [4567], said
    assert not any(os.scandir(spool_folder))


def test_a_verb_that_is_interrupted_ends_by_sigint_without_a_traceback(tmp_path):
    # GIVEN a verb that Ctrl-C comes to
    struck = "from tfdarshan.commands import doctor\nimport os, signal\n"
    struck += "doctor.command = lambda _: os.kill(os.getpid(), signal.SIGINT)\n"

    # WHEN
    words = [sys.executable, "-c", struck + ENTRY_POINT, "doctor"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)

    # THEN
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


NO_THREADS = """
import os, sys, threading
import tfdarshan

class Seen:
    def find_spec(self, name, *_):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_NUM_THREADS"))

def refuse(thread):
    raise RuntimeError("can't start new thread")

session = tfdarshan.profile(sys.argv[1]).start()
sys.meta_path.insert(0, Seen())
os.sched_getaffinity = lambda pid: {0, 1}
threading.Thread.start = refuse
session.stop()
print(os.environ.get("OPENBLAS_NUM_THREADS"))
"""


def test_a_process_that_may_start_no_threads_loads_numpy_without_any(tmp_path):
    # WHEN it stops a session, for which NumPy's OpenBLAS would start threads, or send it SIGINT
    ran = subprocess.run(
        [sys.executable, "-c", NO_THREADS, tmp_path / "logs"], capture_output=True, text=True, check=False
    )

    # THEN OpenBLAS is told to start none, and the job's setting is as it was
    assert (ran.returncode, ran.stdout) == (0, "1\nNone\n"), ran.stderr
    assert len(tfdarshan.find_sessions(tmp_path / "logs")) == 1
