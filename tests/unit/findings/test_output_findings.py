"""Findings on writes, and on whether a session is to be trusted."""

from dataclasses import replace

import pytest

import tfdarshan
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.analysis.step_model import most_saved_s, noise_s
from tfdarshan.findings import checkpoint_stall, diagnosis, fsync, small_writes
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.finding import Assumption, Cure, Finding, Gain
from tfdarshan.findings.kept_verdicts import kept_verdict
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.trace_room import trace_room
from tfdarshan.options import Options
from tfdarshan.reports.text.list_text import why
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.reports.views.panel import Headline
from tfdarshan.sessions.catalogue import list_sessions

MB = 1 << 20
STEPS = 20
NAMES = ["/data/a", "/data/out/ckpt-1.data-00000-of-00001"]
LITTLE = "A cure gives little, if anything: runs of one job differ by as much."
KERNEL = {"rchar": 0, "read_bytes": 0}


def names_of(found):
    return [finding.name for finding in found.problems]


def test_small_writes_of_the_loop_stand_in_its_way(tmp_path):
    # GIVEN 20 writes of 100 bytes a step, 1 ms each
    calls = [
        (100 * n + 10 + k, 100 * n + 11 + k, LOOP, "write", 1, 100) for n in range(STEPS) for k in range(20)
    ]
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1), paths=NAMES)

    # WHEN
    found = diagnose(session)

    # THEN nearly 20 ms of 100
    assert names_of(found) == ["small_writes"]
    assert found.problems[0].cost_s == pytest.approx(0.95 * 0.020, rel=0.01)
    assert found.problems[0].files == (NAMES[1],)
    # One write of a full buffer remains of each MiB.
    assert "18.9 % of step time is lost" in found.verdict.sentence


def test_small_writes_of_another_thread_cost_the_loop_nothing(tmp_path):
    calls = [
        (100 * n + 10 + k, 100 * n + 11 + k, 5, "write", 1, 100) for n in range(STEPS) for k in range(20)
    ]
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1), paths=NAMES)

    assert diagnose(session).problems == ()


@pytest.mark.parametrize(
    ("files", "headers", "spared"),
    [(1, False, 19), (10, False, 10), (20, False, None), (1, True, None)],
    ids=["one file", "two writes a file", "one write a file", "headers"],
)
def test_a_buffer_spares_what_goes_to_one_file_between_its_larger_writes(tmp_path, files, headers, spared):
    # GIVEN 20 small writes of 10 ms each, to some files one after the other, or a large one behind each
    calls = []
    for number in range(20):
        at = 100.0 * number + 10
        calls.append((at, at + 10, LOOP, "write", 1 + number * files // 20, 100))
        if headers:
            calls.append((at + 20, at + 30, LOOP, "write", 1, MB))
    paths = ["/data/a", *(f"/data/out/log-{number}" for number in range(files))]
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1), paths=paths)

    found = small_writes.find(measure(session))

    # THEN a buffer of each file spares all but one of what is collected
    assert (found is not None) is (spared is not None)
    if spared is not None:
        assert found.gain.high_s * STEPS >= spared * 0.010
        assert f"; {20 - spared} of 1.0 MB at most would do." in found.what


@pytest.mark.parametrize(("apart", "synced"), [(1, True), (4, False)])
def test_small_writes_that_are_each_synced_need_more_than_a_buffer(tmp_path, apart, synced):
    # GIVEN a write of 8 bytes that takes 10 ms in each step, and a quick sync after each or each fourth
    calls = [(100 * n + 10, 100.0 * n + 20, LOOP, "write", 1, 8) for n in range(STEPS)]
    calls += [(100 * n + 20, 100 * n + 20.1, LOOP, "fsync", 1, 0) for n in range(0, STEPS, apart)]
    session = training(tmp_path, sorted(calls), epochs_of_steps(STEPS, 100, 1), paths=["/data/a", "/out/log"])

    # WHEN
    (first,) = diagnose(session).problems

    # THEN who flushes the file after each is told to flush it less often, and of no line that he has not
    assert first.name == "small_writes"
    assert first.cure == (small_writes.SYNCED_CURE if synced else small_writes.CURE)
    told = "Collect them in a buffer: flush and sync the file once, after the last write, or once a second."
    assert (first.cure.what == told) is synced
    assert (first.cure.line == "") is synced


def test_syncs_of_the_loop_stand_in_its_way(tmp_path):
    # GIVEN a sync of 30 ms a step
    calls = []
    for n in range(STEPS):
        calls += [
            (100 * n + 10, 100 * n + 11, LOOP, "write", 1, 1000),
            (100 * n + 11, 100 * n + 41, LOOP, "fsync", 1, 0),
        ]
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1), paths=NAMES)

    # WHEN
    (first,) = diagnose(session).problems

    # THEN at most all of it is spared, with what runs differ by, and the rest gets quicker
    assert first.name == "fsync"
    assert first.gain.high_s == pytest.approx(most_saved_s(0.1, 0.030 + noise_s(0.1, 0.030)))


@pytest.mark.parametrize(
    ("sync_ms", "file", "state", "named"),
    [
        (4.5, "/out/log", "healthy", True),
        (4.5, NAMES[1], "healthy", False),
        (5.2, NAMES[1], "unknown", True),
        (2, "/out/log", "healthy", False),
    ],
    ids=["certain", "uncertain", "uncertain and more", "less"],
)
def test_what_gives_little_is_worth_a_word_where_nothing_gives_more(tmp_path, sync_ms, file, state, named):
    # GIVEN a sync in each step of 100 ms: what all but one a second take is spared for certain, of what
    # TensorFlow writes half
    calls = []
    for n in range(STEPS):
        calls += [
            (100 * n + 10, 100 * n + 10.1, LOOP, "write", 1, 1000),
            (100 * n + 11, 100 * n + 11 + sync_ms, LOOP, "fsync", 1, 0),
        ]
    found = diagnose(training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1), paths=["/data/a", file]))

    # THEN nothing is a problem, and what gives some 4 % back is named, without a promise; a healthy job hears
    # of it only if it is certain
    verdict = found.verdict
    assert not found.problems
    assert (verdict.state, verdict.finding, verdict.gain) == (state, "fsync" if named else "", None)
    well = "Healthy: 1.0 % of step time waits for input."
    assert (well in verdict.sentence) is (state == "healthy" and named)
    assert verdict.sentence.endswith(f"{LITTLE} {found.named.cure.what}" if named else " is worth it.")
    assert (" of step time is lost because the training loop syncs files, " in verdict.sentence) is named

    # ... nor do the tab and a list of sessions say more
    (headline,) = (panel for panel in findings_panels(found) if isinstance(panel, Headline))
    assert (LITTLE in headline.sentence, headline.promise) == (named, "")
    (listed,) = list_sessions(tmp_path)
    listing = {
        "healthy": "healthy",
        "unknown": "no cure is certain; the training loop syncs files, 5.2 ms each time",
    }
    assert why(listed, kept_verdict(found, 2.0)) == listing[state]


@pytest.mark.parametrize(
    ("size", "step_ms", "certain"),
    [(1_000, 100, 0.95 * 0.9), (1_000, 2_000, 0.5), (1_000_000, 100, 0.5)],
    ids=["often", "seldom", "much each time"],
)
def test_of_syncs_that_come_often_all_but_one_a_second_are_spared_for_certain(
    tmp_path, size, step_ms, certain
):
    # GIVEN a sync of 30 ms a step
    calls = []
    for n in range(STEPS):
        at = step_ms * n
        calls += [
            (at + 10, at + 11, LOOP, "write", 1, size),
            (at + 11, at + 41, LOOP, "fsync", 1, 0),
        ]
    session = training(tmp_path, calls, epochs_of_steps(STEPS, step_ms, 1), paths=["/data/a", "/out/log"])

    gain = fsync.find(measure(session)).gain

    sure_s = certain * 0.030
    assert gain.low_s == pytest.approx(max(0.0, sure_s - noise_s(step_ms / 1e3, sure_s)), abs=1e-6)
    assert gain.saved_s == pytest.approx(0.95 * 0.030)


@pytest.mark.parametrize(("long", "counted"), [(2, False), (3, True)])
def test_what_a_few_writes_take_beyond_the_others_may_not_come_again(tmp_path, long, counted):
    # GIVEN 20 writes of 2 ms, of which two take 42 ms, or one more than a tenth of them
    calls = []
    for n in range(STEPS):
        taken = 42 if n % 7 == 3 and n // 7 < long else 2
        calls.append((100 * n + 10, 100 * n + 10 + taken, LOOP, "write", 1, 100))
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1), paths=["/data/a", "/out/log"])

    gain = small_writes.find(measure(session)).gain

    # THEN one write is left in any case; nothing of the rest is certain, and half of it is expected
    whole_s, few_s = (STEPS * 0.002 + long * 0.040) / STEPS, long * 0.040 / STEPS
    usual = 1 - (0.0 if counted else few_s / whole_s)
    saved_s = whole_s * (1 - 1 / STEPS) - 100 / 300e6
    assert gain.saved_s == pytest.approx(0.95 * saved_s * (1 + usual) / 2, rel=0.01)
    sure_s = 0.6 * usual * saved_s
    assert gain.low_s == pytest.approx(max(0.0, sure_s - noise_s(0.1, sure_s)), abs=2e-5)


@pytest.mark.parametrize(("long", "counted"), [(2, False), (3, True)])
def test_what_a_few_syncs_take_beyond_the_others_may_not_come_again(tmp_path, long, counted):
    # GIVEN 20 syncs of 2 ms, of which two take 42 ms, or one more than a tenth of them
    calls = []
    for n in range(STEPS):
        at, taken = 100 * n, 42 if n % 7 == 3 and n // 7 < long else 2
        calls += [
            (at + 10, at + 11, LOOP, "write", 1, 1_000),
            (at + 11, at + 11 + taken, LOOP, "fsync", 1, 0),
        ]
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1), paths=["/data/a", "/out/log"])

    gain = fsync.find(measure(session)).gain

    # THEN nothing of that is certain, and half of it is expected
    usual_s, more_s = 0.002, long * 0.040 / STEPS
    assert gain.saved_s == pytest.approx(0.95 * (usual_s + more_s * (1 if counted else 0.5)))
    sure_s = 0.95 * 0.9 * (usual_s + more_s * counted)
    assert gain.low_s == pytest.approx(max(0.0, sure_s - noise_s(0.1, sure_s)), abs=1e-6)


def saving(thread, *, held_up):
    """Gives 4 checkpoints of 32 MB in 200 ms, after every fifth step of 100 ms, and the steps."""
    calls, steps, at = [], [], 0
    for n in range(STEPS):
        steps.append((at, at + 100, 0))
        at += 100
        if n % 5 == 4:
            calls += [
                (at + 50 * k, at + 50 * k + 50, thread, "write", 1, 8 * MB, 8 * MB * k) for k in range(4)
            ]
            at += 200 if held_up else 0
    return calls, steps


@pytest.mark.parametrize("thread", [LOOP, 7])
def test_checkpoints_between_steps_hold_training_up(tmp_path, thread):
    # GIVEN
    calls, steps = saving(thread, held_up=True)
    session = training(tmp_path, calls, [*steps, (steps[-1][1] + 200, steps[-1][1] + 300, 0)], paths=NAMES)

    # WHEN
    (first,) = diagnose(session).problems

    # THEN 800 ms of 2900, whichever thread wrote
    assert first.name == "checkpoint_stall"
    assert first.gain.high_s * 21 == pytest.approx(most_saved_s(2.9, 0.8 + noise_s(2.9, 0.8)))
    assert first.files == ("/data/out/ckpt-1",)
    # and what saving more and less often would cost: 200 ms for each 500, 200, 1200, 2500 ms
    assert first.evidence[-1].text == (
        "every 5 steps costs 28.6 % of run time; every 2, 50.0 %; every 12, 14.3 %; every 25, 7.4 %"
    )


def test_checkpoints_behind_the_loops_back_cost_nothing(tmp_path):
    calls, steps = saving(7, held_up=False)
    session = training(tmp_path, calls, steps, paths=NAMES)

    assert diagnose(session).problems == ()


@pytest.mark.parametrize(("longer_ms", "word"), [(60, True), (400, False)])
def test_a_save_that_goes_on_beside_steps_is_not_to_be_put_behind_them(tmp_path, longer_ms, word):
    # GIVEN 40 steps of 100 ms, and four saves of 400 ms by another thread: the step in which each begins
    # takes longer, and the others go on, or that one takes as long as the save
    calls, steps, at = [], [], 0
    for n in range(40):
        took = 100 + (longer_ms if n % 10 == 5 else 0)
        if n % 10 == 5:
            calls += [
                (at + 10 + 100 * k, at + 110 + 100 * k, 7, "write", 1, 8 * MB, 8 * MB * k) for k in range(4)
            ]
        steps.append((at, at + took, 0))
        at += took

    (one,) = (
        one
        for one in diagnose(training(tmp_path, calls, steps, paths=NAMES)).findings
        if one.name == "checkpoint_stall"
    )

    # THEN it is behind the loop's back already
    assert (one.kind, one.gain is None) == (("note", True) if word else ("problem", False))
    already = "Training goes on while these are written already: save less often."
    assert (one.cure.what == already) is word


def test_a_checkpoint_within_a_step_is_what_the_step_took_longer(tmp_path):
    # GIVEN 20 steps of 100 ms, of which the tenth takes 400 with a checkpoint of 300 ms in another thread
    steps = [(100 * n, 100 * n + 100, 0) for n in range(10)] + [(1000, 1400, 0)]
    steps += [(1400 + 100 * n, 1500 + 100 * n, 0) for n in range(9)]
    session = training(tmp_path, [(1050, 1350, 7, "write", 1, 64 * MB)], steps, paths=NAMES)

    # WHEN
    (first,) = diagnose(session).problems

    # THEN
    assert first.name == "checkpoint_stall"
    assert first.gain.high_s * 20 == pytest.approx(most_saved_s(2.3, 0.3 + noise_s(2.3, 0.3)))


def test_what_a_save_takes_before_its_first_write_is_in_the_upper_bound(tmp_path):
    # GIVEN 20 steps of 100 ms, of which the tenth takes 500 with writes of 350 ms
    steps = [(100 * n, 100 * n + 100, 0) for n in range(10)] + [(1000, 1500, 0)]
    steps += [(1500 + 100 * n, 1600 + 100 * n, 0) for n in range(9)]
    session = training(tmp_path, [(1100, 1450, 7, "write", 1, 64 * MB)], steps, paths=NAMES)

    # WHEN
    (first,) = diagnose(session).problems

    # THEN
    assert first.gain.saved_s * 20 == pytest.approx(0.7 * 0.35)
    assert first.gain.high_s * 20 == pytest.approx(most_saved_s(2.4, 0.4 + noise_s(2.4, 0.4)))


def saved_in_steps(*, every, longer_each=None, meta_ms=0.01, folder="/data/out"):
    """Gives 60 steps of 80 ms, which take 40 ms longer where they save in 7 ms of writes, or now and then."""
    calls, steps, at, saves = [], [], 0.0, 0
    for n in range(60):
        saved = n % every == every - 1
        took = 120 if saved or (longer_each and n % longer_each == 0) else 80
        if saved:
            saves += 1
            calls += [
                (at + 90, at + 90 + meta_ms, LOOP, "open", saves, 0),
                (at + 92, at + 99, LOOP, "write", saves, 16 * MB, 0),
            ]
        steps.append((at, at + took, 0))
        at += took
    names = ["/data/a", *(f"{folder}/ckpt-{n}.data-00000-of-00001" for n in range(1, saves + 1))]
    return calls, steps, names


@pytest.mark.parametrize(
    ("every", "longer_each", "held_s"),
    [(3, None, 0.040), (20, None, 0.007), (3, 7, 0.007)],
    ids=["steps that save", "three saves", "other steps as well"],
)
def test_a_save_takes_what_steps_with_one_take_longer_if_only_these_do(tmp_path, every, longer_each, held_s):
    calls, steps, names = saved_in_steps(every=every, longer_each=longer_each)
    session = training(tmp_path, calls, steps, paths=names)

    found = checkpoint_stall.find(measure(session))

    saves = len(names) - 1
    assert found.gain.if_so_s * 60 == pytest.approx(0.7 * held_s * saves, rel=0.05)
    assert found.gain.high_s * 60 > 0.035 * saves


@pytest.mark.parametrize(("meta_ms", "fits"), [(12, False), (5, True)])
def test_a_burst_buffer_opens_files_that_storage_may_take_long_for(tmp_path, meta_ms, fits):
    # GIVEN the same saves of TensorFlow's, every 280 ms, to storage that takes so long for each open
    calls, steps, names = saved_in_steps(every=3, meta_ms=meta_ms)
    session = training(tmp_path, calls, steps, paths=names)

    # THEN 24 opens a save take longer than steps leave, or not: other small calls are not storage's
    gain = checkpoint_stall.find(measure(session)).gain
    assert gain.if_so_s * 60 == pytest.approx(0.7 * 0.040 * 20 if fits else 0.0, rel=0.05)
    assert fits or gain.low_s == 0


@pytest.mark.parametrize(
    ("folder", "write_ms", "kept"),
    [("/out", 7.0, True), ("/data/out", 7.0, False), ("/out", 40.0, False)],
    ids=["memory takes it", "a server", "a device"],
)
def test_no_burst_buffer_is_named_where_memory_takes_saves(tmp_path, folder, write_ms, kept):
    # GIVEN saves of TensorFlow's of 16 MB, each in a write of so long, to ext4 or to a server
    calls, steps, names = saved_in_steps(every=3, folder=folder)
    calls = [(a, a + write_ms, *more) if more[1] == "write" else (a, b, *more) for a, b, *more in calls]
    session = training(tmp_path, calls, steps, paths=names)

    found = checkpoint_stall.find(measure(session))

    # THEN a burst buffer would wait for the device, which nothing does now
    assert (found.gain is None, found.cure is None, found.kind == "note") == (kept, kept, kept)
    in_memory = " The page cache takes them, so nothing waits for the device, and a burst buffer would."
    assert found.what.endswith(in_memory) is kept


def test_the_page_cache_is_noted_and_no_problem(tmp_path):
    # GIVEN 20 reads of 1 MB that take 0.1 ms, of which the kernel fetched nothing
    calls = [(100 * n, 100 * n + 0.1, 1, "pread", 0, 1_000_000) for n in range(STEPS)]
    kernel = {"rchar": 20_000_000, "read_bytes": 0}
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1), sizes=[1_000_000], kernel=kernel)

    # WHEN
    found = diagnose(session)

    # THEN
    assert [(f.name, f.kind) for f in found.findings] == [("page_cache", "note")]
    assert found.verdict.state == "healthy"


def test_bytes_that_were_not_seen_come_first(tmp_path):
    # GIVEN 1 MB read in 10 ms a step, and four times as much charged by the kernel
    calls = [(100 * n, 100 * n + 10, 1, "pread", 0, 1_000_000) for n in range(STEPS)]
    kernel = {"rchar": 80_000_000, "read_bytes": 80_000_000}
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 10), kernel=kernel)

    # WHEN
    found = diagnose(session)

    # THEN
    first = found.findings[0]
    assert (first.name, first.kind) == ("low_coverage", "doubt")
    assert found.verdict.sentence.startswith("75.0 % of the bytes read were not seen.")


def test_a_trace_that_was_cut_short_comes_first(tmp_path):
    # GIVEN a session whose trace has half of the calls
    calls = [(100 * n, 100 * n + 10, 1, "pread", 0, 1000) for n in range(STEPS)]
    counts = {
        "files": 1, "events": 40, "segments": 20, "events_dropped": 20, "files_over_cap": 0, "spool_bytes": 0,
        "spool_full": 0, "damaged": 0,
    }  # fmt: skip
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 10), meta={"counts": counts})

    # WHEN
    found = diagnose(session)

    # THEN
    assert (found.findings[0].name, found.findings[0].kind) == ("truncated_trace", "doubt")
    assert "50.0 %" in found.findings[0].title
    # THEN the cure is a pair of options that is accepted: of 256 MiB, a quarter of the cap, twice as much
    line = "with tfdarshan.profile(logdir, memory_cap_mb=1280, trace_memory_mb=512):"
    assert found.findings[0].cure.line == line
    assert Options(memory_cap_mb=1280, trace_memory_mb=512).trace_limit_mb == 512


@pytest.mark.parametrize(
    ("segments", "options", "line"),
    [
        (10, {"memory_cap_mb": 64, "trace_memory_mb": 1}, "memory_cap_mb=67, trace_memory_mb=4"),
        (39, {"memory_cap_mb": 64, "trace_memory_mb": 64}, "memory_cap_mb=128, trace_memory_mb=128"),
        (0, {"memory_cap_mb": 1 << 20}, ""),  # more than can be given
    ],
)
def test_the_cure_of_a_cut_trace_is_accepted(segments, options, line):
    counts = {"events": 40, "segments": segments, "events_dropped": 40 - segments}

    enough = trace_room([{"counts": counts, "options": options}]).enough

    said = f"memory_cap_mb={enough.memory_cap_mb}, trace_memory_mb={enough.trace_memory_mb}" if enough else ""
    assert said == line


def test_a_trace_that_was_not_asked_for_is_not_cut_short(tmp_path):
    with tfdarshan.profile(
        tmp_path / "logs", spool_dir=tmp_path, trace=False, include=[f"{tmp_path}/"]
    ) as made:
        for number in range(100):
            (tmp_path / f"{number}").write_bytes(bytes(1000))

    found = diagnose(tfdarshan.open_session(made.path))

    assert [finding.name for finding in found.findings if finding.kind == "doubt"] == []
    assert any("there is no trace of single calls" in unknown.why for unknown in found.unknown)


def saved_and_loaded(*, load):
    """Gives six arrays of 16 MB that the main thread saves in 100 ms each and, with `load`, loads again."""
    calls = []
    for n in range(6):
        calls += [
            (1000 * n, 1000 * n + 0.1, LOOP, "open", n, 0),
            (1000 * n + 1, 1000 * n + 101, LOOP, "write", n, 16 * MB),
        ]
        if load:
            calls.append((7000 + 100 * n, 7000 + 100 * n + 50, LOOP, "read", n, 16 * MB))
    return calls


def arrays(count=6):
    return [f"/job/array-{n}.npy" for n in range(count)]


def all_words(found):
    return " ".join(
        [found.verdict.sentence]
        + [f"{f.title} {f.what} {f.not_worth} {f.cure.what if f.cure else ''}" for f in found.findings]
        + [f"{u.why}" for u in found.unknown]
    )


def test_without_steps_a_burst_of_writes_is_a_note(tmp_path):
    # GIVEN a job of 8 s that has no steps and writes for 0.6 s of it
    session = training(tmp_path, saved_and_loaded(load=False), paths=arrays(), duration_ms=8000)

    # WHEN
    found = diagnose(session)

    # THEN it says what was written, and nothing of checkpoints that hold training up
    (note,) = (finding for finding in found.findings if finding.name == "checkpoint_stall")
    assert (note.kind, note.gain, note.cure) == ("note", None, None)
    assert note.title == "the main thread writes 100.7 MB in 6 bursts, 600.0 ms in all"
    assert found.verdict.state == "unknown"
    assert found.verdict.sentence == (
        "No step was recorded, so this session cannot tell what waited for input; "
        "file calls were running 7.5 % of the time."
    )
    assert "training" not in all_words(found)


def test_files_that_the_job_reads_back_are_no_checkpoints(tmp_path):
    session = training(tmp_path, saved_and_loaded(load=True), paths=arrays(), duration_ms=8000)

    assert "checkpoint_stall" not in [finding.name for finding in diagnose(session).findings]


@pytest.mark.parametrize(
    ("path", "reader", "found"),
    [
        ("/job/cache-0.npy", LOOP, []),
        ("/job/cache-0.npy", 7, ["checkpoint_stall"]),  # a burst buffer copies it
        ("/job/ckpt-1.data-00000-of-00001", LOOP, ["checkpoint_stall"]),
    ],
)
def test_what_steps_read_back_as_input_is_no_checkpoint(tmp_path, path, reader, found):
    # GIVEN that the loop writes 64 MB between two steps, and reads them, or another thread does
    saves, steps = saving(LOOP, held_up=True)
    calls = [call for call in saves if call[0] < 1000]
    calls += [(1500, 1550, reader, "read", 1, 64 * MB)]
    session = training(tmp_path, calls, steps, paths=[NAMES[0], path])

    assert [one.name for one in diagnose(session).findings if one.name == "checkpoint_stall"] == found


@pytest.mark.parametrize("operation", ["write", "fsync"])
def test_no_finding_speaks_of_training_where_no_step_was_recorded(tmp_path, operation):
    # GIVEN small writes or syncs by the main thread, stats and reads by another, for half of the time
    calls = []
    for n in range(200):
        calls += [
            (10 * n, 10 * n + 3, LOOP, operation, 1, 100 if operation == "write" else 0),
            (10 * n, 10 * n + 4, 5, "read", 0, 2 * MB, 2 * MB * n),
            *((10 * n + 5 + k, 10 * n + 6 + k, 5, "stat", 0, 0) for k in range(3)),
        ]
    session = training(tmp_path, calls, paths=["/data/a", "/out/log"], sizes=[400 * MB, -1])

    # WHEN
    found = diagnose(session)

    # THEN
    assert {"small_writes" if operation == "write" else "fsync", "stat_storm"} <= {
        f.name for f in found.findings
    }
    words = all_words(found)
    assert "training" not in words
    assert "the loop" not in words
    assert "stood still" not in words or "the main thread took" in words


@pytest.mark.parametrize(
    ("wait_ms", "uncertain_s", "named"),
    [(10, 0.011, "small_writes"), (10, 0.009, "eof_probes"), (1, 0.011, "eof_probes")],
    ids=["twice as much", "less than that", "healthy"],
)
def test_what_is_certain_is_worth_a_word_before_what_gives_less_than_twice_as_much(
    tmp_path, wait_ms, uncertain_s, named
):
    # GIVEN two notes, one of 5 ms of 100 that is certain, and one of more that is not
    seen = Assumption("steps wait", "all", "they do not")
    gains = {
        "eof_probes": Gain("step", 0.1, 0.004, 0.005, 0.006, (seen,)),
        "small_writes": Gain("step", 0.1, 0.0, uncertain_s, 0.05, (seen,)),
    }
    made = [
        Finding(name, "problem", name, name, cost_s=gain.saved_s, cost_share=10 * gain.saved_s,
                cure=Cure(f"{name}."), gain=gain)
        for name, gain in gains.items()
    ]  # fmt: skip
    notes = [replace(one, kind="note") for one in made]
    measures = measure(training(tmp_path, [], epochs_of_steps(STEPS, 100, wait_ms), paths=["/data/a"]))

    # THEN a job that is not healthy hears of the latter if it costs twice as much
    assert diagnosis._worth_a_word(made, notes, measures).name == named
