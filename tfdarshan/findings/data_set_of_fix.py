"""Where a line stands that a job's data sets have more than once: a fix says which of them it means."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.findings.finding import Finding
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import Pipeline
from tfdarshan.staging.plan_from_decision import common_folder


def with_place(finding: Finding, measures: Measures) -> Finding:
    """Return the finding; where its fix's line may be that of several data sets, with the one it means."""
    fix = finding.fix
    if fix is None or not _stands_twice(fix.instead_of.splitlines(), measures.pipelines or ()):
        return finding
    between = fix.data_set == "validation"
    said = f"change the one that {'is read between epochs' if between else 'steps read'}"
    rows = _rows(measures, in_pauses=between)
    if len(rows) and measures.shown_path is None:
        said += f", from {common_folder(measures.files.paths.take(pa.array(rows)))}"
    what = f"{fix.what} Several data sets have this line: {said}."
    return dataclasses.replace(finding, fix=dataclasses.replace(fix, what=what))


def _stands_twice(lines: Sequence[str], pipelines: Sequence[Pipeline]) -> bool:
    """Return whether two pipelines that read files have such a statement."""
    having = [
        one
        for one in pipelines
        if one.reader is not None and any(stage.statement in lines for stage in one.stages)
    ]
    return len(having) > 1


def _rows(measures: Measures, *, in_pauses: bool) -> Array:
    """Return the rows of files that are read between the steps of two epochs, or of those in the steps."""
    if in_pauses:
        return measures.validation_files
    return np.setdiff1d(np.flatnonzero(measures.costs.reads > 0), measures.validation_files)
