"""Maps behind readers of records: which of their calls run at a time, and what that gives, in closed form."""

import numpy as np
import pytest

from tests.unit.findings.made_up_decoding import PARSE, SHARDS, SIDE_BY_SIDE, decoding_job
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import AUTOTUNE, Pipeline, Stage
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import DecodeCalls, Readers, edited
from tfdarshan.replay.prior_model import behind_serial
from tfdarshan.replay.session_facts import facts_of

STATELESS = PARSE | {"random": False}


def mapped(folder, *stages):
    """Return a job of 40 steps, each of which waits 10 ms for a read and 35 ms for decoding what was read."""
    calls = [(50 * n, 50 * n + 10, 1, "pread", 0, 1_000_000, n * 1_000_000) for n in range(40)]
    one = {"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": 1}
    meta = {
        "machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 1.5},
        "pipelines": {"found": [one], "left_out": 0},
    }
    steps = epochs_of_steps(40, 50.0, 45.0)
    return calibrated(facts_of(training(folder, calls, steps, sizes=[40_000_000], meta=meta)))


@pytest.mark.parametrize(
    ("calls", "random", "tuned", "run"),
    [
        (None, False, True, AUTOTUNE),
        (None, True, True, None),
        (None, None, True, None),
        (None, False, False, None),
        (1, False, True, 1),
    ],
)
def test_tensorflow_runs_calls_of_a_map_without_a_state_in_parallel(calls, random, tuned, run):
    stage = Stage("map", calls=calls, random=random)
    pipeline = Pipeline((stage,), pool_threads=None, datasets=1, iterators=1, tuned=tuned)

    assert pipeline.run_calls(stage) == run


def test_a_map_that_runs_in_parallel_gains_nothing_by_more_calls(tmp_path):
    job = mapped(tmp_path, SHARDS, STATELESS)

    assert edited(job, DecodeCalls()).run.total_s == pytest.approx(job.run.total_s)


def test_a_map_with_a_state_runs_one_call_at_a_time(tmp_path):
    job = mapped(tmp_path, SHARDS, PARSE | {"random": True})

    assert np.median(job.run.total_s / edited(job, DecodeCalls()).run.total_s) > 1.1


def test_no_more_calls_read_and_decode_than_the_framework_has_threads(tmp_path):
    # GIVEN a map that reads files, on 4 processors
    job = mapped(tmp_path, PARSE | {"does": ["reads", "decodes"]})

    # THEN the framework chooses as many calls at most
    assert edited(job, DecodeCalls()).model.readers.max() == 4


def test_fewer_readers_go_on_while_others_decode_what_they_read(tmp_path):
    # GIVEN reads of 20 ms side by side, and decoding of 40 ms by as many calls as there are processors
    job = calibrated(facts_of(decoding_job(tmp_path, SIDE_BY_SIDE, STATELESS)))
    alike, nothing = np.ones((job.model.tasks, 1)), np.zeros((job.model.tasks, 1))
    serial = behind_serial(job.facts, job.drawn)
    job = job.but(
        wait_s=0.020 * alike[None], transfer_s=nothing, seek_s=nothing, limit_s=nothing, work_s=nothing,
        behind_s=0.040 * alike, behind_serial=serial, wait_serial=np.zeros_like(serial),
        compute_s=np.zeros_like(job.model.compute_s), hand_s=np.zeros_like(job.model.hand_s),
        processors=np.full(1, np.inf), batches_ahead=np.full(job.model.samples, 2),
    )  # fmt: skip

    # WHEN two of them read
    took_s = edited(job, Readers(2)).run.total_s

    # THEN the slower of both stations has no rest
    assert took_s == pytest.approx(job.model.tasks * np.maximum(0.020 / 2, 0.040 * serial), rel=0.06)
