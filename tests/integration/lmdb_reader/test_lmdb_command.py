"""tfdarshan lmdb: what it prints, and one sentence for what is no database."""

import json

import pytest

from tests import later_tensorflow as tf
from tests.integration.lmdb_reader.databases import write
from tfdarshan.commands import main


@pytest.fixture
def path(tmp_path):
    write(tmp_path / "db", [(b"%06d" % number, bytes(5000)) for number in range(90)])
    write(tmp_path / "db", [(b"k", b"%d" % number) for number in range(10)], b"duplicates")
    return tmp_path / "db"


def test_info_says_what_is_there(path, capsys):
    assert main(["lmdb", "info", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["records"] == 91
    assert found["value_bytes"] == 450_048
    assert found["median_bytes"] == found["most_bytes"] == 5000
    assert found["values_in_pages"] == 90
    assert found["databases"] == ["duplicates"]

    assert main(["lmdb", "info", str(path), "--db", "duplicates"]) == 0
    said = capsys.readouterr().out
    assert "records                    10\n" in said
    assert "several values a key" in said


def test_verify_reads_all_and_compares(path, capsys):
    assert main(["lmdb", "verify", str(path), "--compare", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["databases"]
    assert [one["records"] for one in found] == [91, 10]

    assert main(["lmdb", "verify", str(path)]) == 0
    assert "sub-database duplicates: 10 records, 10 B of values" in capsys.readouterr().out


def test_verify_says_what_is_damaged(path, capsys):
    # GIVEN a value whose pages are another's
    data = path / "data.mdb"
    content = bytearray(data.read_bytes())
    page = next(at for at in range(0, len(content), 4096) if content[at + 10] == 4)
    content[page] ^= 1
    data.write_bytes(content)

    # WHEN / THEN
    assert main(["lmdb", "verify", str(path)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"tfdarshan: {data} is damaged: page {page // 4096} does not begin a value.\n"


@pytest.mark.parametrize("shuffle", [[], ["--shuffle", "exact"]])
def test_bench_measures_both_readers(path, capsys, shuffle):
    assert main(["lmdb", "bench", str(path), "--runs", "2", "--cold", "--json", *shuffle]) == 0

    readers = json.loads(capsys.readouterr().out)["readers"]
    assert [reader["value_bytes"] for reader in readers] == [450_048] * 2
    assert [len(reader["runs"]) for reader in readers] == [2, 2]
    assert all(run["value_bytes"] == 450_048 for reader in readers for run in reader["runs"])


def test_bench_names_the_readers(path, capsys):
    assert main(["lmdb", "bench", str(path), "--runs", "1", "--access", "direct"]) == 0

    said = capsys.readouterr().out
    assert "tfdarshan.lmdb, direct, 16 threads" in said
    assert "py-lmdb in a generator" in said
    assert said.count("x\n") == 1


def test_bench_in_tf_data(path, capsys):
    tf.needs("tensorflow")

    assert main(["lmdb", "bench", str(path), "--runs", "1", "--tensorflow", "--json"]) == 0

    readers = json.loads(capsys.readouterr().out)["readers"]
    assert [reader["reader"].split(", ")[-1] for reader in readers] == [
        "flat",
        "strings",
        "py-lmdb in a generator",
    ]
    assert [reader["value_bytes"] for reader in readers] == [450_048] * 3


@pytest.mark.parametrize("action", ["info", "verify", "bench"])
def test_what_is_no_database_is_one_sentence(tmp_path, capsys, action):
    (tmp_path / "text").write_text("this is a text\n" * 1000)
    for name, sentence in (("text", "is not an LMDB data file."), ("none", "cannot be opened: No such file")):
        assert main(["lmdb", action, str(tmp_path / name)]) == 1
        said = capsys.readouterr()
        assert sentence in said.err
        assert said.err.count("\n") == 1
        assert said.out == ""


def test_wrong_options_are_wrong_use(path, capsys):
    for wrong in (["bench", "--runs", "0"], ["bench", "--threads", "0"], ["info", "--db", "none"]):
        assert main(["lmdb", wrong[0], str(path), *wrong[1:]]) == 2
        assert capsys.readouterr().err.count("\n") == 1
