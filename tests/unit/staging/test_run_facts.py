"""What recorded steps say of a job: how long an epoch takes, and what training waits for."""

import dataclasses
import json
import re

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.findings.made_up_training import training
from tests.unit.staging.made_up_run import APART, EPOCHS, FILES, STEPS, advise, job_after_start_up
from tests.unit.staging.synthetic import FAST
from tfdarshan.findings.measurement import measure
from tfdarshan.reports.html_report import write_report
from tfdarshan.reports.text.advice_text import WAIT_HIDDEN, WAIT_UNKNOWN
from tfdarshan.reports.views.panel import Text, Tiles
from tfdarshan.reports.views.staging_view import staging_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import open_session
from tfdarshan.staging.advice import decide, decide_on
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.question import Question
from tfdarshan.staging.run_facts import measured_runs, newest_job, put_together, run_facts


def test_an_epoch_lasts_from_the_first_step_to_the_last(tmp_path):
    # GIVEN 4 s of start-up and 4 s of steps
    session = job_after_start_up(tmp_path)

    # WHEN
    facts = run_facts([session])
    expected = decide([session], Question(fast="/fast", room_bytes=1 << 40), FAST).advice.chosen.expected

    # THEN
    assert (facts.duration_s, facts.steps_s) == pytest.approx((8, 4))
    assert facts.input_wait == pytest.approx(0.86)
    assert expected.epoch_s == pytest.approx(2)
    assert expected.high_s > expected.saved_s > 0


def test_steps_of_several_sessions_add_up(tmp_path):
    sessions = [job_after_start_up(tmp_path / "one"), job_after_start_up(tmp_path / "two")]

    facts = run_facts(sessions)

    assert (facts.steps_s, facts.input_wait) == pytest.approx((8, 0.86))


def test_without_steps_all_time_counts(tmp_path):
    facts = run_facts([job_after_start_up(tmp_path / "one"), job_after_start_up(tmp_path / "two", steps=())])

    assert facts.steps_s is None
    assert facts.training_s == facts.duration_s
    assert facts.input_wait == pytest.approx(0.86)


def test_steps_that_do_not_say_how_long_they_waited_bound_nothing(tmp_path):
    steps = [(start, end, -1) for start, end, _ in STEPS]

    facts = run_facts([job_after_start_up(tmp_path, steps)])

    assert (facts.steps_s, facts.input_wait) == (pytest.approx(4), None)


def test_steps_that_were_left_out_leave_the_end_open(tmp_path):
    session = job_after_start_up(tmp_path)
    (path,) = session.path.glob("*.meta.json")
    content = json.loads(path.read_text())
    content["steps"]["left_out"] = 7
    path.write_text(json.dumps(content))

    found = open_session(session.path)
    assert run_facts([found]).steps_s is None

    # AND findings count epochs in the same time as the advice
    assert measure(found).use_and_facts[1] == run_facts([found])


def test_the_command_uses_the_steps(capsys, tmp_path):
    job_after_start_up(tmp_path / "logs")

    text = advise(capsys, tmp_path, "--slow", "/data")

    assert "an epoch          2.000 s, from the first step to the last; 86.0 % of it waits for input" in text
    assert WAIT_UNKNOWN not in " ".join(text.split())


def test_the_command_stages_whole_folders(capsys, tmp_path):
    job_after_start_up(tmp_path / "logs")

    text = advise(capsys, tmp_path, "--slow", "/data", "--unit", "directory")

    assert "an epoch          2.000 s" in text


def test_without_steps_the_command_says_that_start_up_is_in_it(capsys, tmp_path):
    job_after_start_up(tmp_path / "logs", steps=())

    text = advise(capsys, tmp_path, "--slow", "/data")

    assert "an epoch          4.000 s, start-up included\n" in text
    assert WAIT_UNKNOWN in " ".join(text.split())


def test_what_an_accelerator_may_hide_is_not_certain(capsys, tmp_path):
    # GIVEN steps that say how long their loop waits, and a GPU that may compute meanwhile
    session = job_after_start_up(tmp_path / "logs")
    (path,) = session.path.glob("*.meta.json")
    content = json.loads(path.read_text())
    content["machine"] = content.get("machine", {}) | {"accelerators": ["/dev/nvidia-uvm"]}
    path.write_text(json.dumps(content))

    # WHEN
    text = advise(capsys, tmp_path, "--slow", "/data")
    expected = json.loads(advise(capsys, tmp_path, "--json"))["advice"]["rules"][0]["expected"]

    # THEN command and tab say why
    assert expected["low_s"] == 0 < expected["high_s"]
    assert (
        "the gain is not certain, because the accelerator may compute while the training loop waits: time "
        "steps that all use one batch, which no copy makes faster"
    ) in " ".join(text.split())
    panels = staging_view(Source(open_session(session.path)))
    verdict = next(panel for panel in panels if isinstance(panel, Text))
    assert f"{WAIT_HIDDEN[:1].upper()}{WAIT_HIDDEN[1:]}." in verdict.lines


@pytest.mark.parametrize("process", [None, "made-up:100"])
def test_the_tab_says_the_same(tmp_path, process):
    # WHEN the view is asked for
    panels = staging_view(Source(job_after_start_up(tmp_path), process))

    # THEN an epoch is that of the steps, and the wait is known
    verdict = next(panel for panel in panels if isinstance(panel, Text))
    tiles = {tile.label: tile for panel in panels if isinstance(panel, Tiles) for tile in panel.items}
    assert "instead of 2.000 s" in verdict.lines[0]
    assert tiles["Epoch as recorded"].note == "2 in the session"
    assert tiles["Readers"].value.text == "2"


def test_the_tab_says_that_start_up_is_in_it(tmp_path):
    panels = staging_view(Source(job_after_start_up(tmp_path, steps=())))

    tiles = {tile.label: tile for panel in panels if isinstance(panel, Tiles) for tile in panel.items}
    assert tiles["Epoch as recorded"].note == "2 in the session, start-up included"


def test_tab_report_and_command_give_one_number(capsys, monkeypatch, tmp_path):
    # GIVEN a session in which the wait for input bounds what is saved, and a tier as fast as the tab assumes
    session = job_after_start_up(tmp_path / "logs", APART)
    monkeypatch.setattr("tfdarshan.staging.probe.probe_tier", lambda *_: LOCAL_SSD)

    # WHEN each is asked
    panels = staging_view(Source(session))
    tiles = {tile.label: tile for panel in panels if isinstance(panel, Tiles) for tile in panel.items}
    write_report(Source(session), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    reported = re.findall(r'"Saved an epoch".{0,80}?"exact": ?"([^"]*)"', text)
    command = json.loads(advise(capsys, tmp_path, "--json"))["advice"]["rules"][0]["expected"]

    # THEN the wait is a share of the time from the first step to the last, what is between steps too
    step_s, between_s = 0.09, 0.01
    wait_s = 40 * 0.08 / EPOCHS
    assert command["epoch_s"] == pytest.approx((40 * (step_s + between_s) - between_s) / EPOCHS)
    assert 0.8 * wait_s < command["saved_s"] <= wait_s
    assert tiles["Saved an epoch"].value.exact == f"{command['saved_s']:.9f} s"
    assert reported == [tiles["Saved an epoch"].value.exact]

    # AND the gain is worded alike, as findings word theirs
    factor = f"{command['epoch_s'] / (command['epoch_s'] - command['saved_s']):.2f}x"
    assert f"{factor} faster (" in tiles["Saved an epoch"].note
    assert f": {factor} faster (" in " ".join(advise(capsys, tmp_path).split())


@pytest.mark.parametrize("share", [pytest.param(0.3, marks=pytest.mark.long), 1])
def test_the_order_of_the_files_changes_no_number(tmp_path, share):
    # GIVEN files of which each has its own worth, and room for some or for all
    calls = []
    sizes = [1_000 * (number + 1) for number in range(FILES)]
    for number, size in enumerate(sizes):
        calls.append((number * 40, number * 40 + 1, 1, "open", number, 0))
        calls.append((number * 40 + 1, number * 40 + 2 + number % 30, 1, "pread", number, size))
    session = training(tmp_path, calls, paths=[f"/data/{n:03}" for n in range(FILES)], sizes=sizes)
    runs = measured_runs([session])
    use, facts = put_together(runs)
    columns = [name for name, values in vars(use).items() if isinstance(values, np.ndarray)]
    question = Question(fast="/fast", room_bytes=int(share * sum(sizes)), block_bytes=1)
    job = newest_job(runs)

    # WHEN they come in any order
    said = set()
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(use))
        moved = {name: getattr(use, name)[order] for name in columns}
        shuffled = dataclasses.replace(use, paths=use.paths.take(pa.array(order)), **moved)
        decision = decide_on(shuffled, facts, question, FAST, job)
        chosen = shuffled.paths.take(pa.array(decision.rows)).to_pylist()
        said.add((tuple(sorted(chosen)), *(f"{rule.expected.saved_s:.9f}" for rule in decision.advice.rules)))

    # THEN
    assert len(said) == 1
