"""Reads that return nothing: probes for the end of a file whose size could have been known."""

from __future__ import annotations

from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.fix_lines import reads_whole_files
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.record_files import steps_read_records
from tfdarshan.replay.storage_edits import Without
from tfdarshan.units import human_seconds, percent, plural

NAME = "eof_probes"
ABOUT = About(
    title="Files are read until nothing comes",
    cause="A read at the end of a file returns no bytes. Such an end-of-file read only tells that the "
    "file has ended, and on network storage costs a round trip. The size of the file tells the "
    "same for one `fstat()` call.",
    says="33.3 % of the reads return no byte: end of file",
    fixes={
        "plain Python": "`data = os.pread(fd, os.fstat(fd).st_size, 0)`",
    },
    estimate="tfdarshan replays the job without end-of-file reads. TensorFlow's own readers are left out, "
    "because no line of a job changes their end-of-file reads.",
    ignore="the file system is local, where an end-of-file read takes a microsecond, or the input is in "
    "shards",
    fix="no end-of-file reads",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find them where they cost time."""
    if not measures.kinds_known:
        return measures.untraced(NAME, "what end-of-file reads cost")
    probes, reads = measures.group("empty_read"), measures.group("read", "empty_read")
    # TensorFlow's own readers ask for each file's end, and no line of a job changes that.
    if not probes.calls or reads_whole_files(measures) or steps_read_records(measures):
        return None
    count = round(probes.calls)
    each_s = probes.thread_s / probes.calls
    return Finding(
        name=NAME,
        title=f"{percent(probes.calls, reads.calls)} of the reads return no byte: end of file",
        what=f"{plural(count, 'end-of-file read')} returned no byte and took "
        f"{human_seconds(each_s)}{' each' * (count > 1)}. The size of a file tells the same.",
        evidence=(
            Evidence("end-of-file reads", f"{probes.calls:,.0f}", probes.calls),
            Evidence("time in them, over all threads", human_seconds(probes.thread_s), probes.thread_s),
            Evidence("mean", human_seconds(each_s), each_s),
        ),
        fix=Fix(
            "Stop at the size of the file, instead of reading until a read returns no byte.",
            "data = os.pread(fd, os.fstat(fd).st_size, 0)",
        ),
        edits=(Without("probe"),),
    )
