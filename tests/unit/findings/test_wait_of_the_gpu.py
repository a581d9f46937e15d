"""The verdict on steps whose wait for input is known on the GPU's clock, and where both waits are shown."""

import json

import pytest

from tests.joint_training import MadeUpRank, joint_training
from tests.unit.findings.made_up_training import training
from tfdarshan.commands import main
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.panel import Tiles
from tfdarshan.reports.views.steps_view import StepQuery, steps_table, steps_view
from tfdarshan.reports.views.view_source import Source

STEPS, STEP_MS, WAIT_MS = 40, 100, 60


def session_of(logdir, *exposed_ms):
    """Return a session of steps that wait 60 of 100 ms on the CPU, in which a file is read."""
    starts = [STEP_MS * step for step in range(STEPS)]
    calls = [(at, at + 50, 100, "pread", 0, 5_000_000, 5_000_000 * place) for place, at in enumerate(starts)]
    steps = [(at, at + STEP_MS, WAIT_MS, *exposed_ms) for at in starts]
    return training(logdir, calls, steps, sizes=[5_000_000 * STEPS])


@pytest.mark.parametrize(
    ("exposed_ms", "share"), [((), 0.6), ((-1,), 0.6), ((60,), 0.6), ((15,), 0.15), ((0,), 0)]
)
def test_the_verdict_goes_by_the_exposed_wait_where_it_is_known(tmp_path, exposed_ms, share):
    verdict = session_of(tmp_path, *exposed_ms).verdict

    assert verdict.wait_share == pytest.approx(share, abs=0.01)


def test_a_job_that_its_gpu_bounds_is_told_of_no_wait(tmp_path):
    waiting, hidden = (session_of(tmp_path / name, exposed) for name, exposed in (("a", 60), ("b", 0)))

    assert waiting.verdict.sentence.startswith("Training waits for input 60")
    assert "Training waits for input 60" not in hidden.summary()


@pytest.mark.parametrize(("exposed", "leading"), [(None, 1), (1.0, 1), (0.0, 0)])
def test_the_rank_that_leads_is_the_one_whose_gpu_waits_longest(tmp_path, exposed, leading):
    # GIVEN a rank whose reads take three times as long, but a GPU that may work meanwhile
    files = [[number] for number in range(20)]
    ranks = [MadeUpRank(files, exposed=1.0), MadeUpRank(files, times=3.0, exposed=exposed)]

    # THEN
    assert joint_training(tmp_path, ranks).joint.leading.rank == leading


def test_both_waits_are_in_the_tables(tmp_path, capsys):
    # GIVEN
    session = session_of(tmp_path, 15)

    # WHEN
    main(["steps", str(session.path), "--limit", "1"])
    listed = capsys.readouterr().out.splitlines()
    main(["steps", str(session.path), "--limit", "1", "--json"])
    row = json.loads(capsys.readouterr().out)["steps"][0]

    # THEN
    assert ("GPU wait" in listed[0], "60.0 ms" in listed[1], "15.0 ms" in listed[1]) == (True, True, True)
    assert (row["input_wait_ns"], row["exposed_wait_ns"]) == (60_000_000, 15_000_000)
    assert session.steps_brief[["input_wait_ms", "exposed_wait_ms"]].iloc[0].tolist() == [60, 15]


def test_a_session_without_a_gpu_has_no_column_for_it(tmp_path, capsys):
    main(["steps", str(session_of(tmp_path).path)])

    assert "GPU" not in capsys.readouterr().out


def test_the_tabs_table_of_steps_has_both_waits(tmp_path):
    # GIVEN steps whose exposed wait is known, and others
    known, unknown = (steps_table(Source(session_of(tmp_path / name, *exposed)), StepQuery("step"))
                      for name, exposed in (("a", (15,)), ("b", ())))  # fmt: skip

    # THEN each column is sorted by what it shows
    assert [head for head, _ in known.columns][:5] == ["step", "time", "input wait", "GPU wait", "compute"]
    assert list(known.paging.sorts)[:5] == ["step", "time", "wait", "gpu", "compute"]
    assert [cell.text for cell in known.rows[0]][2:5] == ["60.0 ms", "15.0 ms", "40.0 ms"]
    assert len(known.columns) == len(known.rows[0]) == len(known.paging.sorts) == len(unknown.columns) + 1


def test_steps_whose_exposed_wait_is_not_known_come_last(tmp_path):
    session = training(tmp_path, [], [(0, 100, 60, -1), (100, 200, 60, 15), (200, 300, 60, 0)])

    listed = steps_table(Source(session), StepQuery("gpu", descending=False)).rows

    assert [row[0].text for row in listed] == ["2", "1", "0"]


@pytest.mark.parametrize("view", [overview_view, steps_view])
def test_the_tab_shows_both_waits(tmp_path, view):
    tiles = next(panel for panel in view(Source(session_of(tmp_path, 15))) if isinstance(panel, Tiles))

    (tile,) = [tile for tile in tiles.items if tile.label == "Input wait"]
    assert tile.note.endswith("of step time, on the GPU; the CPU waited 2.400 s")
