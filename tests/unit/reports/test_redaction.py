"""What a redacted report says of bounds: numbers and reasons, and nothing that somebody named."""

import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.reports.views.redaction import HIDDEN, Redaction
from tfdarshan.reports.views.view_source import Source

MATCHES = "no file that the job used matches"
UNRECORDED = "2 processes that the job started could not be recorded:"
KEPT = "3 of 4 segments were dropped: the trace was full (trace_memory_mb = 1); the counters have all of them"


@pytest.mark.parametrize(
    ("bound", "shown"),
    [
        (f"{MATCHES} include=*secret*.jpg: see whether", f"{MATCHES} include={HIDDEN}"),
        (f"{MATCHES} include=/data/my secret/* or exclude=secret*: see", f"{MATCHES} {HIDDEN}"),
        (f"{MATCHES} as_if_paths=secret one, /data/b: nothing was", f"{MATCHES} as_if_paths={HIDDEN}"),
        (f"{UNRECORDED} /opt/my secret program (statically linked)", f"{UNRECORDED} {HIDDEN}"),
        (f"{UNRECORDED} bin/secret (statically linked), /bin/b (not readable)", f"{UNRECORDED} {HIDDEN}"),
        (f"the log (/data/my secret log) is damaged: {KEPT}", f"the log {HIDDEN}"),
        (KEPT, KEPT),
    ],
)
def test_redacted_bounds_have_no_part_of_a_name(tmp_path, bound, shown):
    job = job_of([(0, 100, 1, "pread", 0, 40)], ["/a"], [40], meta={"bounds": [bound]})
    session = write_session(tmp_path, job)

    assert Source(session, redaction=Redaction("key")).summary.bounds == [shown]
    # AND all of it where names are shown
    assert Source(session).summary.bounds == [bound]
