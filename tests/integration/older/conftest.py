"""Jobs whose workers are older than their sessions, in an environment as a wheel makes it."""

import os
import subprocess
import textwrap

import pytest

from tests.integration.installed_python import make_environment
from tests.integration.older.jobs import FILES, JOB


@pytest.fixture(scope="package")
def python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("environment"))


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(FILES):
        (folder / str(number)).write_bytes(bytes(100))
    return folder


@pytest.fixture
def spools(tmp_path):
    folder = tmp_path / "spools"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(data, spools):
    """What jobs run in: no job's name, their data, and where spools are."""
    kept = {name: value for name, value in os.environ.items() if name != "TFDARSHAN_SESSION"}
    return {**kept, "JOB_DATA": str(data), "TFDARSHAN_SPOOL_DIR": str(spools)}


@pytest.fixture
def command(python, data):
    """A function that writes a job with a body, and gives its command; it runs in the data's parent."""

    def command(body, *arguments):
        (data.parent / "job.py").write_text(JOB.replace("BODY", textwrap.indent(body, "    ")))
        return [python, "job.py", *arguments]

    return command


@pytest.fixture
def run(command, data, environment):
    """A function that runs a job with a body, and gives what it printed."""

    def run(body, *arguments, returns=0, **more):
        ran = subprocess.run(
            command(body, *arguments),
            cwd=data.parent,
            env={**environment, **more},
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert ran.returncode == returns, ran.stdout + ran.stderr
        assert "rror" not in ran.stderr
        return ran.stdout

    return run
