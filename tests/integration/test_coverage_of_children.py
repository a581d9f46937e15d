"""What the kernel counted for a job against what was recorded, whatever became of its processes."""

import sys

import pytest

import tfdarshan
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.findings.diagnosis import diagnose

SIZE = 10_050
# In a newer Python each fork() reads /proc/self/stat by STDIO, which reads more than Python asks for.
READ_AHEAD = 512 if sys.version_info >= (3, 12) else 0
MOST_FORKS = 3
JOB = """
import os, signal, subprocess, sys, time, tfdarshan
READ = "import os; file = os.open('data', 0)\\nwhile os.read(file, 100): pass\\nos.close(file)"
KIND = sys.argv[1]
def child(end):
    pid = os.fork()
    if not pid:
        exec(READ)
        end()
    return pid
def wait(pid):
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass
def outlive(parent):
    while os.getppid() == parent:
        time.sleep(0.001)
    os._exit(0)
def double():
    pid = os.fork()
    if not pid:
        middle = os.getpid()
        child(lambda: outlive(middle))
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(told)
    os.read(done, 1)  # until the grandchild has ended
def killed():
    os.kill(os.getpid(), signal.SIGKILL)
done, told = os.pipe()
with tfdarshan.profile("logs"):
    if KIND == "the owner":
        exec(READ)
    elif KIND == "the owner, which ends by _exit":
        exec(READ)
        os._exit(0)
    elif KIND == "_exit":
        wait(child(lambda: os._exit(0)))
    elif KIND == "sys.exit":
        wait(child(sys.exit))
    elif KIND == "killed":
        wait(child(killed))
    elif KIND == "silent":
        exec(READ)
        for _ in range(3):
            pid = os.fork()
            if not pid:
                os.chdir("/")
                os.path.exists("/dev/null")
                os._exit(0)
            wait(pid)
    elif KIND == "program":
        subprocess.run([sys.executable, "-I", "-c", READ], check=True)
    elif KIND == "double fork":
        double()
    elif KIND.startswith("SIGCHLD ignored"):
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        wait(child(killed if KIND.endswith("killed") else lambda: os._exit(0)))
    elif KIND == "ignored later":
        pid = child(lambda: (os.read(done, 1), os._exit(0)))
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.write(told, b".")
        wait(pid)
"""


@pytest.fixture
def coverage_of(run_python, tmp_path):
    """Record a job that reads SIZE bytes, and return its session."""
    (tmp_path / "data").write_bytes(bytes(SIZE))
    script = tmp_path / "job.py"
    script.write_text(JOB)

    def record(kind):
        job = run_python(str(script), kind)
        assert job.returncode == 0, job.stderr
        return tfdarshan.open_session(tmp_path / "logs")

    return record


@pytest.mark.parametrize(
    "kind",
    ["the owner", "_exit", "sys.exit", "killed", "silent", "program", "double fork", "SIGCHLD ignored"],
)
def test_all_that_the_kernel_counted_was_seen(coverage_of, kind):
    # WHEN
    session = coverage_of(kind)

    # THEN what the profiler itself read and wrote is nobody's, and what nobody waited for is not missing
    coverage = summarize(session).coverage
    of_data = session.files.query("path.str.endswith('/data')")["POSIX_BYTES_READ"].sum()
    assert of_data == SIZE
    assert coverage.read.accounted >= SIZE
    assert 0 <= coverage.read.kernel - coverage.read.accounted <= MOST_FORKS * READ_AHEAD
    assert coverage.written.kernel == coverage.written.accounted
    assert not coverage.incomplete
    assert coverage.processes_left_out == 0
    assert READ_AHEAD or coverage.seen(coverage.read) == "100.0 %"


def test_an_owner_that_ends_by_exit_has_all_of_its_figures(run_python, tmp_path):
    # GIVEN a job that ends before its session does
    (tmp_path / "data").write_bytes(bytes(SIZE))
    (tmp_path / "job.py").write_text(JOB)
    assert run_python("job.py", "the owner, which ends by _exit").returncode == 0

    # WHEN
    recovered = run_python("-m", "tfdarshan", "recover", "logs")

    # THEN
    assert recovered.returncode == 0, recovered.stderr
    coverage = summarize(tfdarshan.open_session(tmp_path / "logs")).coverage
    assert (coverage.read.kernel, coverage.read.accounted) == (SIZE, SIZE)
    assert coverage.seen(coverage.read) == "100.0 %"


def test_what_nobody_counted_is_said(coverage_of):
    # GIVEN a child that was killed, and that the kernel added to nobody's figures
    session = coverage_of("SIGCHLD ignored, killed")

    # THEN
    coverage = summarize(session).coverage
    assert coverage.processes_left_out == 1
    assert (coverage.read.uncharged, coverage.read.in_tables) == (SIZE, SIZE)
    assert coverage.read.kernel <= READ_AHEAD
    assert "No figure counts 1 process" in session.summary(verbose=True)


def test_more_than_the_kernel_counted_is_no_hundred_percent(coverage_of):
    # GIVEN a parent that began to ignore its children when they ran
    session = coverage_of("ignored later")

    # THEN
    coverage = summarize(session).coverage
    assert coverage.incomplete
    assert coverage.seen(coverage.read) == "not known"
    text = " ".join(session.summary(verbose=True).split())
    assert "100.0 %" not in text.partition("Coverage (")[2]
    assert (
        "More was recorded than the kernel counted. Its count lacks processes that ended and that nobody "
        "waited for, so what was not seen is not known."
    ) in text
    brief = " ".join(session.summary().split())
    assert "not known: the kernel's count lacks processes that nobody waited for" in brief
    (unseen,) = [unknown for unknown in diagnose(session).unknown if unknown.name == "low_coverage"]
    assert "the kernel's count lacks processes that nobody waited for" in unseen.why
