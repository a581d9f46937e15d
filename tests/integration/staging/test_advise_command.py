"""`tfdarshan advise` on sessions with files that are there."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.one_measurement import TIER
from tests.synthetic_session import SyntheticRun, write_session
from tfdarshan.commands import main
from tfdarshan.reports.figures.theme import CONFIG
from tfdarshan.staging.plan_file import read_plan
from tfdarshan.terminal.paint import WIDTH

FILES = 200


@pytest.fixture(autouse=True)
def idle_tier(monkeypatch):
    """Measure a tier of an idle machine: a busy one's own disk may be too slow for copies to be worth it."""
    monkeypatch.setattr("tfdarshan.staging.probe.probe_tier", lambda *_: TIER)


@pytest.fixture
def job(tmp_path):
    """A job that read 200 files of 1 to 200 KB, the last twenty 20 times, at 8 ms and 163 MB/s."""
    return job_of(tmp_path, tmp_path / "data")


def job_of(tmp_path, spelled):
    """Return the folder of such a job, which spells the folder of its files so."""
    (tmp_path / "code").mkdir()
    (tmp_path / "data").mkdir()
    size = np.arange(1, FILES + 1) * 1_000
    opens = np.where(np.arange(FILES) >= FILES - 20, 20, 1)
    paths = [f"{spelled}/{number:03}" for number in range(FILES)]
    for path, length in zip(paths, size, strict=True):
        Path(path).write_bytes(bytes(int(length)))
    read_s = opens * (8e-3 + size / 163e6)
    thread_s = float(read_s.sum())
    columns = {
        "size_bytes": size,
        "POSIX_OPENS": opens,
        "POSIX_READS": 2 * opens,
        "POSIX_BYTES_READ": opens * size,
        "POSIX_F_READ_TIME": read_s,
    }
    write_session(
        tmp_path / "logs" / "plugins" / "tfdarshan" / "2026_01_01_00_00_00",
        SyntheticRun(duration_s=thread_s / 4, io_s=thread_s / 4, thread_s=thread_s, readers=4),
        FILES,
        lambda first, last: paths[first:last],
        lambda first, last: {name: values[first:last] for name, values in columns.items()},
    )
    return tmp_path


def advise(capsys, job, *arguments):
    code = main(["advise", "--logdir", str(job / "logs"), "--fast", str(job / "fast"), *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_text_fits_the_terminal_and_says_what_matters(capsys, job):
    code, text, err = advise(capsys, job, "--slow", job / "data", "--capacity", "5M")

    assert (code, err) == (0, "")
    assert max(map(len, text.splitlines())) <= WIDTH
    stage = "Stage 65 files, 4.8 MB, which take 5.0 MB there in whole blocks, to"
    for part in (stage, "smallest first", "largest first", "Time saved by bytes copied", "each further byte"):
        assert part in text


def test_plan_has_the_files_that_are_read_most(capsys, job):
    code, _, err = advise(capsys, job, "--slow", job / "data", "--capacity", "3900K", "-o", job / "plan.json")

    plan = read_plan(job / "plan.json")
    assert code == 0
    assert "stage apply" in err
    assert {file.name for file in plan.files} >= {f"{number:03}" for number in range(FILES - 20 + 2, FILES)}
    assert sum(file.size for file in plan.files) <= 3_900_000
    assert plan.slow_root == str(job / "data")
    assert os.path.ismount(plan.fast_mount)
    assert (job / "fast").is_relative_to(plan.fast_mount)
    assert plan.files[0].mtime_ns == (job / "data" / plan.files[0].name).stat().st_mtime_ns
    assert plan.promise["staged_slow_s"] > plan.promise["staged_fast_s"] > 0


def test_json_has_advice_and_plan(capsys, job):
    code, text, _ = advise(capsys, job, "--slow", job / "data", "--json")

    data = json.loads(text)
    assert code == 0
    assert [rule["name"] for rule in data["advice"]["rules"]][1:] == ["smallest first", "largest first"]
    assert len(data["plan"]["files"]) == FILES
    assert data["advice"]["helps"] is True


@pytest.mark.parametrize("form", [(), ("--format", "list")], ids=["plan", "list"])
def test_json_and_a_plan_in_a_file_are_both_written(capsys, job, form):
    code, text, err = advise(capsys, job, "--slow", job / "data", "--json", "-o", job / "plan", *form)

    planned = json.loads(text)["plan"]["files"]
    assert code == 0
    assert len(planned) == FILES
    assert f"{job}/plan" in err or form
    written = (job / "plan").read_bytes().splitlines() if form else read_plan(job / "plan").files
    assert len(written) == FILES


def test_rsync_takes_the_list(capsys, job):
    # GIVEN the list of a plan
    advise(capsys, job, "--slow", job / "data", "--format", "tar", "-o", job / "list")

    # WHEN tar, which is everywhere, copies by it
    (job / "fast").mkdir()
    pipe = f"tar -C {job}/data --null --verbatim-files-from -T {job}/list -cf - | tar -C {job}/fast -xf -"
    subprocess.run(["bash", "-c", f"set -o pipefail; {pipe}"], check=True)

    # THEN
    assert len(os.listdir(job / "fast")) == FILES
    assert (job / "fast" / "007").read_bytes() == bytes(8_000)


@pytest.mark.parametrize("slow", [[], ["data"], ["code/../data"]])
def test_files_are_found_if_the_job_goes_up_from_its_folder(capsys, monkeypatch, tmp_path, slow):
    # GIVEN a job that reads ../data from its own folder
    job = job_of(tmp_path, tmp_path / "code" / ".." / "data")
    monkeypatch.chdir(tmp_path)

    # WHEN
    below = ["--slow", *slow] if slow else []
    code, _, err = advise(capsys, job, *below, "-o", job / "plan.json")

    # THEN the plan names them by where they are
    plan = read_plan(job / "plan.json")
    assert code == 0, err
    assert plan.slow_root == str(job / "data")
    assert [file.name for file in plan.files] == [f"{number:03}" for number in range(FILES)]


def test_files_that_are_gone_are_left_out_and_said(capsys, job):
    (job / "data" / "199").unlink()

    _, _, err = advise(capsys, job, "--slow", job / "data", "-o", job / "plan.json")

    assert "no longer there: 1 chosen file" in err
    assert len(read_plan(job / "plan.json").files) == FILES - 1


def test_plot_holds_its_script_and_offers_no_upload(capsys, job):
    code, _, _ = advise(capsys, job, "--slow", job / "data", "--plot", job / "plot.html")

    page = (job / "plot.html").read_text(encoding="utf-8")
    assert code == 0
    assert '"showSendToCloud": false' in page
    assert "<script src=" not in page


def test_a_plot_leaves_the_settings_of_later_pages_as_they_were(capsys, job):
    # GIVEN
    before = dict(CONFIG)

    # WHEN plotly, which takes entries out of what it is given, writes a plot
    assert advise(capsys, job, "--slow", job / "data", "--plot", job / "plot.html")[0] == 0

    # THEN
    assert before == CONFIG
    assert CONFIG["plotlyServerURL"] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--capacity", "much"], "is not a size"),
        (["--epochs", "-3"], "--epochs is how many the job will run"),
        (["--epochs", "0"], "1 or more, not 0"),
        (["--session-epochs", "0"], "more than 0, not 0"),
        (["--session-epochs", "nan"], "more than 0, not nan"),
        (["--reserve", "1000P"], "there is no room"),
        (["--plot", "/nowhere/plot.html"], "cannot be written"),
        (["--json", "--format", "rsync"], "name a file for the list with -o"),
    ],
)
def test_wrong_use_is_one_sentence(capsys, job, arguments, message):
    code, _, err = advise(capsys, job, "--slow", job / "data", *arguments)

    assert code in (1, 2)
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", ["notes.txt", "notes.txt/fast"])
def test_a_file_is_no_fast_tier(capsys, job, name):
    (job / "notes.txt").write_text("a file")

    code = main(["advise", "--logdir", str(job / "logs"), "--fast", str(job / name)])

    assert code == 2
    assert capsys.readouterr().err == (
        f"tfdarshan: {job / 'notes.txt'} is not a folder: name a folder on the fast tier for the copies.\n"
    )


def test_advise_needs_a_fast_tier(capsys):
    assert main(["advise"]) == 2
    assert capsys.readouterr().err == (
        "tfdarshan: advise needs --fast DIR: give a folder for the copies, on faster storage such as a "
        "local disk.\n"
    )


def test_sessions_are_looked_for_where_run_leaves_them(capsys, job, monkeypatch):
    def shown(*words):
        return main(words), capsys.readouterr()

    # GIVEN a working directory with a folder of that name
    monkeypatch.chdir(job)
    assert shown("summary")[0] == 0

    # THEN what is shown is of it
    for verb in ("summary", "list", "findings", "files"):
        assert shown(verb) == shown(verb, "logs")
    assert shown("advise", "--fast", str(job / "fast"))[0] == 0

    # ... and one without is said
    monkeypatch.chdir(job / "data")
    for verb in ("summary", "list", "findings", "files"):
        code, said = shown(verb)
        assert (code, "there is no logdir logs" in said.err) == (1, True)
