"""Every view of every kind of session: figures that plotly accepts, JSON that browsers accept."""

import dataclasses
import importlib
import json
import os
import shutil
import time

import numpy as np
import plotly.graph_objects as go
import pytest

import tfdarshan
from tests.browser.training import EPOCHS, FILES, SAVES, training_session, with_steps
from tests.made_up_session import image_job, job_of, write_session
from tests.unit.findings.made_up_training import training as made_up_training
from tfdarshan.analysis.steps.step_time import step_length
from tfdarshan.analysis.storage.storage_share import storage_by_step
from tfdarshan.commands import main
from tfdarshan.comparison.metric import find_metric
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.reports.figures.theme import BETTER, WAIT, WORSE, WRITE
from tfdarshan.reports.notebook import session_html
from tfdarshan.reports.text.step_text import length_words
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.comparison_view import compare_view
from tfdarshan.reports.views.emulation_view import emulation_banner
from tfdarshan.reports.views.panel import as_json
from tfdarshan.reports.views.redaction import Redaction
from tfdarshan.reports.views.view_source import NO_TRACE, Source
from tfdarshan.units import human_bytes


def training(folder):
    return with_steps(training_session(folder))


def stepping(folder, *, steps=4, **options):
    """Record steps that each read a file, with time between them that is in no step."""
    folder.mkdir(exist_ok=True)
    (folder / "data").write_bytes(bytes(5_000))
    with tfdarshan.profile(folder / "logs", spool_dir=folder, **options) as recorded:
        for number in range(steps):
            with tfdarshan.step(number) as step:
                with step.input_wait():
                    handle = os.open(folder / "data", os.O_RDONLY)
                    os.read(handle, 5_000)
                    os.close(handle)
                    time.sleep(0.004)
                time.sleep(0.002)
            time.sleep(0.002)
    return tfdarshan.open_session(recorded.path)


def counters_only(folder):
    (folder / "data").write_bytes(bytes(5_000))
    with tfdarshan.profile(folder / "logs", trace=False, spool_dir=folder) as recorded:
        handle = os.open(folder / "data", os.O_RDONLY)
        os.read(handle, 5_000)
        os.close(handle)
    return tfdarshan.open_session(recorded.path)


def imported(folder):
    importlib.import_module("tests.pydarshan")
    recorded = write_session(folder, image_job(30, 2, 2))
    assert main(["export", "--darshan", str(folder / "job.darshan"), str(recorded.path)]) == 0
    assert main(["import", str(folder / "job.darshan"), "--logdir", str(folder / "imported")]) == 0
    return tfdarshan.open_session(folder / "imported")


def without_calls(folder):
    return write_session(folder, job_of([], [], []))


@pytest.fixture(params=[training, counters_only, imported, without_calls], ids=lambda make: make.__name__)
def session(request, tmp_path):
    return request.param(tmp_path)


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_drawn_whatever_the_session_has(session, view):
    panels = as_json(VIEWS[view][1](Source(session)))

    assert panels
    json.dumps(panels, allow_nan=False)
    for panel in panels:
        if panel["kind"] == "chart":
            figure = go.Figure(panel["figure"])
            assert [trace.type for trace in figure.data if trace.type.endswith("gl")] == []


def tiles(panels):
    """Return value and note of each tile, by label."""
    items = [tile for panel in panels if panel.kind == "tiles" for tile in panel.items]
    return {tile.label: (tile.value.text, tile.note) for tile in items}


def test_there_is_one_input_wait(tmp_path):
    # GIVEN steps with time between them
    session = stepping(tmp_path)
    source = Source(session)

    # WHEN the findings say what a step takes and waits
    (found,) = (finding for finding in diagnose(session).findings if finding.name == "input_bound")
    said = {entry.label: entry.text for entry in found.evidence}

    # THEN so do the views and the comparison
    share = f"{found.title.removeprefix('steps wait for input ').split(' % ')[0]} % of step time"
    overview, steps = (tiles(VIEWS[name][1](source)) for name in ("overview", "steps"))
    assert [view["Input wait"][1] for view in (overview, steps)] == [share, share]
    length = step_length(source.steps["step_ns"].to_numpy())
    assert steps["Steps"] == ("4", f"a step: {length_words(length)}")
    compared = {
        name: find_metric(name).worded(find_metric(name).value(source))
        for name in ("step_time", "input_wait", "input_wait_share")
    }
    assert compared == {
        "step_time": said["mean step"],
        "input_wait": said["input wait"],
        "input_wait_share": share.removesuffix(" of step time"),
    }


def test_what_is_not_traced_is_a_sum_over_time_and_not_a_step_s_io_of_nothing(tmp_path):
    # GIVEN steps that read, and no trace
    session = stepping(tmp_path, trace=False)
    source = Source(session)

    # THEN the bandwidth has every byte, and so has the row of calls that nothing tells apart
    read = session.files[["POSIX_BYTES_READ", "STDIO_BYTES_READ"]].to_numpy().sum()
    assert source.bandwidth["bytes_read"].sum() == read > 0
    assert chart(VIEWS["overview"][1](source), "bandwidth")
    (heat,) = chart(VIEWS["timeline"][1](source), "activity")["data"]
    assert heat["y"] == ["not told apart"]

    # THEN no step has an I/O of 0
    panels = VIEWS["steps"][1](source)
    assert [NO_TRACE] in [panel.lines for panel in panels if panel.kind == "text"]
    assert "overlap" not in {getattr(panel, "key", "") for panel in panels}
    assert set(tiles(panels)) == {"Steps", "Input wait", "Compute and the rest", "From storage"}
    assert len(chart(panels, "steps")["data"]) == 2
    (rows,) = (panel.rows for panel in panels if panel.kind == "table")
    assert {tuple(row[place].text for place in (4, 5, 7)) for row in rows} == {("-", "-", "-")}


@pytest.mark.parametrize("process", [None, "made-up:100", "made-up:101"])
def test_steps_whose_calls_one_process_did_not_keep_have_no_io_of_nothing(tmp_path, process):
    # GIVEN ten steps, and a worker whose trace was full in the sixth
    calls = [(100 * number, 100 * number + 50, 100, "pread", 0, 1_000) for number in range(10)]
    began = 1_700_000_000_000_000_000
    steps = [[n, began + 100 * n, began + 100 * (n + 1), 10, "marked"] for n in range(10)]
    main_job = job_of(calls, ["/data/a"], [10_000], pid=100, meta={"steps": {"rows": steps}})
    session = write_session(tmp_path, main_job, job_of(calls, ["/data/b"], [10_000], pid=101))
    (path,) = session.path.glob("*.101.meta.json")
    meta = json.loads(path.read_text())
    meta["counts"] |= {"events": 15, "events_dropped": 5}
    meta["time"]["first_dropped_ns"] = 550
    path.write_text(json.dumps(meta))

    # WHEN all processes are looked at, or one of them
    panels = VIEWS["steps"][1](Source(tfdarshan.open_session(session.path), process))

    # THEN the I/O of the sixth step and of later ones is unknown
    (rows,) = (panel.rows for panel in panels if panel.kind == "table")
    said = {int(row[0].text): tuple(row[place].text for place in (4, 5, 7)) for row in rows}
    assert said == {n: ("50 ns", "2.0 kB", "2") if n < 5 else ("-", "-", "-") for n in range(10)}
    line = chart(panels, "steps")["data"][-1]
    assert [at is None for at in line["y"]] == 5 * [False] + 5 * [True]


def test_how_often_files_of_unknown_size_were_read_is_not_known(tmp_path):
    shown = tiles(VIEWS["overview"][1](Source(imported(tmp_path))))

    assert shown["Read again"] == ("-", "no size of a file read is known")


@pytest.mark.parametrize(("steps", "dtick"), [(1, 1), (2, 1), (12, None)])
def test_axes_of_steps_have_no_halves(tmp_path, steps, dtick):
    panels = VIEWS["steps"][1](Source(with_steps(training_session(tmp_path), steps)))

    axes = [chart(panels, key)["layout"]["xaxis"] for key in ("steps", "overlap")]
    assert [(axis.get("tick0"), axis.get("dtick")) for axis in axes] == [(0 if dtick else None, dtick)] * 2
    assert axes[0]["range"] == [-0.7, steps - 1 + 0.7]


def test_no_view_says_of_emulated_storage_what_is_another_ones(tmp_path):
    # GIVEN a session whose times are simulated
    plain, source = Source(counters_only(tmp_path)), Source(stepping(tmp_path / "as-if", as_if="lustre"))

    # THEN the banner says so, and that of a comparison which of both it is
    (warning,) = emulation_banner(source)
    assert warning.title == "Emulated storage, as if lustre, for all recorded files"
    assert warning.lines[0].startswith("Times are simulated, not this storage's: 8 calls waited, ")
    assert emulation_banner(plain) == []
    (warning,) = emulation_banner(plain, source)
    assert warning.title.startswith(f"{source.whole.path.name}: Emulated storage, as if lustre")
    # and what the kernel says of the storage beneath it is not shown
    for name, key in (("overview", "storage"), ("steps", "step-storage")):
        panels = VIEWS[name][1](source)
        assert key not in [getattr(panel, "key", "") for panel in panels]
    assert "From storage" not in tiles(panels)


def test_emulated_storage_has_no_cache_state_to_compare(tmp_path):
    emulated = Source(stepping(tmp_path / "as-if", as_if="lustre"))

    panels = compare_view(Source(stepping(tmp_path / "plain")), emulated)

    (comparable,) = (panel for panel in panels if panel.kind == "text")
    assert "cache state: as-if/logs had emulated storage, which has no page cache." in comparable.lines


def test_redacted_banners_name_no_path(tmp_path):
    folder = tmp_path / "secret"
    source = Source(stepping(folder, as_if="hdd", as_if_paths=[f"{folder}/*"]), redaction=Redaction("key"))

    (warning,) = emulation_banner(source)

    assert warning.title == "Emulated storage, as if hdd, for (redacted)"


def test_notebooks_say_that_storage_was_emulated(tmp_path):
    session = stepping(tmp_path / "<job", as_if="hdd", as_if_paths=[f"{tmp_path}/<*"])

    said = session_html(session)

    assert f"Emulated storage, as if hdd, for {tmp_path}/&lt;*. Times are simulated" in said


def chart(panels, key):
    return next(panel for panel in as_json(panels) if panel.get("key") == key)["figure"]


def test_the_bandwidth_figure_holds_every_byte(tmp_path):
    session = training(tmp_path)
    table = Source(session).bandwidth
    part_s = (table["end_ns"] - table["start_ns"]).iloc[0] / 1e9

    figure = chart(VIEWS["overview"][1](Source(session)), "bandwidth")

    moved = [sum(trace["y"]) * part_s for trace in figure["data"]]
    posix, stdio = session.files["POSIX_BYTES_READ"].sum(), session.files["STDIO_BYTES_WRITTEN"].sum()
    np.testing.assert_allclose(moved, [posix, stdio], rtol=1e-6)
    shapes = figure["layout"]["shapes"]
    colours = [shape.get("fillcolor") or shape["line"]["color"] for shape in shapes]
    assert (colours.count(WRITE), colours.count(WAIT)) == (SAVES, len(session.steps))
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["epoch 1", "epoch 2"]


def test_the_pattern_figure_has_zero_length_reads_apart(tmp_path):
    figure = chart(VIEWS["patterns"][1](Source(training(tmp_path))), "pattern")

    parts = {trace["name"]: trace["x"][0] for trace in figure["data"]}
    assert parts["zero-length"] == FILES * EPOCHS
    assert sum(parts.values()) == 2 * FILES * EPOCHS


def test_compared_sessions_say_what_changed(tmp_path):
    first = write_session(tmp_path / "a", job_of([(0, 100, 1, "pread", 0, 40)], ["/a"], [40]))
    second = write_session(tmp_path / "b", job_of([(0, 100, 1, "pread", 0, 30)], ["/a"], [40]))

    panels = as_json(compare_view(Source(first), Source(second)))

    table = next(panel for panel in panels if panel["kind"] == "table")
    rows = {row[0]["text"]: [cell["text"] for cell in row[1:]] for row in table["rows"]}
    assert rows["bytes read"] == ["40 B", "30 B", "", "-25.0 %"]
    assert rows["reads"] == ["1", "1", "", "same"]
    assert rows["read bandwidth"] == ["400.0 MB/s", "300.0 MB/s", "noise unknown", "-25.0 %"]
    assert panels[0]["sentence"].startswith("The runs did different work, so their times say little: ")
    assert {cell["outcome"] for row in table["rows"] for cell in row} <= {"", "changed", "within noise"}
    said = " ".join(panels[1]["lines"])
    assert said.startswith("Comparable: no, the work differs (bytes read).")
    # AND it calls the sessions by their logdirs
    assert (table["title"], [column[0] for column in table["columns"][1:3]]) == ("a -> b", ["a", "b"])
    assert "bytes read: 40 B in a, 30 B in b." in said


def test_compared_sessions_have_names_that_tell_them_apart(tmp_path):
    # GIVEN sessions of one logdir, copies of one of them, and such whose paths are hidden
    job = job_of([(0, 100, 1, "pread", 0, 40)], ["/a"], [40])
    first = write_session(tmp_path / "a", job).path
    later = shutil.copytree(first, first.with_name("later"))
    for path in later.glob("*.meta.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"session": "later"}))
    copied = shutil.copytree(first, tmp_path / "b" / "a" / "plugins" / "tfdarshan" / first.name)
    hidden = tmp_path / "secret" / "plugins" / "tfdarshan" / "later"
    shutil.copytree(later, hidden)

    def title(one, other, redaction=None):
        sources = (Source(tfdarshan.open_session(path), redaction=redaction) for path in (one, other))
        panels = compare_view(*sources)
        return next(panel.title for panel in panels if panel.kind == "table")

    # WHEN / THEN
    assert title(first, first) == "the first -> the second"
    assert title(first, later) == f"{first.name} -> later"
    assert title(first, copied) == f"{tmp_path.name}/a -> b/a"
    assert title(first, hidden) == "a -> secret"
    assert title(first, hidden, Redaction("key")) == f"{first.name} -> later"


def test_a_redacted_comparison_is_as_comparable(tmp_path):
    # GIVEN two runs of a job, on two hosts
    sessions = []
    for host in ("one", "another"):
        session = write_session(
            tmp_path / host, dataclasses.replace(image_job(30, 1, 2), meta={"host": host})
        )
        sessions.append(tfdarshan.open_session(session.path))

    # WHEN
    shown, redacted = (
        compare_view(*(Source(one, redaction=redaction) for one in sessions))[1].lines
        for redaction in (None, Redaction("key"))
    )

    # THEN both say that the hosts differ, and only one which they are
    assert redacted[0] == shown[0] == "Comparable: with care, conditions differ (host)."
    assert "host: one: one; another: another." in shown
    assert "host: the first and the second did not run on the same hosts." in redacted


def test_a_comparison_says_what_is_better_and_what_is_worse(tmp_path):
    # GIVEN a second session that makes twice the calls in a tenth of the time, half on another thread; so
    # many that how even they are says what their noise is
    calls = [(n * 10_000, n * 10_000 + 1000, 1, "pread", 0, 40) for n in range(80)]
    first = write_session(tmp_path / "a", job_of(calls, ["/a"], [40]))
    calls = [(n * 5_000, n * 5_000 + 50, 1 + n % 2, "pread", 0, 20) for n in range(160)]
    second = write_session(tmp_path / "b", job_of(calls, ["/a"], [40]))

    panels = compare_view(Source(first), Source(second))

    # THEN each change has the word that the command line has for it, and the chart its colour
    (rows,) = (panel.rows for panel in panels if panel.kind == "table")
    said = {row[0].text: (row[-1].text, row[-1].outcome) for row in rows}
    assert said["time in reads"] == ("-90.0 %", "better")
    assert said["read bandwidth"] == ("10x", "better")
    assert said["reads"] == ("+100.0 %", "worse")
    assert said["thread time in calls"] == ("-90.0 %", "changed")
    assert said["bytes read"] == ("same", "")
    (bars,) = chart(panels, "ratios")["data"]
    colours = dict(zip(bars["y"], bars["marker"]["color"], strict=True))
    assert colours["time in reads"] == colours["read bandwidth"] == BETTER
    assert colours["reads"] == WORSE
    assert colours["thread time in calls"] not in (BETTER, WORSE)
    hatched = dict(zip(bars["y"], bars["marker"]["pattern"]["shape"], strict=True))
    assert (hatched["reads"], hatched["read bandwidth"]) == ("/", "")


def test_a_process_that_is_not_there_is_said(tmp_path):
    with pytest.raises(tfdarshan.SessionDataError, match="has no process other:1"):
        Source(without_calls(tmp_path), "other:1")


def test_the_spread_of_steps_counts_each_step(tmp_path):
    # GIVEN forty steps, the first of which takes a hundred times as long
    steps = [(0, 3_600, 0)] + [(3_600 + n * 36, 3_636 + n * 36, 0) for n in range(39)]
    calls = [(start, start + 1, 101, "pread", 0, 1000, 0) for start, _, _ in steps]

    panels = VIEWS["steps"][1](Source(made_up_training(tmp_path, calls, steps)))

    (bars,) = chart(panels, "step-times")["data"]
    assert sum(bars["y"]) == 40
    assert bars["y"] == [39, 1]
    assert bars["x"][0] == pytest.approx(36, rel=0.1)
    # THEN the table lists the slowest twenty, the slowest first
    (table,) = (panel for panel in panels if panel.kind == "table")
    assert (len(table.rows), table.rows[0][0].text) == (20, "0")
    assert table.note == "1 to 20 of 40 steps, the slowest first"


def test_charts_of_many_steps_have_means_of_some(tmp_path):
    # GIVEN 2,500 steps, each a microsecond longer than the one before
    lasted_ms = [1 + number / 1000 for number in range(2_500)]
    ends = np.cumsum(lasted_ms)
    steps = [(end - ms, end, ms / 2) for end, ms in zip(ends, lasted_ms, strict=True)]
    calls = [(float(end) - 0.5, float(end) - 0.4, 101, "pread", 0, 1000, 0) for end in ends]

    panels = VIEWS["steps"][1](Source(made_up_training(tmp_path, calls, steps)))

    # THEN a bar is the mean of three, in its place, and all time is in them
    waits = next(bar for bar in chart(panels, "steps")["data"] if bar["name"] == "input wait")
    assert len(waits["x"]) == len(waits["y"]) == 834
    assert waits["x"][:2] == [1, 4]
    assert sum(waits["y"][:-1]) * 3 + waits["y"][-1] == pytest.approx(sum(lasted_ms) / 2e3, rel=1e-4)
    notes = {panel.key: panel.note for panel in panels if panel.kind == "chart"}
    assert "the mean of 3 steps" in notes["steps"]
    assert "the mean of 3 steps" in notes["overlap"]


def test_steps_show_what_came_from_storage(tmp_path):
    source = Source(stepping(tmp_path))

    panels = VIEWS["steps"][1](source)

    # THEN the bars are the kernel's figures
    split = storage_by_step(source.session.steps)
    drawn = {trace["name"]: sum(trace["y"]) for trace in chart(panels, "step-storage")["data"]}
    assert drawn["from the page cache"] == split["cached_bytes"].sum()
    assert sum(drawn.values()) == split["asked_bytes"].sum() > 0
    fetched = split["asked_bytes"] - split["cached_bytes"]
    assert tiles(panels)["From storage"][0] == human_bytes(float(fetched.sum()))
