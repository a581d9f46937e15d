"""Sessions that a URL names: read as those of a folder, and nothing of the copy is left."""

import json
import tempfile
from pathlib import Path

import pytest

from tests.made_up_session import image_job, write_session
from tfdarshan.commands import main

fsspec = pytest.importorskip("fsspec")

ROOT = "memory://bucket/logs"


@pytest.fixture
def logdir(tmp_path, monkeypatch):
    """A logdir of two sessions, put into fsspec's memory, and a folder for temporary files."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    folder = tmp_path / "logs"
    write_session(folder, image_job(7, 1, 2), stamp="2024_01_01_00_00_00")
    write_session(folder, image_job(9, 2, 2), stamp="2024_01_02_00_00_00")
    memory = fsspec.filesystem("memory")
    memory.put(str(folder), "/bucket/logs", recursive=True)
    yield folder
    memory.rm("/bucket", recursive=True)
    assert not list((tmp_path / "tmp").iterdir())


def said(capsys, path):
    assert main(["summary", "--json", path]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("part", ["", "/plugins/tfdarshan/2024_01_01_00_00_00"])
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_url_is_read_as_its_folder(logdir, capsys, part, kind):
    # GIVEN
    url = f"{ROOT}{part}" if kind == "memory" else f"file://{logdir}{part}"

    # WHEN
    found, expected = said(capsys, url), said(capsys, f"{logdir}{part}")

    # THEN the newest session of a logdir, or the one that was named; by the name that was given
    assert found["posix"]["opens"] == (7 if part else 18)
    assert found["path"] == url
    # Others beside it are not copied.
    apart = {"path": "", "overlapping_sessions": []}
    assert found | apart == expected | apart
    assert main(["files", url]) == 0


def test_only_one_session_is_copied(logdir, monkeypatch, capsys):
    # GIVEN
    copied: list[Path] = []
    memory = fsspec.filesystem("memory")
    original = memory.get_file

    def noted(_self, name, to, **more):
        copied.append(Path(name))
        return original(name, to, **more)

    monkeypatch.setattr(type(memory), "get_file", noted)

    # WHEN
    said(capsys, ROOT)

    # THEN
    tables = {path.parent.name for path in copied if path.suffix == ".parquet"}
    assert tables == {"2024_01_02_00_00_00"}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["memory://bucket/none"], 1, "nothing in memory://bucket/none"),
        (["nowhere://bucket/logs"], 2, "nowhere://bucket/logs is no URL that fsspec knows"),
        ([ROOT, "--cluster", "tcp://h:8786"], 2, "workers of tcp://h:8786 do not see it"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(logdir, capsys, arguments, code, words):
    assert main(["summary", *arguments]) == code
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_what_a_storages_client_raises_is_one_sentence(logdir, monkeypatch, capsys):
    # GIVEN a client with exceptions of its own, as botocore's
    class NoCredentialsError(Exception):
        pass

    def refused(*_arguments, **_more):
        raise NoCredentialsError("Unable to locate\ncredentials.")

    # WHEN
    with monkeypatch.context() as patched:
        patched.setattr(type(fsspec.filesystem("memory")), "find", refused)
        code = main(["summary", ROOT])

    # THEN
    assert code == 1
    assert f"{ROOT} cannot be read: Unable to locate credentials.\n" in capsys.readouterr().err
