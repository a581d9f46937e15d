"""The bursts in which Python code reads batches, of a job that marks no steps."""

from __future__ import annotations

from tfdarshan.analysis.steps.input_pipeline import calls_on
from tfdarshan.analysis.steps.read_bursts import ReadBursts, read_bursts
from tfdarshan.findings.fix_lines import input_pipeline, reads_by_tf_data, reads_by_workers
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.unseen_faults import unseen_faults
from tfdarshan.thresholds import THRESHOLD


def bursts_of(measures: Measures) -> ReadBursts | None:
    """Return the bursts in which Python code reads, if the session saw how it began; else None."""
    if not measures.kinds_known or not measures.writes_known or measures.dropped_events.dropped_calls:
        return None
    # tf.data and workers say themselves whether they prepare ahead.
    if input_pipeline(measures) or reads_by_tf_data(measures) or reads_by_workers(measures):
        return None
    # Who records a part of a run may begin behind a full buffer; each epoch fills it again.
    whole = measures.recorded.started_by == "run" or measures.figures.rereads.passes >= THRESHOLD["again"]
    if not whole or unseen_faults(measures) is not None:
        return None
    return measures.kept.get("bursts", lambda: _bursts_of(measures))


def _bursts_of(measures: Measures) -> ReadBursts | None:
    blocks = measures.measured.calls.blocks()
    return read_bursts(calls_on(block, measures.is_input, measures.windows)[1] for block in blocks)
