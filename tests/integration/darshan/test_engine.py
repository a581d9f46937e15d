"""The darshan engine against what has gone wrong with libdarshan at run time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

RunChild = Callable[..., str]

THREADS = """
import os, sys, json, threading, tfdarshan
folder = sys.argv[1]
def work(number):
    for turn in range(200):
        name = f"{folder}/{(number * 7 + turn) % 40}"
        fd = os.open(name, os.O_RDWR | os.O_CREAT)
        os.pwrite(fd, b"x" * (turn + 1), turn)
        os.pread(fd, 50, 0); os.read(fd, 10); os.lseek(fd, 3, 0); os.read(fd, 10)
        os.close(fd)
for turn in range(int(sys.argv[2])):
    with tfdarshan.profile(folder + "/logs", engine="darshan", include=[folder + "/"],
                           exclude=[folder + "/logs/"]) as session:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    print(json.dumps(session.meta[0]["verify"]))
"""

SESSIONS = """
import os, sys, json, threading, time, tfdarshan
folder, sessions, forks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for number in range(50):
    open(f"{folder}/{number}", "wb").write(b"x" * 5000)
ended, forked, unexplained, engines = False, 0, 0, set()
def work(own):
    while not ended:
        for number in range(50):
            fd = os.open(f"{folder}/{number}", os.O_RDONLY)
            os.pread(fd, 1000, number); os.read(fd, 10); os.close(fd)
def fork():
    global forked
    while not ended:
        pid = os.fork()
        if pid == 0:
            fd = os.open(f"{folder}/1", os.O_RDONLY); os.read(fd, 10); os.close(fd); os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        forked += 1
threads = [threading.Thread(target=work, args=(own,)) for own in range(8)] + [threading.Thread(target=fork)]
[thread.start() for thread in threads]
def fold_up(session):
    global sessions, unexplained
    sessions -= 1
    unexplained += session.meta[0]["verify"]["unexplained_rows"]
    engines.add(session.meta[0]["engine"]["name"])
    usage.append({"resident_kb": int(open("/proc/self/statm").read().split()[1]) * 4,
                  "maps": len(open("/proc/self/maps").readlines()),
                  "descriptors": len(os.listdir("/proc/self/fd"))})
usage = []
while sessions > 0 or forked < forks:
    with tfdarshan.profile(folder + "/logs", engine="darshan", include=[folder + "/"], memory_cap_mb=64,
                           exclude=[folder + "/logs/"], follow_children=False) as session:
        time.sleep(0.02)
    fold_up(session)
ended = True
[thread.join() for thread in threads]
print(json.dumps({"unexplained": unexplained, "engines": sorted(engines), "forks": forked, "usage": usage}))
"""

BETWEEN = """
import os, sys, json, tfdarshan
from tfdarshan.recording.active_recording import Recording
folder = sys.argv[1]
def read(name, times):
    for _ in range(times):
        fd = os.open(f"{folder}/{name}", os.O_RDONLY); os.read(fd, 10); os.close(fd)
def profile():
    return tfdarshan.profile(folder + "/logs", engine="darshan", include=[folder + "/"],
                             exclude=[folder + "/logs/"])
for name in "ab":
    open(f"{folder}/{name}", "wb").write(b"x" * 100)
write, second = Recording.write, profile()
def write_after_another_session(recording):
    Recording.write = write
    with second:
        read("b", 2); read("a", 5)
    write(recording)
Recording.write = write_after_another_session
with profile() as first:
    read("a", 3)
for session in (first, second):
    counted = session.files.set_index("path")["POSIX_OPENS"]
    print(json.dumps([{os.path.basename(path): int(count) for path, count in counted.items()},
                      session.meta[0]["engine"]["name"], session.meta[0]["verify"]["unexplained_rows"]]))
"""

MANY_FILES = """
import os, sys, json, tfdarshan
folder, count = sys.argv[1], int(sys.argv[2])
with tfdarshan.profile(folder + "/logs", engine="darshan", include=[folder + "/"], trace=False) as session:
    for number in range(count):
        fd = os.open(f"{folder}/{number}", os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"x" * (number % 1000 + 1)); os.close(fd)
meta = session.meta[0]
files = session.files
files = files[files["path"].str.match(rf"{folder}/\\d+$")]
print(json.dumps({"rows": len(files), "bytes": int(files["POSIX_BYTES_WRITTEN"].sum()),
                  "opens": int(files["POSIX_OPENS"].sum()), "engine": meta["engine"],
                  "verify": meta["verify"]}))
"""

SIGNALS = """
import os, sys, json, signal, tfdarshan
folder = sys.argv[1]
read_end, write_end = os.pipe()
os.set_blocking(write_end, False)
signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
with tfdarshan.profile(folder + "/logs", engine="darshan", include=[folder + "/"]) as session:
    fd = os.open(folder + "/file", os.O_RDWR | os.O_CREAT)
    for number in range(100_000):
        os.pwrite(fd, b"12345", 0)
    os.close(fd)
signal.setitimer(signal.ITIMER_REAL, 0)
print(json.dumps(session.meta[0]["verify"]))
"""

OTHER_WAYS = """
import os, sys, json, stat, subprocess, tfdarshan
folder = sys.argv[1]
with tfdarshan.profile(folder + "/logs", engine="darshan", include=[folder + "/"]) as session:
    fd = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o640)
    mode = stat.S_IMODE(os.fstat(fd).st_mode)
    os.write(fd, b"unnamed"); os.close(fd)
    one = os.open(folder + "/one", os.O_RDWR | os.O_CREAT)
    os.write(one, b"x" * 1234)
    for _ in range(20):
        subprocess.run(["true"], stdout=subprocess.DEVNULL, check=True, close_fds=True)
    os.write(one, b"x" * 4321)
    pipe = os.pipe()
    os.dup2(pipe[1], one)
    os.write(one, b"into the pipe")
    os.close(one)
files = session.files.set_index("path")
print(json.dumps({"mode": mode, "written": int(files.loc[folder + "/one", "POSIX_BYTES_WRITTEN"]),
                  "verify": session.meta[0]["verify"]}))
"""

COPIES = """
import fcntl, os, sys, json, tfdarshan
folder = sys.argv[1]
with tfdarshan.profile(folder + "/logs", engine="darshan", include=[folder + "/one"]) as session:
    fd = os.open(folder + "/one", os.O_RDWR | os.O_CREAT)
    for command in (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC):
        copy = fcntl.fcntl(fd, command, 50)
        os.write(copy, b"x" * 1234); os.close(copy)
    os.close(fd)
row = session.files.set_index("path").loc[folder + "/one"]
print(json.dumps({name: int(row[name]) for name in ("POSIX_DUPS", "POSIX_BYTES_WRITTEN", "TFD_UNSEEN_CALLS")}
                 | {"engine": session.meta[0]["engine"]["name"]}))
"""


@pytest.mark.darshan
def test_a_session_between_the_end_of_one_and_its_writing_changes_neither(
    libdarshan: str, run_child: RunChild, tmp_path: Path
) -> None:
    # WHEN another session runs after one was detached and before it is written
    sessions = [json.loads(line) for line in run_child(BETWEEN, str(tmp_path)).splitlines()]

    # THEN each has libdarshan's counters of its own calls
    assert sessions == [[{"a": 3}, "darshan", 0], [{"a": 5, "b": 2}, "darshan", 0]]


@pytest.mark.darshan
@pytest.mark.timeout(600)
def test_sixteen_threads_on_the_same_files_agree_in_every_counter(
    libdarshan: str, run_child: RunChild, tmp_path: Path
) -> None:
    # GIVEN 16 threads that read and write the same 40 files, so that order decides about many counters
    # WHEN five sessions record them
    results = [json.loads(line) for line in run_child(THREADS, str(tmp_path), "5").splitlines()]

    # THEN the engines agree on each file
    assert len(results) == 5
    for verify in results:
        kinds = {entry["kind"] for entry in verify["differences"]}
        assert verify["rows"] == 40
        assert kinds <= {"two clocks", "earlier sessions"}, verify


@pytest.mark.darshan
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("sessions", "forks"), [(20, 50), pytest.param(200, 1000, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_many_sessions_under_busy_threads_and_forks(
    libdarshan: str, run_child: RunChild, tmp_path: Path, sessions: int, forks: int
) -> None:
    # GIVEN 8 busy threads and a process that forks all the time
    own = tmp_path / "tmp"
    own.mkdir()
    strays = _strays(own)

    # WHEN sessions follow each other
    arguments = (str(tmp_path), str(sessions), str(forks))
    done = json.loads(run_child(SESSIONS, *arguments, timeout_s=1700, TMPDIR=str(own)))

    # THEN all had libdarshan, nothing is unexplained, and no file was left
    assert done["engines"] == ["darshan"]
    assert done["unexplained"] == 0
    assert done["forks"] >= forks
    assert len(done["usage"]) >= sessions
    assert _strays(own) <= strays
    # and after the first quarter nothing grows with the number of sessions
    early, late = (_highest(done["usage"][part]) for part in _quarters(sessions))
    print(f"{len(done['usage'])} sessions, {done['forks']} forks, at most {early} early and {late} late")
    assert late["descriptors"] <= early["descriptors"] + 8
    assert late["maps"] <= early["maps"] + 20
    assert late["resident_kb"] <= early["resident_kb"] + 60_000


def _quarters(sessions: int) -> tuple[slice, slice]:
    """The second quarter of the sessions, by when all libraries are loaded, and the last."""
    return slice(sessions // 4, sessions // 2), slice(-sessions // 4, None)


def _highest(usage: list[dict[str, int]]) -> dict[str, int]:
    return {name: max(entry[name] for entry in usage) for name in usage[0]}


@pytest.mark.darshan
@pytest.mark.timeout(600)
def test_a_hundred_thousand_files_are_all_there(libdarshan: str, run_child: RunChild, tmp_path: Path) -> None:
    # GIVEN more files than libdarshan has room for by default
    # WHEN a session records them
    done = json.loads(run_child(MANY_FILES, str(tmp_path), "100000"))

    # THEN each has libdarshan's counters
    assert done["rows"] == done["opens"] == 100_000
    assert done["bytes"] == sum(number % 1000 + 1 for number in range(100_000))
    assert done["engine"]["rows"] == 100_000
    assert done["verify"]["unexplained_rows"] == 0


@pytest.mark.darshan
def test_a_signal_handler_that_writes_does_not_hang(
    libdarshan: str, run_child: RunChild, tmp_path: Path
) -> None:
    # GIVEN Python's wakeup descriptor, which a signal handler writes to, often
    # WHEN 100,000 calls pass libdarshan meanwhile
    verify = json.loads(run_child(SIGNALS, str(tmp_path)))

    # THEN it ends, and the file's counters agree
    assert verify["unexplained_rows"] == 0
    assert {entry["kind"] for entry in verify["differences"]} <= {"two clocks"}


@pytest.mark.darshan
def test_what_must_not_pass_libdarshan_does_not(libdarshan: str, run_child: RunChild, tmp_path: Path) -> None:
    # GIVEN a file without a name, children of vfork, and a descriptor taken over by a pipe
    # WHEN a session records them
    done = json.loads(run_child(OTHER_WAYS, str(tmp_path)))

    # THEN the mode is as asked for, and no byte of a child or of the pipe is charged to the file
    assert done["mode"] == 0o640
    assert done["written"] == 1234 + 4321
    assert done["verify"]["unexplained_rows"] == 0


@pytest.mark.darshan
def test_it_knows_a_descriptor_that_fcntl_copied(
    libdarshan: str, run_child: RunChild, tmp_path: Path
) -> None:
    # WHEN a file is written through two copies of its descriptor
    done = json.loads(run_child(COPIES, str(tmp_path)))

    # THEN libdarshan saw all of it
    assert done == {
        "engine": "darshan",
        "POSIX_DUPS": 2,
        "POSIX_BYTES_WRITTEN": 2 * 1234,
        "TFD_UNSEEN_CALLS": 0,
    }


@pytest.mark.darshan
def test_a_preloaded_libdarshan_is_read(libdarshan: str, run_child: RunChild, tmp_path: Path) -> None:
    # GIVEN a libdarshan that the site preloads
    code = (
        "import sys, json, os, tfdarshan\n"
        "folder = sys.argv[1]\n"
        "with tfdarshan.profile(folder + '/logs', include=[folder + '/']) as session:\n"
        "    fd = os.open(folder + '/one', os.O_RDWR | os.O_CREAT); os.write(fd, b'x' * 77); os.close(fd)\n"
        "files = session.files.set_index('path')\n"
        "written = int(files.loc[folder + '/one', 'POSIX_BYTES_WRITTEN'])\n"
        "print(json.dumps([session.meta[0]['engine'], written]))\n"
    )
    preload = {
        "LD_PRELOAD": libdarshan,
        "DARSHAN_ENABLE_NONMPI": "1",
        "DARSHAN_LOGFILE": str(tmp_path / "log"),
    }

    # WHEN a session starts
    engine, written = json.loads(
        run_child(
            code, str(tmp_path), **preload, TFDARSHAN_DARSHAN_LIBRARY="", DARSHAN_EXCLUDE_DIRS="/nowhere"
        )
    )

    # THEN it is used as it is, and still writes its own log
    assert engine["name"] == "darshan"
    assert engine["source"] == "already in the process"
    assert written == 77
    assert (tmp_path / "log").stat().st_size > 0


def _strays(own: Path) -> set[str]:
    """Name what the job has in its folder for temporary files, and logs of libdarshan in the common one."""
    logs = {name for name in os.listdir("/tmp") if "darshan" in name and "tfdarshan" not in name}
    return logs | set(os.listdir(own))
