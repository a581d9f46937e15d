"""Advice, checks and probes whose every number is known."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tests.unit.staging.synthetic import FAST, file_use, job_of, malware_like, run_of
from tfdarshan.staging.advice import Advice, decide_on
from tfdarshan.staging.check import Assumption, Check
from tfdarshan.staging.question import Question
from tfdarshan.storage_probe.probe_result import StorageProbe

SHORT_PROBE = StorageProbe("/data", "/data", "nfs", "node7", 0, 2.0, 10**6, 24, 0, True, True, 1)


ALIKE = file_use(malware_like(500), np.ones(500))
EVEN = file_use(np.full(500, 1_000_000), np.ones(500))
SLOW_COPY = dataclasses.replace(FAST, write_bytes_per_s=2e5)


def advised(use, fast=FAST, other_s=0.0, **question: Any) -> Advice:
    """Return the advice for a job whose every number is known."""
    asked = {"fast": "/fast", "room_bytes": 1 << 60, "block_bytes": 1, **question}
    facts, job = run_of(use, other_s=other_s), job_of(use, other_s=other_s)
    return decide_on(use, facts, Question(**asked), fast, job).advice


CHECK = Check(1, True, False, False, 10.0, 5.0, 4.0, 6.0, 5.0, 5, 0, 5,
              (Assumption("readers", "threads", 1, 1, 0.0),))  # fmt: skip
