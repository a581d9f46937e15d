"""Python code of the how-to guides, run as it is printed: what reads a session, and what handles SIGTERM."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tfdarshan
from tfdarshan.commands import main

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
READS = 'open_session("logs")'
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILES, EPOCHS = 6, 3
# Read in the second epoch alone, again and again.
SLOWEST, READINGS = "often.bin", 300
SIZE = 6_543
WAITS = """
import signal
open("read.bin", "rb").read()
print("ready", flush=True)
signal.pause()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder whose logdir "logs" has a session of several epochs."""
    made = tmp_path_factory.mktemp("pages")
    paths = [made / f"{number}.bin" for number in range(FILES)]
    for path in (*paths, made / SLOWEST):
        path.write_bytes(bytes(10_000))
    with tfdarshan.profile(made / "logs"):
        for epoch in range(1, EPOCHS + 1):
            for path in tfdarshan.steps(paths):
                for name in [path, *[made / SLOWEST] * (READINGS if epoch == 2 else 0)]:
                    name.read_bytes()
    return made


def code_of(page: Path) -> list[str]:
    """Return the blocks of Python of a page from the first that opens a session on; none if none does."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    return blocks[next((number for number, block in enumerate(blocks) if READS in block), len(blocks)) :]


PAGES = sorted(filter(code_of, HOW_TO.glob("*.md")))


def run(blocks: list[str]) -> dict[str, Any]:
    """Run blocks one after the other, and return their names."""
    names: dict[str, Any] = {"tfdarshan": tfdarshan}
    for block in blocks:
        exec(compile(block, "page", "exec"), names)
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_that_reads_a_session_runs(page, folder, monkeypatch):
    monkeypatch.chdir(folder)

    assert run(code_of(page))


def test_the_slowest_file_of_an_epoch_is_that_of_this_epoch(folder, monkeypatch):
    # GIVEN a file that is read often in the second epoch, and in no other one
    monkeypatch.chdir(folder)

    # WHEN the code for the second epoch runs, and the same for the third
    block = code_of(HOW_TO / "find-the-slowest-file-of-an-epoch.md")[0]
    second = run([block])["slowest"]
    third = run([block.replace("epoch=2", "epoch=3")])["slowest"]

    # THEN
    assert Path(second["path"].iloc[0]).name == SLOWEST
    assert {Path(path).name for path in third["path"]} == {f"{number}.bin" for number in range(FILES)}


@pytest.fixture
def ended(tmp_path, spool_folder):
    """Give what ends a recorded script by SIGTERM, and returns its exit code."""

    def end(script):
        (tmp_path / "read.bin").write_bytes(bytes(SIZE))
        (tmp_path / "train.py").write_text(script)
        command = [sys.executable, "-m", "tfdarshan", "run", "--logdir", "logs", "train.py"]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as job:
            assert job.stdout.readline() == "ready\n"
            job.send_signal(signal.SIGTERM)
        return job.returncode

    return end


def bytes_read(logdir: Path) -> int:
    """Return what the newest session of a logdir has of the script's file."""
    files = tfdarshan.open_session(logdir).files
    return int(files.loc[files["path"].str.endswith("read.bin"), "POSIX_BYTES_READ"].sum())


def test_a_script_that_handles_sigterm_as_printed_writes_its_session(tmp_path, ended):
    # GIVEN
    (handler,) = BLOCK.findall((HOW_TO / "recover-a-killed-job.md").read_text(encoding="utf-8"))

    # WHEN
    code = ended(handler + WAITS)

    # THEN
    assert (code, bytes_read(tmp_path / "logs")) == (143, SIZE)


def test_a_script_that_does_not_leaves_its_recording_for_recover(tmp_path, ended):
    # WHEN
    code = ended(WAITS)

    # THEN
    assert (code, tfdarshan.find_sessions(tmp_path / "logs")) == (-signal.SIGTERM, [])
    assert main(["recover", str(tmp_path / "logs")]) == 0
    assert bytes_read(tmp_path / "logs") == SIZE
