"""`tfdarshan run` of a script that imports TensorFlow: its profiler runs from the first iterator on."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import tfdarshan
from tests.integration.tensorflow.conftest import FILES, keras_of
from tests.integration.tensorflow.xplane import IO_PLANE, io_calls, plane_of, read_space, traces
from tfdarshan.findings.diagnosis import diagnose

EPOCHS, BATCHES = 3, 20
# As a user writes it: TensorFlow is imported by the script, and nothing in it knows of tfdarshan.
DATASET = """
import glob
import tensorflow as tf

dataset = (
    tf.data.Dataset.from_tensor_slices(sorted(glob.glob("data/*.bin")))
    .map(lambda path: tf.cast(tf.strings.length(tf.io.read_file(path)), tf.float32)[None])
    .map(lambda size: (size, size))
    .batch(2)
)
"""
LOOP_JOB = f"{DATASET}for batch in dataset: pass\n"
KERAS_JOB = f"""{DATASET}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(dataset, epochs=3, verbose=0)
"""
# One that asks for its session, whose name TensorFlow's trace takes.
ASKING_JOB = f"""
import json, tfdarshan
with tfdarshan.profile("logs") as own: pass
{KERAS_JOB}
print(json.dumps(str(own.path)))
"""


@pytest.fixture
def run_job(job):
    """Run a script below `tfdarshan run`, and return what was said and the session."""

    def run(code, *options):
        script = job.folder / "train.py"
        script.write_text(code)
        done = subprocess.run(
            [sys.executable, "-m", "tfdarshan", "run", *options, str(script)],
            cwd=job.folder, env={**os.environ, **keras_of(code)},
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done, tfdarshan.open_session(job.folder / "logs")

    return run


@pytest.mark.parametrize(
    ("code", "options"),
    [(KERAS_JOB, ()), (ASKING_JOB, ("--tf-profiler", "yes"))],
    ids=["default", "yes, and asks for its session"],
)
def test_a_script_that_imports_tensorflow_gets_steps_and_a_verdict(run_job, job, code, options):
    # WHEN
    done, session = run_job(code, "--as-if", "lustre", *options)

    # THEN every batch but the last of an iterator, whose end is not known, is a step
    assert len(session.steps) >= EPOCHS * (BATCHES - 1)
    assert set(session.steps["source"]) == {"TensorFlow's trace"}
    assert diagnose(session).verdict.state == "slow"
    # THEN the trace has the session's stamp, and every open from the first iterator on
    (trace,) = traces(job.folder / "logs")
    assert trace.parent.name == session.path.name
    calls = io_calls(plane_of(read_space(trace), IO_PLANE))
    assert sum(call[1] == "open" and call[6].endswith(".bin") for call in calls) == EPOCHS * FILES
    assert f"tfdarshan: the session is in {session.path};" in done.stderr
    # THEN what the job is told while it runs stays true
    assert code == KERAS_JOB or json.loads(done.stdout.splitlines()[-1]) == str(session.path)
    assert "tensorflow" in session.meta[0]


def test_no_trace_where_none_is_wanted(run_job, job):
    _, session = run_job(LOOP_JOB, "--tf-profiler", "no")

    assert traces(job.folder / "logs") == []
    assert session.steps.empty
    # THEN the advice is in the words of the command line
    (unknown,) = [entry for entry in diagnose(session).unknown if entry.name == "input_bound"]
    assert unknown.record == "record with TensorFlow's profiler, as --tf-profiler auto does"


def test_a_script_without_tensorflow_is_as_before(run_job, job):
    _, session = run_job("open('data/00.bin').read()", "--tf-profiler", "yes")

    assert traces(job.folder / "logs") == []
    assert "tf_profiler=True has no effect: the job never imported TensorFlow" in session.meta[0]["bounds"]
    assert session.meta[0]["started_by"] == "run"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (LOOP_JOB, "the script never started TensorFlow's profiler"),
        ("open('data/00.bin').read()", "it uses no TensorFlow"),
    ],
    ids=["no profile", "no TensorFlow"],
)
def test_profiles_alone_that_the_script_does_not_make_are_missed(job, code, why):
    # GIVEN TFDARSHAN=1, which records what TensorFlow's profiler profiles and nothing else
    script = job.folder / "train.py"
    script.write_text(code)
    job._run(["-m", "tfdarshan", "run", str(script)], keras_of(code) | {"TFDARSHAN": "1"})

    assert not (job.folder / "logs").exists()
    said = "nothing was recorded, for TFDARSHAN=1 asks for sessions of TensorFlow's profiler alone"
    assert f"{said}, and {why}." in job.stderr
