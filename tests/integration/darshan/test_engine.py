"""The darshan engine against what has gone wrong with libdarshan at run time."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import tfdarshan
from tfdarshan.engine import LIBRARY_VARIABLE, check_object, choose_engine
from tfdarshan.errors import EngineError

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
while sessions > 0 or forked < forks:
    with tfdarshan.profile(folder + "/logs", engine="darshan", include=[folder + "/"], memory_cap_mb=64,
                           exclude=[folder + "/logs/"], follow_children=False) as session:
        time.sleep(0.02)
    sessions -= 1
    unexplained += session.meta[0]["verify"]["unexplained_rows"]
    engines.add(session.meta[0]["engine"]["name"])
ended = True
[thread.join() for thread in threads]
print(json.dumps({"unexplained": unexplained, "engines": sorted(engines), "forks": forked,
                  "descriptors": len(os.listdir("/proc/self/fd"))}))
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
@pytest.mark.timeout(600)
def test_many_sessions_under_busy_threads_and_forks(
    libdarshan: str, run_child: RunChild, tmp_path: Path
) -> None:
    # GIVEN 8 busy threads and a process that forks all the time
    strays = _strays()

    # WHEN 200 sessions follow each other
    done = json.loads(run_child(SESSIONS, str(tmp_path), "200", "200"))

    # THEN all had libdarshan, nothing is unexplained, no descriptor leaked and no file was left
    assert done["engines"] == ["darshan"]
    assert done["unexplained"] == 0
    assert done["forks"] >= 200
    assert done["descriptors"] < 20
    assert _strays() <= strays


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


def _elf(path: Path, *, machine: int) -> Path:
    identification = b"\x7fELF" + bytes([2, 1, 1, 0]) + bytes(8)
    path.write_bytes(identification + struct.pack("<HHI", 3, machine, 1) + bytes(100))
    return path


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path, "cannot be read: No such file or directory"),
        (lambda path: (path.write_text("#!/bin/sh\necho no library\n"), path)[1], "is no shared library"),
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
    monkeypatch.setattr("tfdarshan.engine._loader_knows", lambda name: False)

    # WHEN the engine is chosen
    # THEN auto is the builtin one without a word, and darshan an error that says what to do
    assert choose_engine("auto", None, files=1024, folder=tmp_path).notes == ()
    with pytest.raises(EngineError, match="no libdarshan was found: load your site's darshan module"):
        tfdarshan.profile(tmp_path / "logs", engine="darshan").start()


def _strays() -> set[str]:
    return {name for name in os.listdir("/tmp") if "darshan" in name}
