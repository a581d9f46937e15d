"""Odd places, as containers and clusters have them: the job always runs, and nothing ends in a traceback."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tfdarshan

NEEDED = ("unshare", "setpriv")
pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not all(map(shutil.which, NEEDED)),
    reason="mounts of its own and another user need root, unshare and setpriv",
)
UID = "12345"
# What a shell does before it runs a command; $D is the test's folder, of which some folders stay writable.
KEEP = "for f in logs spool work; do mount --bind $D/$f $D/$f; done;"
PLACES = {
    "ordinary": ":",
    "read-only root": f"{KEEP} mount -o remount,bind,ro /; cd $D/work",
    "noexec temporary folder": "mount -t tmpfs -o noexec,mode=1777 tmpfs $D/tmp; export TMPDIR=$D/tmp",
    "8 MiB /dev/shm": "mount -t tmpfs -o size=8m,mode=1777 tmpfs /dev/shm",
    "no /dev/shm": "mkdir $D/dev; mount -t tmpfs tmpfs $D/dev; for n in null zero full random urandom; "
    "do touch $D/dev/$n; mount --bind /dev/$n $D/dev/$n; done; mount --bind $D/dev /dev",
    "no /proc/sys": "mount -t tmpfs -o ro tmpfs /proc/sys",
    "deleted working directory": "mkdir $D/gone; cd $D/gone; rmdir $D/gone",
    "umask 777": "umask 777",
    "ulimit -n 32": "ulimit -n 32",
    "ulimit -v": "ulimit -v 1000000",
    "ulimit -f 0": "ulimit -f 0",
    "ulimit -u 5": "ulimit -u 5",
}
USERS = {
    "root": ["env"],
    # It may read what root has, as the interpreter may be in root's home.
    "uid without home": [
        "setpriv", "--reuid", UID, "--regid", UID, "--clear-groups",
        "--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search", "env", "-u", "HOME",
    ],
}  # fmt: skip
WORK = """
def work():
    for _ in range(10):
        with open(sys.argv[1], "rb") as file:
            file.read()
    print("done", flush=True)
"""
JOB = f"import sys\n{WORK}\nwork()\n"
PROFILED = f"""
import sys, tfdarshan
{WORK}
session = tfdarshan.profile(sys.argv[2])
try:
    session.start()
except tfdarshan.StorageError as error:
    print(f"tfdarshan: {{error}}", file=sys.stderr)
    session = None
work()
if session:
    session.stop()
"""
TAB = """
import sys
from types import SimpleNamespace
from werkzeug.test import Client
from tfdarshan.tensorboard_plugin.plugin import TfdarshanPlugin
apps = TfdarshanPlugin(SimpleNamespace(logdir=sys.argv[1])).get_plugin_apps()
def ask(route, **arguments):
    response = Client(apps[route]).get(route, query_string=arguments)
    if response.status_code == 422:
        sys.exit(f"tfdarshan: {response.json['error']['message']}")
    assert response.status_code == 200, response.data
    return response.json
listed = ask("/sessions")["sessions"]
assert any(one["state"] == "complete" for one in listed), listed
ask("/page")
ask("/verdicts", look="1")
for one in listed:
    ask("/view", session=one["id"])
"""
KILLED = """
import os, sys, tfdarshan
tfdarshan.profile(sys.argv[2]).start()
open(sys.argv[1], "rb").read()
os.kill(os.getpid(), 9)
"""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    """A finished session of ten reads, and one that was killed; what they are recorded in is beside them."""
    folder = tmp_path_factory.mktemp("recorded")
    for name in ("logs", "spool"):
        (folder / name).mkdir()
    (folder / "data.bin").write_bytes(bytes(777))
    with tfdarshan.profile(folder / "logs", spool_dir=folder / "spool"):
        for _ in range(10):
            (folder / "data.bin").read_bytes()
    return folder


@pytest.fixture
def place(tmp_path, sessions, monkeypatch):
    """A folder with a finished and a killed session, which everybody may write to."""
    monkeypatch.delenv("TFDARSHAN_SPOOL_DIR")
    shutil.copytree(sessions / "logs", tmp_path / "logs")
    for name in ("spool", "work", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "data.bin").write_bytes(bytes(777))
    for name, text in (("job.py", JOB), ("profiled.py", PROFILED), ("tab.py", TAB)):
        (tmp_path / name).write_text(text)
    killed = [sys.executable, "-c", KILLED, str(tmp_path / "data.bin"), str(tmp_path / "logs")]
    environment = {**os.environ, "TFDARSHAN_SPOOL_DIR": str(tmp_path / "spool")}
    assert subprocess.run(killed, env=environment, check=False).returncode == -signal.SIGKILL
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    return tmp_path


def commands(folder: Path) -> dict[str, list[str]]:
    python, data, logs = sys.executable, str(folder / "data.bin"), str(folder / "logs")
    ours = [python, "-m", "tfdarshan"]
    return {
        "run": [*ours, "run", "--logdir", logs, str(folder / "job.py"), data],
        "profile": [python, str(folder / "profiled.py"), data, logs],
        "list": [*ours, "list", logs],
        "summary": [*ours, "summary", logs],
        "tab": [python, str(folder / "tab.py"), logs],
        "recover": [*ours, "recover", logs],
    }


@pytest.mark.long
@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("user", USERS)
def test_the_job_runs_everywhere_and_nothing_is_a_traceback(place, user, name):
    environment = {
        variable: value
        for variable, value in os.environ.items()
        if variable in ("PATH", "LANG", "HOME", "OPENBLAS_NUM_THREADS")
    }
    for verb, command in commands(place).items():
        # WHEN
        limits = f'D="$0"; {PLACES[name]}; exec "$@"'
        done = subprocess.run(
            ["unshare", "-m", "bash", "-c", limits, str(place), *USERS[user], *command],
            cwd=place, env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

        # THEN
        said = f"{verb}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, said
        # What the place lacks is not taken for damage.
        assert "is damaged" not in done.stderr, said
        ours = [line for line in done.stderr.splitlines() if "tfdarshan: " in line]
        if verb in ("run", "profile"):
            assert (done.returncode, done.stdout) == (0, "done\n"), said
            assert len(ours) <= 1, said
        elif done.returncode:
            assert len(ours) == 1, said
        shutil.rmtree(place / "dev", ignore_errors=True)


@pytest.mark.parametrize(
    ("name", "user"),
    [("read-only root", "root"), ("deleted working directory", "root"), ("ordinary", "uid without home")],
)
def test_a_job_is_recorded_in_places_that_only_lack_what_it_does_not_need(place, name, user):
    # WHEN
    limits = f'D="$0"; {PLACES[name]}; exec "$@"'
    for verb in ("run", "list"):
        done = subprocess.run(
            ["unshare", "-m", "bash", "-c", limits, str(place), *USERS[user], *commands(place)[verb]],
            cwd=place, env={"PATH": os.environ["PATH"]},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

        # THEN
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    session = tfdarshan.open_session(place / "logs")
    assert session.meta[0]["started_by"] == "run"
    assert session.files.set_index("path")["POSIX_OPENS"][str(place / "data.bin")] == 10


def test_a_logdir_that_is_a_dangling_link_is_named_and_the_job_runs(place):
    # GIVEN
    (place / "dangling").symlink_to(place / "nowhere")
    command = commands(place)["run"]
    command[command.index("--logdir") + 1] = str(place / "dangling")

    # WHEN
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)

    # THEN
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr == (
        f"tfdarshan: the script runs without being recorded: logdir {place}/dangling is a link to "
        f"{place}/nowhere, which is not there: make that folder, or choose another one.\n"
    )
