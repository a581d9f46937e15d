"""A job of TFD_SOAK_S seconds (default: an hour) has flat memory, exact totals and the same findings.

A day: TFD_SOAK_S=86400 python -m pytest -m long tests/integration/soak
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tfdarshan
from tests.integration.soak import job
from tests.integration.thinned_time import estimate
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.reports.views.view_source import Source

MIB = 1 << 20
SOAK_S = float(os.environ.get("TFD_SOAK_S", "3600"))
# A session of the same job that is short enough for a trace of all calls.
SHORT_S = 20
TRACE_MB, WHOLE_TRACE_MB = 1, 16
# Of the process's memory, Python's included, and of its spool; of one child's spool.
GROWTH_BYTES, CHILD_BYTES = 4 * MIB, MIB
# Of a call in a chunk: two places of eight bytes.
LEAST_EVENT_BYTES = 16

pytestmark = [pytest.mark.long, pytest.mark.timeout(0)]


def run_job(folder: Path, seconds: float, trace_mb: int) -> SimpleNamespace:
    """Run the job in a process of its own; return what it told, its session, and where its spools were."""
    library, spools = folder / "library.so", folder / "spools"
    source = Path(__file__).with_name("library.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    (folder / "data").mkdir()
    spools.mkdir()
    environment = {"TFDARSHAN_SPOOL_DIR": str(spools), "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [
        sys.executable,
        "-W",
        "ignore",
        job.__file__,
        folder / "data",
        str(seconds),
        library,
        str(trace_mb),
    ]
    ran = subprocess.run(
        [str(word) for word in command],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    session = tfdarshan.open_session(folder / "data" / "logs")
    return SimpleNamespace(told=json.loads(ran.stdout), session=session, folder=folder, spools=spools)


@pytest.fixture(scope="module")
def soaked(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """The long job: its trace is full after a few seconds."""
    return run_job(tmp_path_factory.mktemp("soak"), SOAK_S, TRACE_MB)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A short one, of which each call is a segment."""
    return run_job(tmp_path_factory.mktemp("whole"), SHORT_S, WHOLE_TRACE_MB)


def owner_of(soaked):
    (owner,) = (process for process in soaked.session.processes if process.meta["owner"])
    return owner


def memory_of(soaked):
    """Return bytes of the process, its spool and all spools, and libraries, by hundredths of the time."""
    rows = np.array(soaked.told["memory"])
    assert len(rows) == job.PARTS
    return rows


def test_the_load_is_what_it_should_be(soaked):
    told = soaked.told
    print(f"{told['rate']:,.0f} reads a second, {told['threads']:,} threads, {told['steps']:,} steps")
    assert told["threads"] > job.THREADS
    assert told["steps"] > SOAK_S
    assert told["children"] > job.CHILDREN / 2
    assert owner_of(soaked).meta["counts"]["events_dropped"] > 0


def test_the_process_s_memory_is_flat_after_the_first_minute(soaked):
    # THEN but for libraries, each of which stays loaded: a wrapper may be in use
    anonymous, libraries = memory_of(soaked)[:, 0], memory_of(soaked)[:, 3]
    grown = anonymous - anonymous[0] - soaked.told["library_bytes"] * (libraries - libraries[0])
    print(f"{anonymous[-1] - anonymous[0]:,.0f} bytes more, of them not libraries' {grown.max():,.0f}")
    assert grown.max() < GROWTH_BYTES


def test_the_spool_is_flat_after_the_first_minute(soaked):
    spool = memory_of(soaked)[:, 1]
    print(f"the spool grows by {spool.max() - spool[0]:,.0f} bytes, to {spool.max():,.0f}")
    assert spool.max() - spool[0] < GROWTH_BYTES


def test_the_spools_and_the_trace_are_within_their_bounds(soaked):
    counts, spools = owner_of(soaked).meta["counts"], memory_of(soaked)
    cap_bytes = job.MEMORY_CAP_MB * MIB
    assert counts["spool_bytes"] <= cap_bytes
    assert spools[:, 1].max() <= cap_bytes
    assert spools[:, 2].max() <= cap_bytes + (soaked.told["children"] + 1) * CHILD_BYTES
    assert not list(soaked.spools.iterdir())
    assert not any(counts[name] for name in ("files_over_cap", "damaged"))
    kept = counts["segments"] * LEAST_EVENT_BYTES
    assert kept <= TRACE_MB * MIB


def test_totals_are_the_job_s_own(soaked):
    files, told = soaked.session.files.groupby("path").sum(numeric_only=True), soaked.told
    reads = {path: int(files.at[path, "POSIX_READS"]) for path in told["reads"]}
    assert reads == told["reads"]
    assert files.loc[list(told["reads"]), "POSIX_BYTES_READ"].sum() == job.READ_BYTES * sum(reads.values())
    assert files.loc[list(told["reads"]), "POSIX_OPENS"].sum() == told["opens"]
    inputs = files[files.index.str.contains("/inputs/")]
    assert inputs["POSIX_BYTES_READ"].sum() == told["steps"] * job.BATCH * job.INPUT_BYTES
    data = soaked.folder / "data"
    assert files.at[str(data / "child"), "POSIX_READS"] == told["children"] * job.CHILD_READS
    assert files.at[str(data / "library"), "POSIX_READS"] == told["library_calls"]
    assert len(soaked.session.steps) == told["steps"]


def test_the_timeline_covers_the_whole_time(soaked):
    owner, told = owner_of(soaked), soaked.told
    # THEN kept and thinned calls stand for the time of all calls
    found_ns, deviation_ns = estimate(owner)
    events = owner.meta["counts"]["events"]
    assert found_ns == pytest.approx(owner.meta["time"]["thread_ns"], abs=4 * deviation_ns + events)
    # THEN in each tenth they are the time that the job waited for its inputs, and little more
    table = Source(soaked.session).bandwidth
    busy_ns = (table["depth"] * (table["end_ns"] - table["start_ns"])).to_numpy()
    edges = np.linspace(0, len(busy_ns), 11).astype(int)
    tenths_ns = np.add.reduceat(busy_ns, edges[:-1])
    waited_ns = np.array(told["waited_ns"][: job.PARTS]).reshape(10, -1).sum(axis=1)
    print("time in calls of each tenth, drawn / waited:", np.round(tenths_ns / waited_ns, 2))
    assert tenths_ns / waited_ns == pytest.approx(np.ones(10), abs=0.25)
    # THEN all bytes are in the bandwidth over time
    files = soaked.session.files
    for drawn, counted in (("bytes_read", "BYTES_READ"), ("bytes_written", "BYTES_WRITTEN")):
        assert table[drawn].sum() == files[[f"POSIX_{counted}", f"STDIO_{counted}"]].to_numpy().sum()


def test_the_verdict_is_that_of_the_full_trace_and_of_the_totals(soaked, whole):
    found, expected = diagnose(soaked.session), diagnose(whole.session)
    print(found.verdict.sentence, expected.verdict.sentence, sep="\n")
    assert not whole.session.meta[0]["counts"]["events_dropped"]
    assert found.verdict.state == expected.verdict.state == "slow"
    # THEN what it names is found in the full trace as well, and its trace is said to be cut
    names = [one.name for one in expected]
    assert found.verdict.finding in names
    assert {one.name for one in found} - {"truncated_trace"} <= set(names)
    assert found.trace_span is not None
    # THEN by the counters, which are exact, steps wait as long as the verdict says
    files = soaked.session.files
    inputs = files[files["path"].str.contains("/inputs/")]
    times = ("POSIX_F_READ_TIME", "POSIX_F_META_TIME")
    waited_s, steps = sum(inputs[name].sum() for name in times), soaked.session.steps
    share = waited_s / ((steps["end_ns"] - steps["start_ns"]).sum() / 1e9)
    assert found.verdict.wait_share == pytest.approx(share, abs=0.1)
    assert found.verdict.wait_share == pytest.approx(expected.verdict.wait_share, abs=0.1)
