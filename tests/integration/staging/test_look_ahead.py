"""Originals that are looked at ahead, while the program starts: which, for whom, and what waits for it."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.staging.opened_paths import change_elsewhere, opened
from tests.integration.staging.tree import make_files, plan_of
from tests.integration.storage_probe.fuse_storage import make_server, possible
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.original_looks import LOOK_AHEAD_PROCESSES
from tfdarshan.staging.plan_file import write_plan
from tfdarshan.workloads.fuse_mount import fuse_mount

COUNT = 24
ENOUGH_S = 60.0
NEVER_S = 1000.0


def stage(slow, folder):
    """Stage all files; return the plan's path."""
    (folder / "fast").mkdir()
    plan = plan_of(slow, folder / "fast")
    apply_plan(plan, ApplyOptions())
    write_plan(plan, folder / "plan.json")
    return folder / "plan.json"


@pytest.fixture
def job(tmp_path):
    """Files, all staged, and the plan."""
    make_files(tmp_path / "slow", COUNT)
    stage(tmp_path / "slow", tmp_path)
    return tmp_path


def looked_at(files, count):
    """Look ahead, and wait until so many originals were looked at; say whether they were."""
    files.look_ahead()
    until_s = time.monotonic() + ENOUGH_S
    while files.totals.looked_ahead < count and time.monotonic() < until_s:
        time.sleep(0.001)
    return files.totals.looked_ahead == count


def test_what_was_looked_at_ahead_is_not_looked_at_when_it_is_opened(job):
    # GIVEN originals that change after they were looked at, and before anything opened them
    original, copy = (str(job / tier / "0008.bin") for tier in ("slow", "fast"))
    with tfdarshan.staged(job / "plan.json") as files:
        assert looked_at(files, COUNT)
        change_elsewhere(original, "changed")

        # WHEN one is opened here, and in a program that the job starts
        read = f"import os; print(os.fstat(os.open({original!r}, os.O_RDONLY)).st_size)"
        started = subprocess.check_output([sys.executable, "-c", read], text=True)

        # THEN both have the copy until the look holds no longer, or the job itself opens it for writing
        assert opened(original) == copy
        assert int(started) == os.path.getsize(copy)
        with open(original, "r+b"):
            pass
        assert opened(original) == original


def test_what_had_changed_before_is_found_when_it_is_opened(job):
    # GIVEN
    original = str(job / "slow" / "0008.bin")
    change_elsewhere(original, "changed")

    # WHEN
    with tfdarshan.staged(job / "plan.json") as files:
        assert looked_at(files, COUNT - 1)
        found = opened(original)

    # THEN
    assert found == original
    assert (files.totals.copies, files.totals.stale, files.totals.looked_ahead) == (0, 1, COUNT - 1)


@pytest.mark.parametrize(("look_again", "ahead"), [("0", 0), ("60", COUNT)])
def test_run_says_how_many_were_looked_at_and_records_no_call_of_that(job, look_again, ahead):
    # GIVEN a job that ends once the others have been looked at, if any are
    (job / "train.py").write_text(
        "import time\n"
        "from tfdarshan.native._bridge import redirect_totals\n"
        f"until_s = time.monotonic() + {ENOUGH_S}\n"
        f"while redirect_totals().looked_ahead < {ahead} and time.monotonic() < until_s: time.sleep(0.001)\n"
    )

    # WHEN
    words = ["run", "--json", "--logdir", "logs", "--staged", "plan.json", "--look-again", look_again]
    done = subprocess.run(
        [sys.executable, "-m", "tfdarshan", *words, "train.py"], capture_output=True, text=True, cwd=job
    )

    # THEN
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stderr.splitlines()[-1])
    assert said["staged"] == {"copies": 0, "missing": 0, "stale": 0, "looked_ahead": ahead}
    paths = tfdarshan.open_session(job / "logs").files["path"]
    assert not paths.str.startswith(f"{job}/slow/").any()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not possible():
        pytest.skip("needs root, /dev/fuse, gcc and Debian's libfuse3-dev")
    return make_server(tmp_path_factory.mktemp("server"))


@pytest.fixture
def slow_job(tmp_path, server, request):
    """The same on storage that takes some seconds for each name that it is asked for; with its server."""
    make_files(tmp_path / "backing", COUNT)
    model = {"open_s": 0.005, "stat_s": request.param}
    with fuse_mount(server, tmp_path / "backing", tmp_path / "slow", model) as mount:
        stage(tmp_path / "slow", tmp_path)
        mount.begin()
        yield tmp_path, mount


@pytest.mark.parametrize("slow_job", [0.005], indirect=True)
def test_the_opens_of_what_was_looked_at_ask_slow_storage_nothing(slow_job):
    job, mount = slow_job
    names = [file.name for file in plan_of(job / "backing", job / "fast").files]

    # GIVEN
    with tfdarshan.staged(job / "plan.json") as files:
        assert looked_at(files, COUNT)
        before = mount.answered()

        # WHEN
        for name in names:
            (job / "slow" / name).read_bytes()

        # THEN
        assert mount.answered() == before
    assert files.totals.copies == COUNT


HELD_UP = """
import os, subprocess, sys, time
def looking():
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = dict(line.split(":", 1) for line in open(f"/proc/{number}/status"))
            if status["Name"].strip() == "tfd-look" and int(status["PPid"]) == os.getpid():
                return int(number), int(status["SigBlk"], 16), len(os.listdir(f"/proc/{number}/fd"))
        except OSError:
            pass
while not looking() or looking()[2]:
    time.sleep(0.001)
helper, blocked, _ = looking()
child = os.fork()
if not child:
    os._exit(len(os.listdir("/proc/self/task")))
assert os.wait() == (child, len(os.listdir("/proc/self/task")) << 8)
try:
    print(os.wait())
except ChildProcessError:
    print("no child")
subprocess.run([sys.executable, "-c", "pass"], check=True)
print(helper, f"{blocked:x}", flush=True)
if sys.argv[1:]:
    os.execv(sys.executable, [sys.executable, "-c", "print('done')"])
print("done")
"""


@pytest.mark.parametrize("slow_job", [NEVER_S], indirect=True)
@pytest.mark.parametrize("way", [[], ["exec"]], ids=["exit", "exec"])
def test_storage_that_does_not_answer_holds_up_no_job_that_does_not_read_it(slow_job, way):
    job, mount = slow_job
    (job / "train.py").write_text(HELD_UP)

    # WHEN a job starts, forks, starts a program, and ends or becomes another program
    words = ["run", "--logdir", job / "logs", "--staged", job / "plan.json", job / "train.py", *way]
    done = subprocess.run(
        [sys.executable, "-m", "tfdarshan", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=ENOUGH_S,
        cwd=job,
    )

    # THEN it does all that; what looks is no child that it can wait for, and hears no signal of its terminal
    assert done.returncode == 0, done.stderr
    none, (helper, blocked), last = (line.split() for line in done.stdout.splitlines())
    assert (none, last) == (["no", "child"], ["done"])
    unblockable = {signal.SIGKILL, signal.SIGSTOP, 32, 33}  # the C library keeps two for itself
    assert {n for n in range(1, 65) if not int(blocked, 16) >> (n - 1) & 1} == unblockable
    # AND it has ended with the job once storage lets it
    os.kill(mount.server, signal.SIGKILL)
    subprocess.run(["fusermount3", "-u", "-z", str(mount.mount_point)], check=True)
    until_s = time.monotonic() + ENOUGH_S
    while Path(f"/proc/{helper}").exists() and time.monotonic() < until_s:
        time.sleep(0.001)
    assert not Path(f"/proc/{helper}").exists()


def looking():
    """Count the processes that look ahead for this one: a child, and what that has started."""
    parents = {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            name, fields = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)
            # Those of an earlier test have ended, and stay as long as this process does.
            if name.endswith("(tfd-look") and fields.split()[0] != "Z":
                parents[int(number)] = int(fields.split()[1])
    ours = [os.getpid()]
    for above in ours:
        ours += [number for number, parent in parents.items() if parent == above]
    return len(ours) - 1


@pytest.mark.parametrize("slow_job", [0.02], indirect=True)
def test_slow_looks_are_made_by_several_processes_at_a_time(slow_job):
    job, _ = slow_job

    # WHEN
    most = 0
    with tfdarshan.staged(job / "plan.json") as files:
        files.look_ahead()
        until_s = time.monotonic() + ENOUGH_S
        while files.totals.looked_ahead < COUNT and time.monotonic() < until_s:
            most = max(most, looking())

    # THEN
    assert 2 <= most <= LOOK_AHEAD_PROCESSES
