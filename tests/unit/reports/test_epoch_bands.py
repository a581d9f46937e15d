"""Which parts of the steps charts name: epochs where the session shows them, else steps up to a break."""

import numpy as np
import pandas as pd
import pytest

from tests.unit.findings.made_up_training import training
from tfdarshan.reports.figures.time_marks import MOST_STEP_LINES
from tfdarshan.reports.views.epoch_bands import epoch_bands
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.steps_view import steps_view
from tfdarshan.reports.views.timeline_view import Window, timeline_view
from tfdarshan.reports.views.view_source import Source

MS = 1_000_000
STEP_MS, BREAK_MS = 10, 200
GREEN = "#4f9d69"


def spans(*parts):
    """Start and end of steps in ms: as many as each part has, with a break between parts."""
    at, found = 0.0, []
    for steps in parts:
        found += [(at + place * STEP_MS, at + (place + 1) * STEP_MS) for place in range(steps)]
        at = found[-1][1] + BREAK_MS
    return found


def table(*parts):
    bounds = np.array(spans(*parts)) * MS
    return pd.DataFrame({"start_ns": bounds[:, 0].astype(int), "end_ns": bounds[:, 1].astype(int)})


@pytest.mark.parametrize(
    ("parts", "passes", "labels"),
    [
        # Breaks and reading agree.
        ((8, 8), 2.0, ["epoch 1", "epoch 2"]),
        ((8, 8, 7), 3.01, ["epoch 1", "epoch 2", "epoch 3"]),
        # Nothing breaks the steps, but the input was read twice.
        ((16,), 2.0, ["epoch 1", "epoch 2"]),
        ((8,), 1.0, ["epoch 1"]),
        # It was not read a whole number of times, an unknown number of times, or the parts are no halves.
        ((8, 8), 1.4, ["steps 0 to 7", "steps 8 to 15"]),
        ((16,), 1.4, ["steps 0 to 15"]),
        ((8, 8), None, ["steps 0 to 7", "steps 8 to 15"]),
        ((17,), 2.0, ["steps 0 to 16"]),
        ((12, 3), 2.0, ["steps 0 to 11", "steps 12 to 14"]),
        ((6, 10), 2.0, ["steps 0 to 5", "steps 6 to 15"]),
        ((3, 1), None, ["steps 0 to 2", "step 3"]),
    ],
)
def test_bands_are_epochs_only_if_reading_and_steps_agree(parts, passes, labels):
    bands = epoch_bands(table(*parts), passes)

    assert [band.label for band in bands] == labels
    assert bands[0].first == 0
    assert bands[-1].last == sum(parts) - 1


@pytest.mark.parametrize(
    ("slow", "passes", "bands"),
    [
        # The break between epochs is at the end of a last step, or at the beginning of a first one.
        (8, 2.0, ["steps 0 to 8", "steps 9 to 16"]),
        (9, 2.0, ["steps 0 to 8", "steps 9 to 16"]),
        (5, 2.0, ["steps 0 to 16"]),
        (8, 1.5, ["steps 0 to 16"]),
    ],
)
def test_a_break_may_be_part_of_a_step(slow, passes, bands):
    steps = table(17)
    steps.loc[slow, "end_ns"] += BREAK_MS * MS
    steps.loc[slow + 1 :, ["start_ns", "end_ns"]] += BREAK_MS * MS

    found = epoch_bands(steps, passes)

    assert [band.steps for band in found] == bands
    assert (found[0].label == "epoch 1") == (len(bands) == 2)


@pytest.mark.parametrize(("gap_ms", "bands"), [(25, 1), (35, 2)])
def test_a_break_is_longer_than_three_steps(gap_ms, bands):
    steps = table(10)
    steps.loc[5:, ["start_ns", "end_ns"]] += gap_ms * MS

    assert len(epoch_bands(steps, None)) == bands


def test_time_that_lies_between_all_steps_is_no_break():
    starts = 50 * np.arange(10) * MS

    assert len(epoch_bands(pd.DataFrame({"start_ns": starts, "end_ns": starts + STEP_MS * MS}), None)) == 1


def test_a_slow_step_is_no_break_and_no_steps_have_no_bands():
    steps = table(10)
    steps.loc[5:, ["start_ns", "end_ns"]] += 500 * MS
    steps.loc[5, "start_ns"] -= 500 * MS

    assert [band.label for band in epoch_bands(steps, None)] == ["steps 0 to 9"]
    assert epoch_bands(steps.iloc[:0], 2.0) == []


@pytest.fixture
def source(tmp_path):
    """Two epochs of 50 steps, each of which reads all of one file."""
    steps = spans(50, 50)
    calls = [(start, start + 1, 7, "pread", place % 50, 100, 0) for place, (start, _) in enumerate(steps)]
    session = training(
        tmp_path, calls, [(start, end, 1) for start, end in steps],
        paths=[f"/data/{place}" for place in range(50)], sizes=[100] * 50,
    )  # fmt: skip
    return Source(session)


def chart(panels, key):
    return next(panel.figure["layout"] for panel in panels if getattr(panel, "key", "") == key)


def texts(layout):
    return [note["text"] for note in layout["annotations"]]


def lines(layout):
    return [shape for shape in layout["shapes"] if shape["line"].get("color") == GREEN]


@pytest.mark.parametrize(
    ("view", "key"), [(timeline_view, "activity"), (overview_view, "bandwidth"), (steps_view, "steps")]
)
def test_whole_sessions_have_named_bands_and_no_line_for_each_step(source, view, key):
    layout = chart(view(source), key)

    assert texts(layout) == ["epoch 1", "epoch 2"]
    assert lines(layout) == []
    bands = [shape for shape in layout["shapes"] if shape.get("ysizemode") == "pixel"]
    ends = [(0, 0.5), (0.7, 1.2)] if key != "steps" else [(-0.5, 49.5), (49.5, 99.5)]
    assert [(band["x0"], band["x1"]) for band in bands] == ends


def test_a_window_with_few_steps_has_their_lines_and_its_epoch(source):
    near = chart(timeline_view(source, Window(window_ns=(100 * MS, 199 * MS))), "activity")
    far = chart(timeline_view(source, Window(window_ns=(0, 1200 * MS))), "activity")

    # Steps 9 to 19: the first ends as the window begins.
    assert [line["x0"] for line in lines(near)] == [round(0.1 + 0.01 * place, 9) for place in range(11)]
    assert texts(near) == ["epoch 1"]
    assert len(source.step_bounds) > MOST_STEP_LINES
    assert lines(far) == []
    assert texts(far) == ["epoch 1", "epoch 2"]


@pytest.mark.parametrize(("after_s", "named"), [(2, ["epoch 1", "epoch 2"]), (12, ["1", "2"]), (100, [])])
@pytest.mark.parametrize(("view", "key"), [(timeline_view, "activity"), (overview_view, "bandwidth")])
def test_bands_of_a_part_of_the_session_have_as_much_text_as_room(tmp_path, view, key, after_s, named):
    # GIVEN two epochs of half a second, and reading for a long time after them
    steps, end = [(start, end, 1) for start, end in spans(50, 50)], 1000 * after_s
    calls = [(start, start + 1, 7, "pread", place % 50, 100, 0) for place, (start, _, _) in enumerate(steps)]
    later = [(at, at + 1, 7, "stat", 0, 0, 0) for at in range(1200, end, 500)]
    session = training(
        tmp_path, [*calls, *later], steps, paths=[f"/data/{place}" for place in range(50)], sizes=[100] * 50
    )

    layout = chart(view(Source(session)), key)

    assert texts(layout) == named
    assert len([shape for shape in layout["shapes"] if shape.get("ysizemode") == "pixel"]) == 2
