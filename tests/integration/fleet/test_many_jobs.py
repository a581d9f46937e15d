"""A hundred thousand jobs: the rates at which they are read, and that nothing gets lost. Prints figures."""

import resource
import shutil
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.fleet_mixture import SECOND_NS, copy_logs, write_sessions
from tests.fleet_population import CALL_S, FIRST_DAY_S, SLOWER, STORM_USER, USERS, write_population
from tests.integration.fleet.equal import assert_equal_to_summary
from tests.pydarshan import darshan
from tfdarshan.fleet.catalogue_folder import CatalogueFolder
from tfdarshan.fleet.catalogue_update import update
from tfdarshan.fleet.fleet_view import fleet_view
from tfdarshan.fleet.input_list import find_inputs
from tfdarshan.fleet.job_groups import KINDS
from tfdarshan.fleet.job_table import job_table
from tfdarshan.partials.process_pool import ProcessPool, usable_processors

# Logs of made-up jobs, logs of all versions that PyDarshan brings along, and sessions.
MADE, BROUGHT, SESSIONS = 97_000, 1_500, 1_500
JOBS, SAMPLE = MADE + BROUGHT + SESSIONS, 200
# One of each content: of Darshan 3.1.3, 3.1.4, 3.2.0-pre1 and 3.2.1, the largest with 2,051 files.
LOGS = sorted({path.read_bytes(): path for path in Path(darshan.__file__).parent.rglob("*.darshan")}.values())

pytestmark = [pytest.mark.long, pytest.mark.timeout(7_200)]


@contextmanager
def measured(what, jobs, figures):
    """Note the processor's and the clock's seconds of the block."""

    def cpu_s():
        own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

    began, began_cpu = time.monotonic(), cpu_s()
    yield
    wall, cpu = time.monotonic() - began, cpu_s() - began_cpu
    figures[what] = cpu
    print(
        f"{what}: {jobs:,} jobs in {wall:.2f} s ({jobs / wall:,.0f} a second), "
        f"{cpu:.2f} s of processors ({1e3 * cpu / jobs:.2f} ms a job)"
    )


def test_a_hundred_thousand_jobs(tmp_path, capsys):
    figures: dict[str, float] = {}
    folder = tmp_path / "in"
    made = write_population(folder / "made", MADE)
    brought = copy_logs(folder / "brought", LOGS, BROUGHT)
    sessions = write_sessions(folder / "sessions", SESSIONS, FIRST_DAY_S * SECOND_NS)
    with capsys.disabled():
        print(f"\n{usable_processors()} processors")
        # WHEN
        runner = ProcessPool(usable_processors())
        with measured("from cold", JOBS, figures):
            cold = update(CatalogueFolder(tmp_path / "c"), find_inputs([str(folder)]), runner)
        with measured("nothing changed", JOBS, figures):
            again = update(CatalogueFolder(tmp_path / "c"), find_inputs([str(folder)]), runner)
        with measured("all views", JOBS, figures):
            view = fleet_view(job_table(again.table), 20, KINDS)

    # THEN all are there, and none is read twice
    assert (cold.read, again.read, again.inputs) == (JOBS, 0, JOBS)
    assert again.table.sort_by("input").equals(cold.table.sort_by("input"))
    assert figures["nothing changed"] < figures["from cold"] / 10
    rows = {row["input"]: row for row in again.table.to_pylist()}
    assert all(rows[str(job.path)]["bytes_read"] == job.bytes_read for job in made.jobs)
    assert all(rows[str(path)]["bytes_read"] == read for path, read in sessions.items())
    assert {rows[str(path)]["state"] for path in brought} <= {"read", "no_records"}
    # AND whoever was planted is found
    assert {job["input"] for job in view.worst_jobs} == {str(path) for path in made.losers}
    assert STORM_USER in [outlier.user for outlier in view.outliers if outlier.user in {*USERS, STORM_USER}]
    (change,) = [change for change in view.changes if change.mount_point in CALL_S]
    assert (change.mount_point, change.since) == ("/scratch", "2026-10-03")
    assert change.low < SLOWER < change.high
    # AND a sample, of each kind some, is as single summaries say
    chosen = _sample([job.path for job in made.jobs], brought, list(sessions), rows)
    said = [assert_equal_to_summary(rows[path], capsys) for path in chosen]
    assert sum(one["posix"]["bytes_read"] + one["stdio"]["bytes_read"] for one in said) == sum(
        rows[path]["bytes_read"] for path in chosen
    )
    shutil.rmtree(folder)


def _sample(*kinds_and_rows):
    """Return SAMPLE inputs that were read, a quarter of them brought along or sessions."""
    *kinds, rows = kinds_and_rows
    rng = np.random.default_rng(1)
    counts = (SAMPLE - 2 * (SAMPLE // 8), SAMPLE // 8, SAMPLE // 8)
    chosen = []
    for paths, count in zip(kinds, counts, strict=True):
        read = [str(path) for path in paths if rows[str(path)]["state"] == "read"]
        chosen += [read[place] for place in rng.choice(len(read), count, replace=False).tolist()]
    return chosen
