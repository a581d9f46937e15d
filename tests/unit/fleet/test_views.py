"""Views of a population find what was planted in it, and nothing where nothing was."""

import csv
import json
from datetime import date

import numpy as np
import pytest

from tests import fleet_population
from tests.fleet_population import FIRST_DAY_S, SLOW_SINCE_S, STORM_USER, MadeJob, write_log, write_population
from tests.unit.fleet.made_jobs import made_jobs
from tfdarshan.commands import main
from tfdarshan.commands.fleet import KINDS as command_kinds
from tfdarshan.fleet.catalogue_folder import CatalogueFolder
from tfdarshan.fleet.catalogue_update import update
from tfdarshan.fleet.input_list import find_inputs
from tfdarshan.fleet.job_groups import KINDS, group_jobs
from tfdarshan.fleet.job_table import job_table
from tfdarshan.fleet.outliers import find_outliers
from tfdarshan.fleet.population import distributions, total_of, worst_jobs
from tfdarshan.fleet.trends import find_trends
from tfdarshan.partials.serial import SERIAL


def test_the_jobs_that_lose_most_are_those_that_were_planted(population, jobs):
    worst = worst_jobs(jobs, len(population.losers))

    assert {job["input"] for job in worst} == {str(path) for path in population.losers}
    lost = [job["lost_node_hours"] for job in worst]
    assert lost == sorted(lost, reverse=True)


def test_totals_are_the_sums_of_what_was_made(population, jobs):
    made, totals = population.jobs, total_of(jobs)

    for name in ("opens", "stats", "bytes_read", "bytes_written"):
        assert getattr(totals, name) == sum(getattr(job, name) for job in made)
    assert totals.jobs == len(made)
    assert totals.read_process_hours * 3600 == pytest.approx(sum(job.read_s for job in made))
    assert totals.job_hours * 3600 == pytest.approx(sum(job.duration_s for job in made))
    assert totals.nodes_unknown == sum(job.processes > 1 for job in made)
    # Nobody waited, as far as anybody knows: that is not 0.
    assert (totals.input_wait_hours, totals.checkpoint_stall_hours) == (None, None)


def test_nodes_come_from_processes_if_they_are_not_known(population, table):
    few = total_of(job_table(table, processes_per_node=16))

    assert few.node_hours * 3600 == pytest.approx(
        sum(job.duration_s * -(-job.processes // 16) for job in population.jobs)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_groups_add_up_to_the_whole(population, jobs, kind):
    groups, totals = group_jobs(jobs, kind), total_of(jobs)

    for name in ("opens", "stats", "bytes_read", "bytes_written"):
        assert sum(getattr(group, name) for group in groups) == getattr(totals, name)
    assert sum(group.lost_node_hours for group in groups) == pytest.approx(totals.lost_node_hours)
    assert sum(group.jobs for group in groups) == totals.jobs  # here each job uses one mount
    if kind == "user":
        mine = next(group for group in groups if group.name == STORM_USER)
        assert mine.stats == sum(job.stats for job in population.jobs if job.user == STORM_USER)


def test_distributions_are_quantiles_of_what_was_made(population, jobs):
    spread = {one.name: one for one in distributions(jobs)}

    durations = [job.duration_s for job in population.jobs]
    assert spread["duration"].values == pytest.approx(np.quantile(durations, (0.1, 0.5, 0.9, 0.99, 1.0)))
    assert "input wait of the steps" not in spread


def test_the_file_system_that_became_slower_is_found_with_its_day(jobs):
    _trends, changes = find_trends(jobs)

    (change,) = changes
    assert (change.mount_point, change.fs_type, change.figure) == ("/scratch", "lustre", "call_s")
    assert abs(date.fromisoformat(change.since) - date.fromtimestamp(SLOW_SINCE_S)).days <= 3
    assert change.low < fleet_population.SLOWER < change.high
    assert 1.7 < change.ratio < 2.3
    assert change.extra_process_hours > 0


def test_the_users_stat_storm_is_found(population, jobs):
    (outlier,) = find_outliers(jobs)

    assert (outlier.user, outlier.figure) == (STORM_USER, "stats")
    assert outlier.total == sum(job.stats for job in population.jobs if job.user == STORM_USER)
    assert outlier.share > 0.9
    assert outlier.times > 100


def jobs_of(rows):
    """Make a table of jobs of one mount: (day, application, seconds of a call)."""
    return made_jobs(
        {"day": day, "application": application, "opens": 100, "meta_s": 100 * call_s}
        for day, application, call_s in rows
    )


def test_noise_and_another_mix_of_applications_are_no_change():
    rng = np.random.default_rng(5)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        noise = [(day, "a", 1e-3 * rng.lognormal(0, 0.5)) for day in range(84) for _ in range(2)]
        assert find_trends(jobs_of(noise))[1] == []
    # An application whose calls are ten times as long runs more and more often.
    mixed = [
        (day, "slow" if slow else "a", (1e-2 if slow else 1e-3) * rng.lognormal(0, 0.2))
        for day in range(84)
        for slow in rng.random(4) < (0.15 if day < 42 else 0.85)
    ]
    assert find_trends(jobs_of(mixed))[1] == []


def test_a_mount_that_nobody_knows_changes_as_others_do():
    rng = np.random.default_rng(4)
    rows = [
        {"day": day, "opens": 100, "meta_s": (0.1 if day < 50 else 0.4) * rng.lognormal(0, 0.2)}
        | {"mount_point": None, "fs_type": None}
        for day in range(100)
        for _ in range(2)
    ]

    (change,) = find_trends(made_jobs(rows))[1]

    assert (change.mount_point, change.ratio) == ("(unknown)", pytest.approx(4, rel=0.2))


def test_what_got_better_and_worse_again_are_two_changes():
    rng = np.random.default_rng(3)
    level = {0: 3e-3, 1: 1e-3, 2: 3e-3}
    rows = [(day, "a", level[day // 42] * rng.lognormal(0, 0.3)) for day in range(126) for _ in range(3)]

    changes = sorted(find_trends(jobs_of(rows))[1], key=lambda change: change.since)

    assert [change.ratio > 1 for change in changes] == [False, True]
    assert changes[0].ratio == pytest.approx(1 / 3, rel=0.25)
    assert changes[0].extra_process_hours < 0 < changes[1].extra_process_hours


def test_too_few_weeks_tell_nothing():
    rng = np.random.default_rng(3)
    rows = [(day, "a", (1e-3 if day < 14 else 9e-3) * rng.lognormal(0, 0.1)) for day in range(30)]

    assert find_trends(jobs_of(rows))[1] == []


def test_an_outlier_needs_other_users_to_stand_out_from(tmp_path):
    for number, user in enumerate(("ann", "ben", "cle")):
        job = MadeJob(tmp_path / f"{user}_p_id{number}_1.darshan", user, "p", "/m", FIRST_DAY_S, 9.0, 1)
        write_log(job, [{"path": "/m/x", "POSIX_STATS": 10**7 if user == "ann" else 1, "POSIX_OPENS": 1}])
    done = update(CatalogueFolder(tmp_path / "c"), find_inputs([str(tmp_path)]), SERIAL)

    assert find_outliers(job_table(done.table)) == []


def test_vanished_jobs_count_only_if_asked_for(tmp_path):
    path = write_population(tmp_path / "in", 3).jobs[0].path
    update(CatalogueFolder(tmp_path / "c"), find_inputs([str(tmp_path / "in")]), SERIAL)
    path.unlink()
    done = update(CatalogueFolder(tmp_path / "c"), find_inputs([str(tmp_path / "in")]), SERIAL)

    assert len(job_table(done.table)) == 2
    assert len(job_table(done.table, with_vanished=True)) == 3


def fleet(folder, tmp_path, *arguments):
    where = ["--catalogue", str(tmp_path / "catalogue"), "--findings", "0", "--processes", "1"]
    return main(["fleet", str(folder), *where, *arguments])


def test_the_overview_names_the_culprits_within_100_columns(folder, tmp_path, capsys):
    assert fleet(folder, tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()

    assert max(map(len, lines)) <= 100
    text = " ".join(lines)
    assert "opens and stats cost" in text
    assert "times as much on /scratch" in text
    assert f"* {STORM_USER} made 9" in text


def test_a_folder_without_jobs_is_answered_too(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/torn.darshan").write_bytes(b"3.41\0")

    for arguments in ((), ("--json",), ("--html", str(tmp_path / "a.html"))):
        assert fleet(tmp_path / "in", tmp_path, *arguments) == 0
    assert fleet(tmp_path / "in", tmp_path, "--stage-hot", "1T") == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.startswith("0 jobs\n")
    assert said.out.count("! 1 of 1 inputs left out: damaged") == 3


def test_exports_have_what_the_catalogue_has(folder, population, tmp_path, capsys):
    duckdb = pytest.importorskip("duckdb")
    out = tmp_path / "jobs"
    arguments = ("--csv", f"{out}.csv", "--parquet", f"{out}.parquet", "--json")
    assert fleet(folder, tmp_path, *arguments) == 0
    said = json.loads(capsys.readouterr().out)["totals"]

    with open(f"{out}.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sums = duckdb.sql(f"select count(*), sum(opens), sum(bytes_read), sum(meta_s) from '{out}.parquet'")
    ((jobs, opens, bytes_read, meta_s),) = sums.fetchall()

    assert (jobs, opens, bytes_read) == (len(population.jobs), said["opens"], said["bytes_read"])
    assert meta_s / 3600 == pytest.approx(said["meta_process_hours"])
    assert sum(int(row["bytes_read"]) for row in rows) == bytes_read
    assert json.loads(rows[0]["mounts"])[0]["mount_point"].startswith("/")
    assert {row["io_s"] for row in rows} == {""}
    assert fleet(folder, tmp_path, "--csv", f"{out}.csv") == 1
    assert "--force" in capsys.readouterr().err


def test_the_command_names_every_kind_of_group():
    assert command_kinds == KINDS


def test_redacted_output_has_no_names(folder, population, tmp_path, capsys):
    out = tmp_path / "jobs.csv"
    assert fleet(folder, tmp_path, "--redact", "--json", "--csv", str(out)) == 0
    plain_sums = json.loads(capsys.readouterr().out)
    said = json.dumps(plain_sums) + out.read_text()
    page = tmp_path / "page.html"
    assert fleet(folder, tmp_path, "--redact", "--html", str(page)) == 0
    said += capsys.readouterr().out
    said += page.read_text().partition('id="report">')[2].partition("</script>")[0]

    names = {STORM_USER, "scratch", "projects", "simulate", "resnet", "postproc", "train.py", "project-0"}
    names |= {job.user for job in population.jobs} | {str(folder), "population"}
    assert [name for name in names if name in said] == []
    # What was found is found all the same.
    assert plain_sums["totals"]["bytes_read"] == sum(job.bytes_read for job in population.jobs)
    assert (len(plain_sums["outliers"]), len(plain_sums["changes"])) == (1, 1)
