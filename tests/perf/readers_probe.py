"""Answers questions about the calls in a session's tables with one tool, and prints what that took as JSON.

`PYTHON readers_probe.py TOOL FOLDER`. It imports nothing but the standard library and the tool, which may be
in an environment of its own. The questions: what calls were by file and by kind, with percentiles of how long
they took; the time in which at least one was running; and bytes by part of time.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PARTS = 512
# Its durations are compared: it has one size.
KIND, PERCENTILE = "close", 0.9

BY_FILE = "select file, count(*) as calls, sum(length), sum(end_ns - start_ns) from calls group by file"
BY_KIND = f"""
select operation, count(*), sum(length), quantile_disc(taken, [0.5, {PERCENTILE}, 0.99, 0.999]), max(taken)
from (select *, end_ns - start_ns as taken from calls) group by operation"""
# A call adds what it reaches beyond all that began before it.
UNION = """
select sum(greatest(end_ns - greatest(start_ns, reached), 0)) from (
    select start_ns, end_ns, coalesce(max(end_ns) over earlier, 0) as reached from calls
    window earlier as (order by start_ns rows between unbounded preceding and 1 preceding))"""
BY_TIME = "select start_ns * {parts} // {end} as part, sum(length) from calls group by part"


def with_duckdb(tables: list[str]) -> dict[str, float]:
    """Ask DuckDB."""
    duckdb = importlib.import_module("duckdb")
    database = duckdb.connect()
    database.execute(f"create view calls as select * from read_parquet({tables!r})")
    kinds = {row[0]: row for row in database.execute(BY_KIND).fetchall()}
    files = database.execute(BY_FILE).fetchnumpy()
    (end,) = database.execute("select max(end_ns) + 1 from calls").fetchone()
    database.execute(BY_TIME.format(parts=PARTS, end=end)).fetchall()
    ((union,),) = database.execute(UNION).fetchall()
    calls = sum(row[1] for row in kinds.values())
    return {
        "calls": calls,
        "files": len(files["file"]),
        "union_ns": int(union),
        "percentile_ns": kinds[KIND][3][1],
    }


def with_polars(tables: list[str]) -> dict[str, float]:
    """Ask Polars, by its streaming engine."""
    pl: Any = importlib.import_module("polars")
    calls = pl.scan_parquet(tables)
    taken = pl.col("end_ns") - pl.col("start_ns")
    shares = [taken.quantile(share, "higher").alias(f"p{share}") for share in (0.5, PERCENTILE, 0.99, 0.999)]
    sums = [pl.len().alias("calls"), pl.col("length").sum()]
    before = pl.col("end_ns").cum_max().shift(1).fill_null(0)
    reached = pl.max_horizontal(pl.col("start_ns"), before)
    union = pl.max_horizontal(pl.col("end_ns") - reached, 0).sum()
    end = calls.select(pl.col("end_ns").max()).collect(engine="streaming").item() + 1
    asked = [
        calls.group_by("operation").agg(*sums, *shares, taken.max().alias("longest")),
        calls.group_by("file").agg(*sums, taken.sum().alias("ns")),
        calls.group_by((pl.col("start_ns") * PARTS // end).alias("part")).agg(pl.col("length").sum()),
        calls.select("start_ns", "end_ns").sort("start_ns").select(union.alias("ns")),
    ]
    kinds, files, _, total = (question.collect(engine="streaming") for question in asked)
    found = kinds.filter(pl.col("operation").cast(pl.String) == KIND)
    return {
        "calls": int(kinds["calls"].sum()),
        "files": files.height,
        "union_ns": int(total.item()),
        "percentile_ns": int(found[f"p{PERCENTILE}"].item()),
    }


def with_tfdarshan(tables: list[str]) -> dict[str, float]:
    """Ask tfdarshan."""
    import tfdarshan
    from tfdarshan.analysis.calls.wall_clock import measure_wall_clock
    from tfdarshan.analysis.files.session_files import load_files_and_totals
    from tfdarshan.analysis.time.latency import latency_by_windows
    from tfdarshan.analysis.time.overview_times import overview_times

    processes = tfdarshan.open_session(Path(tables[0]).parent).processes
    files, _ = load_files_and_totals(processes, 5)
    overview_times(processes, PARTS)
    kinds = latency_by_windows(processes).set_index("operation")
    return {
        "calls": int(kinds["calls"].sum()),
        "files": len(files) - 1,
        "union_ns": round((measure_wall_clock(processes).io_s or 0) * 1e9),
        "percentile_ns": int(kinds.loc[KIND, "p90_ns"]),
    }


TOOLS: dict[str, Callable[[list[str]], dict[str, float]]] = {
    "duckdb": with_duckdb, "polars": with_polars, "tfdarshan": with_tfdarshan,
}  # fmt: skip


def main(tool: str, folder: str) -> None:
    """Ask one of TOOLS about the session in a folder."""
    tables = sorted(map(str, Path(folder).glob("*.events.parquet")))
    before = time.perf_counter()
    answer = TOOLS[tool](tables)
    used = resource.getrusage(resource.RUSAGE_SELF)
    took = {"wall_s": time.perf_counter() - before, "cpu_s": used.ru_utime + used.ru_stime}
    version = importlib.metadata.version(tool)
    print(json.dumps({"version": version, "peak_mib": used.ru_maxrss / 1024, **took, **answer}))


if __name__ == "__main__":
    main(*sys.argv[1:])
