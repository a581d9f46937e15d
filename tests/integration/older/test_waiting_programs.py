"""Programs that know nothing of tfdarshan wait for a session: a small library loads the core for it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.older.jobs import per_file
from tfdarshan.native._extension import extension_path

# The page of a job is there.
pytestmark = pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="/dev/shm cannot be written")

# Does what each line of its input says, and prints which of our libraries it has then.
PROGRAM = """\
import os, sys, threading, time

DATA = os.environ["JOB_DATA"]

def read():
    for number in range(20):
        with open(f"{DATA}/{number}", "rb", buffering=0) as file:
            assert len(file.read(1000)) == 100

def wait(name):
    # Opens and reads nothing.
    while not os.path.exists(name):
        time.sleep(0.001)

def wait_and_read():
    wait("go")
    read()
    open("done", "a").close()

def read_together():
    while not os.path.exists("go"):
        pass
    read()
    open("done", "a").close()

def start_threads():
    for _ in range(8):
        threading.Thread(target=read_together).start()

def idle_in_a_thread():
    threading.Thread(target=wait, args=("over",)).start()

def fork():
    global child
    if not (child := os.fork()):
        wait_and_read()
        os._exit(0)

def wait_for_child():
    assert os.waitpid(child, 0)[1] == 0

def record():
    import tfdarshan
    with tfdarshan.profile("own"):
        read()

for line in sys.stdin:
    globals()[line.strip()]()
    found = {row.rpartition("/")[2].strip() for row in open("/proc/self/maps") if "tfdarshan/native" in row}
    print(*sorted(name.split(".")[0] for name in found), flush=True)
"""
JOB = """\
arguments = {"text": True, "bufsize": 1, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
program = subprocess.Popen([sys.executable, "program.py"], **arguments)
def order(name):
    program.stdin.write(name + "\\n")
    program.stdin.flush()
    line = program.stdout.readline()
    assert line.endswith("\\n"), (name, program.wait())
    return line.strip()
ORDERS
program.stdin.close()
assert program.wait() == 0
"""
WAITS, JOINED = "libtfdarshan_waiting", "_core libtfdarshan_waiting"


@pytest.fixture
def orders(run, data):
    """A function that runs a job which gives a program orders."""
    (data.parent / "program.py").write_text(PROGRAM)

    def orders(text):
        return run(JOB.replace("ORDERS", text))

    return orders


def session_of(data, name):
    return tfdarshan.open_session(data.parent / name)


def test_the_core_is_loaded_when_a_session_begins(orders, data):
    orders(f"""\
assert order("read") == "{WAITS}"
with tfdarshan.profile("first"):
    assert order("read") == "{JOINED}"
order("read")
with tfdarshan.profile("second"):
    order("read")
    order("read")
order("read")
""")
    assert per_file(session_of(data, "first"), data) == ({1}, {100})
    assert per_file(session_of(data, "second"), data) == ({2}, {200})


def test_a_program_that_starts_after_a_session_does_not_load_the_core(orders, data):
    orders(f"""\
with tfdarshan.profile("first"):
    order("read")
program.stdin.close()
program = subprocess.Popen([sys.executable, "program.py"], **arguments)
assert order("read") == "{WAITS}"
with tfdarshan.profile("second"):
    order("read")
""")
    assert per_file(session_of(data, "first"), data) == ({1}, {100})
    assert per_file(session_of(data, "second"), data) == ({1}, {100})


def test_threads_that_open_at_once_each_get_their_data(orders, data):
    # WHEN eight threads open files as soon as a session has begun, and none of them has looked before
    orders("""\
order("start_threads")
with tfdarshan.profile("logs"):
    open("go", "w").close()
    while not os.path.exists("done"):
        pass
    order("read")
    program.stdin.close()
    assert program.wait() == 0
""")

    # THEN what is recorded is whole: where the core is not loaded in time, first calls may be missing
    files = session_of(data, "logs").files
    mine = (
        files[files["path"].str.startswith(f"{data}/")]
        .groupby("path")[["POSIX_OPENS", "POSIX_BYTES_READ"]]
        .sum()
    )
    assert len(mine) == 20
    assert mine["POSIX_OPENS"].between(1, 9).all()
    assert (mine["POSIX_BYTES_READ"] == 100 * mine["POSIX_OPENS"]).all()


# Loading the core lasts until a thread has read its data; how often threads sleep is told at the end.
SLOW_LOADER = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic int sleeps;

static int sleep_as_ever(const struct timespec *time, struct timespec *left)
{
    return ((int (*)(const struct timespec *, struct timespec *))dlsym(RTLD_NEXT, "nanosleep"))(time, left);
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    atomic_fetch_add(&sleeps, 1);
    return sleep_as_ever(time, left);
}

void *dlopen(const char *file, int mode)
{
    while (file && strstr(file, "/_core.") && access("done", F_OK))
        sleep_as_ever(&(struct timespec){0, 1000000}, NULL);
    return ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(file, mode);
}

__attribute__((destructor)) static void tell(void)
{
    FILE *file = fopen("sleeps", "w");
    fprintf(file, "%d", atomic_load(&sleeps));
    fclose(file);
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_threads_do_not_wait_for_a_core_that_takes_long_to_load(orders, data):
    # GIVEN a loader that loads the core only when a thread has done all of its work
    folder = data.parent
    (folder / "slow.c").write_text(SLOW_LOADER)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "slow.so", folder / "slow.c"], check=True)

    # WHEN eight threads open files as soon as a session has begun
    orders(f"""\
program.stdin.close()
environment = os.environ | {{"LD_PRELOAD": "{folder}/slow.so"}}
program = subprocess.Popen([sys.executable, "program.py"], env=environment, **arguments)
order("start_threads")
with tfdarshan.profile("logs"):
    open("go", "w").close()
    while not os.path.exists("done"):
        pass
    program.stdin.close()
    assert program.wait() == 0
""")

    # THEN each has waited a little, for 50 ms at most, and not for the core
    assert 0 < int((folder / "sleeps").read_text()) <= 9 * 50


def test_children_of_a_program_that_waits_join_too(orders, data):
    # WHEN a child is forked before a session, and reads in it; its parent does nothing
    orders("""\
order("fork")
with tfdarshan.profile("logs"):
    open("go", "w").close()
    order("wait_for_child")
""")

    # THEN
    assert per_file(session_of(data, "logs"), data) == ({1}, {100})


@pytest.mark.filterwarnings("ignore:This process")
def test_children_that_were_forked_beside_threads_go_on_unseen(orders, data):
    # WHEN a program that waits has a thread, which may hold the loader's locks when it forks
    orders("""\
order("idle_in_a_thread")
order("fork")
with tfdarshan.profile("logs"):
    open("go", "w").close()
    order("wait_for_child")
open("over", "w").close()
""")

    # THEN its child has read, and is not in the session
    assert (data.parent / "done").exists()
    assert not session_of(data, "logs").files["path"].str.startswith(f"{data}/").any()


def test_a_program_that_waits_records_itself(orders, data):
    # WHEN it imports tfdarshan, and records a session of its own before one of the job
    orders(f"""\
assert order("record") == "{JOINED}"
with tfdarshan.profile("logs"):
    order("read")
""")

    # THEN what the interpreter opens is in both: its slots are the core's now
    assert per_file(session_of(data, "own"), data) == ({1}, {100})
    assert per_file(session_of(data, "logs"), data) == ({1}, {100})


def test_a_program_with_an_environment_of_its_own_does_not_wait(orders, data):
    orders("""\
program.stdin.close()
program = subprocess.Popen([sys.executable, "program.py"], env={"JOB_DATA": DATA}, **arguments)
assert order("read") == ""
with tfdarshan.profile("logs"):
    assert order("read") == ""
""")
    assert not session_of(data, "logs").files["path"].str.startswith(f"{data}/").any()


CORE = extension_path()
LIBRARY = Path(CORE).with_name("libtfdarshan_waiting.so")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "nonsense",
        "::",
        "1-2-3:/nowhere/core",
        f"junk:{LIBRARY}",
        f"1-2-:{LIBRARY}",
        f"4194303-1-4026531836:{LIBRARY}",
        f"4194303-1-4026531836:{CORE}",
        f"4194303-1-4026531836:{CORE}:/nowhere",
    ],
)
def test_a_name_that_means_no_job_is_nothing_to_a_program(python, environment, name):
    # WHEN
    ran = subprocess.run(
        [python, "-c", "print(open('/proc/self/comm').read() != '')"],
        env={**environment, "TFDARSHAN_SESSION": name},
        capture_output=True,
        text=True,
        timeout=200,
    )

    # THEN it runs as ever, and nothing is made for a job that is over
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "True\n", "")
    assert not list(Path("/dev/shm").glob("tfdarshan-job-*-4194303-1"))
