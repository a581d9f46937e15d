"""Programs that a job starts and that are not recorded: their names, and what the kernel's figures lack."""

import sys
from pathlib import Path

import pytest

import tfdarshan
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.findings.diagnosis import diagnose

SIZE = 5_000_003
BEGIN = """
import os, signal, subprocess, sys, tfdarshan
CP = ["cp", "data", "copy"]
AT = ["/bin/cp", "data", "copy"]
READS = [sys.executable, "-c", "open('data', 'rb').read()"]
def forked(action):
    pid = os.fork()
    if not pid:
        try:
            action()
        finally:
            os._exit(1)
    return pid
def waited(pid):
    assert os.waitpid(pid, 0)[1] == 0
def fails(command):
    try:
        subprocess.run(command)
    except OSError:
        return
    raise AssertionError(command)
done, told = os.pipe()
os.set_inheritable(told, True)
def until_all_have_ended():
    os.close(told)
    os.read(done, 1)
if __name__ == "__main__":
    with tfdarshan.profile("logs"):
"""
WAYS = {
    "subprocess": "subprocess.run(CP, check=True)",
    "subprocess, without vfork": "subprocess.run(CP, check=True, preexec_fn=os.getpid)",
    "subprocess, an environment": "subprocess.run(AT, check=True, env={})",
    "posix_spawn": "waited(os.posix_spawn('/bin/cp', AT, os.environ))",
    "posix_spawnp": "waited(os.posix_spawnp('cp', CP, os.environ))",
    "execv": "waited(forked(lambda: os.execv('/bin/cp', AT)))",
    "execve": "waited(forked(lambda: os.execve('/bin/cp', AT, {})))",
    "execvp": "waited(forked(lambda: os.execvp('cp', CP)))",
    "execlp": "waited(forked(lambda: os.execlp('cp', *CP)))",
    "a descriptor": "waited(forked(lambda: os.execve(os.open('/bin/cp', 0), AT, {})))",
    "a child that has read": "waited(forked(lambda: (open('data').read(1), os.execv('/bin/cp', AT))))",
    "a program that joined": "subprocess.run([sys.executable, '-c', "
    "'import os, sys; os.execvp(sys.argv[1], sys.argv[1:])', *CP], check=True)",
    "a program of a program": "subprocess.run([sys.executable, '-c', "
    "'import subprocess, sys; subprocess.run(sys.argv[1:], check=True)', *CP], check=True)",
}
OTHERS = {
    "joins": ("subprocess.run(READS, check=True)", {}),
    "joins, by posix_spawn": ("waited(os.posix_spawn(READS[0], READS, os.environ))", {}),
    "joins, behind a shell": ("subprocess.run(['sh', '-c', 'exec \"$@\"', 'sh', *READS], check=True)", {}),
    "without site": (
        "subprocess.run([sys.executable, '-S', '-c', ''], check=True)",
        {Path(sys.executable).name: 1},
    ),
    "twice": (
        "[subprocess.run(['true'], check=True) for _ in range(2)]\nsubprocess.run(CP)",
        {"cp": 1, "true": 2},
    ),
    "system": ("assert os.system('cp data copy') == 0", {"sh of system() or popen()": 1}),
    "a shell": ("subprocess.run('cp data copy; true', shell=True, check=True)", {"sh": 1}),
    "not there": ("fails(['nowhere-to-be-found'])", {}),
    "not to be executed": ("fails(['./data'])", {}),
    "no program": ("os.chmod('data', 0o700)\nfails(['./data'])", {}),
    "a folder": ("fails(['/'])", {}),
}
UNCOUNTED = {
    "still there": "left = subprocess.Popen(CP); os.waitid(os.P_PID, left.pid, os.WEXITED | os.WNOWAIT)",
    "still there, spawned": "left = os.posix_spawnp('cp', CP, os.environ)\n"
    "os.waitid(os.P_PID, left, os.WEXITED | os.WNOWAIT)",
    "SIGCHLD ignored": "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nsubprocess.run(CP)",
    "SIGCHLD ignored, spawned": "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    "left = os.posix_spawnp('cp', CP, os.environ)\n"
    "try:\n    os.waitpid(left, 0)\nexcept ChildProcessError:\n    pass",
    "SIGCHLD ignored later": "left = subprocess.Popen(['sh', '-c', 'cat; cp data copy'], "
    "stdin=subprocess.PIPE)\n"
    "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nleft.stdin.close()\nleft.wait()",
    "double fork": "waited(forked(lambda: (forked(lambda: os.execvp('cp', CP)), os._exit(0))))\n"
    "until_all_have_ended()",
    "double fork, spawned": "waited(forked(lambda: (os.posix_spawnp('cp', CP, os.environ), os._exit(0))))\n"
    "until_all_have_ended()",
    "a child that ends by exit": "waited(forked(lambda: (open('data').read(1), "
    "subprocess.Popen(CP, close_fds=False), os._exit(0))))\nuntil_all_have_ended()",
}


@pytest.fixture
def session_of(run_python, tmp_path):
    """Record a job that does `body`, and return its session."""
    (tmp_path / "data").write_bytes(bytes(SIZE))

    def record(body):
        lines = body.split("\n")
        (tmp_path / "job.py").write_text(BEGIN + "\n".join(f"        {line}" for line in lines) + "\n")
        job = run_python("job.py")
        assert job.returncode == 0, job.stderr
        assert not job.stderr
        return tfdarshan.open_session(tmp_path / "logs")

    return record


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_was_not_recorded_is_named(session_of, tmp_path, way):
    # WHEN a job has cp copy a file
    session = session_of(WAYS[way])

    # THEN
    assert (tmp_path / "copy").stat().st_size == SIZE
    programs = session.meta[0]["programs"]
    assert (programs["not_recorded"], programs["not_waited_for"]) == ({"cp": 1}, 0)
    coverage = summarize(session).coverage
    assert coverage.written.unseen == SIZE
    assert not coverage.seen(coverage.written).startswith("at most")
    (doubt,) = [found for found in diagnose(session).findings if found.name == "low_coverage"]
    assert doubt.fix.what == "Record the programs that the job starts: cp."
    said = "Programs that were not recorded: cp. Record them with `--programs`."
    assert said in " ".join(session.summary(verbose=True).split())
    assert "Not recorded: cp (see `--programs`)" in " ".join(session.summary().split())


@pytest.mark.parametrize("kind", OTHERS)
def test_only_what_was_started_and_not_recorded_is_named(session_of, kind):
    # WHEN
    body, expected = OTHERS[kind]
    session = session_of(body)

    # THEN
    found = session.meta[0].get("programs", {}).get("not_recorded", {})
    assert found == expected


@pytest.mark.parametrize("kind", UNCOUNTED)
def test_a_share_is_a_bound_if_nobody_waited_for_a_program(session_of, tmp_path, kind):
    # GIVEN a program that copies a file, and that the kernel adds to nobody's figures
    session = session_of(UNCOUNTED[kind])

    # THEN what it moved is in no figure, and the share is not told as if it were
    assert (tmp_path / "copy").stat().st_size == SIZE
    assert session.meta[0]["programs"]["not_waited_for"] == 1
    coverage = summarize(session).coverage
    assert coverage.read.kernel < SIZE
    assert coverage.seen(coverage.read).startswith("at most")
    said = "The kernel's count may lack 1 program that the job had not waited for."
    assert said in " ".join(session.summary(verbose=True).split())
