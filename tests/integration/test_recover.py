import errno
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

import tfdarshan
from tfdarshan.commands import main
from tfdarshan.recording import recover
from tfdarshan.recording.recover import recover_session

VICTIM = """
import os, sys, tfdarshan
tfdarshan.profile("logs").start()
for number in range(50):
    open(f"{number}.bin", "wb").write(bytes(6_543))
if "fork" in sys.argv:
    if os.fork() == 0:
        open("child.bin", "wb").write(bytes(777))
        print("child", flush=True)
        sys.stdin.read()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def victim(tmp_path):
    """A job that records 50 files and waits; gives the process."""
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", VICTIM, *arguments],
            cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        for _ in range(1 + len(arguments)):
            assert process.stdout.readline()
        return process

    yield start
    for process in started:
        process.kill()
        process.stdin.close()
        process.stdout.close()
        process.wait()


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_killed_job_gives_back_everything(victim, tmp_path, spool_folder, capsys):
    # GIVEN
    kill(victim())

    # WHEN
    code = main(["recover", str(tmp_path / "logs")])

    # THEN
    said = capsys.readouterr().out
    session = tfdarshan.open_session(tmp_path / "logs")
    assert (code, said.startswith(f"recovered {session.path}")) == (0, True)
    files = session.files
    mine = files[files["path"].str.endswith(".bin")]
    assert len(mine) == 50
    assert (mine["POSIX_BYTES_WRITTEN"] == 6_543).all()
    assert len(session.events[session.events["path"].isin(mine["path"])]) >= 150
    assert "ended without stopping the session" in session.summary()
    assert list(spool_folder.iterdir()) == []
    assert not (session.path / "recording.json").exists()


def test_summary_of_a_killed_job_says_how_to_recover(victim, tmp_path, capsys):
    # GIVEN
    kill(victim())

    # WHEN
    code = main(["summary", str(tmp_path / "logs")])

    # THEN
    assert code == 1
    assert f"tfdarshan recover {tmp_path / 'logs'}" in capsys.readouterr().err


def test_running_job_is_left_alone(victim, tmp_path, capsys):
    # GIVEN
    process = victim()

    # WHEN
    code = main(["recover", str(tmp_path / "logs")])

    # THEN
    assert code == 1
    assert f"is still recording (process {process.pid})" in capsys.readouterr().err
    process.stdin.close()
    assert process.wait() == 0
    assert len(tfdarshan.open_session(tmp_path / "logs").files) == 50


def test_child_that_outlives_the_job_is_waited_for(victim, tmp_path, capsys):
    # GIVEN a killed job whose child still records
    process = victim("fork")
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    # WHEN / THEN
    assert main(["recover", str(tmp_path / "logs")]) == 1
    assert "is still recording" in capsys.readouterr().err

    # WHEN the child has ended
    process.stdin.close()
    process.stdout.read()
    code = main(["recover", str(tmp_path / "logs"), "--json"])

    # THEN
    assert (code, json.loads(capsys.readouterr().out)["recovered"][0]["recorded"]) == (0, 1)
    files = tfdarshan.open_session(tmp_path / "logs").files
    assert files.loc[files["path"] == str(tmp_path / "child.bin"), "POSIX_BYTES_WRITTEN"].tolist() == [777]


def test_a_child_whose_spool_folder_is_behind_a_link_is_waited_for(
    victim, tmp_path, spool_folder, monkeypatch, capsys
):
    # GIVEN a link to the spool folder, such as scratch folders have
    (tmp_path / "scratch").symlink_to(spool_folder)
    monkeypatch.setenv("TFDARSHAN_SPOOL_DIR", str(tmp_path / "scratch"))
    process = victim("fork")
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    # WHEN / THEN
    assert main(["recover", str(tmp_path / "logs")]) == 1
    assert "is still recording" in capsys.readouterr().err


EXEC_VICTIM = """
import os, subprocess, sys, tfdarshan
OPENS = "import sys; [open(f'{{sys.argv[1]}}{{n}}.bin', 'wb').write(bytes(777)) for n in range(20)]"
HOLDS = OPENS + "; print('child', flush=True); sys.stdin.read()"
tfdarshan.profile("logs").start()
open("own.bin", "wb").write(bytes(6_543))
{start}
print("ready", flush=True)
sys.stdin.read()
"""
# Each starts a program that takes the place of another one which had joined the session.
EXECS = {
    "preexec": 'subprocess.Popen([sys.executable, "-c", HOLDS, "a"], preexec_fn=os.setsid)',
    "shell": """subprocess.Popen(["sh", "-c", 'exec "$@"', "sh", sys.executable, "-c", HOLDS, "a"])""",
    "exec": """
if os.fork() == 0:
    again = "import os, sys; open('first.bin', 'wb').close(); os.execv(sys.argv[1], sys.argv[1:])"
    os.execv(sys.executable, [sys.executable, "-c", again, sys.executable, "-c", HOLDS, "a"])
""",
}


@pytest.mark.parametrize("kind", EXECS)
def test_a_killed_job_whose_processes_called_exec_is_recovered(tmp_path, spool_folder, capsys, kind):
    # GIVEN a job whose child's second program records
    job = EXEC_VICTIM.format(start=EXECS[kind])
    process = subprocess.Popen(
        [sys.executable, "-c", job], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert sorted(process.stdout.readline() for _ in range(2)) == ["child\n", "ready\n"]
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    child = {path.name.partition(".")[0] for path in spool_folder.glob("*/*.spool")} - {str(process.pid)}

    # WHEN / THEN the child, which records, is named
    assert main(["recover", str(tmp_path / "logs")]) == 1
    assert f"is still recording (process {', '.join(child)})" in capsys.readouterr().err

    # WHEN the child has ended
    process.stdin.close()
    process.stdout.read()
    process.stdout.close()
    process.wait()
    code = main(["recover", str(tmp_path / "logs")])

    # THEN
    assert (code, capsys.readouterr().err) == (0, "")
    files = tfdarshan.open_session(tmp_path / "logs").files
    written = files[files["path"].str.endswith(".bin")].set_index("path")["POSIX_BYTES_WRITTEN"]
    assert (written == 777).sum() == 20
    assert written[str(tmp_path / "own.bin")] == 6_543
    assert list(spool_folder.iterdir()) == []


def test_several_who_recover_at_once_are_no_failure(victim, tmp_path):
    # GIVEN
    kill(victim())

    # WHEN
    command = [sys.executable, "-m", "tfdarshan", "recover", "logs"]
    started = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [process.communicate(timeout=120) for process in started]

    # THEN
    assert [process.returncode for process in started] == [0] * 4, said
    session = tfdarshan.open_session(tmp_path / "logs")
    assert session.files["path"].str.endswith(".bin").sum() == 50
    assert sum(out.startswith("recovered ") for out, _ in said) == 1
    others = [out for out, _ in said if not out.startswith("recovered ")]
    assert all(out.startswith(("another process recovers ", "nothing to recover ")) for out in others)


@pytest.mark.parametrize("moment", ["locked", "done"])
def test_a_session_that_another_has_recovered_meanwhile_is_left_alone(victim, tmp_path, monkeypatch, moment):
    # GIVEN another process is done with it when this one gets the lock, or looks at the spool
    kill(victim())
    (directory,) = (tmp_path / "logs/plugins/tfdarshan").iterdir()
    name = "recovering" if moment == "locked" else "_check_spool"
    real = getattr(recover, name)

    def late(*arguments):
        monkeypatch.setattr(recover, name, real)
        assert not recover.recover_session(directory).by_another
        if moment == "locked":
            (tmp_path / "spool").touch()
            return real(tmp_path / "spool")
        return real(*arguments)

    monkeypatch.setattr(recover, name, late)

    # THEN
    assert recover.recover_session(directory).by_another
    session = tfdarshan.open_session(tmp_path / "logs")
    assert session.files["path"].str.endswith(".bin").sum() == 50


def test_a_session_that_another_is_about_to_end_is_left_to_it(victim, tmp_path, monkeypatch):
    # GIVEN another process has written all of it, and is about to remove the marker
    kill(victim())
    (directory,) = (tmp_path / "logs/plugins/tfdarshan").iterdir()
    real, by_another = recover._finish, []

    def late(*arguments):
        monkeypatch.setattr(recover, "_finish", real)
        by_another.append(recover.recover_session(directory).by_another)
        return real(*arguments)

    monkeypatch.setattr(recover, "_finish", late)

    # THEN one of the two has recovered it
    assert not recover.recover_session(directory).by_another
    assert by_another == [True]


def test_recover_to_another_logdir(victim, tmp_path):
    # GIVEN
    kill(victim())
    (directory,) = (tmp_path / "logs" / "plugins" / "tfdarshan").iterdir()

    # WHEN
    recovered = recover_session(directory, to=tmp_path / "other")

    # THEN
    assert recovered.path == tmp_path / "other" / "plugins" / "tfdarshan" / directory.name
    assert len(tfdarshan.open_session(tmp_path / "other").files) == 50
    assert not directory.exists()


def test_recover_from_a_read_only_logdir(victim, tmp_path, spool_folder, monkeypatch):
    # GIVEN a killed job, whose logdir is mounted read-only by now
    kill(victim())
    (directory,) = (tmp_path / "logs" / "plugins" / "tfdarshan").iterdir()
    unlink = pathlib.Path.unlink

    def refused(path, missing_ok=False):
        if path.parent == directory:
            raise OSError(errno.EROFS, "Read-only file system")
        unlink(path, missing_ok)

    monkeypatch.setattr(pathlib.Path, "unlink", refused)

    # WHEN
    code = main(["recover", str(tmp_path / "logs"), "--to", str(tmp_path / "other")])

    # THEN
    assert code == 0
    assert len(tfdarshan.open_session(tmp_path / "other").files) == 50
    assert not list((tmp_path / "other").rglob("recording.json"))
    assert not list(spool_folder.iterdir())


def test_recover_to_the_sessions_own_logdir_keeps_the_session(victim, tmp_path, monkeypatch):
    # GIVEN a killed job's logdir, and a user who is beside it
    kill(victim())
    (directory,) = (tmp_path / "logs" / "plugins" / "tfdarshan").iterdir()
    monkeypatch.chdir(tmp_path)

    # WHEN the logdir is named twice by a relative path
    assert main(["recover", "logs", "--to", "logs"]) == 0

    # THEN
    assert len(tfdarshan.open_session(directory).files) == 50


@pytest.mark.parametrize(
    "rank", [{}, {"TFDARSHAN_JOB": "train", "TFDARSHAN_RANK": "3"}], ids=["lone", "rank"]
)
def test_sessions_of_one_name_are_recovered_beside_each_other(victim, tmp_path, monkeypatch, rank):
    # GIVEN two killed jobs whose sessions have the same name in two logdirs
    for name, value in rank.items():
        monkeypatch.setenv(name, value)
    for number in range(2):
        kill(victim())
        (tmp_path / "logs").rename(tmp_path / f"logs-{number}")
        (session,) = (tmp_path / f"logs-{number}" / "plugins" / "tfdarshan").iterdir()
        for marker in session.rglob("recording.json"):
            said = json.loads(marker.read_text())
            marker.write_text(json.dumps(said | {"session": "same-1"}))
        session.rename(session.parent / "same-1")

    # WHEN both are written to a third
    for number in range(2):
        assert main(["recover", str(tmp_path / f"logs-{number}"), "--to", str(tmp_path / "all")]) == 0

    # THEN each is a session
    recovered = sorted((tmp_path / "all" / "plugins" / "tfdarshan").iterdir())
    assert [path.name for path in recovered] == ["same-1", "same-1_2"]
    for path in recovered:
        session = tfdarshan.open_session(path)
        assert [(meta["session"], meta["owner"]) for meta in session.meta] == [(path.name, True)]
        assert session.files["path"].str.endswith(".bin").sum() == 50
    assert not list((tmp_path / "all").rglob("recording.json"))


def test_spool_that_is_gone_is_said(victim, tmp_path, capsys):
    # GIVEN
    kill(victim())
    (marker,) = (tmp_path / "logs").rglob("recording.json")
    recording = json.loads(marker.read_text())
    marker.write_text(json.dumps(recording | {"spool_directory": "/nowhere", "boot_id": "another"}))

    # WHEN
    code = main(["recover", str(tmp_path / "logs")])

    # THEN
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (1, 1)
    assert "the machine was restarted since, and its shared memory is lost" in said


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"host": "elsewhere", "boot_id": "x"}, "recorded on elsewhere"),
        ({"pid_namespace": "x"}, "another container"),
    ],
)
def test_process_that_cannot_be_seen_needs_force(victim, tmp_path, capsys, change, why):
    # GIVEN
    kill(victim())
    (marker,) = (tmp_path / "logs").rglob("recording.json")
    marker.write_text(json.dumps(json.loads(marker.read_text()) | change))

    # WHEN / THEN
    assert main(["recover", str(tmp_path / "logs")]) == 1
    said = capsys.readouterr().err
    assert why in said
    assert "add --force" in said
    assert main(["recover", str(tmp_path / "logs"), "--force"]) == 0


REMOVED_LOGDIR = """
import shutil, sys, tfdarshan
with tfdarshan.profile(sys.argv[1]):
    for number in range(50):
        open(f"{number}.bin", "wb").write(bytes(6_543))
    shutil.rmtree(sys.argv[1])
print("the job goes on")
"""


@pytest.fixture
def shell(tmp_path):
    """Run a command line as a user would who copied it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "tfdarshan").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tfdarshan "$@"\n')
    (programs / "tfdarshan").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}

    def run(line):
        return subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    return run


def test_a_removed_logdir_is_recovered_as_the_message_says(tmp_path, spool_folder, shell):
    # GIVEN a job whose logdir is removed while it records
    logdir = tmp_path / "the logs"
    job = [sys.executable, "-c", REMOVED_LOGDIR, str(logdir)]
    done = subprocess.run(job, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "the job goes on\n")

    # WHEN
    (line,) = re.findall("`(.*?)`", done.stderr)
    recovered = shell(line)

    # THEN
    assert line.startswith(f"tfdarshan recover --spool {spool_folder}")
    assert recovered.returncode == 0, recovered.stderr
    session = tfdarshan.open_session(logdir)
    assert recovered.stdout.startswith(f"recovered {session.path}")
    assert (session.files["POSIX_BYTES_WRITTEN"] == 6_543).sum() == 50
    assert list(spool_folder.iterdir()) == []
    assert not (session.path / "recording.json").exists()


def test_a_killed_jobs_spool_is_written_into_any_logdir(victim, tmp_path, spool_folder, capsys):
    # GIVEN a killed job whose logdir is gone, and a logdir that has a session of this name
    kill(victim())
    (directory,) = (tmp_path / "logs" / "plugins" / "tfdarshan").iterdir()
    shutil.rmtree(tmp_path / "logs")
    taken = tmp_path / "other" / "plugins" / "tfdarshan" / directory.name
    taken.mkdir(parents=True)
    (spool,) = spool_folder.iterdir()

    # WHEN
    code = main(["recover", "--spool", str(spool), str(tmp_path / "other"), "--json"])

    # THEN
    (recovered,) = json.loads(capsys.readouterr().out)["recovered"]
    assert (code, recovered["path"]) == (0, f"{taken}_2")
    assert len(tfdarshan.open_session(tmp_path / "other").files) == 50
    assert list(spool_folder.iterdir()) == []


def test_a_spool_whose_logdir_is_there_is_written_once(victim, tmp_path, spool_folder):
    # GIVEN
    kill(victim())
    (directory,) = (tmp_path / "logs" / "plugins" / "tfdarshan").iterdir()
    (spool,) = spool_folder.iterdir()

    # WHEN
    code = main(["recover", "--spool", str(spool), str(tmp_path / "logs")])

    # THEN
    assert code == 0
    assert list(directory.parent.iterdir()) == [directory]
    assert len(tfdarshan.open_session(directory).files) == 50


def test_wrong_spool_folders_are_one_sentence(victim, tmp_path, spool_folder, capsys):
    # GIVEN
    process = victim()
    (spool,) = spool_folder.iterdir()
    logdir = str(tmp_path / "logs")
    cases = [
        (["--spool", str(tmp_path), logdir], 1, "is not the spool folder of a session"),
        (["--spool", str(spool), logdir], 1, f"is still recording (process {process.pid})"),
        (["--spool", str(spool), logdir, "--to", logdir], 2, "--spool writes into LOGDIR"),
    ]
    for arguments, expected, sentence in cases:
        # WHEN
        code = main(["recover", *arguments])

        # THEN
        said = capsys.readouterr().err
        assert (code, said.count("\n")) == (expected, 1)
        assert sentence in said


def test_nothing_to_recover(tmp_path, capsys):
    assert main(["recover", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"nothing to recover in {tmp_path}\n"
    assert main(["recover", str(tmp_path / "nowhere")]) == 1
    assert "there is no logdir" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["list", "recover", "summary"])
def test_a_logdir_that_is_a_dangling_link_is_said_to_be(tmp_path, capsys, verb):
    (tmp_path / "latest").symlink_to("gone")
    assert main([verb, str(tmp_path / "latest")]) == 1
    said = f"tfdarshan: the logdir {tmp_path / 'latest'} is a link to gone, which is not there: give "
    assert capsys.readouterr().err.startswith(said)


def test_a_session_of_another_user_keeps_no_other_from_being_recovered(victim, tmp_path, monkeypatch):
    # GIVEN a killed job, and a session in the same logdir that may not be looked at
    kill(victim())
    sessions = tmp_path / "logs" / "plugins" / "tfdarshan"
    (own,) = sessions.iterdir()
    (sessions / "theirs").mkdir()
    stat = pathlib.Path.stat

    def refused(path, **how):
        if path.parent.name == "theirs":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **how)

    monkeypatch.setattr(pathlib.Path, "stat", refused)

    # THEN
    assert recover.interrupted_sessions(tmp_path / "logs") == [own]


def test_crash_after_the_metadata_needs_only_tidying(victim, tmp_path, spool_folder):
    # GIVEN a session that was written, and whose marker and spool were not removed
    process = victim()
    (marker,) = (tmp_path / "logs").rglob("recording.json")
    recording = marker.read_text()
    process.stdin.close()
    process.wait()
    marker.write_text(recording)
    (spool_folder / "left").mkdir()

    # WHEN
    recover_session(marker.parent)

    # THEN
    assert len(tfdarshan.open_session(tmp_path / "logs").files) == 50


def test_spool_of_another_version_is_refused_and_kept(victim, tmp_path, spool_folder, capsys):
    # GIVEN a killed job's spool that says it is of version 1
    kill(victim())
    (spool,) = spool_folder.glob("*/*.spool")
    with spool.open("r+b") as file:
        file.seek(len(b"TFDSPOOL"))
        file.write((1).to_bytes(4, "little"))

    # WHEN
    code = main(["recover", str(tmp_path / "logs")])

    # THEN one sentence says who can read it, and it is still there
    said = capsys.readouterr().err
    assert code == 1
    assert said.count("\n") == 1
    versions = "spool version 1, this one reads version 10 and later"
    assert f"{spool} was written by an older tfdarshan ({versions})" in said
    assert spool.exists()
