"""Workers that are older than a session join it, and the next one: counted to the call."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.older.jobs import TWO_SESSIONS, per_file
from tfdarshan.findings.diagnosis import summary_and_diagnosis

# The page of a job is there.
pytestmark = pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="/dev/shm cannot be written")

A_THREAD = """\
over = threading.Event()
thread = threading.Thread(target=over.wait)
thread.start()
"""


def pages_of(pid):
    return list(Path("/dev/shm").glob(f"tfdarshan-job-*-{pid}-*"))


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_workers_are_in_each_session_that_begins_after_them(run, data, spools, way):
    # WHEN a pool that has worked already reads 20 files in a session, and twice in the next one
    run(TWO_SESSIONS, way)

    # THEN each session has what was read while it recorded, and by workers alone
    for name, times in (("first", 1), ("second", 2)):
        session = tfdarshan.open_session(data.parent / name)
        assert per_file(session, data) == ({times}, {times * 100})
        owner = next(process.pid for process in session.processes if process.meta["owner"])
        files = session.files
        assert not (files["path"].str.startswith(f"{data}/") & (files["pid"] == owner)).any()
    # ... and nothing stays behind
    assert os.listdir(spools) == []


@pytest.mark.filterwarnings("ignore:This process")
def test_workers_that_were_forked_beside_threads_join(run, data):
    run(A_THREAD + TWO_SESSIONS + "over.set()\n", "fork")
    assert per_file(tfdarshan.open_session(data.parent / "first"), data) == ({1}, {100})
    assert per_file(tfdarshan.open_session(data.parent / "second"), data) == ({2}, {200})


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_what_they_read_before_the_session_is_not_missing_in_it(run, data, way):
    # WHEN workers read 40 MB, a session begins, they read 2 kB, and the job waits for their end
    body = """\
pool = pool_of(sys.argv[1])
with open(f"{DATA}/large", "wb") as file:
    file.truncate(1_000_000)
assert len(pool.map(read_large, range(40))) == 40
with tfdarshan.profile("logs"):
    read_all(pool)
    pool.close()
    pool.join()
"""
    run(body, way)

    # THEN the kernel's figures are compared without the 40 MB
    session = tfdarshan.open_session(data.parent / "logs")
    read = summary_and_diagnosis(session, top=1)[0].coverage.read
    assert read.earlier >= 40_000_000
    assert read.kernel < 5_000_000
    assert read.unseen < 5_000_000


def test_workers_of_one_session_are_in_the_next(run, data):
    # WHEN a pool is made while a session records, and the next session begins
    body = """\
with tfdarshan.profile("first"):
    pool = pool_of("spawn")
    other = pool_of("fork")
read_all(pool)
with tfdarshan.profile("second"):
    read_all(pool)
    read_all(other)
"""
    run(body)

    # THEN
    assert per_file(tfdarshan.open_session(data.parent / "first"), data) == ({2}, {200})
    assert per_file(tfdarshan.open_session(data.parent / "second"), data) == ({2}, {200})


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_what_a_library_opens_is_seen_from_the_first_task_on(run, data, way):
    # WHEN workers open a file that the interpreter does not open itself
    body = f"""\
sqlite3.connect("numbers.db").execute("create table numbers as select 1")
pool = multiprocessing.get_context("{way}").Pool(2)
assert pool.map(ask, range(9), chunksize=1) == [(1,)] * 9
with tfdarshan.profile("logs"):
    pool.map(ask, range(7), chunksize=1)
"""
    run(body)

    # THEN
    files = tfdarshan.open_session(data.parent / "logs").files
    database = files[files["path"] == str(data.parent / "numbers.db")]
    assert database["POSIX_OPENS"].sum() == 7


def test_an_older_program_with_a_copy_of_the_environment_joins(run, data):
    body = """\
if len(sys.argv) > 1:
    for line in sys.stdin:
        print(sum(read(number) for number in range(20)), flush=True)
    return
worker = subprocess.Popen([sys.executable, "job.py", "worker"], env={**os.environ, "OF": "it"}, text=True,
                          bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for name in ("before", "first", "between", "second"):
    if name in ("first", "second"):
        session = tfdarshan.profile(name)
        session.start()
    worker.stdin.write("on\\n")
    worker.stdin.flush()
    assert worker.stdout.readline() == "2000\\n"
    if name in ("first", "second"):
        session.stop()
worker.stdin.close()
assert worker.wait() == 0
"""
    run(body)
    for name in ("first", "second"):
        assert per_file(tfdarshan.open_session(data.parent / name), data) == ({1}, {100})


def test_workers_stay_out_where_children_are_not_followed(run, data):
    run(TWO_SESSIONS.replace('("first"', '("first", follow_children=False'), "spawn")
    session = tfdarshan.open_session(data.parent / "first")
    assert len(session.processes) == 1
    assert not session.files["path"].str.startswith(f"{data}/").any()
    assert per_file(tfdarshan.open_session(data.parent / "second"), data) == ({2}, {200})


def test_nothing_waits_where_the_name_is_taken_away(run, data):
    # WHEN a job takes its name out of the environment, and its workers are older than a session
    body = 'del os.environ["TFDARSHAN_SESSION"]\n'
    run(body + TWO_SESSIONS + "assert not PAGES()\n", "fork")

    # THEN they are in none
    for name in ("first", "second"):
        session = tfdarshan.open_session(data.parent / name)
        assert not session.files["path"].str.startswith(f"{data}/").any()


def test_what_waits_has_no_thread_descriptor_or_module_more(run):
    # WHEN programs say what they have, where the job's name is in their environment and where it is not
    body = """\
code = (
    "import os, sys; print(sorted(os.environ), sorted(os.listdir('/proc/self/fd')), sorted(sys.modules), "
    "sys.path, len(os.listdir('/proc/self/task')))"
)
program = {"args": [sys.executable, "-c", code], "capture_output": True, "check": True}
waiting = subprocess.run(**program).stdout
without = subprocess.run(**program, env={**os.environ, "TFDARSHAN_SESSION": ""}).stdout
assert b"'TFDARSHAN_SESSION'" in waiting and waiting == without, (waiting, without)
"""
    run(body)


def test_an_import_leaves_nothing_behind(run):
    # WHEN a job prints the pages that it has: at first, and when a program has started
    body = """\
print(len(PAGES()))
subprocess.run([sys.executable, "-c", ""], check=True)
print(len(PAGES()), os.getpid())
"""
    before, made, pid = run(body).split()

    # THEN the program has made one, and it went with the job
    assert (before, made) == ("0", "1")
    assert pages_of(pid) == []


KILLED = """\
import signal, time
def work(number):
    done = read(number)
    open(f"{DATA}/../done{os.getpid()}", "a").close()
    return done

def outlive(owner):
    while os.getppid() == owner:
        time.sleep(0.01)
    for number in range(20):
        read(number)
    open(f"{DATA}/../outlived", "w").close()

process = multiprocessing.get_context("fork").Process(target=outlive, args=(os.getpid(),))
process.start()
tfdarshan.profile("logs").start()
print(os.getpid(), flush=True)
read(0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_go_on_when_the_owner_is_killed(run, data):
    # WHEN the owner of a session is killed, and a worker that is older reads after that
    pid = run(KILLED, returns=-signal.SIGKILL).strip()
    for _ in range(2000):
        if (data.parent / "outlived").exists():
            break
        subprocess.run(["sleep", "0.05"], check=True)

    # THEN it worked, and the next job takes the page away that nobody could
    assert (data.parent / "outlived").exists()
    assert len(pages_of(pid)) == 1
    run(TWO_SESSIONS, "fork")
    assert pages_of(pid) == []
    assert per_file(tfdarshan.open_session(data.parent / "second"), data) == ({2}, {200})


def test_a_neighbour_s_session_is_not_joined(run, data):
    # WHEN two processes of one job record sessions of their own at once, each with a pool of its own
    body = """\
if len(sys.argv) > 1:
    pool = pool_of("fork")
    print("ready", flush=True)
    input()
    with tfdarshan.profile(sys.argv[1]):
        print("recording", flush=True)
        input()
        read_all(pool, int(sys.argv[2]))
        print("read", flush=True)
        input()
    return
ranks = [
    subprocess.Popen([sys.executable, "job.py", f"rank{times}", str(times)], text=True, bufsize=1,
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for times in (1, 3)
]
for said in ("ready", "recording", "read"):
    for rank in ranks:
        assert rank.stdout.readline().strip() == said
    for rank in ranks:
        rank.stdin.write("on\\n")
        rank.stdin.flush()
for rank in ranks:
    assert rank.wait() == 0
"""
    run(body)

    # THEN each has its own
    for times in (1, 3):
        session = tfdarshan.open_session(data.parent / f"rank{times}")
        assert per_file(session, data) == ({times}, {times * 100})


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_worker_of_another_user_is_not_in_the_session(run, data):
    # WHEN a worker becomes another user before the session begins, and reads
    body = """\
order, go = os.pipe()
said, say = os.pipe()
if not (worker := os.fork()):
    os.setuid(65534)
    os.read(order, 1)
    for number in range(20):
        read(number)
    os.write(say, b"1")
    os._exit(0)
with tfdarshan.profile("logs"):
    os.write(go, b"1")
    os.close(say)
    assert os.read(said, 1)
assert os.waitpid(worker, 0)[1] == 0
"""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # pytest's own is closed to others
        os.chmod(folder, 0o755)
        shutil.copytree(data, folder, dirs_exist_ok=True)
        run(body, JOB_DATA=folder)

        # THEN it worked, and is not in the session
        session = tfdarshan.open_session(data.parent / "logs")
        assert len(session.processes) == 1
        assert not session.files["path"].str.startswith(f"{folder}/").any()


def test_a_page_that_others_may_write_is_not_used(run):
    # GIVEN the page that a program has made, which everybody may write now
    # WHEN another program starts
    # THEN it does not map it
    body = """\
program = [sys.executable, "-c", "print('/dev/shm/tfdarshan-job-' in open('/proc/self/maps').read())"]
assert subprocess.run(program, capture_output=True, check=True).stdout == b"True\\n"
(page,) = PAGES()
os.chmod(page, 0o666)
assert subprocess.run(program, capture_output=True, check=True).stdout == b"False\\n"
"""
    run(body)
