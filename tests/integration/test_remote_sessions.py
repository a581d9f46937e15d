"""Sessions that a URL names: read as those of a folder, and nothing of the copy is left."""

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.integration.other_machine import can_hide_folders, other_machine
from tests.made_up_session import image_job, write_session
from tfdarshan.commands import main
from tfdarshan.partials.dask_cluster import DaskCluster

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


def said(capsys, path, *arguments):
    assert main(["summary", "--json", path, *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def named_by_no_path(said):
    """What is said of a folder, with LOGDIR in its commands: that is what those of a URL have."""
    text, probe = json.dumps(said), "tfdarshan probe --logdir "
    return json.loads(text.replace(f"{probe}{said['path']}", f"{probe}LOGDIR"))


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
    assert found | apart == named_by_no_path(expected) | apart
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
        (["nowhere://bucket/logs"], 2, "nowhere://bucket/logs is not a URL that fsspec knows"),
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


@pytest.fixture
def elsewhere(logdir, tmp_path):
    """The address of a cluster whose worker has a temporary folder of its own, so that it sees no copy."""
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    if not can_hide_folders():
        pytest.skip("no process may have mounts of its own here")
    (tmp_path / "dask").mkdir()
    with other_machine(tmp_path / "tmp", tmp_path / "dask") as address:
        yield address


@pytest.fixture
def left_behind(monkeypatch):
    """How much workers have in their temporary folder before the copy is removed, and what after that."""
    found: list[Any] = []
    remove = DaskCluster.on_each_worker

    def watched(self, work):
        def names():
            return [path.name for path in work.__self__.folder.parent.iterdir()]

        brought = self._client.run(names)
        remove(self, work)
        found.extend([sum(map(len, brought.values())), self._client.run(names)])

    monkeypatch.setattr(DaskCluster, "on_each_worker", watched)
    return found


@pytest.fixture
def of_two(logdir):
    """A newer session of two processes, also in fsspec's memory, as both logdirs are named."""
    jobs = [dataclasses.replace(image_job(20, 2, 2, seed=place), pid=100 + place) for place in range(2)]
    made = write_session(logdir, *jobs, stamp="2024_01_03_00_00_00").path
    inside = made.relative_to(logdir.parent)
    fsspec.filesystem("memory").put(str(made), f"/bucket/{inside}", recursive=True)
    return f"file://{logdir}", ROOT


@pytest.mark.long
@pytest.mark.parametrize("verb", ["summary", "report"])
def test_workers_of_other_machines_copy_it_too(of_two, elsewhere, left_behind, capsys, tmp_path, verb):
    # GIVEN
    url, _ = of_two

    # WHEN
    if verb == "summary":
        found, expected = said(capsys, url, "--cluster", elsewhere), said(capsys, url)
        assert (found["processes"], found["posix"]["opens"]) == (2, 2 * 2 * 20)
    else:
        pages = [tmp_path / f"{name}.html" for name in ("alone", "cluster")]
        for page, more in zip(pages, [(), ("--cluster", elsewhere)], strict=True):
            assert main(["report", url, "-o", str(page), *more]) == 0
        found, expected = (page.read_bytes() for page in pages)

    # THEN it is what is said without them, and of the copy of each machine nothing is left
    assert found == expected
    (count, left) = left_behind
    assert count == 2, "the copy, and its lock"
    assert list(left.values()) == [[]]


def test_no_command_names_the_copy(of_two, tmp_path, capsys):
    for url in of_two:
        assert "tfdarshan-copy" not in json.dumps(said(capsys, url))
        assert main(["report", url, "-o", str(tmp_path / "page.html"), "--force"]) == 0
        capsys.readouterr()
        assert "tfdarshan advise --logdir LOGDIR" in (tmp_path / "page.html").read_text()


@pytest.mark.long
def test_workers_read_one_each_of_several(logdir, elsewhere, capsys):
    urls = [f"file://{logdir}/plugins/tfdarshan/2024_01_0{day}_00_00_00" for day in (1, 2)]

    def rows(*arguments):
        assert main(["summary", "--json", *urls, *arguments]) == 0
        return json.loads(capsys.readouterr().out)

    assert rows("--cluster", elsewhere) == rows()


@pytest.mark.long
def test_a_worker_that_cannot_copy_is_one_sentence(of_two, elsewhere, capsys):
    # GIVEN a storage that answers here, and not where the worker is
    _, url = of_two

    # WHEN
    code = main(["summary", url, "--cluster", elsewhere])

    # THEN
    assert code == 1
    assert f"there is nothing in {url}/plugins/tfdarshan/2024_01_03_00_00_00" in capsys.readouterr().err


@pytest.mark.long
def test_a_log_is_read_here_whatever_the_cluster(elsewhere, capsys):
    darshan = pytest.importorskip("darshan", reason="PyDarshan is not installed")
    (log,) = Path(darshan.__file__).parent.rglob("sample-dxt-simple.darshan")

    assert said(capsys, str(log), "--cluster", elsewhere) == said(capsys, str(log))
