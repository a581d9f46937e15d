"""Formats of mapped files, by files that their libraries wrote, and by their names."""

import json

import numpy as np
import pyarrow as pa
import pytest

from tfdarshan.recording.writing.file_format import file_formats, format_of


def written(folder):
    """Write a file of each kind under a name that says nothing; return their formats."""
    np.save(folder / "a.bin", np.arange(9))
    (folder / "a.bin.npy").rename(folder / "npy")
    table = pa.table({"x": [1, 2, 3]})
    with pa.OSFile(str(folder / "arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    with pa.OSFile(str(folder / "arrow_stream"), "wb") as out, pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    # Format: https://github.com/huggingface/safetensors#format
    head = json.dumps({"x": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}).encode()
    (folder / "safetensors").write_bytes(len(head).to_bytes(8, "little") + head + b"\0")
    return {name: name for name in ("npy", "arrow", "arrow_stream", "safetensors")}


def test_a_file_is_known_by_its_bytes_where_its_file_system_is_local(tmp_path):
    formats = written(tmp_path)

    for name, kind in formats.items():
        path = str(tmp_path / name)
        assert file_formats([(path, "ext4")]) == {path: kind}
        # one of FUSE or of a network is not opened
        assert file_formats([(path, "fuse.lat")]) == {}


def test_lmdb_is_known_by_what_py_lmdb_writes(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(tmp_path / "db"), map_size=1 << 20) as database, database.begin(write=True) as txn:
        txn.put(b"a", b"b")

    assert format_of((tmp_path / "db" / "data.mdb").read_bytes()[:64]) == "lmdb"


def test_a_name_will_do_where_nothing_can_be_read():
    assert file_formats([("/gone/data.mdb", "ext4"), ("/gone/X.NPY", "nfs"), ("/gone/x", "ext4")]) == {
        "/gone/data.mdb": "lmdb",
        "/gone/X.NPY": "npy",
    }


def test_other_bytes_are_of_no_format(tmp_path):
    for head in (b"", b"\0" * 64, b"PK\x03\x04" + b"\0" * 60, b"\xff" * 64):
        assert format_of(head) == ""
