"""What a step would take, of a pipeline whose terms are known."""

import json

import pytest

from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.analysis.storage.time_model import TimeModel
from tfdarshan.commands import main
from tfdarshan.errors import ConfigurationError
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.replayed import gain_of
from tfdarshan.findings.whatif import StorageChange, parse_factor, what_if
from tfdarshan.replay.edits import Readers
from tfdarshan.staging.probe import TierProbe

MB = 1_000_000
STEPS = 20


@pytest.fixture
def session(tmp_path):
    """20 steps of 100 ms that wait 80 for one reader: 4 reads of 1 MB, 4 of 3 MB, 5 ms + 2.5 ms a MB."""
    calls = []
    for n in range(STEPS):
        at = 100.0 * n
        for size in (1, 3) * 4:
            taken = 5 + 2.5 * size
            calls.append((at, at + taken, 1, "pread", 0, size * MB))
            at += taken
    return training(tmp_path, calls, epochs_of_steps(STEPS, 100, 80), sizes=[10**12])


def test_without_a_change_a_step_takes_what_it_took(session):
    found = what_if(measure(session), StorageChange())

    assert (found.unit, found.units) == ("step", STEPS)
    assert found.before_s == found.after_s == pytest.approx(0.1, rel=0.03)


@pytest.mark.parametrize(
    ("change", "least_ms", "most_ms"),
    [
        (StorageChange(bandwidth=2), 60, 100),
        (StorageChange(latency=0.5), 60, 100),
        (StorageChange(latency=0.5, bandwidth=2), 60, 60),
        (StorageChange(latency=2, bandwidth=0.5), 180, 180),
    ],
    ids=["bandwidth", "latency", "twice as quick", "half as quick"],
)
def test_a_change_of_storage_changes_the_part_that_waits_for_it(session, change, least_ms, most_ms):
    # THEN of 80 ms half is waiting or moving, whichever the sizes do not tell, and 20 ms stay
    found = what_if(measure(session), change)

    assert least_ms * 0.95 <= found.after_s * 1e3 <= most_ms * 1.05
    low, high = found.gain.speedup_range
    assert low <= found.gain.speedup <= high


def test_readers_have_the_gain_of_their_edit(session):
    measures = measure(session)

    said = what_if(measures, StorageChange(threads=8))

    assert said.gain == gain_of(measures.job, (Readers(8),), measures)
    assert "The job reads its input with 1 reader, then with 8." in said.notes


def test_another_device_takes_what_it_was_measured_at(session):
    # GIVEN a device of 2 ms a pass and 1 ms per MB; a read is one call
    fast = TierProbe(TimeModel(2e-3, 1e-9, 50, 1.0), 1e9, direct=True, note="made up")

    # WHEN
    found = what_if(measure(session), StorageChange(fast=fast))

    # THEN a step computes for 20 ms, and waits for 8 calls of 1 ms and 16 MB
    assert found.after_s == pytest.approx(0.020 + 8 * 1e-3 + 16e-3, rel=0.05)
    assert any("made up" in text for text in found.notes)


@pytest.mark.parametrize("text", ["2", "2x", "2.0X"])
def test_factors_are_read(text):
    assert parse_factor(text, "--bandwidth") == 2


@pytest.mark.parametrize("text", ["", "x", "0", "0x", "-1", "2y", "nan", "1e3"])
def test_what_is_no_factor_is_refused(text):
    with pytest.raises(ConfigurationError, match="--latency takes a factor"):
        parse_factor(text, "--latency")


def test_the_command_prints_the_answer_and_what_to_know_of_it(session, capsys):
    assert main(["whatif", str(session.path), "--bandwidth", "2x", "--latency", "0.5x"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("A step, mean of 20, takes ")
    assert "The job reads its input with 1 reader." in text

    assert main(["whatif", str(session.path), "--bandwidth", "2x", "--latency", "0.5x", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["after_s"] == pytest.approx(0.060, rel=0.05)
    assert found["gain"]["speedup"] == pytest.approx(100 / 60, rel=0.05)


@pytest.mark.parametrize("change", [["--threads", "4"], ["--fast", "."]])
def test_what_the_page_cache_served_hardly_gets_quicker(tmp_path, capsys, change):
    # GIVEN steps of 100 ms in which 100 reads take 5 us each
    calls = [
        (100 * n + k / 100, 100 * n + k / 100 + 0.005, 1, "pread", 0, 4096)
        for n in range(20)
        for k in range(100)
    ]
    session = training(tmp_path, calls, epochs_of_steps(20, 100, 1), sizes=[10**9])

    # WHEN
    assert main(["whatif", str(session.path), *change, "--json"]) == 0

    # THEN
    assert json.loads(capsys.readouterr().out)["gain"]["speedup"] == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("arguments", [["--bandwidth", "fast"], ["--threads", "0"]])
def test_wrong_arguments_are_one_sentence(session, capsys, arguments):
    assert main(["whatif", str(session.path), *arguments]) == 2
    assert capsys.readouterr().err.startswith("tfdarshan: ")


def test_a_loop_that_reads_itself_waits_for_the_device(tmp_path, capsys, monkeypatch):
    # GIVEN a job without steps, whose main thread makes 200 reads of 10 ms, one after the other
    calls = [(n * 11.0, n * 11 + 10.0, LOOP, "pread", n, 100_000, 0) for n in range(200)]
    paths = [f"/data/{n}" for n in range(200)]
    session = training(tmp_path, calls, paths=paths, sizes=[100_000] * 200)
    fast = TierProbe(TimeModel(150e-6, 1e-9, 50, 1.0), 1e9, direct=True, note="made up")
    monkeypatch.setattr("tfdarshan.staging.probe.probe_tier", lambda *_: fast)

    # WHEN
    assert main(["whatif", str(session.path), "--fast", str(tmp_path), "--json"]) == 0
    gain = json.loads(capsys.readouterr().out)["gain"]

    # THEN much is expected and certain: who reads itself waits for it
    assert gain["speedup"] > 5
    assert gain["speedup_low"] > 4


def test_a_session_without_reads_is_one_sentence(tmp_path, capsys):
    session = training(tmp_path, [(0, 1, 1, "write", 0, 10)], paths=["/out/a"])

    assert main(["whatif", str(session.path)]) == 2
    assert "no reads of input" in capsys.readouterr().err


def test_without_an_option_the_questions_worth_asking_are_answered(tmp_path, capsys):
    # GIVEN
    calls = [(n * 100, n * 100 + 60, 101, "pread", n % 2, 1_000_000, 0) for n in range(40)]
    paths = ("/data/a", "/data/b")
    session = training(tmp_path, calls, epochs_of_steps(40, 100, 60), paths=paths, sizes=[1_000_000] * 2)

    # WHEN
    assert main(["whatif", str(session.path)]) == 0
    text = capsys.readouterr().out
    assert main(["whatif", str(session.path), "--json"]) == 0
    asked = json.loads(capsys.readouterr().out)["questions"]

    # THEN each answer is the one that the question typed by itself gets
    assert text.startswith("A step takes 100.0 ms. What if ...\n")
    assert len(asked) == 5
    for question in asked:
        assert main(["whatif", str(session.path), *question["options"].split(), "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["gain"] == question["gain"]
        (line,) = [line for line in text.splitlines() if line.startswith(f"  {question['options']} ")]
        assert f"{answer['gain']['speedup']:.2f}x (" in line
