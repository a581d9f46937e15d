"""What is said of page faults on mapped files: who waited, what a fix gives, and what stays unknown."""

import dataclasses
import errno
import re

import numpy as np
import pytest

from tests.unit.findings.made_up_mapped import (
    MB,
    PATH,
    loop_faults,
    mapped_training,
    probe_of_share,
    unwatched_mapping,
    without_calls,
)
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.step_split import step_split
from tfdarshan.reports.html_report import write_report
from tfdarshan.reports.views.files_view import files_view
from tfdarshan.reports.views.findings_view import diagnosis_for
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.panel import Tiles
from tfdarshan.reports.views.redaction import Redaction
from tfdarshan.reports.views.steps_view import steps_view
from tfdarshan.reports.views.timeline_view import timeline_view
from tfdarshan.reports.views.view_source import Source

STEPS, STEP_MS, WAIT_MS, EACH_MS = 50, 20.0, 10.0, 2.5
RANDOM = loop_faults(STEPS, STEP_MS, EACH_MS, 4, jump=MB)
IN_STEPS = epochs_of_steps(STEPS, STEP_MS, WAIT_MS)


def found(session):
    return {finding.name: finding for finding in diagnose(session).findings}


def unknown(session):
    return {entry.name: entry for entry in diagnose(session).unknown}


def measured(session):
    waits = measure(session).mapped
    return waits, waits.files[0]


def test_waits_of_the_loop_are_told_by_thread_and_time(tmp_path):
    # GIVEN four faults of 2.5 ms in each wait of the loop, and one of another thread beside compute
    others = [(step * STEP_MS + 12, step * STEP_MS + 14, 7, 0) for step in range(STEPS)]
    waits, file = measured(mapped_training(tmp_path, [*RANDOM, *others], IN_STEPS))

    assert waits.beside_s == pytest.approx(0.6)
    assert waits.within_s == 0
    # they take turns
    assert waits.readers == 1
    assert (file.waits, file.jumps) == (250, 201)
    assert file.wait_s == pytest.approx(0.6)


def test_threads_that_wait_at_a_time_are_readers(tmp_path):
    # GIVEN 2 ms of another thread's beside the loop's 10 ms
    others = [(step * STEP_MS + 1, step * STEP_MS + 3, 7, 0) for step in range(STEPS)]
    waits, _ = measured(mapped_training(tmp_path, [*RANDOM, *others], IN_STEPS))

    assert waits.readers == pytest.approx(12 / 10)


def test_steps_have_their_time_in_page_faults(tmp_path):
    # GIVEN 10 ms of the loop's faults at each step's start, and 2 ms of another thread's within them
    others = [(step * STEP_MS + 1, step * STEP_MS + 3, 7, 0) for step in range(STEPS)]
    session = mapped_training(tmp_path / "watched", [*RANDOM, *others], IN_STEPS)

    assert session.steps["fault_ns"].tolist() == [10_000_000] * STEPS


REFUSED = {"watch": "no events", "error": errno.EACCES, "faults_kept": 0}
# What a session of before single faults were kept says.
OLDER = {"faults_kept": None}


@pytest.mark.parametrize("block", [REFUSED, OLDER, {"faults_kept": 0, "faults_left_out": 200}])
def test_time_in_page_faults_that_nobody_kept_is_unknown(tmp_path, block):
    session = mapped_training(tmp_path, RANDOM, IN_STEPS, block=block, kept=False)

    assert session.steps["fault_ns"].tolist() == [-1] * STEPS
    assert set(session.events["operation"]) == {"open"}


def test_steps_without_page_faults_are_in_none(tmp_path):
    session = mapped_training(tmp_path / "none", [], IN_STEPS, block={"faults_left_out": 0}, kept=False)
    assert session.steps["fault_ns"].tolist() == [0] * STEPS

    unwatched = unwatched_mapping(tmp_path / "unwatched", 1 << 30, IN_STEPS)
    assert unwatched.steps["fault_ns"].tolist() == [-1] * STEPS


def test_page_faults_of_another_host_are_moved_with_its_calls(tmp_path):
    process = mapped_training(tmp_path, RANDOM, IN_STEPS).processes[0]
    moved = dataclasses.replace(process, shift_ns=5_000_000_000)

    for table in ("events", "faults"):
        for name in ("start_ns", "end_ns"):
            at_ns, later_ns = (one.table(table)[name].to_pylist() for one in (process, moved))
            assert later_ns == [at + 5_000_000_000 for at in at_ns] != []


def test_waits_for_pages_are_a_part_of_the_step(tmp_path):
    # GIVEN waits of 10 ms, of which 5 ms are page faults
    faults = loop_faults(STEPS, STEP_MS, EACH_MS, 2, jump=MB)

    parts = step_split(measure(mapped_training(tmp_path, faults, IN_STEPS)))

    assert {part.name: part.seconds for part in parts}["page_faults"] == pytest.approx(0.005)
    assert sum(part.seconds for part in parts) == pytest.approx(0.02)


def test_a_loop_that_waits_for_pages_itself_is_told_to_read_ahead(tmp_path):
    # WHEN pages lie far apart: nothing is read beside compute
    finding = found(mapped_training(tmp_path, RANDOM, IN_STEPS))["mapped_wait"]

    # THEN steps of 20 ms have nothing left but 10 ms of compute
    assert finding.kind == "problem"
    assert finding.files == (PATH,)
    assert "200 times a thread touched a page" in finding.what
    assert 1.3 < finding.gain.speedup_range[0] < finding.gain.speedup < 2.0
    assert "map_ahead" in finding.fix.line


@pytest.mark.parametrize(("beside_compute", "rests"), [(False, True), (True, False)])
def test_a_pipeline_that_faults_beside_compute_does_not_rest(tmp_path, beside_compute, rests):
    # GIVEN threads of a pipeline that touch pages in each wait, and beside compute or not; and one read
    span_ms = STEP_MS if beside_compute else WAIT_MS
    faults = [
        (step * STEP_MS + at * EACH_MS, step * STEP_MS + (at + 1) * EACH_MS, 7, (step * 8 + at) * MB)
        for step in range(STEPS)
        for at in range(int(span_ms / EACH_MS))
    ]
    session = mapped_training(tmp_path, faults, IN_STEPS, calls=[(0, 1, 7, "read", 0, 1000)])

    assert ("prefetch" in found(session)) == rests
    assert "mapped_wait" in found(session)


def test_a_probe_says_what_more_readers_give(tmp_path):
    # GIVEN threads of a pipeline that always wait, on storage that serves reads side by side or in turn
    faults = [(n * 2.5, n * 2.5 + 2.5, 7, n * MB) for n in range(int(STEPS * STEP_MS / 2.5))]
    steps = epochs_of_steps(STEPS, STEP_MS, 19.0)
    aside, in_turn = (
        found(mapped_training(tmp_path / str(share), faults, steps, probes=[probe_of_share(share)]))[
            "mapped_wait"
        ]
        for share in (0.05, 0.95)
    )

    # THEN eight threads give nearly eight times as much, or as good as nothing for certain
    assert aside.gain.speedup_range[0] > 4
    assert in_turn.gain.speedup_range[0] < 1.1


@pytest.mark.parametrize(
    ("jump", "window_ms", "line"),
    [(MB, 12.5, "MADV_RANDOM"), (128 << 10, EACH_MS, "read_ahead_kb")],
    ids=["a page of each window", "windows in order"],
)
def test_the_fix_is_what_gives_most_on_this_storage(tmp_path, jump, window_ms, line):
    # GIVEN storage that serves one read at a time, and faults that brought in 128 KiB each
    probes = (
        [probe_of_share(0.95, page_s=0.0001, window_s=0.0025)]
        if jump == MB
        else [probe_of_share(0.95, page_s=0.0024)]
    )
    faults = loop_faults(STEPS, STEP_MS, EACH_MS, 8, jump=jump)
    session = mapped_training(
        tmp_path, faults, epochs_of_steps(STEPS, STEP_MS, 19.9), bytes_in=len(faults) << 17, probes=probes
    )

    assert line in found(session)["mapped_wait"].fix.line


def test_faults_that_the_page_cache_serves_are_no_waits(tmp_path):
    # GIVEN as many faults as may be in the waits, of 10 us each
    quick = loop_faults(STEPS, STEP_MS, 0.01, 900, jump=4096)

    names = found(mapped_training(tmp_path, quick, IN_STEPS))

    assert "mapped_wait" not in names


@pytest.mark.parametrize(
    ("kind", "path", "line"),
    [
        (
            "lmdb",
            "/data/train",
            "tfdarshan.lmdb.dataset('/data/train', batch=batch_size, shuffle=\"blocks\")",
        ),
        ("arrow", PATH, "pa.ipc.open_file(pa.OSFile(path))"),
        ("arrow_stream", PATH, "pa.ipc.open_stream(pa.OSFile(path))"),
        ("safetensors", PATH, "safetensors.numpy.load("),
        ("parquet", PATH, "memory_map=False"),
        ("torch", PATH, "mmap=False"),
        ("", PATH, "map_ahead"),
    ],
)
def test_the_fix_is_in_the_words_of_the_format(tmp_path, kind, path, line):
    formats = {path: kind} if kind else {}
    session = mapped_training(tmp_path, RANDOM, IN_STEPS, path=path, bytes_in=-1, formats=formats)

    assert line in found(session)["mapped_wait"].fix.line


def test_waits_that_calls_on_input_exceed_are_not_the_cause(tmp_path):
    # GIVEN 10 ms of page faults in each step, and a read of 10.5 ms beside them
    calls = [(step * STEP_MS, step * STEP_MS + 10.5, 7, "read", 0, 1000) for step in range(STEPS)]

    assert "mapped_wait" not in found(mapped_training(tmp_path, RANDOM, IN_STEPS, calls=calls))


def test_page_faults_of_a_loop_are_no_serial_calls(tmp_path):
    # GIVEN a loop that waits 18 of 20 ms in page faults, and reads 64 bytes in each step
    calls = [(step * STEP_MS, step * STEP_MS + 0.001, LOOP, "read", 0, 64) for step in range(STEPS)]
    faults = loop_faults(STEPS, STEP_MS, 4.5, 4, jump=MB)
    steps = epochs_of_steps(STEPS, STEP_MS, 18.0)
    session = mapped_training(tmp_path, faults, steps, calls=calls, probes=[probe_of_share(0.2)])

    # THEN more calls at a time are no fix beside that of the page faults
    assert "mapped_wait" in found(session)
    assert "read_parallelism" not in found(session)


def test_what_nobody_watched_is_unknown_and_says_what_to_record(tmp_path):
    session = unwatched_mapping(tmp_path, 1 << 30, IN_STEPS)

    entry = unknown(session)["mapped_wait"]

    assert "1.1 GB were mapped, and their page faults were not watched" in entry.why
    assert entry.record == "with tfdarshan.profile(logdir, mapped=True):"


def test_what_is_mapped_of_memory_waits_for_no_storage(tmp_path):
    # GIVEN batches that workers hand over in shared memory, where nobody watches page faults
    session = unwatched_mapping(tmp_path, 1 << 30, IN_STEPS, fs_type="tmpfs")

    # THEN
    assert "mapped_wait" not in unknown(session)
    assert "page faults" not in session.summary()


def test_page_faults_that_the_kernel_did_not_show_are_unknown(tmp_path):
    session = mapped_training(tmp_path, RANDOM, IN_STEPS, block=REFUSED, kept=False)

    entry = unknown(session)["mapped_wait"]

    assert "the kernel refused perf_event_open (EACCES: Permission denied)" in entry.why
    assert "mapped_wait" not in found(session)


@pytest.mark.parametrize("block", [OLDER, {"faults_kept": 0, "faults_left_out": 200}])
def test_waits_without_single_faults_say_how_to_keep_them(tmp_path, block):
    session = mapped_training(tmp_path, RANDOM, IN_STEPS, block=block, kept=False)

    assert "there is no trace of them" in unknown(session)["mapped_wait"].why


def test_views_show_page_faults_beside_calls(tmp_path):
    # GIVEN four faults of 2.5 ms in each step of 20 ms, and a file that no call read
    source = Source(mapped_training(tmp_path / "watched", RANDOM, IN_STEPS))
    unwatched = Source(unwatched_mapping(tmp_path / "unwatched", 1 << 30, IN_STEPS))

    # THEN
    for view in (overview_view, files_view):
        (table,) = (panel for panel in view(source) if getattr(panel, "key", "") == "mapped")
        assert [cell.text for cell in table.rows[0]] == [PATH, "500.0 ms", "0 ns", "200", "1.0 MB", "1.1 GB"]
    (drawn,) = (panel for panel in timeline_view(source) if getattr(panel, "key", "") == "faults")
    (curve,) = drawn.figure["data"]
    assert np.mean(curve["y"]) == pytest.approx(0.5, rel=0.01)
    shown = [*tiles_of(overview_view, source), *tiles_of(steps_view, source)]
    assert [tile.value.text for tile in shown if tile.label == "In page faults"] == ["500.0 ms"] * 2
    # and nothing of a session that watched none
    for view in (overview_view, files_view, timeline_view, steps_view):
        assert "page fault" not in repr(view(unwatched))


def test_the_timeline_of_a_job_without_a_call_has_its_page_faults(tmp_path):
    source = Source(without_calls(mapped_training(tmp_path, RANDOM, IN_STEPS)))

    (drawn,) = timeline_view(source)

    assert drawn.key == "faults"
    assert np.mean(drawn.figure["data"][0]["y"]) == pytest.approx(0.5, rel=0.01)


def tiles_of(view, source):
    """Return the tiles of a view's first panel that has some."""
    return next(panel.items for panel in view(source) if isinstance(panel, Tiles))


def test_a_redacted_report_has_no_name_of_a_mapped_file(tmp_path):
    # GIVEN a fix with the file's name in it, and a probe of its folder
    path = "/data/secret/train.mdb"
    session = mapped_training(
        tmp_path, RANDOM, IN_STEPS, path=path, formats={path: "lmdb"}, bytes_in=200 << 17,
        probes=[probe_of_share(0.05)],
    )  # fmt: skip

    # WHEN
    shown, hidden = (diagnosis_for(session, redaction) for redaction in (None, Redaction("key")))
    write_report(Source(session, redaction=Redaction("key")), tmp_path / "report.html")

    # THEN it says the same of a token
    assert "/data/secret/train.mdb" in repr(shown)
    assert not re.search("secret|train.mdb|a probe of /data", repr(hidden))
    assert not re.search("secret|train.mdb|a probe of /data", (tmp_path / "report.html").read_text())
    (own,) = (one for one in hidden.findings if one.name == "mapped_wait")
    assert own.files == (Redaction("key").path(path),)
    assert own.files[0] in own.fix.line
    assert [one.name for one in hidden.findings] == [one.name for one in shown.findings]


def test_a_small_mapping_that_nobody_watched_is_nothing(tmp_path):
    session = unwatched_mapping(tmp_path, 1 << 20, IN_STEPS)

    assert "mapped_wait" not in unknown(session)


def test_without_waits_of_steps_a_pipeline_s_faults_are_a_note(tmp_path):
    # GIVEN bursts of four faults of another thread
    faults = [(start, end, 7, at) for start, end, _, at in RANDOM]

    finding = found(mapped_training(tmp_path, faults, duration_ms=1000))["mapped_wait"]

    assert (finding.kind, finding.gain.supported) == ("note", False)


def test_a_part_of_the_faults_stands_for_all(tmp_path):
    # GIVEN that a quarter of the faults happened while they were seen
    waits, file = measured(
        mapped_training(tmp_path, RANDOM, IN_STEPS, block={"sampled_ns": 2, "sampled_faults": 25})
    )

    assert waits.beside_s == pytest.approx(2.0)
    assert file.waits == pytest.approx(800)
    assert dataclasses.asdict(file)["bytes_in"] == MB
