"""What a session says that recording took, against the processor time that the kernel charges a program."""

import dataclasses
import json
import os
import resource
from statistics import median

import pytest

import tfdarshan
from tfdarshan.analysis.calls.own_cost import own_cost
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.commands import main
from tfdarshan.session import open_session

ROUNDS = 7
READS, OPENS = 150_000, 50_000
# A program's own data push the recorder's out of the processor's caches, and other programs do.
RATIO = 4


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(bytes(1 << 16))
    return path


def read(path):
    handle = os.open(path, os.O_RDONLY)
    for number in range(READS):
        os.pread(handle, 64, 64 * (number % 1024))
    os.close(handle)


def open_and_close(path):
    for _ in range(OPENS):
        os.close(os.open(path, os.O_RDONLY))


def cpu_s(work, path):
    """Return the processor time of this process, which has one thread."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work(path)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.long
@pytest.mark.parametrize("work", [read, open_and_close])
def test_the_stated_cost_is_what_the_kernel_charges(tmp_path, file, work):
    # WHEN runs without and with a session take turns
    alone, recorded, stated = [], [], []
    for number in range(ROUNDS):
        alone.append(cpu_s(work, file))
        with tfdarshan.profile(tmp_path / f"logs{number}") as session:
            recorded.append(cpu_s(work, file))
        cost = summarize(session.session).own_cost
        assert 0 < cost.recording_s < cost.session_s
        stated.append(cost.recording_s)

    # THEN
    charged_s = median(recorded) - median(alone)
    # The quickest runs differ by no more than a run differs from the next one.
    floor_s = median(abs(one - median(alone)) for one in alone)
    assert median(stated) / RATIO - floor_s < charged_s < median(stated) * RATIO + floor_s


def test_every_summary_has_it(tmp_path, file, capsys):
    # GIVEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        read(file)
    path = str(session.path)

    # WHEN
    assert main(["summary", path, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["own_cost"]
    assert main(["summary", path]) == main(["summary", "-v", path]) == 0
    texts = " ".join(capsys.readouterr().out.split())

    # THEN
    assert said["share"] == said["recording_s"] / said["session_s"]
    assert said["attach_s"] > 0
    assert said["detach_s"] > 0
    assert texts.count("Recording took ") == 2
    assert texts.count("Not counted: writing the session") == 1


def test_nothing_of_the_trial_is_in_the_session(tmp_path, file):
    with tfdarshan.profile(tmp_path / "logs", exclude=["/*"], include=[f"{file}"]) as session:
        open_and_close(file)

    assert session.files_brief["path"].tolist() == [str(file)]
    assert sum(meta["counts"]["events"] for meta in session.meta) == 2 * OPENS


def test_processes_add_up_and_older_sessions_say_nothing(tmp_path, file):
    # GIVEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        child = os.fork()
        if not child:
            read(file)
            os._exit(0)
        os.waitpid(child, 0)
        read(file)
    (owner, other) = open_session(session.path).meta

    # WHEN
    whole, alone = own_cost([owner, other], 2), own_cost([owner], 1)
    older = {name: entry for name, entry in owner.items() if name != "attach"}

    # THEN
    assert 1.9 < whole.recording_s / alone.recording_s < 2.1
    assert dataclasses.replace(whole, recording_s=0, share=0) == dataclasses.replace(
        alone, recording_s=0, share=0
    )
    assert own_cost([older, other], 2) is None
