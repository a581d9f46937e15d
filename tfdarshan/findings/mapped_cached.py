"""Mapped files whose pages are in memory: page faults cost next to nothing, and storage is not the limit."""

from __future__ import annotations

import shlex

from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding
from tfdarshan.findings.mapped_cures import name_of, read_ahead_of_faults
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.pipeline_api import GENERATOR, input_pipeline
from tfdarshan.units import human_seconds, plural

NAME = "mapped_cached"
# Fewer faults say nothing: a mapping may be there and not be read.
FEWEST = 256
# Of the faults, so many find their page in memory.
CACHED = 0.9


def find(measures: Measures) -> Finding | None:
    """Finds it where faults hardly wait; with py-lmdb in a generator it is the hand-over that costs."""
    found, model = measures.mapped, measures.model
    waits, quick = sum(one.waits for one in found.files), sum(one.quick for one in found.files)
    if measures.imported or waits + quick < FEWEST or quick < CACHED * (waits + quick):
        return None
    if found.wait_s / model.units >= LEAST_SHARE * model.unit_s:
        return None
    files = sorted(found.files, key=lambda one: -one.quick)
    note = Finding(
        name=NAME,
        kind="note",
        title=f"the page cache has what is read of {plural(len(files), 'mapped file')}",
        what=f"Of {waits + quick:,.0f} page faults on mapped files {waits:,.0f} waited, "
        f"{human_seconds(found.wait_s)} in all: faster storage, or reading ahead, would give nothing.",
        evidence=(
            Evidence("page faults", f"{waits + quick:,.0f}", waits + quick),
            Evidence("of them waited", f"{waits:,.0f}", waits),
            Evidence("waited in all", human_seconds(found.wait_s), found.wait_s),
        ),
        files=tuple(one.path for one in files[:5]),
        unit=model.unit,
        cost_s=0.0,
    )
    if files[0].format != "lmdb" or not _hands_over_records(measures):
        return note
    return _records(measures, note)


def _hands_over_records(measures: Measures) -> bool:
    """Says whether a generator yields what tf.data reads, and steps wait for that longer than for calls."""
    pipeline, model = input_pipeline(measures), measures.model
    if pipeline is None or pipeline.reader_name != GENERATOR or model.wait_s is None:
        return False
    return model.other_s > model.storage_s and model.other_s >= LEAST_SHARE * model.unit_s


def _records(measures: Measures, note: Finding) -> Finding:
    """Words what one record after the other costs; what of it is decoding the session does not show."""
    model, file = measures.model, max(measures.mapped.files, key=lambda one: one.quick)
    gain = measures.gain(
        0.0,
        UNSHOWN * model.other_s,
        model.other_s,
        assumed=[
            Assumption(
                "the generator hands records over, and does little else",
                "",
                "it decodes them, too: that goes on in map()",
            )
        ],
    )
    cure = read_ahead_of_faults(measures, file, jumps=False)
    bench = f"tfdarshan lmdb bench {shlex.quote(file.path)}"
    return Finding(
        **{
            **vars(note),
            "kind": "problem",
            "title": f"a generator hands over records of an {name_of(file)} one by one",
            "what": f"{note.what} A batch takes {human_seconds(model.pipeline_s)}, "
            f"{human_seconds(model.other_s)} of it outside of calls: py-lmdb gives record after record under "
            f"the interpreter's lock. What that costs here: `{bench}`.",
            "evidence": (
                *note.evidence,
                Evidence("of a batch, outside of calls", human_seconds(model.other_s), model.other_s),
            ),
            "cost_s": gain.saved_s,
            "gain": gain,
            "cure": Cure(
                "Read batches of records without the interpreter, in place of a generator.",
                cure.line,
                cure.instead_of,
            ),
            "not_worth": "where the generator decodes: have map() decode first",
        }
    )
