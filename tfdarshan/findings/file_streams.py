"""Files that a pipeline reads from end to end, one call at a time: none is quicker by more readers."""

from __future__ import annotations

from tfdarshan.analysis.tf_data_pipeline import FILES
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.pipeline_api import input_pipeline

# Stages that make a data set of each file, which gives its records in order.
STREAMS = frozenset((*FILES, "interleave"))


def longest_share(measures: Measures) -> float:
    """Gives the time in calls on the file that takes longest, as a share of what calls take of all batches.

    As much is left however many files are read at a time; 0 where several calls may read parts of one file.
    """
    pipeline, model = input_pipeline(measures), measures.model
    if pipeline is None or pipeline.reader is None or pipeline.reader.name not in STREAMS:
        return 0.0
    taken_s = measures.costs.call_s
    if not len(taken_s) or model.storage_s <= 0:
        return 0.0
    return min(1.0, float(taken_s.max()) / (model.units * model.storage_s))
