"""Other programs beside a drawn job: they compute for their share of the time, and are gone after it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tfdarshan.workloads.laboratory.busy_processors import SPIN, OtherLoad, other_load

HALF = OtherLoad(of_processors=1.0, of_time=0.5, period_s=0.02)


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_they_compute_while_the_block_runs_and_are_gone_after_it():
    # GIVEN a program for each processor
    with other_load(HALF) as programs:
        assert len(programs) == len(os.sched_getaffinity(0))

        # WHEN one has computed for a while
        until_s = time.monotonic() + 60
        while cpu_s(programs[0].pid) < 0.2 and time.monotonic() < until_s:
            time.sleep(0.05)

        # THEN
        assert cpu_s(programs[0].pid) >= 0.2
    assert all(one.returncode is not None for one in programs)


def test_one_rests_for_its_share_of_the_time():
    """A bound that a busy machine keeps: it computes less there, never more."""
    with other_load(OtherLoad(0.01, 0.2, 0.05)) as (program,):
        time.sleep(0.3)  # past its start
        before_s, start_s = cpu_s(program.pid), time.monotonic()
        time.sleep(1)
        took_s, lasted_s = cpu_s(program.pid) - before_s, time.monotonic() - start_s
    assert took_s <= 0.2 * lasted_s + 0.1


def test_no_load_is_no_program():
    with other_load(None) as programs:
        assert programs == []


@pytest.mark.parametrize(
    ("share", "processors", "programs"), [(0.2, 2, 1), (0.8, 2, 2), (1, 16, 16), (0.3, 16, 5)]
)
def test_programs_are_a_share_of_the_processors(share, processors, programs):
    assert OtherLoad(share, 0.5, 0.1).programs(processors) == programs


def test_they_end_with_what_started_them():
    # GIVEN a process that starts one, says which, and ends without ending it
    starts = (
        "import os, subprocess, sys\n"
        f"spins = [sys.executable, '-c', {SPIN!r}, '0.001', '0.01', str(os.getpid())]\n"
        "print(subprocess.Popen(spins, stdout=subprocess.DEVNULL).pid)"
    )
    started = subprocess.run([sys.executable, "-c", starts], stdout=subprocess.PIPE, text=True, timeout=60)
    status = Path(f"/proc/{int(started.stdout)}/stat")

    # THEN it is gone soon
    until_s = time.monotonic() + 60
    while _runs(status):
        assert time.monotonic() < until_s
        time.sleep(0.05)


def _runs(status: Path) -> bool:
    try:
        return status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
