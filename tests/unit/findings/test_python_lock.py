"""What a thread of Python prepares beside steps: a queue takes time, and there is one lock."""

from __future__ import annotations

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.findings.test_cures_of_pipelines import BATCH, LOAD, PATHS
from tfdarshan.findings import read_parallelism
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.pipeline_api import more_readers
from tfdarshan.findings.reader_change import with_readers
from tfdarshan.findings.verdict import LITTLE

KB, MB = 1_000, 1_000_000
CLAIM = "steps leave Python's lock to the thread that reads"
TF_DATA = [{"stages": [PATHS, LOAD, BATCH], "pool_threads": None, "datasets": 1, "iterators": 1}]


def job(logdir, *, wait_ms=10.0, compute_ms=20.0, reads=16, busy=1.0, by=LOOP, pipelines=()):
    """Gives steps that wait for reads of 8 kB, and then compute, which takes a processor such a share."""
    calls, steps = [], []
    for step in range(100):
        at, each_ms = step * (wait_ms + compute_ms), wait_ms / reads
        calls += [
            (at + n * each_ms, at + (n + 1) * each_ms, by, "pread", 0, 8 * KB, (step * reads + n) * 8 * KB)
            for n in range(reads)
        ]
        steps.append((at, at + wait_ms + compute_ms, wait_ms))
    # 4.6 us: as from memory.
    cpu_s = (wait_ms + busy * compute_ms) / 10
    meta = {
        "machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": cpu_s},
        "pipelines": {"found": list(pipelines), "left_out": 0},
    }
    return training(logdir, calls, steps, paths=["/data/a"], sizes=[10_000 * MB], meta=meta)


def prefetched(session):
    return next(one for one in diagnose(session).findings if one.name == "prefetch")


@pytest.mark.parametrize(
    ("changes", "support"),
    [
        # memory serves reads in 62 us, and steps keep a processor busy
        ({"reads": 160}, False),
        ({"reads": 160, "busy": 0.55}, False),
        ({"reads": 160, "busy": 0.45}, True),
        # storage lets the thread wait, without the lock
        ({"reads": 16}, None),
        # TensorFlow's threads have no use for it
        ({"reads": 160, "by": 1, "pipelines": TF_DATA}, None),
    ],
)
def test_python_code_runs_beside_steps_if_these_leave_it_the_lock(tmp_path, changes, support):
    one = prefetched(job(tmp_path, **changes))

    # THEN what nobody knows is not certain, and expected all the same: most that computes gives the lock up
    claims = {entry.claim: entry.support for entry in one.gain.assumptions}
    assert (bool(claims[CLAIM]) if CLAIM in claims else None) is support
    assert (one.gain.low_s > 0) == (support is not False)
    assert one.gain.saved_s == pytest.approx(0.92 * 0.010 * 99 / 100 - 30e-6, rel=0.01)


@pytest.mark.parametrize(("scale", "problem"), [(1.0, False), (100.0, True)])
def test_what_handing_a_batch_over_takes_is_not_gained(tmp_path, scale, problem):
    # GIVEN steps of 1.4 ms that wait 114 us, or such steps 100 times as long
    found = diagnose(job(tmp_path, wait_ms=0.114 * scale, compute_ms=1.25 * scale, busy=0.1))

    # THEN 30 us of 114 are much, and the rest too little to promise
    (one,) = (one for one in found.findings if one.name == "prefetch")
    assert one.kind == ("problem" if problem else "note")
    assert one.cost_s == pytest.approx(0.92 * 0.99 * 114e-6 * scale - 30e-6, rel=0.01)


@pytest.mark.parametrize(("compute_ms", "waits"), [(20.0, True), (40.0, False)])
def test_a_job_that_waits_is_told_what_may_give_little(tmp_path, compute_ms, waits):
    # GIVEN steps that wait 1.6 ms of 22 or of 42, for reads from memory, and keep a processor busy
    verdict = diagnose(job(tmp_path, wait_ms=1.6, compute_ms=compute_ms, reads=160)).verdict

    # THEN what may give 7 % back is named, for nobody knows of a better one, and promises nothing; a healthy
    # job is told of nothing that is not certain
    assert verdict.state == ("unknown" if waits else "healthy")
    assert (verdict.finding, verdict.gain) == ("prefetch" if waits else "", None)
    assert (LITTLE in verdict.sentence) is waits
    assert ("waits for input, 89.2 % of that because input is not prepared" in verdict.sentence) is waits


@pytest.mark.parametrize(("each_us", "shared"), [(100, False), (1000, True)])
def test_threads_that_read_from_memory_hand_the_lock_over_most_of_the_time(tmp_path, each_us, shared):
    # GIVEN a generator that reads 8 kB in 10 us, from memory, and takes 90 us or 990 for each beside that
    each_ms, generator = each_us / 1000, {"name": "from_generator", "does": ["python"], "function": "samples"}
    calls = [(n * each_ms, n * each_ms + 0.01, 1, "pread", 0, 8 * KB, n * 8 * KB) for n in range(2000)]
    steps = [(100 * each_ms * n, 100 * each_ms * (n + 1), 90 * each_ms) for n in range(20)]
    meta = {
        "machine": {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": 2 * each_us / 1000},
        "pipelines": {"found": [{"stages": [generator], "datasets": 1, "iterators": 1}], "left_out": 0},
    }
    measures = measure(training(tmp_path, calls, steps, sizes=[10_000 * MB], meta=meta))

    # THEN what is done from one call to the next is expected to be shared only where it is long
    worst, expected, best = with_readers(measures, 8)
    assert worst.other == 1.0
    assert expected.other == pytest.approx(0.75 if shared else 1.0)
    assert best.other < 0.5


@pytest.mark.parametrize(("beside_us", "trial"), [(50, False), (1000, True)])
def test_threads_that_read_from_memory_later_are_no_trial(tmp_path, monkeypatch, beside_us, trial):
    # GIVEN a generator whose reads of 8 kB take 200 us in the first of four epochs, and 10 us from memory
    # in the others, and that takes 50 us or 1 ms for each beside that
    generator = {"name": "from_generator", "does": ["python"], "function": "samples"}
    calls, steps, start, at = [], list[tuple[float, float, float]](), 0.0, 0.0
    for epoch in range(4):
        for n in range(1000):
            took_ms = 0.2 if epoch == 0 else 0.01
            calls.append((at, at + took_ms, 1, "pread", 0, 8 * KB, n * 8 * KB))
            at += took_ms + beside_us / 1000
            if n % 100 == 99:
                steps.append((start, at, 0.9 * (at - start)))
                start = at
    meta = {
        "machine": {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": at / 1000},
        "pipelines": {"found": [{"stages": [generator], "datasets": 1, "iterators": 1}], "left_out": 0},
    }
    monkeypatch.setattr(read_parallelism, "memory_served_later", lambda _: True)
    session = training(tmp_path, calls, steps, sizes=[8 * MB], meta=meta)

    # THEN more threads are offered only where they do not hand Python's lock to each other most of the time
    assert ("read_parallelism" in {one.name for one in diagnose(session).findings}) is trial


def job_of_threads(logdir, *, call_ms, apart_ms, waits=True, cpus=2):
    """Gives a generator with eight threads of its own, four of which call at a time, in turn."""
    calls = []
    for turn in range(1000):
        at = turn * apart_ms
        calls += [
            (at, at + call_ms, 1 + (4 * turn + n) % 8, "pread", n, 8 * KB, turn * 8 * KB) for n in range(4)
        ]
    step_ms = 20 * apart_ms
    steps = [(n * step_ms, (n + 1) * step_ms, 0.9 * step_ms if waits else -1) for n in range(50)]
    generator = {"name": "from_generator", "does": ["python"], "function": "samples"}
    meta = {
        "machine": {"cpus": cpus, "memory_bytes": 1 << 34, "cpu_s": apart_ms},
        "pipelines": {
            "found": [{"stages": [generator, BATCH], "datasets": 1, "iterators": 1}],
            "left_out": 0,
        },
    }
    paths = [f"/data/{n}" for n in range(4)]
    return training(logdir, calls, steps, paths=paths, sizes=[10_000 * MB] * 4, meta=meta)


@pytest.mark.parametrize(
    ("apart_ms", "changes", "found"),
    [
        # in calls of 2 ms for a tenth of the time
        (10, {}, False),
        # for half of it, with more processors than threads, or with nothing that says what steps waited for
        (2, {}, True),
        (10, {"cpus": 16}, True),
        (10, {"waits": False}, True),
    ],
)
def test_threads_that_are_seldom_in_calls_get_no_more_threads(tmp_path, apart_ms, changes, found):
    session = job_of_threads(tmp_path, call_ms=2, apart_ms=apart_ms, **changes)

    # THEN what holds them up is no call, and more of them would be held up, too
    assert ("read_parallelism" in {one.name for one in diagnose(session).findings}) is found


def test_threads_of_a_generator_are_given_more_by_the_same_line(tmp_path):
    # GIVEN a generator that reads with eight threads
    measures = measure(job_of_threads(tmp_path, call_ms=2, apart_ms=2))

    # WHEN it is told to read with more
    cure = more_readers(measures, 16, 8)

    # THEN it is not told to write what it has
    assert cure.instead_of == "yield from map_ahead(read, samples, threads=8)  # of tfdarshan.ahead"
    assert cure.line == "yield from map_ahead(read, samples, threads=16)  # of tfdarshan.ahead"
    assert (
        "Threads read in the generator, 8 at a time: give their pool, or map_ahead(), so many." in cure.what
    )


def test_a_generator_whose_threads_fill_the_processors_decodes_with_as_many(tmp_path):
    # GIVEN one that decodes for most of the time, with eight threads on two processors
    (one,) = (
        one
        for one in diagnose(job_of_threads(tmp_path, call_ms=2, apart_ms=10)).findings
        if one.name == "decode_bound"
    )

    # THEN no threads are offered
    assert "as many calls decode at a time as there are processors" in one.cure.what
    assert "map_ahead" not in one.cure.line


@pytest.mark.parametrize(
    ("each_us", "decoder", "offered"),
    [
        # 2 calls of 10 us a file, and 30 or 200 us of decoding
        (50, None, False),
        (220, None, True),
        # what TensorFlow decodes in a map of its own needs no lock
        (50, {"name": "map", "does": ["decodes"], "function": "decode"}, True),
    ],
)
def test_threads_decode_only_what_is_long_enough_to_share(tmp_path, each_us, decoder, offered):
    each_ms, generator = each_us / 1000, {"name": "from_generator", "does": ["python"], "function": "samples"}
    calls = [
        (
            n * each_ms + 0.01 * half,
            n * each_ms + 0.01 * (half + 1),
            1,
            "pread",
            0,
            4 * KB,
            (2 * n + half) * 4 * KB,
        )
        for n in range(4000)
        for half in range(2)
    ]
    steps = [(100 * each_ms * n, 100 * each_ms * (n + 1), 90 * each_ms) for n in range(40)]
    stages = [generator, *([decoder] if decoder else []), BATCH]
    meta = {
        "machine": {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": 4 * each_us / 1000},
        "pipelines": {"found": [{"stages": stages, "datasets": 1, "iterators": 1}], "left_out": 0},
    }
    session = training(tmp_path, calls, steps, sizes=[10_000 * MB], meta=meta)

    (one,) = (one for one in diagnose(session).findings if one.name == "decode_bound")

    # THEN more threads are no cure where they hand Python's lock to each other
    assert ("Decode with more calls at a time." in one.cure.what) is offered
    assert ("threads would hand Python's lock to each other most of the time" in one.cure.what) is not offered
