"""Made-up sessions of ranks, and of a mapped file whose faults nobody saw."""

from __future__ import annotations

from pathlib import Path

from tests.joint_training import MadeUpRank, joint_training
from tests.unit.findings.made_up_mapped import PATH, loop_faults, mapped_training
from tests.unit.findings.made_up_training import epochs_of_steps
from tests.unit.findings.test_rank_findings import shards
from tests.unit.sentences.counters_only import with_counters
from tests.unit.sentences.sessions import MB
from tfdarshan.session import Session


def ranks(folder: Path, *, marked: bool) -> Session:
    """Gives a job of three ranks, the last of which reads five times as slowly."""
    dealt = shards(3, 4)
    made = [MadeUpRank(steps, "n0", times) for steps, times in zip(dealt, (1, 1, 5), strict=True)]
    return joint_training(folder, made, noise=0.0, marked=marked)


def looked_at(folder: Path, *, looks: int) -> Session:
    """Gives a mapped file whose faults the kernel did not show; looks at threads, if any, show 0.5 s."""
    block = {"watch": "no events", "error": 13, "faults_kept": 0} | ({"looks": looks} if looks else {})
    faults = loop_faults(50, 20.0, 2.5, 4, jump=MB)
    session = mapped_training(folder, faults, epochs_of_steps(50, 20.0, 10.0), kept=False, block=block)
    seconds = 0.5 if looks else -1.0
    return with_counters(session, PATH, "MMAP", MMAP_F_FAULT_TIME=seconds, MMAP_F_WAIT_TIME=seconds)
