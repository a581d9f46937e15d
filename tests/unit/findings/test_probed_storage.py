"""A probe that is kept in a session: which one counts, and the command that offers one."""

import json

from tests.closed_readers import Queue, calls_of
from tests.unit.findings.made_up_jobs import readers_job as job
from tests.unit.findings.made_up_jobs import rests
from tests.unit.findings.made_up_probes import FULL, WAITING, probe_of
from tests.unit.sentences.other_sessions import ranks
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.replayed import probe_command
from tfdarshan.session import open_session
from tfdarshan.storage_probe.probe_result import probe_of_dict
from tfdarshan.storage_probe.session_probes import keep_probes, main_mount, probe_kept


def one_reader(logdir):
    """Return a session of one reader whose reads of 100 kB take 5 ms: a wait, or a transfer."""
    return job(logdir, calls_of(Queue(0, 5), readers=1, rest_ms=rests(0.5)))


def with_probe(session, storage, **more):
    """Keep a probe of such storage in a session; return the session as it is opened again."""
    measures = measure(session)
    keep_probes(session, [probe_of(storage, main_mount(measures.files, measures.costs.call_s), **more)])
    return open_session(session.path)


def probe_in(session):
    """Return the probe of the mount that most of the input is on."""
    measures = measure(session)
    return probe_kept(session.meta[0], main_mount(measures.files, measures.costs.call_s))


def test_a_probe_of_another_mount_or_of_nothing_is_not_used(tmp_path):
    session = one_reader(tmp_path)
    keep_probes(session, [probe_of(WAITING, "/elsewhere")])

    assert probe_in(open_session(session.path)) is None


def test_the_newest_probe_counts(tmp_path):
    session = with_probe(one_reader(tmp_path), FULL, at_ns=2 * 10**18)
    session = with_probe(session, WAITING, at_ns=10**18)

    assert probe_in(session).at_ns == 2 * 10**18


def test_a_probe_survives_the_metadata(tmp_path):
    probe = probe_of(WAITING, "/")
    session = one_reader(tmp_path)
    keep_probes(session, [probe])

    (block,) = open_session(session.path).meta[0]["probes"]

    assert probe_of_dict(block) == probe


def test_a_probe_of_a_job_with_ranks_is_kept_by_the_leading_one(tmp_path):
    # GIVEN a job whose last rank waits most
    session = ranks(tmp_path, marked=True)
    before = session.leading.meta[0]

    # WHEN
    keep_probes(session, [probe_of(WAITING, "/")])

    # THEN nothing else has changed
    again = open_session(session.path)
    assert again.joint.leading.rank == 2
    assert [len(meta.get("probes", ())) for meta in again.meta] == [1, 0, 0]
    assert probe_kept(again.meta[0], "/").mount_point == "/"
    assert again.leading.meta[0] == before | {"probes": again.meta[0]["probes"]}


def test_of_emulated_storage_no_probe_is_offered(tmp_path):
    session = one_reader(tmp_path)
    assert probe_command(measure(session)) == f"tfdarshan probe --logdir {session.path}"
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["options"] = {**(meta.get("options") or {}), "as_if": "hdd"}
    path.write_text(json.dumps(meta))

    assert probe_command(measure(open_session(session.path))) == ""
