"""Sentences for whoever runs a job reach stderr where there is one, and never end the job."""

import os
import subprocess
import sys

import pytest

SAY = """
import sys
import warnings
from tfdarshan.notice import say, warn
{before}
{how}("the sentence")
print("goes on")
"""


@pytest.mark.parametrize("how", ["say", "warn"])
@pytest.mark.parametrize(
    "before",
    [
        "sys.stderr.close()",
        "sys.stderr = None",
        "sys.stderr.close(); warnings.simplefilter('error')",
        "sys.stderr = None; warnings.simplefilter('ignore')",
    ],
)
def test_a_job_without_stderr_goes_on(how, before):
    # WHEN a sentence is for a stderr that cannot be written
    ended = subprocess.run(
        [sys.executable, "-c", SAY.format(how=how, before=before)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": ""},
    )

    # THEN the job goes on, and its output is its own
    assert (ended.returncode, ended.stdout) == (0, "goes on\n")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_run_without_stderr_leaves_stdout_to_the_script(tmp_path, options):
    run = [
        sys.executable,
        "-m",
        "tfdarshan",
        "run",
        "--engine",
        "builtin",
        "--logdir",
        str(tmp_path),
        *options,
    ]

    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *run, "-c", "print('of the script')"],
        capture_output=True,
        text=True,
    )

    assert (ended.returncode, ended.stdout) == (0, "of the script\n")


def test_a_warning_that_the_job_made_an_error_is_said():
    before = "warnings.simplefilter('error')"
    ended = subprocess.run(
        [sys.executable, "-c", SAY.format(how="warn", before=before)], capture_output=True, text=True
    )

    assert (ended.returncode, ended.stderr) == (0, "tfdarshan: the sentence\n")
