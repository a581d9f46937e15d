"""Programs that know nothing of tfdarshan wait for a session: a small library loads the core for it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.older.jobs import FILES, per_file
from tfdarshan.native._extension import extension_path

# The page of a job is there.
pytestmark = pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="/dev/shm cannot be written")

# Does what each line of its input says, and prints which of our libraries it has then.
PROGRAM = """\
import os, sys, threading, time

THREADS = 8
DATA = os.environ["JOB_DATA"]

def read():
    for number in range(20):
        with open(f"{DATA}/{number}", "rb", buffering=0) as file:
            assert len(file.read(1_000_000)) == os.fstat(file.fileno()).st_size

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
    for _ in range(THREADS):
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
THREADS = 8
WAITS, JOINED = "libtfdarshan_waiting", "_core libtfdarshan_waiting"
# A program that writes its own session adds up its calls, and can note steps.
RECORDS = f"_aggregate _batches {JOINED}"


@pytest.fixture
def orders(run, data):
    """A function that runs a job which gives a program orders."""
    (data.parent / "program.py").write_text(PROGRAM)

    def orders(text):
        return run(JOB.replace("ORDERS", text))

    return orders


MISSED = r"up to (\d+) opens? (?:was|were) not recorded: made while the process took long to join"


def session_of(data, name):
    return tfdarshan.open_session(data.parent / name)


def check_opens(session, data, made):
    """Check that opens are recorded, or said to be missing; one of each thread may be both, just in time."""
    (process,) = (process for process in session.processes if not process.meta["owner"])
    said = "".join(process.meta["bounds"])
    missed = int(re.fullmatch(MISSED, said)[1]) if said else 0
    mine = session.files["path"].str.startswith((f"{data}/", f"{data.parent}/done"))
    lacking = made - int(session.files[mine]["POSIX_OPENS"].sum())
    assert lacking <= missed <= lacking + THREADS
    return process


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

    # THEN all is recorded, or the session says what is missing where the core was not loaded in time
    check_opens(session_of(data, "logs"), data, (THREADS + 1) * FILES + THREADS)


# Loading the core lasts until a thread has read its data, asleep or busy as LOADER says; or its look for
# slots lasts. How often threads sleep meanwhile is told at the end.
SLOW_LOADER = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

static void wait_until_done(int most_ms)
{
    for (int slept_ms = 0; slept_ms < most_ms && access("done", F_OK); slept_ms++)
        sleep_as_ever(&(struct timespec){0, 1000000}, NULL);
}

static void wait_asleep(void)
{
    char *const environment[] = {NULL};
    pid_t child = vfork();
    if (!child) {
        execle("/bin/sh", "sh", "-c", "until [ -e done ]; do sleep 0.01; done", NULL, environment);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

static int is(const char *loader)
{
    return !strcmp(getenv("LOADER"), loader);
}

static _Atomic int looks_late;

void *dlopen(const char *file, int mode)
{
    if (file && strstr(file, "/_core.")) {
        if (is("asleep"))
            wait_asleep();
        if (is("busy"))
            wait_until_done(100000);
        atomic_store(&looks_late, is("late"));
    }
    return ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(file, mode);
}

int dl_iterate_phdr(int (*look)(struct dl_phdr_info *, size_t, void *), void *data)
{
    typedef int iterate(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    if (atomic_exchange(&looks_late, 0))
        wait_until_done(50);
    return ((iterate *)dlsym(RTLD_NEXT, "dl_iterate_phdr"))(look, data);
}

__attribute__((destructor)) static void tell(void)
{
    FILE *file = fopen("sleeps", "w");
    fprintf(file, "%d", atomic_load(&sleeps));
    fclose(file);
}
"""
LARGE_BYTES, OTHER_BYTES = 300_000, 100_000
# A millisecond each: 50 for a loader that sleeps, a second for one that works, and 50 for the kernel's count.
MOST_SLEEPS = {"asleep": 50 + 50, "busy": 1_000 + 50}


@pytest.fixture
def eight_threads(orders, data):
    """A function that has eight threads open files as soon as a session has begun; it gives the session."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    folder = data.parent
    (folder / "slow.c").write_text(SLOW_LOADER)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "slow.so", folder / "slow.c"], check=True)

    def run(loader):
        orders(f"""\
program.stdin.close()
environment = os.environ | {{"LD_PRELOAD": "{folder}/slow.so", "LOADER": "{loader}"}}
program = subprocess.Popen([sys.executable, "program.py"], env=environment, **arguments)
order("start_threads")
with tfdarshan.profile("logs"):
    open("go", "w").close()
    while not os.path.exists("done"):
        pass
    program.stdin.close()
    assert program.wait() == 0
""")
        return session_of(data, "logs")

    return run


@pytest.mark.parametrize("loader", MOST_SLEEPS)
def test_threads_do_not_wait_for_a_core_that_takes_long_to_load(eight_threads, data, loader):
    # GIVEN a loader that loads the core only when a thread has done all of its work
    folder = data.parent
    for number in range(FILES):
        (data / str(number)).write_bytes(bytes(LARGE_BYTES))

    # WHEN
    session = eight_threads(loader)

    # THEN each has waited a little, and not for the core
    assert 0 < int((folder / "sleeps").read_text()) <= (THREADS + 1) * MOST_SLEEPS[loader]

    # THEN the session says how many opens it lacks
    process = check_opens(session, data, THREADS * (FILES + 1))
    assert len(process.meta["bounds"]) == 1

    # THEN what the kernel counted has the bytes, which count as not seen
    assert 0 <= process.meta["kernel"]["rchar"] - THREADS * FILES * LARGE_BYTES < OTHER_BYTES


def test_no_call_passes_between_the_library_that_waits_and_the_core(eight_threads, data):
    # WHEN the core takes long to look where its functions belong
    session = eight_threads("late")

    # THEN threads have waited until they are there
    check_opens(session, data, THREADS * (FILES + 1))


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
assert order("record") == "{RECORDS}"
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
