"""Mapped files whose pages are in memory: page faults cost next to nothing, and storage is not the limit."""

from __future__ import annotations

from tfdarshan.analysis.steps.mapped_waits import FileWaits
from tfdarshan.file_name import exact_name, shell_word
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix
from tfdarshan.findings.fix_lines import input_pipeline
from tfdarshan.findings.mapped_fix_lines import read_ahead_of_faults
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.tensorflow.pipeline_words import GENERATOR
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_seconds, plural

NAME = "mapped_cached"
ABOUT = About(
    title="Mapped files are in memory",
    cause="Nine of ten page faults on mapped files find their page in the page cache. Faster storage "
    "and reading ahead give nothing. If a generator yields records of an LMDB database, handing "
    "over record after record under Python's lock can cost more than the reads.",
    says="2 mapped files are read from the page cache",
    seen=("page faults, and how many of them waited", "the finding's evidence"),
    fixes={
        "LMDB": "`tfdarshan.lmdb.dataset(path, batch=32)`; measure first: `tfdarshan lmdb bench PATH`",
    },
    estimate="tfdarshan states no speedup: the recorded page faults hardly waited.",
    ignore="the job does not read LMDB records in a generator",
    fix="records read without a generator",
)


def find(measures: Measures) -> Finding | None:
    """Find it if faults hardly wait; a generator over py-lmdb is told what it costs to hand records over."""
    found, model = measures.mapped, measures.model
    waits, quick = found.waits, sum(one.quick for one in found.files)
    # A few faults say nothing: a mapping may be there and not be read.
    few = waits + quick < THRESHOLD["many"]
    if measures.imported or few or quick < THRESHOLD["cached"] * (waits + quick):
        return None
    if found.wait_s / model.units >= THRESHOLD["note"] * model.unit_s:
        return None
    files = sorted(found.files, key=lambda one: -one.quick)
    return Finding(
        name=NAME,
        kind="note",
        title=f"{plural(len(files), 'mapped file')} {'is' if len(files) == 1 else 'are'} read from the page "
        "cache",
        what=f"{waits:,.0f} of {waits + quick:,.0f} page faults on mapped files waited, "
        f"{human_seconds(found.wait_s)} in all: faster storage or reading ahead would not help.",
        evidence=(
            Evidence("page faults", f"{waits + quick:,.0f}", waits + quick),
            Evidence("of them waited", f"{waits:,.0f}", waits),
            Evidence("waited in all", human_seconds(found.wait_s), found.wait_s),
        ),
        files=tuple(one.path for one in files[:5]),
        fix=_records(measures, files[0]),
    )


def _records(measures: Measures, file: FileWaits) -> Fix | None:
    """Return how to read records of LMDB without a generator, and what measures the gain; else None."""
    pipeline = input_pipeline(measures)
    if file.format != "lmdb" or pipeline is None or pipeline.reader_name != GENERATOR:
        return None
    fix = read_ahead_of_faults(measures, file, jumps=False)
    bench = f"tfdarshan lmdb bench {shell_word(exact_name(file.path))}"
    what = (
        "Read batches of records without py-lmdb, which hands over one record at a time under Python's lock. "
        f"`{bench}` measures the gain."
    )
    return Fix(what, fix.line, fix.instead_of)
