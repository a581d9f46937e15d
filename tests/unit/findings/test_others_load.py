"""A processor that other programs take is not idle: what needs one beside the steps is not certain."""

from __future__ import annotations

import json

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import open_session

KB, MB = 1_000, 1_000_000
FILES, STATS, EPOCHS = 64, 6, 3
CLAIMS = {"checkpoint_stall": "a processor is idle", "prefetch": "processors are free for it"}


def job(logdir, *, busy, others):
    """Gives steps that wait 20 ms for a read and compute 30, and save 16 MB in 60 ms after each tenth.

    They compute on so much of a processor; other programs take so many of two.
    """
    at = 0.0
    calls: list[tuple] = []
    steps: list[tuple[float, float, float]] = []
    for step in range(100):
        saves_ms = 120.0 if step % 10 == 9 else 0.0
        calls.append((at, at + 20, 1, "pread", 0, 100 * KB, step * 100 * KB))
        calls += [
            (at + 50 + 6 * n, at + 56 + 6 * n, LOOP, "write", 1, 1_600 * KB) for n in range(20) if saves_ms
        ]
        steps.append((at, at + 50 + saves_ms, 20.0))
        at += 50 + saves_ms
    machine = {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": 100 * 0.020 * 0.01 + busy * (at / 1000 - 2)}
    session = training(logdir, calls, steps, paths=["/data/a", "/out/b"], sizes=[10_000 * MB, 320 * MB])
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text()) | {"machine": machine | {"others_cpus": others}}
    path.write_text(json.dumps(meta))
    return open_session(session.path)


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize(
    ("busy", "others", "certain"),
    [
        (0.9, 0.0, True),
        (0.9, 1.2, False),
        # steps that wait for a device leave what they took
        (0.05, 1.2, True),
        (0.05, 2.0, True),
    ],
)
def test_moved_work_needs_a_processor_if_steps_keep_theirs(tmp_path, name, busy, others, certain):
    gains = []
    for load in (0.0, others):
        found = diagnose(job(tmp_path / str(load), busy=busy, others=load)).findings
        gains.append(next(one.gain for one in found if one.name == name))
    quiet, loaded = gains

    # THEN nothing is certain beside other programs, which may be gone in the next run: as much is expected
    (assumed,) = (one for one in loaded.assumptions if one.claim == CLAIMS[name])
    assert bool(assumed.support) is certain
    assert quiet.low_s > 0
    assert (loaded.low_s > 0) is certain
    assert loaded.saved_s == pytest.approx(quiet.saved_s)


def asks(logdir, *, others, own=0.6, long_ms=4.0, every=20, epochs=EPOCHS):
    """Gives epochs of small files in memory, each asked for six times in 50 us, one time in so many longer.

    The job keeps so much of two processors busy, and other programs so much.
    """
    at, asked = 0.0, 0
    calls: list[tuple] = []
    steps: list[tuple[float, float, float]] = []
    for _ in range(epochs):
        for file in range(FILES):
            begin = at
            for _ in range(STATS):
                asked += 1
                end = at + (0.05 if asked % every else long_ms)
                calls.append((at, end, 1, "stat", file, 0))
                at = end
            calls.append((at, at + 0.1, 1, "pread", file, 10 * KB, 0))
            steps.append((begin, at + 3.1, at + 0.1 - begin))
            at += 3.1
    machine = {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": own * at / 1000, "others_cpus": others}
    paths = [f"/data/{file}" for file in range(FILES)]
    return training(logdir, calls, steps, paths=paths, sizes=[10 * KB] * FILES, meta={"machine": machine})


@pytest.mark.parametrize(
    ("changes", "certain"),
    [
        ({"others": 1.3}, False),
        ({"others": 0.0}, True),
        ({"others": None}, True),
        ({"others": 1.0}, True),
        ({"others": 1.3, "own": 1.9}, True),
        ({"others": 1.3, "long_ms": 0.9, "every": 4}, True),
        ({"others": 1.3, "every": 5}, True),
        ({"others": 1.3, "epochs": 1}, True),
    ],
    ids=[
        "beside others", "alone", "unknown", "a processor is left", "the job fills them", "short of a turn",
        "usually as long", "one pass, maybe of storage",
    ],
)  # fmt: skip
def test_calls_that_wait_for_others_processors_are_promised_nothing_for_certain(tmp_path, changes, certain):
    gain, alone = (
        next(one.gain for one in diagnose(asks(tmp_path / name, **made)).findings if one.name == "stat_storm")
        for name, made in (("beside", changes), ("alone", changes | {"others": 0.0}))
    )

    # THEN it may as well be gone without them: half is expected, as much as ever is possible
    assert (gain.low_s > 0) is certain
    assert alone.low_s > 0
    assert gain.saved_s == pytest.approx(alone.saved_s * (1.0 if certain else 0.5))
    assert gain.high_s == pytest.approx(alone.high_s)
    doubts = [one.claim for one in gain.doubts]
    assert doubts == (
        [] if certain else ["the input is as slow without the other programs, which fill the processors"]
    )
