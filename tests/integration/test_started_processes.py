"""Programs that a job starts are in its session: each way of starting one, counted to the call."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.started.ways_to_start import POOL, WAYS
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.files.input_files import input_files
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.commands import main
from tfdarshan.native._extension import extension_path
from tfdarshan.storage_model import find_model

ROOT = Path(__file__).parents[2]
CORE = extension_path()
FILES = 20
LUSTRE = find_model("lustre")
# A program that opens each file once, in the shortest words: also what an exec'd one runs.
OPENS = "import sys; [open(f'{sys.argv[1]}/{n}', 'rb').read() for n in range(20)]"
JOB = """\
import concurrent.futures, multiprocessing, os, subprocess, sys, time
import tfdarshan

DATA, OPENS = os.environ["JOB_DATA"], os.environ["JOB_OPENS"]

def read(number):
    with open(f"{DATA}/{number}", "rb") as file:
        return len(file.read())

def time_of_read(number):
    begin = time.monotonic()
    read(number)
    return time.monotonic() - begin

def main():
    PYTHON = [sys.executable, "-c", OPENS, DATA]
    with tfdarshan.profile("logs", follow_children=FOLLOW):
BODY
AFTER

if __name__ == "__main__":
    main()
"""


# What such a job consists of beside its main process; a program has the name of what it runs.
POOL_KINDS = {
    "fork": {("worker", "")},
    "spawn": {("worker", ""), ("helper", "resource_tracker")},
    "forkserver": {("worker", ""), ("helper", "resource_tracker"), ("helper", "forkserver")},
}
ONE_PROGRAM = {("program", "python -c")}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An environment in which tfdarshan is as a wheel installs it: with what a starting interpreter runs."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True, with_pip=False)
    packages = next(folder.glob("lib/python3*/site-packages"))
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "found.pth").write_text("\n".join([str(ROOT), *ours]) + "\n")
    shutil.copy(ROOT / "csrc" / "joining" / "tfdarshan_join.pth", packages)
    return folder / "bin" / "python"


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(FILES):
        (folder / str(number)).write_bytes(bytes(100))
    return folder


def job(python, data, body, after="", *, follow=True, options=""):
    """Run a job that does `body` while it is recorded, and then `after`; return its session."""
    return job_and_output(python, data, body, after, follow=follow, options=options)[0]


def job_and_output(python, data, body, after="", *, follow=True, options=""):
    """Run such a job; return its session and the lines that it printed."""
    folder = data.parent
    text = JOB.replace("FOLLOW", f"{follow}{options}").replace("BODY", textwrap.indent(body, " " * 8))
    (folder / "job.py").write_text(text.replace("AFTER", textwrap.indent(after, " " * 4)))
    ran = subprocess.run(
        [python, "-W", "error", "job.py"],
        cwd=folder,
        env={**os.environ, "JOB_DATA": str(data), "JOB_OPENS": OPENS},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "rror" not in ran.stderr
    return tfdarshan.open_session(folder / "logs"), ran.stdout.splitlines()


def opens_and_bytes(session, data):
    files = session.files
    mine = files[files["path"].str.startswith(f"{data}/")]
    return int(mine["POSIX_OPENS"].sum()), int(mine["POSIX_BYTES_READ"].sum())


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_is_started_is_in_the_session(python, data, way):
    # WHEN a job has 20 files of 100 bytes read by processes that it starts
    session = job(python, data, WAYS[way])

    # THEN all of it was seen, and the owner itself read none
    assert opens_and_bytes(session, data) == (FILES, FILES * 100)
    owner = session.processes[0]
    assert owner.meta["owner"]
    files = session.files
    # ... what is started joins; a fork of it is a fork
    assert any(process.meta["joined"] for process in session.processes) == (way != "Pool, fork")
    assert not owner.meta["joined"]
    assert not (files["path"].str.startswith(f"{data}/") & (files["pid"] == owner.pid)).any()
    # ... and each is called what it is
    roles = [process.meta["role"] for process in session.processes]
    kinds = {(role["kind"], role["name"]) for role in roles[1:]} - {("helper", "start of python -c")}
    assert roles[0]["kind"] == "main"
    expected = POOL_KINDS.get(way.rpartition(", ")[2], ONE_PROGRAM)
    # Nobody waits for helpers: the session may end before they have begun.
    assert {kind for kind in expected if kind[0] != "helper"} <= kinds <= expected
    numbers = sorted(role["number"] for role in roles if role["kind"] == "worker")
    assert numbers == list(range(1, len(numbers) + 1))


def test_nothing_follows_where_children_are_not_followed(python, data):
    session = job(python, data, WAYS["subprocess"], follow=False)
    assert opens_and_bytes(session, data) == (0, 0)
    assert len(session.processes) == 1


def test_two_programs_of_one_process_are_told_apart(python, data):
    # WHEN a program that read all files runs another one in its place, which does so again
    twice = f"{OPENS}; import os; os.execv(sys.executable, [sys.executable, '-c', {OPENS!r}, sys.argv[1]])"
    session = job(python, data, f"subprocess.run([sys.executable, '-c', {twice!r}, DATA], check=True)")

    # THEN
    assert opens_and_bytes(session, data) == (2 * FILES, 2 * FILES * 100)
    pids = [process.pid for process in session.processes]
    assert len(pids) == 3
    assert len(set(pids)) == 2
    # ... as one process, whose start the kernel tells
    starts = {process.pid: process.meta["process_start"] for process in session.processes}
    assert all(process.meta["process_start"] == starts[process.pid] > 0 for process in session.processes)


def test_the_start_of_workers_is_no_input_of_the_job(python, data):
    # WHEN workers start interpreters, which look for modules, find themselves, and join the session
    session = job(python, data, POOL.format("spawn"))

    # THEN findings are about the data alone, and say what they leave out
    table = load_files(session.processes)
    found = table.rows["path"][input_files(table)].tolist()
    assert sorted(found) == sorted(["(no file)", *(f"{data}/{number}" for number in range(FILES))])
    data_of_summary = summarize(session)
    programs, files = data_of_summary.coverage.programs, session.files
    others = files[~files["path"].str.startswith(f"{data}/")]
    assert 0 < programs.stats <= others["POSIX_STATS"].sum() + others["TFD_STATS_OTHER"].sum()
    assert programs.asked > programs.opens + programs.stats
    # ... and nobody has to look at a helper that does the same
    hidden = {entry.label for entry in data_of_summary.process_list if entry.hidden}
    assert hidden <= {"resource_tracker"}
    assert {"main", "worker 1", "worker 2"} <= {entry.label for entry in data_of_summary.process_list}


def test_processes_are_named_by_their_start(python, data):
    # WHEN a program tells when the kernel says that it began, and the main process, whose manager still runs
    stat = "open('/proc/self/stat').read().rpartition(')')[2].split()[19]"
    body = f"""\
subprocess.run([sys.executable, "-c", "print({stat})"], check=True)
print({stat}, flush=True)
manager = multiprocessing.get_context("fork").Manager()
"""
    session, printed = job_and_output(python, data, body, "manager.shutdown()")

    # THEN
    found = {process.meta["role"]["kind"]: process.meta for process in session.processes}
    assert [found[kind]["process_start"] for kind in ("program", "main")] == [int(line) for line in printed]
    assert "helper" not in found or found["helper"]["role"]["name"] == "manager"
    assert "worker" not in found


def test_what_starts_after_the_session_is_as_without_it(python, data):
    # WHEN a program is started when the session has ended, and another prints its environment
    after = """\
subprocess.run(PYTHON, check=True)
told = subprocess.run(["env"], capture_output=True, text=True, check=True).stdout
assert "TFDARSHAN_SESSION=" in told and "/tfdarshan-" not in told, told
"""
    session = job(python, data, WAYS["subprocess"], after)

    # THEN it is not recorded
    assert opens_and_bytes(session, data) == (FILES, FILES * 100)


def test_a_program_sees_one_variable_more_and_nothing_else(python, data):
    # WHEN programs print their environment, descriptors and modules, with a session, in a job and without us
    code = (
        "import os, sys; print(sorted(os.environ), sorted(os.listdir('/proc/self/fd')), sorted(sys.modules), "
        "sys.path, sys.flags)"
    )
    prints = f'subprocess.run([sys.executable, "-c", {code!r}], capture_output=True, check=True).stdout'
    after = f"""\
waiting = {prints}
del os.environ["TFDARSHAN_SESSION"]
without = {prints}
assert b"TFDARSHAN_SESSION" not in without
assert recorded == waiting
assert recorded.replace(b"'TFDARSHAN_SESSION', ", b"") == without, (recorded, without)
assert recorded != without
"""
    job(python, data, f"recorded = {prints}", after)


def test_what_cannot_join_goes_on(python, data, tmp_path):
    # GIVEN variables that name nothing, no folder, or a session that is over
    (tmp_path / "empty").mkdir()
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "core").symlink_to(sys.executable)
    (damaged / "join").write_bytes(os.urandom(100))
    folders = ("", "/nowhere", str(tmp_path / "empty"), str(damaged), sys.executable)
    for name in ("", "junk", *(f"{core}:{folder}" for folder in folders for core in (":", f"1-2-3:{CORE}"))):
        # WHEN
        ran = subprocess.run(
            [python, "-W", "error", "-c", "print('done')"],
            env={**os.environ, "TFDARSHAN_SESSION": name},
            capture_output=True,
            text=True,
        )

        # THEN
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts programs as another user")
@pytest.mark.parametrize("options", ["", ", programs=True"])
def test_what_another_user_starts_goes_on_and_is_counted(python, data, options):
    # WHEN a job starts two programs as somebody who may not write to its spools, and one that is not there
    body = """\
nobody = dict(user=65534, group=65534, extra_groups=[], capture_output=True, text=True)
for environment in (None, {"A": "b"}):
    ran = subprocess.run(["/bin/cat", "/proc/self/status"], env=environment, **nobody)
    assert ran.returncode == 0 and "Uid:\\t65534" in ran.stdout and not ran.stderr, ran
try:
    subprocess.run(["/nowhere/program"], **nobody)
except FileNotFoundError:
    subprocess.run(["/bin/cat", "/dev/null"], check=True)
"""
    session = job(python, data, body, options=options)

    # THEN
    said = "2 programs that the job started as another user could not be recorded"
    assert said in session.meta[0]["bounds"]
    assert f"  {said}" in session.summary(verbose=True)


@pytest.mark.long
def test_workers_find_room_where_containers_have_little(python, data, monkeypatch, tmp_path):
    # GIVEN the spool folder is what containers have as /dev/shm: 64 MiB, from which nothing can be executed
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m,noexec,nosuid,nodev", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    monkeypatch.setenv("TFDARSHAN_SPOOL_DIR", str(folder))
    try:
        # WHEN
        session = job(python, data, POOL.format("spawn"))
    finally:
        subprocess.run(["umount", "-l", folder], check=True)

    # THEN
    assert opens_and_bytes(session, data) == (FILES, FILES * 100)
    assert session.problems == []


OLDER = """\
context = multiprocessing.get_context("spawn")
with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as executor:
    assert executor.submit(read, 0).result() == 100
    with tfdarshan.profile("second", as_if="lustre", as_if_paths=[DATA + "/"]):
        assert sum(executor.map(read, range(20))) == 20 * 100
    with tfdarshan.profile("third"):
        assert sum(executor.map(read, range(20))) == 20 * 100
"""
YOUNGER = """\
pool = multiprocessing.get_context("fork").Pool(1)
print(min(pool.map(time_of_read, range(20))))
"""
AFTERWARDS = """\
print(min(pool.map(time_of_read, range(20))))
pool.terminate()
pool.join()
"""


def read_durations_s(session, data):
    """Return how long each read of the data took that was not at a file's end, the shortest first."""
    events = session.events
    reads = (events["operation"] == "read") & (events["length"] > 0)
    mine = events[reads & events["path"].str.startswith(f"{data}/", na=False)]
    return ((mine["end_ns"] - mine["start_ns"]) / 1e9).sort_values().tolist()


@pytest.mark.parametrize("way", ["Pool, fork", "Pool, spawn", "Pool, forkserver", "subprocess"])
def test_emulated_storage_slows_what_is_started_by_one_device(python, data, way):
    # WHEN processes that are started read 20 files of emulated storage
    options = f', as_if="lustre", as_if_paths=["{data}/"]'
    session = job(python, data, WAYS[way], options=options)

    # THEN the one device served each open and read, and no call was faster than the model says
    assert opens_and_bytes(session, data) == (FILES, FILES * 100)
    assert session.meta[0]["emulation"]["calls"] == 2 * FILES
    durations = read_durations_s(session, data)
    assert len(durations) == FILES
    assert durations[0] >= LUSTRE.read_s
    assert not any("as_if" in note for note in session.meta[0]["bounds"])


def test_older_workers_are_slowed_by_the_session_that_emulates(python, data):
    # WHEN workers join a session that emulates, and then one that does not
    job(python, data, "pass", OLDER)

    # THEN
    second, third = (tfdarshan.open_session(data.parent / name) for name in ("second", "third"))
    assert second.meta[0]["emulation"]["calls"] == 2 * FILES
    slow, fast = (read_durations_s(session, data) for session in (second, third))
    assert len(slow) == len(fast) == FILES
    assert slow[0] >= LUSTRE.read_s > fast[0]


def test_emulation_ends_with_its_session_also_in_forks_that_live_on(python, data):
    # WHEN a child that was forked inside reads, too, after the session has ended
    options = f', as_if="lustre", as_if_paths=["{data}/"]'
    _, printed = job_and_output(python, data, YOUNGER, AFTERWARDS, options=options)

    # THEN its calls wait for no device
    inside_s, afterwards_s = map(float, printed)
    assert inside_s >= LUSTRE.open_s + LUSTRE.read_s > afterwards_s


def test_a_profile_of_its_own_joins_the_session(python, data):
    # WHEN a program that is started records itself, too
    inner = f"import tfdarshan\nwith tfdarshan.profile({str(data.parent / 'inner')!r}): exec({OPENS!r})"
    session = job(python, data, f"subprocess.run([sys.executable, '-c', {inner!r}, DATA], check=True)")

    # THEN it is in the session that records it, and goes on
    assert opens_and_bytes(session, data) == (FILES, FILES * 100)
    assert not (data.parent / "inner").exists()


@pytest.mark.parametrize("way", ["Pool, spawn", "subprocess", "system", "posix_spawn", "fork and execv"])
def test_an_interpreter_joins_by_itself_where_programs_are_recorded(python, data, way):
    # WHEN a job that has programs recorded starts Python, into which the library for programs is loaded too
    session = job(python, data, WAYS[way], options=", programs=True")

    # THEN each process is there once, and its calls are counted once
    assert opens_and_bytes(session, data) == (FILES, FILES * 100)
    pids = [process.pid for process in session.processes if not process.meta["command"].startswith("sh ")]
    assert len(set(pids)) == len(pids) >= 2
    assert not any("python" in name for name in session.meta[0]["programs"]["recorded"])


def test_an_interpreter_that_does_not_join_is_a_program(python, data):
    # WHEN a job starts Python without what joins in it: -S leaves site-packages out
    alone = "subprocess.run([sys.executable, '-S', *PYTHON[1:]], check=True)"
    session = job(python, data, alone, options=", programs=True")

    # THEN
    assert opens_and_bytes(session, data) == (FILES, FILES * 100)
    assert sum(session.meta[0]["programs"]["recorded"].values()) == 1
    kinds = {process.meta["role"]["kind"] for process in session.processes}
    assert {"main", "program"} <= kinds <= {"main", "program", "helper"}


def test_a_profile_in_a_program_takes_over(python, data):
    # GIVEN Python code that the library records, which then records itself: in a session it is in already
    paths = f"import sys; sys.path += {[path for path in [str(ROOT), *sys.path] if path]!r}\n"
    with_profile = (
        f"import tfdarshan\nwith tfdarshan.profile({str(data.parent / 'inner')!r}): exec({OPENS!r})"
    )
    code = f"{OPENS}\n{paths}{with_profile}\n{OPENS}"

    # WHEN
    alone = f"subprocess.run([sys.executable, '-S', '-c', {code!r}, DATA], check=True)"
    session = job(python, data, alone, options=", programs=True")

    # THEN what came before, within and after is in the session, once
    assert opens_and_bytes(session, data) == (3 * FILES, 3 * FILES * 100)
    assert not (data.parent / "inner").exists()


STORM = """\\
import concurrent.futures, os, random, subprocess, sys, threading, time
import tfdarshan

DATA, OPENS, STARTS = os.environ["JOB_DATA"], os.environ["JOB_OPENS"], int(sys.argv[1])
over = threading.Event()

def start(number):
    program = [sys.executable, "-c", f"{OPENS}; print({number})", DATA]
    ran = subprocess.run(program, capture_output=True, text=True, env={} if number % 2 else None)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{number}\\n", ""), ran

def starts():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(start, range(STARTS)))

def main():
    dice = random.Random(1)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        storm = pool.submit(starts)
        while not storm.done():
            with tfdarshan.profile("logs") as session:
                time.sleep(dice.uniform(0, 0.5))
            for meta in session.meta:
                assert not meta.get("damaged")
            read = session.files[session.files.path.str.startswith(DATA + "/")]
            # A program that is running when the session ends has read some of its files.
            assert read.POSIX_OPENS.le(1).all()
        storm.result()
    assert os.listdir("/proc/self/fd") and "/tfdarshan-" not in subprocess.run(
        ["env"], capture_output=True, text=True).stdout

main()
"""


@pytest.mark.long
def test_a_thousand_starts_while_sessions_start_and_stop(python, data):
    # WHEN 1,000 programs are started, four at a time, while sessions come and go
    (data.parent / "job.py").write_text(STORM)
    ran = subprocess.run(
        [python, "-W", "error", "job.py", "1000"],
        cwd=data.parent,
        env={**os.environ, "JOB_DATA": str(data), "JOB_OPENS": OPENS},
        capture_output=True,
        text=True,
    )

    # THEN each printed what it should and nothing else, and no spool is left
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not list(
        Path(os.environ.get("TFDARSHAN_SPOOL_DIR", "/dev/shm")).glob(f"tfdarshan-{os.getuid()}-*")
    )


AGAIN = """
import os, sys, tfdarshan
folder, number = sys.argv[1], int(sys.argv[2])
with tfdarshan.profile(f"{folder}/logs"):
    for _ in tfdarshan.steps([[number]]):
        with open(f"{folder}/{number}.bin", "wb") as file:
            file.write(bytes(1_000 + number))
    if number < 2:
        os.execv(sys.executable, [sys.executable, sys.argv[0], folder, str(number + 1)])
"""


def test_a_process_that_runs_its_program_again_has_a_session_of_each(python, tmp_path):
    # GIVEN a launcher that starts itself anew, twice
    script = tmp_path / "again.py"
    script.write_text(AGAIN)

    # WHEN
    ran = subprocess.run([python, script, tmp_path, "0"], capture_output=True, text=True, timeout=200)

    # THEN each one is written, with its own steps, and a warning says why
    assert ran.returncode == 0, ran.stderr
    sessions = [tfdarshan.open_session(path) for path in tfdarshan.find_sessions(tmp_path / "logs")]
    assert len(sessions) == 3
    for session in sessions[:2]:
        assert (
            "this process became another program while it was recorded: the session of the program before is "
            f"written to {session.path}. This program's session is one of its own."
        ) in ran.stderr
    for number, session in enumerate(sessions):
        files = session.files.set_index("path")
        assert files.loc[f"{tmp_path}/{number}.bin", "POSIX_BYTES_WRITTEN"] == 1_000 + number
        assert session.steps["step"].tolist() == [0]
        assert ("The process became another program" in session.summary()) == (number < 2)


def test_a_process_that_runs_another_program_is_said_to(python, data, capsys):
    # GIVEN a job that becomes a program which records nothing itself
    logs = data.parent / "logs"
    becomes = f"os.execv(sys.executable, [sys.executable, '-c', {OPENS!r}, sys.argv[1]])"
    code = f"import os, sys, tfdarshan; tfdarshan.profile({str(logs)!r}).start(); {becomes}"
    subprocess.run([python, "-c", code, data], check=True, timeout=200)

    # WHEN
    assert main(["recover", str(logs)]) == 0

    # THEN
    said = " ".join(tfdarshan.open_session(logs).summary().split())
    assert (
        "The process became another program, which did not stop the session: this is what both had recorded "
        "until then."
    ) in said


LEAVES_A_CHILD = """
import os, sys, tfdarshan
if len(sys.argv) > 2:
    with tfdarshan.profile(sys.argv[1]):
        print("second", flush=True)
    sys.exit()
tfdarshan.profile(sys.argv[1]).start()
if os.fork() == 0:
    open(sys.argv[0], "rb").close()
    os.write(1, b"child")
    sys.stdin.read()
    os._exit(0)
while not os.path.exists(sys.argv[1] + "-go"):
    pass
os.execv(sys.executable, [sys.executable, *sys.argv, "again"])
"""


def test_a_session_that_a_child_still_records_is_left_to_be_recovered(python, tmp_path):
    # GIVEN a job whose child records on when the job runs its program again
    script, logs = tmp_path / "leaves.py", tmp_path / "logs"
    script.write_text(LEAVES_A_CHILD)
    pipe = subprocess.PIPE
    with subprocess.Popen([python, script, logs], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as job:
        assert job.stdout.read(5) == "child"
        (tmp_path / "logs-go").touch()
        assert job.stdout.readline() == "second\n"

        # WHEN the child has ended as well
        _, said = job.communicate("")

    # THEN a warning has said how to write the first one
    assert re.search(
        r"the session of the program before is not written: the session .* is still recording", said
    )
    assert f"wait for it to end. Later, run `tfdarshan recover {logs}`. This program's session" in said
    assert main(["recover", str(logs)]) == 0
    assert len(tfdarshan.find_sessions(logs)) == 2
