"""Every figure that a finding shows as evidence, against the same figure worked out from the raw tables.

On all sessions of the tables in which the finding is, not on one that was made for it. Figures of a model,
such as what another device would take, are of the tests of that model.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from tests.unit.sentences.finding_cases import CASES
from tests.unit.sentences.input_evidence import INPUT_FIGURES
from tests.unit.sentences.made import STATS, SYNCS, WRITES, Figure, Made, made
from tests.unit.sentences.raw_figures import OPENS
from tests.unit.sentences.sessions import SESSIONS, Maker
from tests.unit.sentences.shown_sessions import ShownSessions


def total_s(*names: str) -> Callable[[Made], float]:
    """Return the time in calls of these names, over all threads."""
    return lambda one: float(one.found.calls(*names)["seconds"].sum())


def mean_s(*names: str) -> Callable[[Made], float]:
    """Return what one of them took."""
    return lambda one: float(one.found.calls(*names)["seconds"].mean())


def count(*names: str) -> Callable[[Made], float]:
    """Return how many there were."""
    return lambda one: len(one.found.calls(*names))


def of_one_rank(figure: Figure) -> Figure:
    """Return a figure of all calls, which is that of the leading rank in a job of one alone."""
    return lambda one: figure(one) if len(one.hosts) == 1 else None


def mean_size(*names: str) -> Callable[[Made], float]:
    """Return the mean length of one."""
    return lambda one: float(one.found.calls(*names)["length"].mean())


def opening_again_s(one: Made) -> float:
    """Return the time in opens and closes but for one of each file."""
    opens = one.found.calls(*OPENS)
    share = 1 - opens["file"].nunique() / len(opens)
    return share * float(one.found.calls(*OPENS, "close", "fclose")["seconds"].sum())


def bytes_of_ranks(one: Made) -> pd.Series[float]:
    """Return the bytes that each rank read."""
    return one.found.data_reads.groupby("rank")["length"].sum()


FIGURES: dict[tuple[str, str], Figure] = INPUT_FIGURES | {
    ("input_bound", "mean step"): lambda one: one.step_s,
    ("input_bound", "input wait"): lambda one: float(one.waits_s.mean()),
    ("prefetch", "input wait"): lambda one: float(one.waits_s.mean()),
    ("prefetch", "compute, mean"): lambda one: one.step_s - float(one.waits_s.mean()),
    ("eof_probes", "end-of-file reads"): lambda one: len(one.found.empty_reads),
    ("eof_probes", "time in them, over all threads"):
        lambda one: float(one.found.empty_reads["seconds"].sum()),
    ("eof_probes", "mean"): lambda one: float(one.found.empty_reads["seconds"].mean()),
    ("reopening", "opens"): of_one_rank(count(*OPENS)),
    ("reopening", "files opened"): lambda one: one.found.calls(*OPENS)["file"].nunique(),
    ("reopening", "time in opening again, over all threads"): of_one_rank(opening_again_s),
    ("stat_storm", "stat() calls"): count(*STATS),
    ("stat_storm", "opens"): count(*OPENS),
    ("stat_storm", "mean"): mean_s(*STATS),
    ("stat_storm", "time in them, over all threads"): total_s(*STATS),
    ("truncated_trace", "calls"): lambda one: one.meta["counts"]["events"],
    ("truncated_trace", "not in the trace"): lambda one: one.meta["counts"]["events"] - len(one.found.events),
    ("page_cache", "fetched for all that the job read (read_bytes)"):
        lambda one: one.meta["kernel"]["read_bytes"],
    ("low_coverage", "read, by the kernel"): lambda one: one.meta["kernel"]["rchar"],
    ("low_coverage", "not recorded"):
        lambda one: one.meta["kernel"]["rchar"] - float(one.found.data_reads["length"].sum()),
    ("fsync", "syncs"): count(*SYNCS),
    ("fsync", "time in them"): total_s(*SYNCS),
    ("fsync", "mean"): mean_s(*SYNCS),
    ("small_writes", "small writes"): count(*WRITES),
    ("small_writes", "mean size"): mean_size(*WRITES),
    ("small_writes", "time in them"): total_s(*WRITES),
    ("small_writes", "mean"): mean_s(*WRITES),
    ("fits_in_memory", "memory"): lambda one: one.meta["machine"]["memory_bytes"],
    ("checkpoint_stall", "written"): lambda one: float(one.found.calls(*WRITES)["length"].sum()),
    ("checkpoint_stall", "held up"): total_s(*WRITES),
    ("random_access", "mean size"): mean_size("pread"),
    ("random_access", "mean time"): mean_s("pread"),
    ("mapped_wait", "faults that waited"): lambda one: len(one.faults),
    ("mapped_wait", "of a step, over all threads"):
        lambda one: float(one.faults["seconds"].sum()) / len(one.found.steps),
    ("mapped_wait", "faults out of order"): lambda one: len(one.faults),
    ("mapped_wait", "bytes touched, at most"): lambda one: float(one.faults["length"].sum()),
    ("unsharded_input", "bytes read by several"): lambda one: float(bytes_of_ranks(one).sum()),
    ("unsharded_input", "bytes of the input"):
        lambda one: float(one.found.files.drop_duplicates("path")["size_bytes"].sum()),
    ("unsharded_input", "ranks with the same files"): lambda one: one.found.files["rank"].nunique(),
    ("shard_imbalance", "times as much"):
        lambda one: float(bytes_of_ranks(one).max() / bytes_of_ranks(one).median()),
    ("full_storage", "bandwidth"):
        lambda one: float(one.found.data_reads["length"].sum()) / one.found.union_s(one.found.data_reads),
    ("full_storage", "calls a second"):
        lambda one: len(one.found.data_reads) / one.found.union_s(one.found.data_reads),
    ("validation", "reading in them"): lambda one: one.found.union_s(_between_steps(one)),
    ("validation", "files"): lambda one: _between_steps(one)["file"].nunique(),
    ("straggler", "files"): lambda one: len(_slow_files(one)),
}  # fmt: skip


def _between_steps(one: Made) -> pd.DataFrame:
    """Return the reads in no step."""
    reads, steps, origin = one.found.data_reads, one.found.steps, one.meta["origin_realtime_ns"]
    within = pd.Series(False, reads.index)
    for start, end in zip(steps["start"] - origin, steps["end"] - origin, strict=True):
        within |= (reads["start_ns"] >= start) & (reads["start_ns"] < end)
    return reads[~within]


def _slow_files(one: Made) -> pd.Series[float]:
    """Return the files whose reads take ten times as long as the median file's."""
    mean = one.found.data_reads.groupby("file")["seconds"].mean()
    return mean[mean > 10 * mean.median()]


MADE: tuple[tuple[str, Maker], ...] = (
    *SESSIONS.items(), *((f"{case.name}, true", case.true) for case in CASES),
)  # fmt: skip


@pytest.mark.parametrize(("name", "maker"), MADE, ids=[name for name, _ in MADE])
def test_evidence_is_what_the_tables_say(name, maker, shown: ShownSessions):
    # GIVEN
    one = made(shown.session(maker))

    # WHEN
    rows = [
        ((finding.name, row.label), row.value)
        for finding in shown.diagnosis(maker).findings
        for row in finding.evidence
        if (finding.name, row.label) in FIGURES and row.value is not None
    ]

    # THEN, if the trace has all calls
    other = {
        key: (value, figure)
        for key, value in rows
        if (one.is_whole or key[0] == "truncated_trace")
        and (figure := FIGURES[key](one)) is not None
        and value != pytest.approx(figure, rel=1e-6)
    }
    assert other == {}


def test_each_figure_is_worked_out_of_a_session(shown: ShownSessions):
    left = set(FIGURES)
    for _, maker in MADE:
        rows = [
            (finding.name, row) for finding in shown.diagnosis(maker).findings for row in finding.evidence
        ]
        keys = left & {(name, row.label) for name, row in rows if row.value is not None}
        one = made(shown.session(maker)) if keys else None
        left -= {key for key in keys if one is not None and FIGURES[key](one) is not None}

    assert left == set()
