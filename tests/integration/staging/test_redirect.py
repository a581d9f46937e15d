"""Opens that are led to staged copies: which, and what is read."""

import dataclasses
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time

import pytest

import tfdarshan
from tests.integration.staging.opened_paths import change_elsewhere, opened
from tests.integration.staging.tree import make_files, plan_of
from tests.later_tensorflow import needs
from tests.lean_tensorflow import WITHOUT_KERAS
from tfdarshan.commands import main
from tfdarshan.errors import StorageError
from tfdarshan.native import _bridge
from tfdarshan.recording.tensorflow import tf_profiler
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.plan_file import write_plan

COUNT = 24


@pytest.fixture
def job(tmp_path):
    """Files, all staged, and the plan."""
    make_files(tmp_path / "slow", COUNT)
    (tmp_path / "fast").mkdir()
    plan = plan_of(tmp_path / "slow", tmp_path / "fast")
    apply_plan(plan, ApplyOptions())
    write_plan(plan, tmp_path / "plan.json")
    return tmp_path


def child(*words):
    """Run redirect_child and return what it found."""
    program = [sys.executable, "-m", "tests.integration.staging.redirect_child", *map(str, words)]
    environment = {**os.environ, **WITHOUT_KERAS}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "way", ["python", "descriptor", "numpy", "relative", "climbing", "spelled", "tensorflow"]
)
def test_what_is_read_is_the_same_and_comes_from_the_copies(job, way):
    if way == "tensorflow":
        needs("tensorflow")

    # WHEN all files are read plainly, redirected, and plainly again
    found = child(job / "slow", job / "plan.json", way)

    # THEN
    assert found == {"same": True, "copies": COUNT, "missing": 0, "stale": 0, "staged": COUNT}


def test_batches_from_a_mirror_are_the_same(job):
    needs("tensorflow")

    # GIVEN a mirror in which a third of the files are copies
    (job / "mirror").mkdir()
    whole = plan_of(job / "slow", job / "mirror")
    apply_plan(dataclasses.replace(whole, files=whole.files[::3]), ApplyOptions(mirror=True))

    assert child(job / "slow", job / "mirror", "mirror") is True


def test_opens_lead_to_copies_only_inside_and_only_for_reading(job):
    original, copy = str(job / "slow" / "0008.bin"), str(job / "fast" / "0008.bin")

    assert opened(original) == original
    with tfdarshan.staged(job / "plan.json") as files:
        assert opened(original) == copy
        assert opened(original, os.O_RDWR) == original
        assert opened(original, os.O_WRONLY | os.O_APPEND) == original
        assert opened(original, os.O_RDONLY | os.O_CREAT) == original
        assert opened(str(job / "plan.json")) == str(job / "plan.json")
    assert opened(original) == original
    assert (files.totals.copies, files.totals.missing, files.totals.stale) == (1, 0, 0)


def test_no_profile_of_tensorflow_runs_along(job, monkeypatch):
    # GIVEN a job that has imported TensorFlow
    joined = []
    monkeypatch.setattr(tf_profiler, "tensorflow_imported", lambda: True)
    monkeypatch.setattr(tf_profiler, "join", lambda: joined.append(True))

    # WHEN
    with tfdarshan.staged(job / "plan.json"):
        pass

    # THEN
    assert not joined


def test_stats_are_those_of_the_originals(job):
    # GIVEN
    path = job / "slow" / "0008.bin"
    before = path.stat()

    # WHEN
    with tfdarshan.staged(job / "plan.json"):
        path.read_bytes()
        inside = path.stat()
        path.chmod(0o600)
        changed = path.stat()

    # THEN
    assert (inside.st_ino, inside.st_dev, inside.st_ctime_ns) == (
        before.st_ino,
        before.st_dev,
        before.st_ctime_ns,
    )
    assert changed.st_mode & 0o777 == 0o600


def test_missing_copy_is_silently_the_original(job):
    (job / "fast" / "0008.bin").unlink()

    with tfdarshan.staged(job / "plan.json") as files:
        assert opened(job / "slow" / "0008.bin") == str(job / "slow" / "0008.bin")

    assert (files.totals.copies, files.totals.missing) == (0, 1)


@pytest.mark.parametrize("side", ["slow", "fast"])
def test_changed_copy_or_original_is_silently_the_original(job, side):
    with tfdarshan.staged(job / "plan.json") as files:
        assert opened(job / "slow" / "0008.bin") == str(job / "fast" / "0008.bin")
        with (job / side / "0008.bin").open("ab") as file:
            file.write(b"more")
        assert opened(job / "slow" / "0008.bin") == str(job / "slow" / "0008.bin")

    assert (files.totals.copies, files.totals.stale) == (1, 1)


@pytest.mark.parametrize("how", ["changed", "deleted", "replaced"])
@pytest.mark.parametrize("look_again_s", [0, 0.3, 3600])
def test_change_by_others_is_noticed_when_a_look_no_longer_holds(job, how, look_again_s):
    original, copy = str(job / "slow" / "0008.bin"), str(job / "fast" / "0008.bin")

    with tfdarshan.staged(job / "plan.json", look_again_s=look_again_s):
        # GIVEN a file that was looked at
        assert opened(original) == copy
        change_elsewhere(original, how)
        time.sleep(look_again_s if look_again_s < 1 else 0)

        # WHEN it is opened again, here or in a child
        with multiprocessing.get_context("fork").Pool(1) as pool:
            found = {opened_or_gone(original), *pool.map(opened_or_gone, [original])}

    # THEN
    assert found == {copy if look_again_s > 1 else "gone" if how == "deleted" else original}


def opened_or_gone(path):
    """Return what opening leads to, in a child."""
    try:
        return opened(path)
    except FileNotFoundError:
        return "gone"


@pytest.mark.parametrize("seconds", ["-1", "nan"])
def test_a_look_holds_no_negative_time(job, seconds, capsys):
    (job / "train.py").write_text("pass")

    code = main(["run", "--staged", str(job / "plan.json"), "--look-again", seconds, str(job / "train.py")])

    assert code == 2
    assert "it has to be 0 seconds or more" in capsys.readouterr().err


LOOKS = """
import multiprocessing, os, subprocess, sys
READ = "import sys; print(open(sys.argv[1], 'rb').read()[:3])"
def read(name):
    return open(name, "rb").read()[:3]
def started(name):
    return subprocess.check_output([sys.executable, "-c", READ, name], text=True)
if __name__ == "__main__":
    first = [os.path.abspath(f"slow/{name}.bin") for name in ("0008", "0012", "0016")]
    started(first[0])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.map(read, first[1:2])
        read(first[2])
        for name in first:
            subprocess.run(["/bin/sh", "-ec", f"printf new > {name}.new && mv {name}.new {name}"], check=True)
        print(*[part.startswith(b"new") for part in (read(first[0]), *pool.map(read, first[2:]))])
        print("new" in started(first[1]))
        open(first[0], "r+b").close()
        print("new" in started(first[0]))
"""


@pytest.mark.parametrize(("look_again", "new"), [("0", "True"), ("3600", "False")])
def test_a_look_holds_for_all_processes_of_a_job(job, look_again, new):
    # GIVEN files that a started program, a spawned worker and the job itself looked at, and that change then
    (job / "train.py").write_text(LOOKS)

    # WHEN each is opened by another process than before
    words = ["run", "--logdir", "logs", "--staged", "plan.json", "--look-again", look_again, "train.py"]
    done = subprocess.run(
        [sys.executable, "-m", "tfdarshan", *words], capture_output=True, text=True, check=False, cwd=job
    )

    # THEN what any of them knew holds for all, until one opens the original for writing
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [new, new, new, "True"]


def test_original_that_is_gone_is_gone(job):
    with tfdarshan.staged(job / "plan.json"):
        (job / "slow" / "0008.bin").unlink()
        with pytest.raises(FileNotFoundError):
            os.open(job / "slow" / "0008.bin", os.O_RDONLY)


def test_session_shows_the_copies(job):
    # WHEN
    with tfdarshan.profile(job / "logs") as session:
        with tfdarshan.staged(job / "plan.json"):
            (job / "slow" / "0008.bin").read_bytes()

    # THEN
    rows = session.files.set_index("path")
    assert rows.loc[str(job / "fast" / "0008.bin"), "POSIX_OPENS"] == 1
    assert rows.loc[str(job / "fast" / "0008.bin"), "POSIX_BYTES_READ"] == os.path.getsize(
        job / "slow" / "0008.bin"
    )
    assert str(job / "slow" / "0008.bin") not in rows.index


def test_forked_child_counts_the_copies_that_it_opened(job):
    # GIVEN a child in whose tables the copies come in another order than in its parent's
    def read(*numbers):
        for number in numbers:
            (job / "slow" / f"{number:04}.bin").read_bytes()

    # WHEN
    with tfdarshan.profile(job / "logs") as session:
        with tfdarshan.staged(job / "plan.json") as files:
            read(8, 12)
            child = os.fork()
            if not child:
                read(16, 12, 12)
                os._exit(0)
            os.waitpid(child, 0)

    # THEN
    opens = session.events.query("operation == 'open' and path.str.endswith('.bin')")
    copies = opens.groupby("pid")["path"].agg(lambda paths: [os.path.relpath(path, job) for path in paths])
    assert dict(copies) == {
        os.getpid(): ["fast/0008.bin", "fast/0012.bin"],
        child: ["fast/0016.bin", "fast/0012.bin", "fast/0012.bin"],
    }
    assert (files.totals.copies, files.totals.missing, files.totals.stale) == (5, 0, 0)


def test_stale_copy_that_was_opened_is_in_the_session_too(job):
    # GIVEN a copy that somebody changed
    with (job / "fast" / "0008.bin").open("ab") as file:
        file.write(b"more")

    # WHEN
    with tfdarshan.profile(job / "logs") as session:
        with tfdarshan.staged(job / "plan.json"):
            (job / "slow" / "0008.bin").read_bytes()

    # THEN its open and close are recorded, as the real calls that they are, and the original's reads
    rows = session.files.set_index("path")
    copy, original = (rows.loc[str(job / tier / "0008.bin")] for tier in ("fast", "slow"))
    assert (copy["POSIX_OPENS"], copy["POSIX_BYTES_READ"]) == (1, 0)
    assert original["POSIX_BYTES_READ"] == os.path.getsize(job / "slow" / "0008.bin")
    operations = session.events.query("path == @path", local_dict={"path": str(job / "fast" / "0008.bin")})
    assert list(operations["operation"]) == ["open", "close"]


def test_threads_read_copies_while_redirecting_begins_and_ends(job):
    # GIVEN threads that read the same file without end
    path, wrong, done = job / "slow" / "0008.bin", [], threading.Event()
    content = path.read_bytes()

    def read():
        while not done.is_set():
            if path.read_bytes() != content:
                wrong.append(1)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()

    # WHEN
    copies = 0
    with tfdarshan.profile(job / "logs", trace=False):
        for _ in range(30):
            with tfdarshan.staged(job / "plan.json") as files:
                path.read_bytes()
            copies += files.totals.copies
    done.set()
    for thread in threads:
        thread.join()

    # THEN
    assert wrong == []
    assert copies >= 30


def test_staged_files_are_used_by_one_at_a_time(job):
    with tfdarshan.staged(job / "plan.json"):
        with pytest.raises(StorageError, match="in use in this process already"):
            with tfdarshan.staged(job / "plan.json"):
                pass
    assert not _bridge.session_active()


def test_run_staged_says_what_was_opened(job):
    # GIVEN
    (job / "train.py").write_text(f"print(len(open({str(job / 'slow' / '0008.bin')!r}, 'rb').read()))")

    # WHEN
    words = ["run", "--logdir", job / "logs", "--staged", job / "plan.json", job / "train.py"]
    done = subprocess.run(
        [sys.executable, "-m", "tfdarshan", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )

    # THEN
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == os.path.getsize(job / "slow" / "0008.bin")
    assert "1 open got a staged copy; originals instead: 0 copies missing, 0 stale" in done.stderr


def test_run_staged_leads_started_programs_to_the_copies(job):
    # GIVEN a job that reads one file by a fork, two by a spawned worker, one of these by a program, too
    (job / "train.py").write_text(
        f"""
import multiprocessing, os, subprocess, sys
def read(name):
    return len(open({str(job / "slow")!r} + "/" + name, "rb").read())
if __name__ == "__main__":
    for way, names in (("fork", ["0008.bin"]), ("spawn", ["0012.bin", "0016.bin"])):
        with multiprocessing.get_context(way).Pool(1) as pool:
            pool.map(read, names)
    subprocess.run([sys.executable, "-c", "len(open('slow/0016.bin', 'rb').read())"], check=True)
"""
    )

    # WHEN
    words = ["run", "--logdir", job / "logs", "--staged", job / "plan.json", job / "train.py"]
    done = subprocess.run(
        [sys.executable, "-m", "tfdarshan", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=job,
    )

    # THEN
    assert done.returncode == 0, done.stderr
    assert "4 opens got a staged copy; originals instead: 0 copies missing, 0 stale" in done.stderr
    files = tfdarshan.open_session(job / "logs").files
    opens = files[files["path"].str.endswith(".bin")].groupby("path")["POSIX_OPENS"].sum()
    expected = {"0008": 1, "0012": 1, "0016": 2}
    assert dict(opens) == {str(job / "fast" / f"{name}.bin"): count for name, count in expected.items()}


STARTED = """
import subprocess, sys, tfdarshan
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
def read(name):
    return len(open("slow/" + name, "rb").read())
if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, tfdarshan.profile("logs"):
        pool.submit(read, "0008.bin").result()
        START
        program = "import sys; len(open(sys.argv[1], 'rb').read())"
        with tfdarshan.staged("plan.json") as files:
            subprocess.run([sys.executable, "-c", program, "0012.bin"], cwd="slow", check=True)
            subprocess.run([sys.executable, "-c", program, "slow/0020.bin"], check=True)
        subprocess.run([sys.executable, "-c", program, "slow/0016.bin"], check=True)
    print(files.totals.copies, files.totals.missing, files.totals.stale)
"""


def run_started(job, start=""):
    """Run a job that starts programs; return what it printed, its warnings and each .bin file's opens."""
    (job / "train.py").write_text(STARTED.replace("START", start))
    (job / "spool").mkdir()
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=job,
        env={**os.environ, "TFDARSHAN_SPOOL_DIR": "spool"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files = tfdarshan.open_session(job / "logs").files
    opens = files[files["path"].str.endswith(".bin")].set_index("path")["POSIX_OPENS"]
    return done.stdout.split(), done.stderr, {os.path.relpath(path, job): n for path, n in opens.items()}


def test_programs_are_led_to_copies_only_while_files_are_staged(job):
    # GIVEN a copy that is gone
    (job / "fast" / "0020.bin").unlink()

    # WHEN programs are started inside, in the folder of the files and beside it, and afterwards
    totals, errors, opens = run_started(job)

    # THEN
    assert totals == ["1", "1", "0"]
    assert errors == ""
    assert opens == {"slow/0008.bin": 1, "fast/0012.bin": 1, "slow/0020.bin": 1, "slow/0016.bin": 1}


def test_names_that_find_no_room_lead_only_the_process_itself(job):
    # WHEN the names of the staged files cannot be written for others
    taken = (
        "import pathlib; next(pathlib.Path('spool').glob('tfdarshan-*')).joinpath('staged.partial').mkdir()"
    )
    totals, errors, opens = run_started(job, taken)

    # THEN that is said, and what is started reads the originals
    assert totals == ["0", "0", "0"]
    assert "programs that the job starts open the originals, not the copies, because" in errors
    assert opens["slow/0012.bin"] == 1


@pytest.mark.parametrize("back", [["undo"], []], ids=["undone", "applied"])
def test_run_staged_says_that_the_plan_is_not_applied(job, back):
    # GIVEN copies that were taken back
    for verb in back:
        assert main(["stage", verb, str(job / "plan.json")]) == 0
    (job / "train.py").write_text("pass")

    # WHEN
    words = ["run", "--logdir", job / "logs", "--staged", job / "plan.json", job / "train.py"]
    done = subprocess.run(
        [sys.executable, "-m", "tfdarshan", *map(str, words)], capture_output=True, text=True, check=False
    )

    # THEN the job runs with the originals, and that is said
    assert done.returncode == 0, done.stderr
    assert ("the plan is not applied: none of its " in done.stderr) == bool(back)
    assert ("`tfdarshan stage apply PLAN` makes the copies" in done.stderr) == bool(back)


@pytest.mark.parametrize(
    ("more", "environment", "records"),
    [
        (["--steps", "2-3"], {}, "--steps records"),
        ([], {"TFDARSHAN": "1"}, "TFDARSHAN=1 records"),
    ],
)
def test_a_job_that_is_recorded_in_part_is_not_led_to_copies_in_part(
    job, capsys, monkeypatch, more, environment, records
):
    # GIVEN
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (job / "train.py").write_text("")

    # WHEN
    code = main(["run", "--staged", str(job / "plan.json"), *more, str(job / "train.py")])

    # THEN
    assert code == 2
    assert f"and {records} a part of the run: leave one of the two out." in capsys.readouterr().err


def test_a_job_that_cannot_be_recorded_is_said_to_read_the_originals(job):
    # GIVEN a logdir that cannot be made
    (job / "train.py").write_text(f"print(len(open({str(job / 'slow' / '0008.bin')!r}, 'rb').read()))")

    # WHEN
    words = ["run", "--logdir", job / "plan.json" / "logs", "--staged", job / "plan.json", job / "train.py"]
    done = subprocess.run(
        [sys.executable, "-m", "tfdarshan", *map(str, words)], capture_output=True, text=True, check=False
    )

    # THEN
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == os.path.getsize(job / "slow" / "0008.bin")
    assert "tfdarshan: the script runs unrecorded, and reads the originals: logdir " in done.stderr
