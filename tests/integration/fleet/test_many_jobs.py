"""Ten thousand jobs: the rates at which they are read, and that nothing of them gets lost. Prints figures."""

import resource
import time
from contextlib import contextmanager

import numpy as np
import pytest

from tests.fleet_population import SLOWER, STORM_USER, write_population
from tests.integration.fleet.equal import assert_equal_to_summary
from tests.pydarshan import darshan
from tfdarshan.fleet.catalogue_folder import CatalogueFolder
from tfdarshan.fleet.catalogue_update import update
from tfdarshan.fleet.fleet_view import fleet_view
from tfdarshan.fleet.input_list import find_inputs
from tfdarshan.fleet.job_groups import KINDS
from tfdarshan.fleet.job_table import job_table
from tfdarshan.partials.process_pool import ProcessPool, usable_processors

JOBS, SAMPLE = 10_000, 60

pytestmark = pytest.mark.long


@contextmanager
def measured(what, jobs, figures):
    """Notes the processor's and the clock's seconds of the block."""

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


def test_ten_thousand_jobs(tmp_path, capsys):
    assert darshan
    figures: dict[str, float] = {}
    made = write_population(tmp_path / "in", JOBS)
    with capsys.disabled():
        print(f"\n{usable_processors()} processors")
        # WHEN
        runner = ProcessPool(usable_processors())
        with measured("from cold", JOBS, figures):
            cold = update(CatalogueFolder(tmp_path / "c"), find_inputs([str(tmp_path / "in")]), runner)
        with measured("nothing changed", JOBS, figures):
            again = update(CatalogueFolder(tmp_path / "c"), find_inputs([str(tmp_path / "in")]), runner)
        with measured("all views", JOBS, figures):
            view = fleet_view(job_table(again.table), 20, KINDS)

    # THEN
    assert (cold.read, again.read, again.inputs) == (JOBS, 0, JOBS)
    assert again.table.sort_by("input").equals(cold.table.sort_by("input"))
    assert figures["nothing changed"] < figures["from cold"] / 10
    rows = {row["input"]: row for row in again.table.to_pylist()}
    assert all(rows[str(job.path)]["bytes_read"] == job.bytes_read for job in made.jobs)
    assert {job["input"] for job in view.worst_jobs} == {str(path) for path in made.losers}
    assert [outlier.user for outlier in view.outliers] == [STORM_USER]
    (change,) = view.changes
    assert (change.mount_point, change.since) == ("/scratch", "2026-10-03")
    assert change.low < SLOWER < change.high
    chosen = np.random.default_rng(1).choice(JOBS, SAMPLE, replace=False).tolist()
    said = [assert_equal_to_summary(rows[str(made.jobs[place].path)], capsys) for place in chosen]
    assert sum(one["posix"]["bytes_read"] for one in said) == sum(
        rows[str(made.jobs[place].path)]["bytes_read"] for place in chosen
    )
