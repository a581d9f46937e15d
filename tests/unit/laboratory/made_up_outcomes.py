"""Outcomes of made-up jobs: what was said of them, and what fixes gave."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from tfdarshan.workloads.laboratory.judgement import judge
from tfdarshan.workloads.laboratory.known_fix import KnownFix
from tfdarshan.workloads.laboratory.program import Folders, Program
from tfdarshan.workloads.laboratory.said import Said
from tfdarshan.workloads.laboratory.timed_run import TimedRun
from tfdarshan.workloads.laboratory.truth import Tried, Truth

ANYWHERE = Path("/nowhere")
PROGRAM = Program(
    folders=Folders(data=ANYWHERE, out=ANYWHERE, fast=ANYWHERE, fast_out=ANYWHERE),
    shape="generator", count=96, size_bytes=300_000, epochs=3, computes="numpy", decode="jpeg", prefetch=True,
)  # fmt: skip
LOGS = Path("/nowhere/logs")


def runs(*seconds: float, failure: str = "") -> list[TimedRun]:
    return [TimedRun(one, LOGS, failure=failure) for one in seconds]


def truth(before_s=(9.9, 10.0, 10.0, 10.1), /, **after_s: float) -> Truth:
    """Return the truth of a job of 10 s, by the seconds that it takes with each fix."""
    names = {"parallel": 1, "prefetch": 1, "memory": 1, "staging": 2, "shards": 3, "moved": 2}
    tried = [Tried(KnownFix(name, names[name], PROGRAM), runs(after_s[name])) for name in after_s]
    return Truth(PROGRAM, runs(*before_s), tried)


def said(first: str, promise=(1.5, 2.0, 3.0), problems=None) -> Said:
    named = (first,) if first else ()
    return Said("slow" if first else "healthy", "-", first, promise if first else None, problems or named)


def outcomes():
    good = judge(1, "a job", said("staging"), truth(staging=5.0), real=True, typed="as printed",
                 printed_runs=runs(5.0), again=False)  # fmt: skip
    bad = judge(
        2, "a pipe that is full", said("read_parallelism"), truth(parallel=9.9, staging=2.0), real=False
    )
    alarm = judge(3, "a healthy job", said("prefetch"), truth(prefetch=9.8), real=True)
    return [good, bad, alarm, dataclasses.replace(alarm, seed=4, first="quiet", promise="none")]
