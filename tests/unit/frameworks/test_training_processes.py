"""Which processes of a session train, by what they noted, and which folder each process goes to."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tfdarshan.frameworks.batch_rows import CAME, FETCH, OPTIMIZER, REQUEST, TIMED, ProcessRows
from tfdarshan.frameworks.noted import training_processes
from tfdarshan.native.process_identity import ProcessIdentity
from tfdarshan.recording.writing.children import Child
from tfdarshan.recording.writing.job_parts import drafts, parts_of_job
from tfdarshan.sessions.session_directory import Marker

RECORDER = 10
STEPS, BATCHES, FETCHES = [REQUEST, OPTIMIZER], [REQUEST], [FETCH]


def noted(pid, kinds, workers=(), begin_ns=0, end_ns=100, **told):
    rows = np.zeros(len(kinds), TIMED)
    rows["kind"], rows["outcome"], rows["begin_ns"], rows["end_ns"] = kinds, CAME, begin_ns, end_ns
    notes = [{"pass": 1, "loader": {}, "workers": list(workers)}]
    return ProcessRows(pid, rows, [*notes, {"start_cpu_s": 1.0, **told}] if told else notes, 0)


@pytest.mark.parametrize(
    ("processes", "trains"),
    [
        ([], [RECORDER]),
        ([noted(RECORDER, STEPS)], [RECORDER]),
        ([noted(11, STEPS), noted(12, STEPS)], [11, 12]),
        # by rank, if all have been told theirs
        ([noted(11, STEPS, rank=1), noted(12, STEPS, rank=0)], [12, 11]),
        ([noted(11, STEPS, rank=0), noted(12, STEPS, rank=0)], [11, 12]),
        # the recorder is a rank that has started the others, or trains beside what is none
        ([noted(RECORDER, STEPS, rank=0), noted(11, STEPS, rank=1)], [RECORDER, 11]),
        ([noted(RECORDER, STEPS), noted(11, STEPS)], [RECORDER]),
        # who has no steps only measures, or looks
        ([noted(RECORDER, BATCHES), noted(11, STEPS), noted(12, BATCHES)], [11]),
        ([noted(11, BATCHES), noted(12, BATCHES)], [11, 12]),
        # of trainings one after the other, the longest, with what runs beside it
        ([noted(11, STEPS), noted(12, STEPS, begin_ns=200, end_ns=400)], [12]),
        (
            [
                noted(11, STEPS, rank=0),
                noted(12, STEPS, begin_ns=200, end_ns=400, rank=1),
                noted(13, STEPS, begin_ns=210, end_ns=390, rank=0),
            ],
            [13, 12],
        ),
        # workers train nothing
        ([noted(11, BATCHES, workers=[12]), noted(12, BATCHES), noted(13, FETCHES)], [11]),
    ],
)
def test_who_has_steps_trains(processes, trains):
    assert training_processes(processes, RECORDER) == trains


@pytest.fixture(autouse=True)
def spools(monkeypatch):
    """Have all spools read but those of process 99."""
    monkeypatch.setattr(Child, "can_be_read", property(lambda child: child.identity.pid != 99))


def child(pid, parent):
    return Child(Path(f"/spool/{pid}.spool"), ProcessIdentity(pid, pid, parent, True, pid, pid, ()))


def marker(tmp_path, job=None):
    return Marker(
        session="now", spool_directory=str(tmp_path), host="n0", pid=RECORDER, process_start=1, boot_id="b",
        pid_namespace="", start_realtime_ns=0, options={}, notes=[], versions={}, started_by="run", job=job,
    )  # fmt: skip


# Two ranks, a worker of each, what the second one's worker started, and a helper of the recorder's.
CHILDREN = [child(11, 10), child(12, 10), child(13, 11), child(14, 12), child(15, 14), child(16, 10)]


def pids(part):
    return [one.identity.pid for one in part.children]


def test_each_process_goes_with_the_rank_that_started_it(tmp_path):
    # GIVEN two ranks that were told which they are
    ranks = [noted(11, STEPS, rank=0, world_size=4), noted(12, STEPS, rank=1, world_size=4)]

    # WHEN
    first, second = parts_of_job(tmp_path, marker(tmp_path), CHILDREN, ranks)

    # THEN
    assert [part.directory.name for part in (first, second)] == ["rank-00000", "rank-00001"]
    assert [part.pid for part in (first, second)] == [11, 12]
    assert (pids(first), pids(second)) == ([13, 16], [14, 15])
    assert (first.has_launcher, second.has_launcher) == (True, False)
    assert [part.marker.job["world_size"] for part in (first, second)] == [4, 4]
    assert (first.share, second.share) == (0.5, 0.5)


def test_a_lone_trainer_owns_the_session(tmp_path):
    (part,) = parts_of_job(tmp_path, marker(tmp_path), CHILDREN, [noted(12, STEPS)])
    assert (part.directory, part.pid, part.has_launcher, part.marker.job) == (tmp_path, 12, True, None)
    assert pids(part) == [11, 13, 14, 15, 16]


def test_a_recorder_that_is_a_rank_starts_no_part_of_its_own(tmp_path):
    # GIVEN a recorder that trains, and has started another rank
    ranks = [noted(RECORDER, STEPS, rank=0), noted(12, STEPS, rank=1)]

    # WHEN
    first, second = parts_of_job(tmp_path, marker(tmp_path), CHILDREN, ranks)

    # THEN
    assert (first.trainer, first.has_launcher, pids(first)) == (None, False, [11, 13, 16])
    assert (second.pid, pids(second)) == (12, [14, 15])
    # AND in a folder that is a rank's of a larger job it stays one part
    job = dataclasses.replace(marker(tmp_path), job={"rank": 3})
    again = child(RECORDER, 1)  # another program, which it has become by exec
    (part,) = parts_of_job(tmp_path, job, [*CHILDREN, again], ranks)
    assert part.children[-1] is again
    assert (part.trainer, part.directory) == (None, tmp_path)


def test_ranks_are_there_once_all_are_written(tmp_path):
    parts = parts_of_job(tmp_path, marker(tmp_path), CHILDREN, [noted(11, STEPS), noted(12, STEPS)])
    with drafts(parts) as drafted:
        for part in drafted:
            (part.directory / "written").touch()
        assert not list(tmp_path.glob("rank-*"))
    assert [path.parent.name for path in sorted(tmp_path.glob("rank-*/written"))] == [
        part.directory.name for part in parts
    ]


def test_a_rank_whose_spool_cannot_be_read_is_a_child(tmp_path):
    ranks = [noted(11, STEPS, rank=0), noted(99, STEPS, rank=1)]
    (part,) = parts_of_job(tmp_path, marker(tmp_path), [child(11, 10), child(99, 10)], ranks)
    assert (part.pid, pids(part)) == (11, [99])


def test_what_an_earlier_attempt_left_is_replaced(tmp_path):
    parts = parts_of_job(tmp_path, marker(tmp_path), CHILDREN, [noted(11, STEPS), noted(12, STEPS)])
    parts[0].directory.mkdir()
    (parts[0].directory / "old").touch()
    with drafts(parts):
        pass
    assert not list(tmp_path.glob("rank-*/old"))
