"""Files of some steps: only the calls that began in these count, as the session's own counters count them."""

import json

import numpy as np
import pytest

from tests.made_up_session import image_job, write_session
from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.findings.made_up_training import training
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.commands import main
from tfdarshan.errors import SessionDataError
from tfdarshan.session import open_session

KB = 1_000
PATHS = ("/data/a", "/data/b", "/data/c")
# Start, end, thread, operation, file, length; in ms.
CALLS = (
    (0, 1, 1, "open", 0, 0),
    (1, 3, 1, "pread", 0, 10 * KB),
    (9, 12, 1, "pread", 1, 20 * KB),
    (12, 13, 1, "pread", 1, 0),
    (25, 29, 1, "pread", 0, 40 * KB),
    (26, 28, 2, "pread", 0, 80 * KB),
    (35, 36, 1, "write", 2, 5 * KB),
    (36, 38, 1, "fsync", 2, 0),
)
STEPS = ((0, 10, 1), (10, 20, 1), (20, 30, 1), (30, 40, 1))


def of_epochs(logdir, epochs):
    """Write a session whose steps are of epochs."""
    session = training(logdir, CALLS, STEPS, paths=PATHS)
    (meta,) = session.path.glob("*.meta.json")
    content = json.loads(meta.read_text())
    for row, epoch in zip(content["steps"]["rows"], epochs, strict=True):
        row += [-1, -1, epoch]
    meta.write_text(json.dumps(content))
    return open_session(session.path)


def figures(rows, *names):
    return {row["path"]: tuple(row[name] for name in names) for row in rows.to_dict("records")}


def test_calls_count_in_the_step_that_they_began_in(tmp_path):
    # GIVEN
    session = of_epochs(tmp_path, [1, 1, 2, 2])

    # WHEN
    first = session.files_of(steps=(0, 0))
    later = session.files_of(steps=(1, 2))

    # THEN a read that began in step 0 is none of step 1's
    assert figures(first, "opens", "reads", "bytes_read") == {
        "/data/a": (1, 1, 10 * KB),
        "/data/b": (0, 1, 20 * KB),
    }
    assert figures(later, "reads", "zero_reads", "bytes_read") == {
        "/data/a": (2, 0, 120 * KB),
        "/data/b": (1, 1, 0),
    }


def test_an_epoch_is_its_steps(tmp_path):
    # GIVEN
    session = of_epochs(tmp_path, [1, 1, 2, 2])

    # WHEN
    second = session.files_of(epoch=2)

    # THEN
    assert figures(second, "reads", "writes", "bytes_written") == {
        "/data/a": (2, 0, 0),
        "/data/c": (0, 1, 5 * KB),
    }
    assert second.equals(session.files_of(steps=(2, 3)))
    assert figures(session.files_of(steps=(0, 2), epoch=2), "reads") == {"/data/a": (2,)}


def test_calls_of_one_file_at_the_same_time_count_once(tmp_path):
    # WHEN
    rows = of_epochs(tmp_path, [1, 1, 2, 2]).files_of(epoch=2)

    # THEN reads from 25 to 29 and from 26 to 28 ms; a sync is time in writes
    assert figures(rows, "read_s", "write_s", "time_s") == {
        "/data/a": pytest.approx((0.004, 0.0, 0.004)),
        "/data/c": pytest.approx((0.0, 0.003, 0.003)),
    }
    assert rows["path"].tolist() == ["/data/a", "/data/c"]


def test_steps_of_all_time_have_what_the_counters_have(tmp_path):
    # GIVEN two epochs over 40 files by 4 threads, all within one step
    job = image_job(40, 2, 4)
    session = write_session(tmp_path, job)
    (meta,) = session.path.glob("*.meta.json")
    content = json.loads(meta.read_text())
    origin = content["origin_realtime_ns"]
    content["steps"] = {"rows": [[0, origin, origin + job.duration_ns, -1, ""]], "left_out": 0}
    meta.write_text(json.dumps(content))
    session = open_session(session.path)

    # WHEN
    found = session.files_of(steps=(0, 0)).set_index("path").sort_index()

    # THEN
    counted = load_files(session.processes).rows.set_index("path").loc[found.index]
    names = ["opens", "reads", "zero_reads", "bytes_read", "writes", "bytes_written", "stats"]
    assert len(found) == 40
    assert found[names].to_numpy().tolist() == counted[names].to_numpy().tolist()
    assert np.allclose(found["read_s"], counted["read_s"])
    assert np.allclose(found["meta_s"], counted["meta_s"])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"steps": (7, 9)}, "the session has no step from 7 to 9: it has steps 0 to 3."),
        ({"epoch": 3}, "the session has no step of epoch 3: it has steps 0 to 3 of epochs 1 to 2."),
        (
            {"steps": (0, 1), "epoch": 2},
            "the session has no step from 0 to 1 of epoch 2: it has steps 0 to 3 of epochs 1 to 2.",
        ),
    ],
)
def test_steps_that_there_are_not_are_said(tmp_path, asked, said):
    # GIVEN
    session = of_epochs(tmp_path, [1, 1, 2, 2])

    # THEN
    with pytest.raises(SessionDataError) as raised:
        session.files_of(**asked)
    assert str(raised.value) == said


def test_epochs_that_nobody_told_are_not_guessed(tmp_path):
    # GIVEN
    session = training(tmp_path, CALLS, STEPS, paths=PATHS)

    # THEN
    with pytest.raises(SessionDataError, match="which epoch its steps belong to: name steps instead; it"):
        session.files_of(epoch=1)


def test_a_session_without_steps_says_how_to_have_them(tmp_path):
    # GIVEN
    session = training(tmp_path, CALLS, paths=PATHS)

    # THEN
    with pytest.raises(SessionDataError, match="has no steps: go over the input with `for batch in"):
        session.files_of(steps=(0, 1))


def test_calls_that_the_trace_lacks_are_said(tmp_path, capsys):
    # GIVEN
    session = sketched(tmp_path, SKETCHES["a trace cut short"])

    # WHEN
    assert main(["files", str(session.path), "--steps", "0-3", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)

    # THEN
    assert said["steps"] == [0, 1, 2, 3]
    assert said["missing_calls"] == 300
    assert said["matching"] == len(said["files"]) == 16


def test_steps_in_which_nothing_was_called_say_so(tmp_path, capsys):
    # GIVEN a step after the last call
    session = training(tmp_path, CALLS, (*STEPS, (40, 50, 0)), paths=PATHS)

    # WHEN
    assert main(["files", str(session.path), "--steps", "4"]) == 0

    # THEN
    assert capsys.readouterr().out == (
        "Step 4: a call counts if it began in it.\n\nno call of these steps used a file\n"
    )


@pytest.mark.parametrize("given", ["", "a", "3-2", "-5", "1-2-3"])
def test_steps_that_are_no_range_are_wrong_use(tmp_path, capsys, given):
    # GIVEN
    session = training(tmp_path, CALLS, STEPS, paths=PATHS)

    # THEN
    assert main(["files", str(session.path), f"--steps={given}"]) == 2
    assert "such as 100, or the first and the last such as 100-200, not " in capsys.readouterr().err
