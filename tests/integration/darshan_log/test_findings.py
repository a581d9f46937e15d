"""What is said of Darshan logs that PyDarshan ships: without a trace, or with reads and writes only."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import tfdarshan
from tests.pydarshan import darshan
from tfdarshan.commands import main
from tfdarshan.findings.all_findings import NAMES
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.formats.importing.darshan_log import import_darshan
from tfdarshan.thresholds import THRESHOLD

LOGS = sorted(Path(darshan.__file__).parent.rglob("*.darshan"))
NEVER_KNOWN = {"input_bound", "prefetch", "decode_bound", "page_cache", "low_coverage", "truncated_trace"}


def imported(name, folder):
    log = next(path for path in LOGS if path.name == name)
    return log, tfdarshan.open_session(import_darshan(log, folder).path)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem[:30])
def test_what_a_log_does_not_say_is_named_and_nothing_is_blamed_without_proof(path, tmp_path):
    # WHEN
    found = diagnose(tfdarshan.open_session(import_darshan(path, tmp_path).path))

    # THEN
    unknown = {entry.name for entry in found.unknown}
    assert unknown >= NEVER_KNOWN
    assert {finding.name for finding in found.findings}.isdisjoint(unknown)
    assert unknown <= set(NAMES)
    assert not any("trace=True" in entry.record for entry in found.unknown)
    assert found.problems == ()
    # ... and nothing is said of training, which a log knows nothing of
    assert "The log does not say what the job waited for" in found.verdict.sentence
    assert "training" not in found.verdict.sentence
    most = max((finding.cost_share for finding in found.findings if finding.kind == "note"), default=0.0)
    assert found.verdict.state == ("suspect" if most >= THRESHOLD["problem"] else "unknown")
    for finding in found.findings:
        assert finding.gain is None or finding.gain.low_s == 0


@pytest.mark.parametrize("name", ["sample-badost.darshan", "ior_hdf5_example.darshan"])
@pytest.mark.parametrize("python", [False, True])
def test_a_program_that_is_no_python_is_told_no_python(name, python, tmp_path, capsys):
    # GIVEN a log of a C program, and the same one as if of Python's
    _, session = imported(name, tmp_path)
    for path in session.path.glob("*.meta.json") if python else ():
        meta = json.loads(path.read_text())
        path.write_text(json.dumps(meta | {"command": f"/usr/bin/python3 {meta['command']}"}))

    # WHEN
    texts = []
    for verb in ("summary", "findings"):
        assert main([verb, str(session.path)]) == 0
        texts.append(" ".join(capsys.readouterr().out.split()))

    # THEN nothing tells to change Python's lines, or to record what cannot be recorded
    for text in texts:
        assert ("For a verdict, record the job with `tfdarshan run`." in text) == python
        assert "tfdarshan.step()" not in text
    code = re.search(r"sync_behind|open\(path", texts[1])
    assert (code is not None) == python


def test_a_bad_server_is_found_by_the_files_on_it(tmp_path):
    # GIVEN the log of a job of which one object storage target was bad
    log, session = imported("sample-badost.darshan", tmp_path)
    report = darshan.DarshanReport(str(log), read_all=True)
    records = report.records["POSIX"]
    place = report.counters["POSIX"]["counters"].index("POSIX_BYTES_WRITTEN")
    taken = report.counters["POSIX"]["fcounters"].index("POSIX_F_WRITE_TIME")
    rates = np.array(
        [r["fcounters"][taken] / r["counters"][place] for r in records if r["counters"][place] >= 1 << 20]
    )

    # WHEN
    found = diagnose(session)
    first = found.findings[0]

    # THEN it is what is said first
    assert found.verdict.state == "suspect"
    assert found.verdict.sentence.startswith(f"One finding stands out: {first.title}.")

    # THEN the files are those that PyDarshan's numbers show
    slow = rates >= 4 * np.median(rates)
    assert (first.name, first.kind) == ("straggler", "note")
    assert first.evidence[0].value == slow.sum() == 85
    assert first.evidence[1].value == pytest.approx(np.median(rates[slow]) / np.median(rates))


def test_a_job_of_the_same_kind_without_one_has_none(tmp_path):
    _, session = imported("sample-goodost.darshan", tmp_path)

    assert "straggler" not in {finding.name for finding in diagnose(session).findings}


def test_waiting_for_a_fifo_is_no_time_of_stats(tmp_path):
    # GIVEN a log with 1,379 stats and fewer opens, and nearly all time in opens of FIFOs
    _, session = imported("dxt.darshan", tmp_path)

    # WHEN
    found = {finding.name for finding in diagnose(session).findings}

    # THEN the stats take no time worth saying
    assert "stat_storm" not in found


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem[:30])
def test_reopening_counts_what_each_rank_opens_beyond_each_files_first(path, tmp_path):
    # GIVEN what PyDarshan says of each file in each rank; a record of rank -1 is of all ranks
    report = darshan.DarshanReport(str(path), read_all=True)
    ranks = report.metadata["job"]["nprocs"]
    opens, needed = 0, 0
    for module in {"POSIX", "STDIO"} & set(report.records):
        place = report.counters[module]["counters"].index(f"{module}_OPENS")
        for record in report.records[module]:
            count = max(int(record["counters"][place]), 0)
            opens += count
            needed += (count > 0) * (ranks if record["rank"] == -1 else 1)

    # WHEN
    found = diagnose(tfdarshan.open_session(import_darshan(path, tmp_path).path)).findings

    # THEN a file that each rank opens once or twice is not opened again and again
    of_it = [one for one in found if one.name == "reopening"]
    assert not of_it or opens > 2 * needed
    for one in of_it:
        times = f"{opens / needed:.1f}".removesuffix(".0")
        assert one.title == f"each process opens a file {times} times"


def test_files_that_each_of_sixteen_ranks_opens_twice_are_not_reopened(tmp_path):
    _, session = imported("sample-dxt-simple.darshan", tmp_path)

    rows = session.files
    of_output = rows[rows["path"].str.endswith("/test.out") & (rows["module"] == "POSIX")]
    assert of_output["POSIX_OPENS"].tolist() == [2] * 16
    assert "reopening" not in {finding.name for finding in diagnose(session).findings}


def test_the_command_words_them(tmp_path, capsys):
    _, session = imported("sample-badost.darshan", tmp_path)

    assert main(["findings", str(session.path)]) == 0
    text = capsys.readouterr().out
    assert "What this session does not tell" in text
    assert max(len(line) for line in text.splitlines()) <= 100

    assert main(["findings", str(session.path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["findings"][0]["name"] == "straggler"
    assert found["verdict"]["state"] == "suspect"
