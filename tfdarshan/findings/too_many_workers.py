"""More workers than processors: while steps compute, the training loop takes turns with them."""

from __future__ import annotations

import math

from tfdarshan.analysis.steps.loader_waits import training_loader
from tfdarshan.analysis.steps.worker_turns import WorkerTurns, worker_turns
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding
from tfdarshan.findings.fix_lines import words_of
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.edits import Readers
from tfdarshan.replay.loader_edits import OwnProcessor
from tfdarshan.units import percent, plural

NAME = "too_many_workers"
ABOUT = About(
    title="More workers run than there are processors",
    cause="Workers that decode take turns with the training loop on the same processors, so each step "
    "computes longer. More workers than processors decode no faster.",
    says="8 workers share 4 processors with the training loop",
    seen=("overlapping fetches in the table of batches", "`session.batches`"),
    fixes={"PyTorch": "`DataLoader(..., num_workers=3)` on four processors"},
    estimate="The replay has one worker less than processors, and a training loop that has a processor to "
    "itself.",
    ignore="the job gets more processors in production",
    fix="fewer workers",
)


def find(measures: Measures) -> Finding | None:
    """Find it if the loop takes turns with more workers than there is room for beside it."""
    training, words = training_loader(measures.session.meta[0]), words_of(measures)
    turns, cpus = _turns(measures), measures.machine.cpus
    if training is None or words is None or turns is None or not cpus:
        return None
    workers, room = int(training[1].get("workers", 0)), max(1, math.floor(cpus) - 1)
    if workers <= room or turns.left >= 1:
        return None
    return Finding(
        name=NAME,
        title=f"{plural(workers, 'worker')} share {plural(round(cpus), 'processor')} with the training loop",
        what=f"While a step computes, {turns.beside:.1f} workers prepare a batch on average. Meanwhile the "
        f"training loop gets {percent(turns.had, 1)} of a processor, and could use "
        f"{percent(turns.computes, 1)}.",
        evidence=(
            Evidence("workers", f"{workers:,}", workers),
            Evidence("processors", f"{cpus:g}", cpus),
            Evidence(
                "workers that prepare a batch while a step computes", f"{turns.beside:.1f}", turns.beside
            ),
            Evidence("of a processor for the loop", percent(turns.had, 1), turns.had),
        ),
        fix=words.fewer_readers(room),
        edits=(Readers(room), OwnProcessor(turns.left)),
    )


def _turns(measures: Measures) -> WorkerTurns | None:
    """Return what the loop shares with its workers; None if steps, processors or workers are not known."""
    waits, windows, machine = measures.loader_waits, measures.windows, measures.machine
    if waits is None or windows is None or windows.wait_end_ns is None:
        return None
    if not machine.cpus or machine.cpu_s is None:
        return None
    made_s = float(waits.work_s.sum())
    busy = max(0.0, 1 - measures.input_calls.thread_s / made_s) if made_s > 0 else 0.0
    return worker_turns(
        waits, windows.wait_end_ns, windows.end_ns, cpus=machine.cpus, busy=busy, cpu_s=machine.cpu_s
    )
