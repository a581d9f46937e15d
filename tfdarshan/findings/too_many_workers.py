"""More workers than processors: they take turns with each other and with the training loop."""

from __future__ import annotations

from tfdarshan.analysis.steps.loader_waits import training_loader
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding
from tfdarshan.findings.fix_choice import ModelledFix, best_fix
from tfdarshan.findings.fix_lines import words_of
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.edits import Readers
from tfdarshan.units import percent, plural

NAME = "too_many_workers"
ABOUT = About(
    title="More workers run than there are processors",
    cause="Workers take turns with each other and with the training loop on the same processors. More "
    "workers than processors decode no faster: each starts later, and finishes its first batch later.",
    says="8 workers share 4 processors with the training loop",
    seen=("overlapping fetches in the table of batches", "`session.batches`"),
    fixes={"PyTorch": "`DataLoader(..., num_workers=4)` on four processors"},
    estimate="The replay has as many workers as processors, or one less if that gives more.",
    ignore="the job gets more processors in production",
    fix="fewer workers",
)


def find(measures: Measures) -> Finding | None:
    """Find it if the loader has more workers than processors; the replay tells what fewer give."""
    training, words, machine = training_loader(measures.session.meta[0]), words_of(measures), measures.machine
    if training is None or words is None or not machine.cpus:
        return None
    workers, cpus = int(training[1].get("workers", 0)), round(machine.cpus)
    counts = [count for count in (cpus, cpus - 1) if 0 < count < workers]
    if not counts:
        return None
    best = best_fix(
        measures, [ModelledFix(words.fewer_readers(count), (Readers(count),)) for count in counts]
    )
    shown = plural(cpus, "processor")
    evidence = [Evidence("workers", f"{workers:,}", workers), Evidence("processors", f"{cpus:,}", cpus)]
    if machine.cpu_s is not None and machine.span_s > 0:
        busy = machine.cpu_s / (cpus * machine.span_s)
        evidence.append(Evidence("processors busy", percent(busy, 1), busy))
    return Finding(
        name=NAME,
        title=f"{plural(workers, 'worker')} share {shown} with the training loop",
        what=f"{shown.capitalize()} can run as many workers at a time. The others wait for their turns, and "
        "so does the training loop.",
        evidence=tuple(evidence),
        fix=best.fix,
        edits=best.edits,
    )
