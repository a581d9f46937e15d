"""Findings on recorded jobs: emulated storage whose times are known, steps marked by hand."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import tfdarshan
from tfdarshan.commands import main
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure

FILES, BATCH, COMPUTE_S = 96, 8, 0.02


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    paths = [folder / f"{number:03}.bin" for number in range(FILES)]
    for path in paths:
        path.write_bytes(bytes(50_000))
    return folder, paths


def load(path):
    handle = os.open(path, os.O_RDONLY)
    while os.read(handle, 1 << 20):
        pass
    os.close(handle)


def train(logdir, data, readers, *, ahead=False, options=None):
    """Read batches by `readers` threads, while steps compute if `ahead`, and return the session."""
    folder, paths = data
    batches = [paths[first : first + BATCH] for first in range(0, FILES, BATCH)]
    options = {"as_if": "lustre", "as_if_paths": [f"{folder}/"]} if options is None else options
    with (
        tfdarshan.profile(logdir, tf_profiler=False, spool_dir=logdir, **options) as profile,
        ThreadPoolExecutor(readers) as pool,
    ):
        waiting = [pool.submit(load, path) for path in batches[0]] if ahead else []
        for number, batch in enumerate(batches):
            with tfdarshan.step() as step:
                with step.input_wait():
                    for future in waiting or [pool.submit(load, path) for path in batch]:
                        future.result()
                if ahead:
                    waiting = [pool.submit(load, path) for path in (*batches, [])[number + 1]]
                time.sleep(COMPUTE_S)
    return profile.session


def test_the_terms_of_a_recorded_job_are_those_it_was_made_of(tmp_path, data):
    # GIVEN batches of 8 files at 5 ms by 4 readers, then 20 ms of compute
    session = train(tmp_path, data, 4)

    # WHEN
    found = diagnose(session)

    # THEN steps wait 10 ms and a little of 30, which a busy machine adds to
    assert any(one.name == "prefetch" and one.gain.saved_s > 0 for one in found.findings)
    assert 0.28 < found.verdict.wait_share < 0.6
    assert measure(session).model.readers == pytest.approx(4, rel=0.1)


def test_one_reader_is_too_few(tmp_path, data):
    # GIVEN the same by 1 reader: 40 ms of reading, 20 of compute
    found = diagnose(train(tmp_path, data, 1))

    # THEN more of them would give most of the reading back, whatever else would
    (readers,) = (one for one in found if one.name == "read_parallelism")
    assert readers.title == "reads are serial (queue depth 1)"
    assert readers.gain.saved_s > 0.02
    assert found.verdict.state == "slow"


def test_a_job_that_reads_ahead_is_healthy(tmp_path, data):
    # GIVEN 8 readers that read the next batch while a step computes: 5 ms beside 20
    # WHEN it runs, again where a busy machine makes them late
    for run in range(5):
        found = diagnose(train(tmp_path / str(run), data, 8, ahead=True))
        if found.verdict.wait_share < 0.1:
            break

    # THEN
    assert found.problems == ()
    assert found.verdict.wait_share < 0.1


def test_the_session_keeps_what_the_machine_has(tmp_path, data):
    (meta,) = train(tmp_path, data, 2, options={}).meta

    machine = meta["machine"]
    assert 0 < machine["cpus"] <= os.cpu_count()
    assert 0 < machine["memory_bytes"] <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 <= machine["cpu_s"] <= machine["cpus"] * meta["duration_ns"] / 1e9 + 0.5


def test_the_summary_begins_with_the_verdict(tmp_path, data, capsys):
    session = train(tmp_path, data, 4)
    sentence = diagnose(session).verdict.sentence

    assert " ".join(session.summary().split()).startswith(sentence)
    assert main(["summary", str(session.path)]) == 0
    assert " ".join(capsys.readouterr().out.split()).startswith(sentence)
    assert main(["summary", "--json", str(session.path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"]["sentence"] == sentence
    assert [f["name"] for f in found["findings"]] == [f.name for f in diagnose(session).findings]
    assert found["posix"]["opens"] >= FILES


def test_a_redacted_report_has_no_path_in_its_findings(tmp_path, data):
    # GIVEN
    session = train(tmp_path, data, 1)
    report = tmp_path / "report.html"

    # WHEN
    assert main(["report", str(session.path), "-o", str(report), "--redact"]) == 0

    # THEN
    text = report.read_text()
    assert "read at a time" in text or "reads are serial" in text
    assert str(data[0]) not in text
