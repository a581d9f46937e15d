"""Tables: pandas, Arrow and SQLite."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

FRAME = pd.DataFrame(
    {"number": np.arange(50_000), "value": np.arange(50_000) / 7, "text": ["some text"] * 50_000}
)


def csv(directory: Path) -> None:
    FRAME.to_csv(directory / "frame.csv", index=False)
    assert len(pd.read_csv(directory / "frame.csv")) == len(FRAME)
    assert len(pd.read_csv(directory / "frame.csv", engine="python")) == len(FRAME)
    FRAME.to_csv(directory / "frame.csv.gz", index=False)
    assert len(pd.read_csv(directory / "frame.csv.gz")) == len(FRAME)


def pandas_parquet(directory: Path) -> None:
    FRAME.to_parquet(directory / "frame.parquet")
    assert len(pd.read_parquet(directory / "frame.parquet")) == len(FRAME)
    assert list(pd.read_parquet(directory / "frame.parquet", columns=["value"])) == ["value"]


def arrow_parquet(directory: Path) -> None:
    table = pa.Table.from_pandas(FRAME)
    pq.write_table(table, directory / "table.parquet", row_group_size=5000)
    assert pq.read_table(directory / "table.parquet").num_rows == len(FRAME)
    with pq.ParquetFile(directory / "table.parquet") as file:
        assert file.read_row_group(3).num_rows == 5000


def prepare_arrow_parquet_memory_map(directory: Path) -> None:
    pq.write_table(pa.Table.from_pandas(FRAME), directory / "table.parquet")


def arrow_parquet_memory_map(directory: Path) -> None:
    table = pq.read_table(directory / "table.parquet", memory_map=True)
    assert table.num_rows == len(FRAME)


def arrow_memory_map(directory: Path) -> None:
    with pa.OSFile(str(directory / "data.bin"), "wb") as file:
        file.write(b"x" * 100_000)
    with pa.memory_map(str(directory / "data.bin"), "r") as mapped:
        assert len(mapped.read()) == 100_000
    with pa.OSFile(str(directory / "data.bin")) as file:
        assert len(file.read(1000)) == 1000


def sqlite(directory: Path) -> None:
    connection = sqlite3.connect(directory / "rows.sqlite")
    connection.execute("create table numbers (value integer, name text)")
    for start in range(0, 3000, 1000):
        rows = ((number, f"name {number}" * 10) for number in range(start, start + 1000))
        connection.executemany("insert into numbers values (?, ?)", rows)
        connection.commit()
    assert connection.execute("select count(*), sum(value) from numbers").fetchone()[0] == 3000
    connection.close()
    with sqlite3.connect(directory / "rows.sqlite") as again:
        assert again.execute("select max(value) from numbers").fetchone() == (2999,)
    again.close()


def sqlite_journal_modes(directory: Path) -> None:
    for mode in ("delete", "truncate", "persist", "wal"):
        connection = sqlite3.connect(directory / f"{mode}.sqlite")
        connection.execute(f"pragma journal_mode = {mode}")
        connection.execute("create table numbers (value integer)")
        for number in range(20):
            connection.execute("insert into numbers values (?)", (number,))
            connection.commit()
        assert connection.execute("select count(*) from numbers").fetchone() == (20,)
        connection.close()


def feather_and_json(directory: Path) -> None:
    FRAME.to_feather(directory / "frame.feather")
    assert len(pd.read_feather(directory / "frame.feather")) == len(FRAME)
    FRAME[:1000].to_json(directory / "frame.jsonl", orient="records", lines=True)
    assert len(pd.read_json(directory / "frame.jsonl", lines=True)) == 1000
    FRAME[:1000].to_pickle(directory / "frame.pickle")
    assert len(pd.read_pickle(directory / "frame.pickle")) == 1000
