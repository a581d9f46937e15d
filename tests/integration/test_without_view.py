"""An installation that can only record: the packages of the extra `view` are missing."""

import os
import subprocess
import sys

import pytest

import tfdarshan
from tfdarshan.native.package_versions import VIEW_PACKAGES

# An import of what is None fails as if it was not installed.
MISSING = f"import sys\nsys.modules.update(dict.fromkeys({sorted(VIEW_PACKAGES)}))\n"
COMMAND = "from tfdarshan.commands import main\nsys.exit(main(sys.argv[1:]))\n"
SENTENCE = "reading sessions needs pandas: run `pip install 'tfdarshan[view]'`."
KNOWN_BYTES = 123_457


@pytest.fixture
def python(tmp_path):
    """Run code without those packages, beside a file of known size."""
    (tmp_path / "known").write_bytes(bytes(KNOWN_BYTES))

    def run(code, *arguments):
        return subprocess.run(
            [sys.executable, "-c", MISSING + code, *arguments],
            cwd=tmp_path, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
            capture_output=True, text=True, timeout=100,
        )  # fmt: skip

    return run


def read_bytes(logdir):
    files = tfdarshan.open_session(logdir).files
    return int(files.loc[files["path"].str.endswith("/known"), "POSIX_BYTES_READ"].sum())


READ = "with open('known', 'rb') as file:\n    file.read()\n"
PROFILED = f"import tfdarshan\nsession = tfdarshan.profile('logs').start()\n{READ}"


def test_a_profile_is_recorded_and_written(python, tmp_path):
    done = python(f"{PROFILED}session.stop()")

    assert (done.returncode, done.stderr) == (0, "")
    assert read_bytes(tmp_path / "logs") == KNOWN_BYTES


def test_a_script_is_recorded_and_written(python, tmp_path):
    # GIVEN
    (tmp_path / "job.py").write_text(READ)

    # WHEN
    done = python(COMMAND, "run", "--logdir", "logs", "job.py")

    # THEN
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("tfdarshan: the session is in ")
    assert read_bytes(tmp_path / "logs") == KNOWN_BYTES


def test_a_session_of_a_job_that_was_killed_is_recovered(python, tmp_path):
    # GIVEN
    python(f"{PROFILED}import os\nos._exit(0)")

    # WHEN
    done = python(COMMAND, "recover", "logs")

    # THEN
    assert done.returncode == 0, done.stderr
    assert read_bytes(tmp_path / "logs") == KNOWN_BYTES


def test_what_else_runs_beside_a_job_can_be_imported(python):
    done = python(
        "import tfdarshan.checkpoint, tfdarshan.lmdb, tfdarshan.staging.apply, tfdarshan.recording.redirect\n"
        "import tfdarshan.staging.undo, tfdarshan.recording.tensorflow.tf_profiler\n"
        "from tfdarshan import enable, staged, steps\n"
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def session(tmp_path):
    """Record a session here, where nothing is missing."""
    with tfdarshan.profile(tmp_path / "logs"):
        (tmp_path / "file").write_bytes(b"1")


@pytest.mark.parametrize(
    "typed",
    ["summary logs", "findings logs", "files logs", "list logs", "fleet logs", "compare logs logs",
     "report logs -o page.html", "whatif logs --threads 2", "export --csv folder logs"],
)  # fmt: skip
def test_a_verb_that_reads_sessions_names_the_command(typed, python, session):
    done = python(COMMAND, *typed.split())

    # THEN 1 says of a comparison that a condition holds
    failure = 2 if typed.startswith("compare") else 1
    assert (done.returncode, done.stderr, done.stdout) == (failure, f"tfdarshan: {SENTENCE}\n", "")


def test_a_table_asked_for_names_the_command(python):
    done = python(
        f"{PROFILED}session.stop()\n"
        "try:\n    session.files\nexcept tfdarshan.UnsupportedPlatformError as error:\n    print(error)\n"
        "print(session._repr_html_(), session.path.is_dir())"
    )

    assert done.stdout == f"{SENTENCE}\nNone True\n"


def test_doctor_proves_recording_and_names_the_command(python):
    done = python(
        "from tfdarshan.doctor import self_check\n"
        "self_check.OTHER_PROGRAMS = ()\n"
        "for check in self_check.run_checks():\n    print(check.ok, check.name, check.finding)\n"
    )

    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == 8
    assert all(line.startswith("True ") for line in lines)
    assert lines[1].endswith("; to read sessions, run `pip install 'tfdarshan[view]'`")
