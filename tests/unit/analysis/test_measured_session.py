"""A session is looked at once, when somebody asks, and answers on another choice of input are not kept."""

import pytest

from tests.unit.findings.made_up_training import training
from tfdarshan.analysis import measured_session
from tfdarshan.analysis.measured_session import measure_session
from tfdarshan.analysis.steps.input_look import look_at_input
from tfdarshan.session import open_session
from tfdarshan.sessions import analysis_cache_file
from tfdarshan.sessions.analysis_cache_file import FILE


def job(logdir):
    """Read two files of data, and a module's file that is data to who says so."""
    paths = ["/data/0", "/data/1", "/data/site-packages/2.npy"]
    calls = [(10.0 * n, 10.0 * n + 5, 1, "pread", n % 3, 1000, 0) for n in range(30)]
    steps = [(30.0 * n, 30.0 * n + 30, 15.0) for n in range(10)]
    return training(logdir, calls, steps, paths=paths, sizes=[1000] * 3)


@pytest.fixture
def looks(monkeypatch):
    """Note each look at all calls."""
    made = []

    def noted(*arguments):
        made.append(arguments)
        return look_at_input(*arguments)

    monkeypatch.setattr(measured_session, "look_at_input", noted)
    return made


def test_its_calls_are_looked_at_once_and_not_before_somebody_asks(tmp_path, looks):
    # GIVEN
    measured = measure_session(job(tmp_path))
    assert measured.clock.duration_s > 0
    assert not looks

    # WHEN
    asked = (measured.figures, measured.facts, measured.epoch_figures)

    # THEN epochs are counted in the steps' time
    assert len(looks) == 1
    assert asked[2] is asked[0]


@pytest.mark.parametrize(("folder", "kept"), [(None, True), ("/data", False), ("/elsewhere", True)])
def test_answers_are_kept_if_input_is_what_others_take_it_for(tmp_path, monkeypatch, looks, folder, kept):
    # GIVEN sessions of any size that are kept
    monkeypatch.setattr(analysis_cache_file, "LEAST_CALLS", 0)
    path = job(tmp_path).path

    # WHEN one was measured, with all below a folder as input
    first = measure_session(open_session(path), data_folder=folder)
    read = first.figures.pipeline.made
    first.kept.save()

    # THEN the next reader who asks for the usual input takes nothing else for it
    again = measure_session(open_session(path))
    assert again.figures.pipeline.made == (20 if folder == "/data" else read)
    assert (path / FILE).exists() == kept
    assert len(looks) == (1 if kept else 2)
    assert read == (30 if folder == "/data" else 20)


def test_steps_of_another_session_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(analysis_cache_file, "LEAST_CALLS", 0)
    session, stepped = job(tmp_path / "one"), job(tmp_path / "two")

    measured = measure_session(session, stepped=stepped)
    assert measured.figures.model.units == 10
    measured.kept.save()

    assert not (session.path / FILE).exists()
