"""`tfdarshan list`: what it says of each session is what the session's own verdict says."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import sys
import time

import pytest

import tfdarshan
from tests.joint_training import MadeUpRank, joint_training
from tests.unit.findings.made_up_training import ORIGIN_NS, epochs_of_steps, training
from tfdarshan.commands import main
from tfdarshan.commands.list_sessions import MOST_SESSIONS
from tfdarshan.errors import SessionDataError
from tfdarshan.findings import kept_verdicts
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.sessions.catalogue import groups_in_time, list_sessions
from tfdarshan.sessions.rank_folder import rank_folder

READER = 101
DULL = kept_verdicts.KeptVerdict("healthy", "Healthy.")
SECOND = 1_000_000_000


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """Give each test a cache folder of its own."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def record(logdir, wait_ms, *, steps=40, start_s=0, **meta):
    """Write a session whose steps of 100 ms wait so long for reads."""
    calls = [(n * 100, n * 100 + max(wait_ms, 1), READER, "pread", 0, 1_000_000, 0) for n in range(steps)]
    began = ORIGIN_NS + start_s * SECOND
    session = training(logdir, calls, epochs_of_steps(steps, 100, wait_ms))
    (path,) = session.path.glob("*.meta.json")
    content = json.loads(path.read_text())
    # Its steps are told in time since the epoch, too.
    for row in content["steps"]["rows"]:
        row[1:3] = [at + start_s * SECOND for at in row[1:3]]
    content |= {"origin_realtime_ns": began, "start_realtime_ns": began, **meta}
    path.write_text(json.dumps(content))
    return tfdarshan.open_session(session.path)


def listed(capsys, logdir, *options):
    assert main(["list", str(logdir), *options]) == 0
    return capsys.readouterr().out


def test_the_worst_come_first_with_their_own_verdicts(capsys, tmp_path):
    # GIVEN a healthy run, one that waits, and one that waits as much for twice as long
    sessions = {
        "healthy": record(tmp_path / "healthy", 1),
        "slow": record(tmp_path / "slow", 60, start_s=100),
        "slower": record(tmp_path / "slower", 60, steps=80, start_s=200, command="python train.py"),
    }

    # WHEN
    found = json.loads(listed(capsys, tmp_path, "--all", "--json"))["sessions"]

    # THEN
    assert [entry["run"] for entry in found] == ["slower", "slow", "healthy"]
    for entry in found:
        verdict = sessions[entry["run"]].verdict
        assert entry["verdict"]["sentence"] == verdict.sentence
        assert entry["verdict"]["wait_share"] == verdict.wait_share
        assert entry["duration_ns"] == sessions[entry["run"]].meta[0]["duration_ns"]
    gain = sessions["slower"].verdict.gain
    assert found[0]["verdict"]["lost_s"] == pytest.approx(80 * gain.saved_s)
    assert found[2]["verdict"]["lost_s"] == 0

    # THEN the text says the same
    text = listed(capsys, tmp_path)
    rows = [line.split() for line in text.splitlines() if line.startswith(("slow", "healthy"))]
    name = f"slower/{found[0]['path'].rpartition('/')[2]}"
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(found[0]["start_ns"] / 1e9))
    assert rows[0][:8] == [name, *began[5:].split(), "8.000", "s", "60.0", "%", f"{gain.speedup:.2f}x"]
    assert found[0]["started"] == began
    assert rows[2][-1] == "healthy"
    assert "\n  python train.py\n" in text
    assert max(map(len, text.splitlines()[1:])) <= 100


def test_time_in_no_step_is_lost_to_no_input(capsys, tmp_path):
    # GIVEN 4 s of steps in a session of 4 s, and in one that goes on for an hour after the last one
    record(tmp_path / "short", 60)
    record(tmp_path / "long", 60, start_s=10_000, duration_ns=3_600 * SECOND)

    # WHEN
    found = json.loads(listed(capsys, tmp_path, "--all", "--json"))["sessions"]

    # THEN the fix gives both the same seconds back, and no more than all steps waited
    lost_s = [entry["verdict"]["lost_s"] for entry in found]
    assert lost_s[0] == pytest.approx(lost_s[1])
    assert 0 < lost_s[0] <= 0.6 * 4
    # ... and so it is among the jobs of a fleet
    main(["fleet", str(tmp_path), "--catalogue", str(tmp_path / "jobs"), "--json"])
    jobs = json.loads(capsys.readouterr().out)["worst_jobs"]
    assert [job["finding_gain_s"] for job in jobs] == pytest.approx(lost_s)
    assert max(job["finding_cost_s"] for job in jobs) <= 0.6 * 4


def test_a_verdict_is_worked_out_once_until_the_session_changes(capsys, tmp_path, monkeypatch):
    session = record(tmp_path / "logs", 60)
    first = listed(capsys, tmp_path / "logs", "--json")
    looked = []

    # WHEN it is listed again
    with monkeypatch.context() as patch:
        patch.setattr("tfdarshan.session.open_session", lambda path, **_: looked.append(path))
        again = listed(capsys, tmp_path / "logs", "--json")

    # THEN nobody reads its tables
    assert looked == []
    assert json.loads(again) == json.loads(first)

    # WHEN it is written again
    (meta,) = session.path.glob("*.meta.json")
    os.utime(meta, ns=(0, meta.stat().st_mtime_ns + SECOND))
    assert [*kept_verdicts.KeptVerdicts(tmp_path / "logs")._entries] == [session.path.name]
    (entry,) = list_sessions(tmp_path / "logs")
    assert kept_verdicts.KeptVerdicts(tmp_path / "logs").get(entry) is None


@pytest.mark.parametrize("content", [b"", b"[]", b'{"version": "0"}', b'{"sessions": 3}', b"\xff"])
def test_a_damaged_cache_is_as_good_as_none(capsys, tmp_path, cache, content):
    record(tmp_path / "logs", 60)
    before = listed(capsys, tmp_path / "logs", "--json")
    (file,) = cache.rglob("*.json")
    file.write_bytes(content)

    assert listed(capsys, tmp_path / "logs", "--json") == before


def test_a_cache_that_cannot_be_written_is_done_without(capsys, tmp_path, monkeypatch):
    record(tmp_path / "logs", 60)
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")

    assert (
        json.loads(listed(capsys, tmp_path / "logs", "--json"))["sessions"][0]["verdict"]["state"] == "slow"
    )


def test_sessions_that_overlap_are_together(capsys, tmp_path):
    # GIVEN two ranks, and a healthy run an hour later
    for run, start_s in (("rank0", 0), ("rank1", 1), ("alone", 3_600)):
        record(tmp_path / run, 60 if run != "alone" else 1, start_s=start_s)

    groups = [[session.run for session in group] for group in groups_in_time(list_sessions(tmp_path))]
    text = listed(capsys, tmp_path)

    assert groups == [["rank0", "rank1"], ["alone"]]
    assert re.search(
        r"2 sessions at the same time\n  rank0/.*\n( {4}.*\n)+  rank1/.*\n( {4}.*\n)+alone/", text
    )


def test_sessions_that_are_not_complete_say_so(capsys, tmp_path):
    # GIVEN one that was interrupted, one that records, and one whose metadata are damaged
    damaged = record(tmp_path / "damaged", 60)
    for path in damaged.path.glob("*.meta.json"):
        path.write_bytes(b"{")
    interrupted = tmp_path / "logs" / "plugins" / "tfdarshan" / "2024_01_01_00_00_00"
    interrupted.mkdir(parents=True)
    (interrupted / "recording.json").write_text("{}")
    with tfdarshan.profile(tmp_path / "now"):
        text = listed(capsys, tmp_path)

    for name, said in (
        ("damaged", "its data cannot be read"),
        ("logs", "interrupted"),
        ("now", "recording now"),
    ):
        (line,) = [line for line in text.splitlines() if line.startswith(f"{name}/")]
        assert said in line

    # THEN what is printed for the one that was interrupted goes to it
    found = re.search(
        r"^1 interrupted: `tfdarshan (recover .*)` writes what it recorded$", text, re.MULTILINE
    )
    assert main(shlex.split(found[1])) == 1
    assert str(interrupted) in capsys.readouterr().err


def test_a_session_that_can_be_read_again_is_looked_at_again(capsys, tmp_path):
    # GIVEN a session that is still being copied: a table lacks, then is there in part
    session = record(tmp_path / "logs", 60)
    path = max(session.path.glob("*.parquet"), key=lambda one: one.stat().st_size)
    whole = path.read_bytes()
    path.unlink()
    without = listed(capsys, tmp_path / "logs")
    path.write_bytes(whole[:-10])
    in_part = listed(capsys, tmp_path / "logs")

    # WHEN
    path.write_bytes(whole)
    text = listed(capsys, tmp_path / "logs")

    # THEN
    assert "its data cannot be read" in without
    assert "its data cannot be read" in in_part
    assert "its data cannot be read" not in text


def test_a_rank_that_cannot_be_read_takes_no_verdict_from_the_others(capsys, tmp_path):
    # GIVEN a joint training of which a rank's table is still being copied
    ranks = [MadeUpRank([[2 * step + rank] for step in range(40)]) for rank in range(2)]
    session = joint_training(tmp_path / "logs", ranks)
    (path,) = rank_folder(session.path, 1).glob("*.files.parquet")
    whole = path.read_bytes()
    path.unlink()

    # WHEN
    in_part = json.loads(listed(capsys, tmp_path / "logs", "--json"))["sessions"][0]["verdict"]
    text = listed(capsys, tmp_path / "logs")
    verdict = diagnose(tfdarshan.open_session(session.path, skip_damaged=True)).verdict

    # THEN it is judged by what can be read, which is said
    assert (in_part["state"], in_part["sentence"]) == (verdict.state, verdict.sentence)
    assert in_part["in_part"]
    assert f"read in part: {in_part['title']}"[:30] in text

    # AND judged anew once all of it is there
    path.write_bytes(whole)
    assert not json.loads(listed(capsys, tmp_path / "logs", "--json"))["sessions"][0]["verdict"]["in_part"]
    assert "read in part" not in listed(capsys, tmp_path / "logs")


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), False),
        (OSError(errno.EMFILE, "Too many open files"), False),
        (ValueError("not a Parquet file"), True),
    ],
)
def test_what_may_pass_is_not_kept_of_a_session(tmp_path, error, kept):
    record(tmp_path, 60)
    (session,) = list_sessions(tmp_path)
    verdicts = kept_verdicts.KeptVerdicts(tmp_path)
    damaged = SessionDataError("It cannot be read.")
    damaged.__cause__ = error

    said = verdicts.put_unreadable(session, damaged)

    assert said.sentence == "It cannot be read."
    assert verdicts.get(session) == (said if kept else None)


def test_nothing_to_list(capsys, tmp_path):
    assert listed(capsys, tmp_path) == f"no sessions in {tmp_path}\n"
    assert main(["list", str(tmp_path / "none")]) == 1
    assert "there is no logdir" in capsys.readouterr().err


def test_a_thousand_sessions_are_listed_without_their_tables(capsys, tmp_path, monkeypatch):
    # GIVEN a thousand copies of a session, of which one was looked at and the rest are as it
    session = record(tmp_path / "first", 60, command="python train.py")
    for number in range(999):
        shutil.copytree(session.path, tmp_path / f"run{number}" / "plugins" / "tfdarshan" / session.path.name)
    heavy = {"pandas", "pyarrow", "numpy"} & sys.modules.keys()

    # WHEN
    began_s = time.process_time()
    text = listed(capsys, tmp_path)
    took_s = time.process_time() - began_s
    began_s = time.process_time()
    found = [json.loads(path.read_bytes()) for path in tmp_path.rglob("*.meta.json")]
    floor_s = time.process_time() - began_s

    # THEN no table was read: it takes about what finding and reading the metadata alone takes (0.1 s)
    assert text.startswith("1,000 sessions in ")
    assert "1,000 not looked at yet: `tfdarshan list --all" in text
    assert len(found) == 1_000
    assert took_s < 5 * floor_s
    assert heavy == {"pandas", "pyarrow", "numpy"} & sys.modules.keys()


@pytest.mark.parametrize("more", [0, 1])
def test_few_sessions_are_looked_at_and_many_are_listed_at_once(capsys, tmp_path, monkeypatch, more):
    # GIVEN as many sessions as are looked at, or one more
    monkeypatch.setattr("tfdarshan.commands.list_sessions.LOOK_S", 600.0)
    session = record(tmp_path / "first", 60)
    for number in range(MOST_SESSIONS - 1 + more):
        shutil.copytree(session.path, tmp_path / f"run{number}" / "plugins" / "tfdarshan" / session.path.name)
    looked = []

    def look(one, kept):
        looked.append(one)
        kept.put(one, DULL)
        return DULL

    monkeypatch.setattr("tfdarshan.commands.list_sessions._verdict_on", look)

    # WHEN
    text = listed(capsys, tmp_path)

    # THEN
    assert len(looked) == (0 if more else MOST_SESSIONS)
    assert ("not looked at yet: `tfdarshan list --all" in text) == bool(more)

    # THEN all are looked at if that is asked for
    listed(capsys, tmp_path, "--all")
    assert len(looked) == MOST_SESSIONS + more


@pytest.mark.parametrize(("columns", "began"), [(120, "%Y-%m-%d %H:%M"), (80, "%m-%d %H:%M"), (60, None)])
def test_when_a_session_began_has_a_column(capsys, tmp_path, monkeypatch, columns, began):
    session = record(tmp_path / "a", 60)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")

    lines = listed(capsys, tmp_path).splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("session "))
    head, row = lines[place : place + 2]

    assert (" when " in head) == (began is not None)
    if began is not None:
        words = time.strftime(began, time.localtime(session.meta[0]["start_realtime_ns"] / 1e9))
        assert row.index(words) == head.index("when")


@pytest.mark.parametrize("width", [50, 72, 200])
def test_it_fits_a_terminal(capsys, tmp_path, monkeypatch, width):
    record(tmp_path / ("long" * 20), 60, command="python " + "x" * 300)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")

    text = listed(capsys, tmp_path)
    longest = max(len(line) for line in text.splitlines()[2:])

    assert longest <= max(min(width, 120), 50)


def test_commands_of_a_list_differ_where_the_jobs_do(capsys, tmp_path):
    # GIVEN two jobs of one long command, whose last words differ
    before = "/opt/venv/bin/python /srv/train.py " + "--option value " * 20
    for place, seed in enumerate(("--seed 1", "--seed 2")):
        record(tmp_path / f"run{place}", 60, start_s=place * 100, command=before + seed)

    # WHEN
    lines = listed(capsys, tmp_path).splitlines()

    # THEN each has a line, with its beginning and its end
    jobs = sorted(line.strip() for line in lines if line.startswith("  python "))
    assert [job[-8:] for job in jobs] == ["--seed 1", "--seed 2"]
    assert all(job.startswith("python /srv/train.py --option") and " ... " in job for job in jobs)
    assert max(map(len, jobs)) <= 98


def test_links_to_runs_are_listed_and_what_is_not_followed_is_said(capsys, tmp_path):
    # GIVEN a logdir with links to a run, and to what holds the logdir
    session = record(tmp_path / "elsewhere", 1)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/chosen").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "logs/above").symlink_to(tmp_path)

    # WHEN
    code = main(["list", str(tmp_path / "logs")])

    # THEN
    said = capsys.readouterr()
    assert (code, f"chosen/{session.path.name}" in said.out) == (0, True)
    said_of_it = " leads out of its run and is not followed: list it by its own name.\n"
    assert said.err == f"tfdarshan: {tmp_path}/logs/above{said_of_it}"
