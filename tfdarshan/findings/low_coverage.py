"""Much of the I/O was not seen: the other findings are about the rest only."""

from __future__ import annotations

from tfdarshan.analysis.steps.loader_waits import training_loader
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, percent

NAME = "low_coverage"
ABOUT = About(
    title="Much of the I/O was not recorded",
    cause="The kernel charged the job with more bytes than tfdarshan recorded. Programs without "
    "Python, calls inside libc and mapped files move bytes that tfdarshan does not see unless "
    "you ask for them. All seconds and speedups leave the unrecorded bytes out, so other "
    "findings may be wrong.",
    says="34.2 % of the bytes read were not recorded",
    seen=("coverage below 90 %", "the tab's Overview"),
    fixes={
        "programs without Python": "`tfdarshan run --programs train.py`",
        "mapped files": "`tfdarshan run --mapped yes train.py`",
        "Python processes": "`tfdarshan doctor` tests whether they join the session",
    },
    ignore="these bytes are program files and shared libraries",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it where the kernel charged the job far more than was recorded, or no worker of a loader was."""
    coverage, data = measures.summary.coverage, measures.summary
    if workers := _unseen_workers(measures):
        return _of_workers(workers, measures)
    if measures.imported or coverage.read.kernel is None or coverage.incomplete:
        return Unknown(
            NAME,
            f"how much of the I/O was not recorded: {_lack(measures, incomplete=coverage.incomplete)}",
            measures.recorded.to_see_more
            if measures.imported
            else "`tfdarshan doctor` shows what is recorded",
        )
    for name, direction, taken_s in (
        ("read", coverage.read, data.wall_clock.read_s),
        ("written", coverage.written, data.wall_clock.write_s),
    ):
        charged = float(direction.kernel or 0)
        unseen = float(direction.unseen or 0)
        mapped = 0.0
        if name == "read" and data.mmaps and direction.storage is not None:
            known = direction.mapped or 0
            # Storage is charged whole pages and read-ahead: twice what was read shows no unseen reads.
            mapped = max(direction.storage - known - 2 * charged, 0.0)
        missing, whole = unseen + mapped, charged + mapped
        if missing < max(THRESHOLD["little"], THRESHOLD["unseen"] * whole):
            continue
        # If more was missed than seen, the pace of what was seen says nothing of the rest.
        much = missing >= max(THRESHOLD["much"], direction.accounted)
        if much or _matters(measures, missing, direction.in_tables, taken_s):
            bounded = coverage.processes_left_out > 0 or coverage.unrecorded.not_waited_for > 0
            return _finding(name, missing, whole, mapped, _fix(measures, mapped), bounded=bounded)
    return None


def _unseen_workers(measures: Measures) -> int:
    """Return how many workers prepared the batches, if no process but the loop's own is in the session."""
    training = training_loader(measures.session.meta[0])
    if training is None or not training[1].get("workers") or not training[1].get("working"):
        return 0
    alone = all(process.meta["owner"] for process in measures.session.processes)
    return int(training[1]["workers"]) if alone else 0


def _of_workers(workers: int, measures: Measures) -> Finding:
    """Word it where the kernel's count may lack the workers, too: a fork server is their parent."""
    whose = "the loader's worker was" if workers == 1 else f"the loader's {workers:,} workers were"
    asked = measures.session.meta[0].get("options", {}).get("follow_children", True)
    joining = (
        "Install tfdarshan with pip in the Python that runs the workers (PYTHONPATH alone does not do), and "
        "run `tfdarshan doctor`, which checks that child processes are recorded."
    )
    return Finding(
        name=NAME,
        kind="doubt",
        title=f"{whose} not recorded",
        what="Batches came from worker processes, and none of these is in this session. All times and "
        "speedups leave out what they read and waited for.",
        evidence=(
            Evidence("workers of the loader", f"{workers:,}", workers),
            Evidence("recorded", "0", 0),
        ),
        fix=Fix(joining if asked else "Record child processes as well: leave follow_children=False out."),
    )


def _lack(measures: Measures, *, incomplete: bool) -> str:
    """Say what is not known of the kernel's count, and what that means."""
    if measures.imported:
        return "a Darshan log does not have the kernel's count"
    lack = "lacks processes that nobody waited for" if incomplete else "(/proc/PID/io) could not be read"
    return f"the kernel's count {lack}, so the figures may leave out I/O of other programs"


def _matters(measures: Measures, missing: float, seen: int, taken_s: float | None) -> bool:
    """Return whether what is missing may have taken time, at the pace of what was seen."""
    if not seen or not taken_s:
        return True
    return missing * taken_s / seen >= THRESHOLD["note"] * measures.summary.duration_s


def _fix(measures: Measures, mapped: float) -> Fix:
    names = measures.summary.coverage.unrecorded.words
    if not mapped and names and measures.shown_path is None:
        return Fix(
            f"Record the programs that the job starts: {names}.", measures.recorded.line(programs=True)
        )
    if not mapped:
        return Fix(
            f"Record programs not written in Python as well ({measures.recorded.spelled(programs=True)}), "
            "and run `tfdarshan doctor`, which checks that child processes are recorded.",
            measures.recorded.line(programs=True),
        )
    if measures.summary.mapped.asked:
        return Fix("Read with calls instead of mapping files, and record the processes that do the I/O.")
    return Fix(
        "Watch mapped files, or read with calls instead, and record the processes that do the I/O.",
        measures.recorded.line(mapped=True),
    )


def _finding(name: str, missing: float, whole: float, mapped: float, fix: Fix, *, bounded: bool) -> Finding:
    """Word it; `bounded` if some children are in no figure of the kernel's, so that more may be missing."""
    how = "programs that are not Python, the C library itself, or page faults on mapped files"
    whose = f"The kernel counted {human_bytes(whole)} {name} by the job"
    if mapped:
        whose += f", about {human_bytes(mapped)} of them through mapped files"
    title = f"{percent(missing, whole)} of the bytes {name} were not recorded"
    least = "at least " if bounded else ""
    if bounded:
        title = f"at least {human_bytes(missing)} of {human_bytes(whole)} {name} were not recorded"
    return Finding(
        name=NAME,
        kind="doubt",
        title=title,
        what=f"{whose}. No recorded call accounts for {least}{human_bytes(missing)} of these bytes: {how} "
        f"may have {name} them. All times and speedups leave these bytes out.",
        evidence=(
            Evidence(f"{name}, by the kernel", human_bytes(whole), whole),
            Evidence("not recorded, at least" if bounded else "not recorded", human_bytes(missing), missing),
            *((Evidence("of these through mapped files", human_bytes(mapped), mapped),) if mapped else ()),
        ),
        fix=fix,
    )
