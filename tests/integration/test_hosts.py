"""Jobs of many hosts on one machine: each rank with a host name, a boot identifier and clocks of its own."""

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import numpy as np
import pytest

import tfdarshan
from tfdarshan.analysis.files.session_files import SessionFiles
from tfdarshan.analysis.ranks.rank_table import rank_table
from tfdarshan.sessions.joint_session import ASKED_CLOCK, NO_CLOCK, ONE_CLOCK

ROOT = Path(__file__).parents[2]
# As a host of its own: a boot identifier, a name, and what comes then.
AS_HOST = (
    'mount --bind "$1" /proc/sys/kernel/random/boot_id && hostname "$2" && shift 2 && '
    'export LD_PRELOAD="$OTHER_CLOCK" && exec "$@"'
)
UNSHARED = ["unshare", "--mount", "--uts", "bash", "-c", AS_HOST, "host"]


@pytest.fixture(scope="module")
def other_clock(tmp_path_factory):
    """The library that gives a process other clocks; skips where hosts cannot be made up."""
    library = tmp_path_factory.mktemp("clock") / "other_clock.so"
    compiler = shutil.which("cc")
    if compiler is None or shutil.which("unshare") is None:
        pytest.skip("there is no C compiler or no unshare")
    source = ROOT / "tests" / "other_clock.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    boot = library.with_name("boot")
    boot.write_text(f"{uuid.uuid4()}\n")
    tried = subprocess.run(
        [*UNSHARED, boot, "some-host", "true"], env={**os.environ, "OTHER_CLOCK": ""}, capture_output=True
    )
    if tried.returncode:
        pytest.skip("this machine makes no namespaces")
    return library


def run_hosts(folder, library, clocks, **environment):
    """Run a rank on each host.

    Args:
        clocks: What CLOCK_REALTIME and CLOCK_MONOTONIC are ahead in ns, and the latter's drift in ppm.
    """
    (folder / "meeting").mkdir(parents=True)
    (folder / "data").write_bytes(bytes(100_000))
    words = [sys.executable, "-m", "tests.rank_of_host", folder / "logs", folder / "meeting", folder / "data"]
    since_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    ranks = []
    for rank, (realtime_ns, monotonic_ns, drift_ppm) in enumerate(clocks):
        boot = folder / f"boot-{rank}"
        boot.write_text(f"{uuid.uuid4()}\n")
        own = {
            "OTHER_CLOCK": str(library),
            "CLOCK_REALTIME_AHEAD_NS": str(realtime_ns),
            "CLOCK_MONOTONIC_AHEAD_NS": str(monotonic_ns),
            "CLOCK_DRIFT_PPM": str(drift_ppm),
            "CLOCK_DRIFT_SINCE_NS": str(since_ns),
            "TFDARSHAN_JOB": "hosts",
            "TFDARSHAN_RANK": str(rank),
            "TFDARSHAN_WORLD_SIZE": str(len(clocks)),
            "TFDARSHAN_CLOCK_ADDRESS": "127.0.0.1",
        }
        ranks.append(
            subprocess.Popen(
                [*UNSHARED, boot, f"n{rank}", *words],
                cwd=ROOT,
                env={**os.environ, **own, **environment},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    said = [rank.communicate(timeout=1_000)[0] for rank in ranks]
    codes = [-signal.SIGKILL if str(n) == environment.get("RANK_IS_KILLED") else 0 for n in range(len(ranks))]
    assert [rank.returncode for rank in ranks] == codes, said
    return tfdarshan.open_session(folder / "logs")


def clocks_of(count, seed):
    """Return clocks of hosts: up to 50 ms apart, drifting by up to 80 ppm."""
    rng = np.random.default_rng(seed)
    apart = rng.integers(-50_000_000, 50_000_000, (count, 2)).tolist()
    drift = rng.integers(-80, 81, count).tolist()
    return [(*ahead, ppm) for ahead, ppm in zip(apart, drift, strict=True)]


def truths_ns(first, rank, of_first, of_rank):
    """Yield what moves a rank's times to the first one's, when the later of them began and the earlier ended.

    Each begins with its CLOCK_REALTIME, and goes on with its CLOCK_MONOTONIC, which drifts.
    """
    (ahead_ns, _, ppm), (own_ahead_ns, _, own_ppm) = of_first, of_rank
    begun_ns = first.owner["origin_realtime_ns"] - ahead_ns
    own_begun_ns = rank.owner["origin_realtime_ns"] - own_ahead_ns
    both_begun_ns = max(begun_ns, own_begun_ns)
    ended_ns = min(begun_ns + first.owner["duration_ns"], own_begun_ns + rank.owner["duration_ns"])
    for now_ns in (both_begun_ns, ended_ns):
        drifted_ns = (now_ns - begun_ns) * ppm - (now_ns - own_begun_ns) * own_ppm
        yield ahead_ns - own_ahead_ns + drifted_ns // 1_000_000


def assert_within_stated_errors(session, clocks):
    """What each rank's times are moved by is right from its beginning to its end, within the stated error."""
    found = {rank.rank: rank for rank in session.joint.ranks}
    assert sorted(found) == list(range(len(clocks)))
    assert {rank.host for rank in found.values()} == {f"n{rank}" for rank in found}
    for number in range(1, len(clocks)):
        rank = found[number]
        assert rank.method == ASKED_CLOCK, number
        assert rank.error_ns < 10**9
        for truth_ns in truths_ns(found[0], rank, clocks[0], clocks[number]):
            assert abs(rank.offset_ns - truth_ns) <= rank.error_ns, (number, rank.offset_ns, truth_ns)


def test_hosts_ask_for_the_first_ones_clock(other_clock, tmp_path, capsys):
    # WHEN three hosts record whose clocks differ, and drift
    clocks = [(0, 0, 0), (40_000_000, -30_000_000, 80), (-50_000_000, 50_000_000, -80)]
    session = run_hosts(tmp_path, other_clock, clocks)

    # THEN
    assert_within_stated_errors(session, clocks)
    rows = rank_table(session, SessionFiles(session).grouped).ranks
    assert [row.clock for row in rows] == [ONE_CLOCK, ASKED_CLOCK, ASKED_CLOCK]
    assert "clock" in session.summary(verbose=True)
    # ... and nothing of it is in the job's files
    assert not [path for path in session.files["path"] if "clock.json" in path or "boot_id" in path]


def test_a_killed_rank_is_put_on_the_first_one_s_clock(other_clock, tmp_path):
    # GIVEN two hosts whose clocks differ, and drift; the second's rank is killed while it records
    clocks = [(0, 0, 0), (40_000_000, -30_000_000, 80)]
    spools = tmp_path / "spools"
    spools.mkdir()
    session = run_hosts(tmp_path, other_clock, clocks, RANK_IS_KILLED="1", TFDARSHAN_SPOOL_DIR=str(spools))
    assert session.joint.missing == (1,)

    # WHEN it is recovered on its host
    words = [sys.executable, "-m", "tfdarshan", "recover", tmp_path / "logs"]
    subprocess.run(
        [*UNSHARED, tmp_path / "boot-1", "n1", *words],
        env={**os.environ, "OTHER_CLOCK": ""}, cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip

    # THEN it knows what its clock is off, within an error that has the drift until its end in it
    assert_within_stated_errors(tfdarshan.open_session(tmp_path / "logs"), clocks)


def test_hosts_that_must_not_ask_say_so(other_clock, tmp_path):
    session = run_hosts(tmp_path, other_clock, clocks_of(2, seed=1), TFDARSHAN_CLOCK="0")
    assert [rank.method for rank in session.joint.ranks] == [ONE_CLOCK, NO_CLOCK]
    assert not list(session.path.glob("clock.json*"))


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_64_hosts_are_put_on_one_clock_within_the_errors_that_are_told(other_clock, tmp_path):
    clocks = clocks_of(64, seed=64)
    assert_within_stated_errors(run_hosts(tmp_path, other_clock, clocks), clocks)


SET_CLOCK = """
import os, sys, time, tfdarshan
data, logs = sys.argv[1:]
with tfdarshan.profile(logs) as session:
    for number, path in enumerate(tfdarshan.steps([data] * 6)):
        if number in (2, 4):
            # Set the clock an hour on, and two hours back.
            os.environ["CLOCK_REALTIME_AHEAD_NS"] = str((3 - number) * 3_600_000_000_000)
        file = os.open(path, os.O_RDONLY)
        os.read(file, 100 + number)
        os.close(file)
print(time.time_ns(), session.path)
"""


def test_steps_keep_their_calls_when_the_clock_is_set(tmp_path):
    # GIVEN a clock that the job can set
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library, data = tmp_path / "clock.so", tmp_path / "data"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, ROOT / "tests" / "other_clock.c"], check=True
    )
    data.write_bytes(bytes(1_000))

    # WHEN it is set twice while a session records
    done = subprocess.run(
        [sys.executable, "-c", SET_CLOCK, data, tmp_path / "logs"],
        cwd=ROOT, env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    now_ns, path = done.stdout.split(maxsplit=1)
    assert int(now_ns) < time.time_ns() - 3_000_000_000_000

    # THEN
    steps = tfdarshan.open_session(path.strip()).steps
    assert steps["bytes_read"].tolist() == [100 + number for number in range(6)]
    assert (steps["end_ns"] - steps["start_ns"]).between(0, 60e9).all()
    assert steps["start_ns"].is_monotonic_increasing
