"""`tfdarshan summary s3://...`: by s3fs, from a server that speaks S3's protocol on this machine."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.other_machine import can_hide_folders, other_machine
from tests.integration.packages.found_packages import need
from tests.made_up_session import image_job, write_session

# Serves a bucket with what is in a folder, prints the server's address, and ends with its input.
SERVER = """\
import os, sys
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
os.environ["AWS_ENDPOINT_URL"] = address = f"http://{host}:{port}"
import s3fs
storage = s3fs.S3FileSystem()
storage.mkdir("bucket")
storage.put(sys.argv[1], "bucket/logs", recursive=True)
print(address, flush=True)
sys.stdin.read()
server.stop()
"""
REMOTE_S = 120


@pytest.fixture
def logdir(tmp_path):
    """A logdir of two sessions, the newer one of two processes."""
    write_session(tmp_path / "logs", image_job(7, 1, 2), stamp="2024_01_01_00_00_00")
    jobs = [dataclasses.replace(image_job(9, 2, 2, seed=place), pid=100 + place) for place in range(2)]
    write_session(tmp_path / "logs", *jobs, stamp="2024_01_02_00_00_00")
    return tmp_path / "logs"


@pytest.fixture
def bucket(variables, logdir, tmp_path):
    """Variables with which s3://bucket/logs is that logdir."""
    need("s3fs", variables)
    need("moto.server", variables)
    (tmp_path / "tmp").mkdir()
    variables |= {
        "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1",
        "TMPDIR": str(tmp_path / "tmp"),
    }  # fmt: skip
    command = [sys.executable, "-c", SERVER, str(logdir)]
    with subprocess.Popen(
        command, env=variables, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        yield variables | {"AWS_ENDPOINT_URL": server.stdout.readline().strip()}
        server.stdin.close()
    assert not [path for path in (tmp_path / "tmp").iterdir() if path.name.startswith("tfdarshan")]


def asked(path, variables, *arguments):
    """Run `tfdarshan summary --json`."""
    command = [sys.executable, "-m", "tfdarshan", "summary", "--json", path, *arguments]
    return subprocess.run(
        command,
        env=variables,
        text=True,
        capture_output=True,
        timeout=REMOTE_S,
    )


@pytest.mark.parametrize("part", ["", "/plugins/tfdarshan/2024_01_01_00_00_00"])
def test_a_bucket_is_read_as_its_folder(bucket, logdir, part):
    # WHEN
    found, expected = asked(f"s3://bucket/logs{part}", bucket), asked(f"{logdir}{part}", dict(os.environ))

    # THEN
    assert (found.returncode, found.stderr) == (0, "")
    apart = {"path": "", "overlapping_sessions": []}
    assert json.loads(found.stdout) | apart == json.loads(expected.stdout) | apart
    assert json.loads(found.stdout)["posix"]["opens"] == (7 if part else 36)


@pytest.mark.parametrize(
    ("path", "address", "code"),
    [
        ("s3://bucket/none", None, 1),
        ("s3://nowhere/logs", None, 1),
        ("s3://bucket/logs", "http://127.0.0.1:9", 1),
    ],
)
def test_what_cannot_be_read_is_one_sentence(bucket, path, address, code):
    # WHEN the folder or the bucket is not there, or nobody answers
    found = asked(path, bucket | ({"AWS_ENDPOINT_URL": address, "AWS_MAX_ATTEMPTS": "1"} if address else {}))

    # THEN
    assert (found.returncode, found.stderr.count("\n")) == (code, 1), found.stderr
    assert path in found.stderr


def test_workers_of_a_cluster_read_the_bucket(bucket, logdir, tmp_path):
    # GIVEN a worker that does not see what is copied to this machine
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    if not can_hide_folders():
        pytest.skip("no process may have mounts of its own here")
    expected = json.loads(asked(str(logdir), dict(os.environ)).stdout)
    (tmp_path / "dask").mkdir()
    with other_machine(Path(bucket["TMPDIR"]), tmp_path / "dask", bucket) as address:
        # WHEN
        found = asked("s3://bucket/logs", bucket, "--cluster", address)

    # THEN
    assert (found.returncode, found.stderr) == (0, "")
    apart = {"path": "", "overlapping_sessions": []}
    assert json.loads(found.stdout) | apart == expected | apart
    assert expected["processes"] == 2
