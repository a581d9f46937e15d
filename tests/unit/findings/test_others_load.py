"""A processor that other programs take is not idle: what needs one beside the steps is not certain."""

from __future__ import annotations

import json

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import open_session

KB, MB = 1_000, 1_000_000
CLAIMS = {"checkpoint_stall": "a processor is idle", "prefetch": "processors are free for it"}


def job(logdir, *, busy, others):
    """Gives steps that wait 20 ms for a read and compute 30, and save 16 MB in 60 ms after each tenth.

    They compute on so much of a processor; other programs take so many of two.
    """
    at = 0.0
    calls: list[tuple] = []
    steps: list[tuple[float, float, float]] = []
    for step in range(100):
        saves_ms = 60.0 if step % 10 == 9 else 0.0
        calls.append((at, at + 20, 1, "pread", 0, 100 * KB, step * 100 * KB))
        calls += [
            (at + 50 + 6 * n, at + 56 + 6 * n, LOOP, "write", 1, 1_600 * KB) for n in range(10) if saves_ms
        ]
        steps.append((at, at + 50 + saves_ms, 20.0))
        at += 50 + saves_ms
    machine = {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": 100 * 0.020 * 0.01 + busy * (at / 1000 - 2)}
    session = training(logdir, calls, steps, paths=["/data/a", "/out/b"], sizes=[10_000 * MB, 160 * MB])
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
    assert loaded.expected_s == pytest.approx(quiet.expected_s)
