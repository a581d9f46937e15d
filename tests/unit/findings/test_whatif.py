"""What a step would take: the arithmetic, on a pipeline whose terms are known."""

import json

import pytest

from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.analysis.time_model import TimeModel
from tfdarshan.commands import main
from tfdarshan.errors import ConfigurationError
from tfdarshan.findings.diagnosis import diagnosis_of
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.whatif import StorageChange, parse_factor, what_if
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


def test_the_terms_are_those_of_the_reads(session):
    found = what_if(measure(session), StorageChange())

    # THEN 8 reads of 2 MB on average take 80 ms: 5 ms each, and 400 MB/s
    assert (found.unit, found.requests, found.moved_bytes) == ("step", 8, 16 * MB)
    device = found.before.device
    assert (device.latency_s, device.bandwidth_bytes) == pytest.approx((0.005, 400e6))
    assert (found.before.storage_s, found.before.compute_s) == pytest.approx((0.080, 0.020))
    # and nothing changes
    assert found.after.step_s == pytest.approx(found.before.step_s) == pytest.approx(0.1)
    assert found.gain.saved_s == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "storage_ms"),
    [
        (StorageChange(bandwidth=2), 40 + 20),
        (StorageChange(latency=0.5), 20 + 40),
        (StorageChange(latency=2, bandwidth=0.5), 80 + 80),
    ],
    ids=["bandwidth", "latency", "slower"],
)
def test_a_change_of_the_device_changes_its_part(session, change, storage_ms):
    # THEN T_s is reads x latency / readers + bytes / bandwidth, and the step is the sum
    found = what_if(measure(session), change)

    assert found.after.storage_s * 1e3 == pytest.approx(storage_ms)
    assert found.after.step_s * 1e3 == pytest.approx(storage_ms + 20)
    low, high = found.gain.speedup_range
    assert low <= found.gain.speedup <= high


def test_more_threads_have_the_gain_that_the_finding_of_them_promises(session):
    # GIVEN that more readers are advised
    measures = measure(session)
    (found,) = (one for one in diagnosis_of(measures).findings if one.name == "read_parallelism")

    # WHEN what-if is asked for as many
    said = what_if(measures, StorageChange(threads=8))

    # THEN nothing shows whether storage bears them: they are as many as do if it waits, and may give nothing
    assert "Read with 8 calls at a time." in found.cure.what
    assert said.gain.saved_s == pytest.approx(found.gain.saved_s)
    assert said.gain.speedup_range[0] == pytest.approx(found.gain.speedup_range[0]) == 1
    assert said.after.step_s == pytest.approx(said.before.step_s - said.gain.saved_s)


def test_another_device_takes_what_it_was_measured_at(session):
    # GIVEN a device of 1 ms a pass and 1 ms per MB; the file is never opened in the session, so it is one
    # pass
    fast = TierProbe(TimeModel(1e-3, 1e-9, 50, 1.0, 0.0), 1e9, direct=True, note="made up")

    # WHEN
    found = what_if(measure(session), StorageChange(fast=fast))

    # THEN
    assert found.after.storage_s == pytest.approx((1e-3 + 320 * MB * 1e-9) / STEPS)
    assert any("made up" in text for text in found.assumptions)


@pytest.mark.parametrize("text", ["2", "2x", "2.0X"])
def test_factors_are_read(text):
    assert parse_factor(text, "--bandwidth") == 2


@pytest.mark.parametrize("text", ["", "x", "0", "0x", "-1", "2y", "nan", "1e3"])
def test_what_is_no_factor_is_refused(text):
    with pytest.raises(ConfigurationError, match="--latency takes a factor"):
        parse_factor(text, "--latency")


def test_the_command_prints_the_answer_and_what_it_assumes(session, capsys):
    assert main(["whatif", str(session.path), "--bandwidth", "2x"]) == 0
    text = capsys.readouterr().out
    assert "100.0 ms" in text
    assert "80.0 ms" in text
    assert "Assumptions" in text

    assert main(["whatif", str(session.path), "--bandwidth", "2x", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["after"]["step_s"] == pytest.approx(0.080)
    assert found["gain"]["speedup"] == pytest.approx(1.25)


@pytest.mark.parametrize("change", [["--bandwidth", "2x"], ["--latency", "0.1x"], ["--threads", "4"]])
def test_what_the_page_cache_served_no_storage_makes_quicker(tmp_path, capsys, change):
    # GIVEN steps that wait 10 ms for 100 reads of 4 kB, each 5 us long
    calls = [
        (100 * n + k / 100, 100 * n + k / 100 + 0.005, 1, "pread", 0, 4096)
        for n in range(20)
        for k in range(100)
    ]
    session = training(tmp_path, calls, epochs_of_steps(20, 100, 10), sizes=[10**9])

    # WHEN
    assert main(["whatif", str(session.path), *change]) == 0

    # THEN it says so, and no figures of storage that were not measured
    text = capsys.readouterr().out
    assert (
        "next to nothing came from storage, the rest from the page cache: other storage changes nothing"
        in text
    )
    assert "/s together" not in text
    assert "a read with" not in text
    assert main(["whatif", str(session.path), *change, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["before"]["device"], found["after"]["device"]) == (None, None)


@pytest.mark.parametrize("arguments", [["--bandwidth", "fast"], ["--threads", "0"]])
def test_wrong_arguments_are_one_sentence(session, capsys, arguments):
    assert main(["whatif", str(session.path), *arguments]) == 2
    assert capsys.readouterr().err.startswith("tfdarshan: ")


def test_a_loop_that_reads_itself_is_asked_of_another_device_only(tmp_path, capsys, monkeypatch):
    # GIVEN a job without steps, whose main thread makes 200 reads of 10 ms, one after the other
    calls = [(n * 11.0, n * 11 + 10.0, LOOP, "pread", n, 100_000, 0) for n in range(200)]
    paths = [f"/data/{n}" for n in range(200)]
    session = training(tmp_path, calls, paths=paths, sizes=[100_000] * 200)
    fast = TierProbe(TimeModel(150e-6, 1e-9, 50, 1.0, 0.0), 1e9, direct=True, note="made up")
    monkeypatch.setattr("tfdarshan.staging.probe.probe_tier", lambda *_: fast)

    # WHEN
    assert main(["whatif", str(session.path), "--fast", str(tmp_path), "--json"]) == 0
    gain = json.loads(capsys.readouterr().out)["gain"]

    # THEN much is expected and certain: who reads itself waits for it
    assert gain["speedup"] > 5
    assert gain["speedup_low"] > 4
    assert main(["whatif", str(session.path), "--latency", "0.5x"]) == 2
    assert "the main thread reads the input itself" in capsys.readouterr().err


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
        assert f"{answer['gain']['speedup']:.2f}x as fast" in line
