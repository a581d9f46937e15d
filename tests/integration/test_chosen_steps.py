"""`steps=(100, 200)` and `run --steps 100-200`: nothing is attached before the first or after the last."""

import os
import time

import numpy as np
import pytest

import tfdarshan
from tfdarshan.errors import ConfigurationError, SessionActiveError
from tfdarshan.native import _bridge
from tfdarshan.recording.active_recording import Recording
from tfdarshan.recording.steps import watched_steps

SIZE = 1_000


@pytest.fixture
def files(tmp_path):
    """Six files; the size of each says which it is."""
    made = []
    for number in range(6):
        made.append(tmp_path / f"{number}.bin")
        made[-1].write_bytes(bytes(SIZE + number))
    return made


@pytest.fixture(autouse=True)
def nobody_waits():
    yield
    assert watched_steps() is None


def read(path):
    handle = os.open(path, os.O_RDONLY)
    os.read(handle, 2 * SIZE)
    os.close(handle)


class Loader:
    """Reads a file for each batch, when it is asked for it."""

    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        for path in self.paths:
            read(path)
            yield path


def names(session):
    return sorted(path.rsplit("/", 1)[-1] for path in session.files["path"] if path.endswith(".bin"))


def test_only_the_chosen_steps_are_recorded(tmp_path, files):
    # GIVEN
    attached = []

    # WHEN steps are marked with `with`, and files are read within them and between
    with tfdarshan.profile(tmp_path / "logs", steps=(2, 3)) as session:
        for number, path in enumerate(files):
            with tfdarshan.step():
                attached.append(_bridge.session_active())
                read(path)
            assert _bridge.session_active() == (number == 2)

    # THEN
    assert attached == [False, False, True, True, False, False]
    assert names(session) == ["2.bin", "3.bin"]
    assert session.steps["step"].tolist() == [2, 3]
    assert session.steps["bytes_read"].tolist() == [SIZE + 2, SIZE + 3]


def test_a_loop_is_recorded_from_the_request_for_the_first_batch(tmp_path, files):
    # WHEN the steps are the first two of the second epoch
    with tfdarshan.profile(tmp_path / "logs", steps=(3, 4)) as session:
        for epoch in range(2):
            for _ in tfdarshan.steps(Loader(files[3 * epoch : 3 * epoch + 3])):
                pass

    # THEN the reads for their batches are in it, and it knows which steps and which epoch they are
    assert names(session) == ["3.bin", "4.bin"]
    assert session.steps["step"].tolist() == [3, 4]
    assert session.steps["epoch"].tolist() == [2, 2]
    assert (session.steps["input_wait_ns"] > 0).all()


def test_a_validation_before_the_first_step_is_not_recorded(tmp_path, files):
    # GIVEN a loader without a length, so that nobody knows beforehand which request ends an epoch
    with tfdarshan.profile(tmp_path / "logs", steps=(2, 3)) as session:
        for epoch in range(2):
            for _ in tfdarshan.steps(Loader(files[2 * epoch : 2 * epoch + 2])):
                pass
            # WHEN the job validates before the second one
            assert not _bridge.session_active() or epoch == 1
            for _ in Loader(files[4:]):
                pass

    # THEN
    assert names(session) == ["2.bin", "3.bin"]
    assert session.steps[["step", "epoch"]].to_numpy().tolist() == [[2, 2], [3, 2]]
    assert len(list(session.path.parent.iterdir())) == 1


def test_numbers_are_those_that_the_job_gives(tmp_path, files):
    # WHEN steps are numbered by the job, and each lasts until the next
    with tfdarshan.profile(tmp_path / "logs", steps=120) as session:
        for number, path in zip(range(100, 160, 10), files, strict=True):
            tfdarshan.step(number)
            read(path)

    # THEN
    assert session.steps["step"].tolist() == [120]
    assert names(session) == ["2.bin"]


def test_a_number_that_the_job_counts_up_within_the_step_is_that_of_its_beginning(tmp_path, files):
    # GIVEN a counter that changes in place, as optimizer.iterations and tensors do
    counter = np.array(0)

    # WHEN
    with tfdarshan.profile(tmp_path / "logs", steps=(2, 3)) as session:
        for path in files:
            with tfdarshan.step(counter):  # type: ignore[arg-type]
                read(path)
                counter += 1

    # THEN
    assert session.steps["step"].tolist() == [2, 3]
    assert names(session) == ["2.bin", "3.bin"]


def test_numbers_that_are_none_count_on(tmp_path, files):
    # WHEN a job names its steps
    with tfdarshan.profile(tmp_path / "logs", steps=(2, 3)) as session:
        for path in files:
            with tfdarshan.step(path.name):
                read(path)

    # THEN
    assert session.steps["step"].tolist() == [2, 3]


def test_a_job_that_ends_early_keeps_the_steps_it_had(tmp_path, files):
    # WHEN
    with tfdarshan.profile(tmp_path / "logs", steps=(4, 100)) as session:
        for _ in tfdarshan.steps(Loader(files)):
            pass

    # THEN
    assert session.steps["step"].tolist() == [4, 5]


def test_a_decorated_function_records_its_steps_in_each_call(tmp_path, files):
    # GIVEN
    @tfdarshan.profile(tmp_path / "logs", steps=1)
    def work():
        for path in files[:3]:
            with tfdarshan.step():
                read(path)

    # WHEN
    work()
    work()

    # THEN
    sessions = tfdarshan.find_sessions(tmp_path / "logs")
    assert [names(tfdarshan.open_session(path)) for path in sessions] == [["1.bin"], ["1.bin"]]


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        (0, "steps 7 to 9 were not reached: the job marks no steps. To mark them, go over the input with "),
        (6, "steps 7 to 9 were not reached, so nothing was recorded: the newest step is 5. Choose "),
    ],
)
def test_steps_that_are_never_reached_are_said(tmp_path, marked, said):
    # GIVEN
    session = tfdarshan.profile(tmp_path / "logs", steps=(7, 9)).start()
    for _ in range(marked):
        tfdarshan.step()

    # WHEN
    with pytest.warns(RuntimeWarning) as warned:
        session.stop()

    # THEN
    assert said in str(warned[0].message)
    assert not (tmp_path / "logs").exists()
    with pytest.raises(SessionActiveError):
        _ = session.path


def test_a_recording_that_cannot_begin_is_said_and_the_job_goes_on(tmp_path, files):
    # GIVEN a session that records already
    def train():
        for path in files:
            with tfdarshan.step():
                read(path)

    # WHEN
    with tfdarshan.profile(tmp_path / "first") as first, tfdarshan.profile(tmp_path / "second", steps=(1, 2)):
        with pytest.warns(RuntimeWarning, match="steps 1 to 2 are not recorded: a session already records"):
            train()

    # THEN
    assert len(names(first)) == 6
    assert not (tmp_path / "second").exists()


def test_two_cannot_wait_at_once(tmp_path):
    # GIVEN
    waiting = tfdarshan.profile(tmp_path / "logs", steps=1).start()

    # THEN
    with pytest.raises(SessionActiveError, match="another session waits for its steps"):
        tfdarshan.profile(tmp_path / "other", steps=1).start()
    with pytest.warns(RuntimeWarning, match="the job marks no steps"):
        waiting.stop()


@pytest.mark.parametrize("steps", [-1, (3, 2), (1, 2, 3), "1-2", True, 1.5, (0, None)])
def test_steps_that_are_none_are_one_sentence(tmp_path, steps):
    with pytest.raises(ConfigurationError, match="steps must be a number from 0 on, or the first and the"):
        tfdarshan.profile(tmp_path, steps=steps)


JOB = """
import os, sys, tfdarshan
for number in range(5):
    with tfdarshan.step():
        open(f"{number}.bin", "wb").write(bytes(1000 + number))
"""


def run(run_python, tmp_path, *words, **environment):
    """Run the job by `tfdarshan run`."""
    (tmp_path / "job.py").write_text(JOB)
    return run_python("-m", "tfdarshan", "run", *words, "job.py", **environment)


def test_a_run_records_the_steps_that_it_is_told(run_python, tmp_path):
    # WHEN
    done = run(run_python, tmp_path, "--steps", "1-2")

    # THEN
    session = tfdarshan.open_session(tmp_path / "logs")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"the session is in {session.path}" in done.stderr
    assert names(session) == ["1.bin", "2.bin"]
    assert session.steps["step"].tolist() == [1, 2]


def test_a_run_whose_steps_are_never_reached_says_so(run_python, tmp_path):
    # WHEN
    done = run(run_python, tmp_path, "--steps", "10-20")

    # THEN
    assert done.returncode == 0
    assert done.stderr == (
        "tfdarshan: steps 10 to 20 were not reached, so nothing was recorded: the newest step is 4. Choose "
        "others.\n"
    )
    assert not (tmp_path / "logs").exists()


def test_wrong_steps_of_a_run_are_wrong_use(run_python, tmp_path):
    # WHEN
    wrong = run(run_python, tmp_path, "--steps", "x")
    both = run(run_python, tmp_path, "--steps", "1", TFDARSHAN="1")

    # THEN
    assert (wrong.returncode, both.returncode) == (2, 2)
    assert "such as 100, or the first and the last such as 100-200, not 'x'" in wrong.stderr
    assert "but TFDARSHAN=1 records only TensorFlow's profiles: unset TFDARSHAN." in both.stderr


INNER_JOB = """
import sys, tfdarshan
with tfdarshan.profile("inner", steps=(0, 1)) as session:
    for number in range(5):
        with tfdarshan.step():
            open(f"{number}.bin", "wb").write(bytes(1000 + number))
print(session.summary())
print(len(session.files), session.recorded)
"""


@pytest.mark.parametrize(("steps", "recorded"), [("1-2", ["1.bin", "2.bin"]), ("10-20", [])])
def test_a_run_of_steps_is_joined_by_a_job_that_chooses_its_own(run_python, tmp_path, steps, recorded):
    # GIVEN
    (tmp_path / "job.py").write_text(INNER_JOB)

    # WHEN
    done = run_python("-m", "tfdarshan", "run", "--steps", steps, "job.py")

    # THEN the job goes on, and the steps that the run was told are recorded
    assert done.returncode == 0, done.stderr
    assert f"under `tfdarshan run --steps {steps}`: profile('" in done.stderr
    assert not (tmp_path / "inner").exists()
    if recorded:
        assert names(tfdarshan.open_session(tmp_path / "logs")) == recorded
        assert done.stdout.endswith(" True\n")
    else:
        assert done.stdout.startswith("steps 10 to 20 were not reached, so nothing was recorded: ")
        assert done.stdout.endswith("\n0 False\n")


class OnDevice:
    """A number that a device computes: who asks for it waits for the device."""

    asked = 0

    def __init__(self, number):
        self.number = number

    def __int__(self):
        OnDevice.asked += 1
        return self.number


def test_a_number_on_a_device_is_not_waited_for(tmp_path, monkeypatch):
    # GIVEN
    monkeypatch.setattr(OnDevice, "asked", 0)

    # WHEN a job goes on from step 500
    with tfdarshan.profile(tmp_path / "logs") as session:
        for number in range(500, 504):
            with tfdarshan.step(OnDevice(number)):  # type: ignore[arg-type]
                pass

    # THEN the first one alone is asked
    assert session.steps["step"].tolist() == [500, 501, 502, 503]
    assert OnDevice.asked == 1


@pytest.mark.parametrize("chosen", [None, (0, 2)])
def test_the_last_step_ends_before_what_ending_the_recording_takes(tmp_path, monkeypatch, chosen):
    # GIVEN a recording that takes half a second to detach
    detach = Recording.detach

    def slow_detach(recording):
        time.sleep(0.5)
        detach(recording)

    monkeypatch.setattr(Recording, "detach", slow_detach)

    # WHEN each step lasts until the next one
    with tfdarshan.profile(tmp_path / "logs", steps=chosen) as session:
        for _ in range(3 if chosen is None else 5):
            tfdarshan.step()

    # THEN
    lasted_ns = session.steps["end_ns"] - session.steps["start_ns"]
    assert len(lasted_ns) == 3
    assert (lasted_ns < 0.5e9).all()


class Sized(Loader):
    def __len__(self):
        return len(self.paths)


def test_what_lies_between_two_passes_is_not_recorded(tmp_path, files):
    # WHEN the steps are those of the second epoch, and another data set is read behind each epoch
    with tfdarshan.profile(tmp_path / "logs", steps=(2, 3)) as session:
        for epoch in range(2):
            for _ in tfdarshan.steps(Sized(files[2 * epoch : 2 * epoch + 2])):
                pass
            for path in files[4:]:
                read(path)

    # THEN
    assert session.steps["step"].tolist() == [2, 3]
    assert names(session) == ["2.bin", "3.bin"]
