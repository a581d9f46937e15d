"""What is said of a session as a whole is said of no process."""

from tests.made_up_session import job_of, write_session
from tfdarshan.analysis.summary_data import summarize

CALLS = [(0, 10, 1, "pread", 0, 5, 0)]


def test_notes_of_the_session_name_no_process(tmp_path):
    # GIVEN a session of two processes with a note of its own, and a bound in each
    owner = {"bounds": ["nothing matched exclude=/none", "the spool was full"]}
    owner["session_notes"] = owner["bounds"][:1]
    jobs = [
        job_of(CALLS, ["/data/a"], [5], pid=pid, meta=meta)
        for pid, meta in ((100, owner), (101, {"bounds": ["the spool was full"]}))
    ]
    session = write_session(tmp_path, *jobs)

    # WHEN
    bounds = summarize(session).bounds

    # THEN
    assert bounds == [
        "nothing matched exclude=/none",
        "process 100 (main): the spool was full",
        "process 101 (worker 1): the spool was full",
    ]


def test_sessions_that_do_not_tell_notes_apart_name_the_process(tmp_path):
    jobs = [job_of(CALLS, ["/data/a"], [5], pid=pid, meta={"bounds": ["full"]}) for pid in (100, 101)]
    bounds = summarize(write_session(tmp_path, *jobs)).bounds
    assert bounds == ["process 100 (main): full", "process 101 (worker 1): full"]
