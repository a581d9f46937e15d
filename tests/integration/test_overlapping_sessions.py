"""Sessions that were recorded at the same time in one logdir: every verb that chooses one says so."""

import json
import shutil
import subprocess
import sys

import pytest

import tfdarshan
from tfdarshan.commands import main
from tfdarshan.reports.html_report import write_report
from tfdarshan.reports.views.view_source import Source
from tfdarshan.tensorboard_plugin.logdirs import Logdir
from tfdarshan.tensorboard_plugin.routes import Routes

RANKS = 3
SAID = "1 of 4 sessions that overlap in time; the other 3 are not in these figures"
JOB = """
import sys, tfdarshan
from concurrent.futures import ThreadPoolExecutor
with tfdarshan.profile(sys.argv[1], tf_profiler=False, as_if="lustre"):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda number: open(f"{sys.argv[2]}/{number}.bin", "rb").read(), range(40)))
    print("recording", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """A session alone, and later four that overlap."""
    folder = tmp_path_factory.mktemp("overlap")
    logdir, data = folder / "logs", folder / "data"
    data.mkdir()
    for number in range(40):
        (data / f"{number}.bin").write_bytes(bytes(100_000))
    with tfdarshan.profile(logdir, tf_profiler=False):
        (data / "0.bin").read_bytes()
    # Where children are followed, the ranks would be in this one session.
    with tfdarshan.profile(logdir, tf_profiler=False, follow_children=False):
        (data / "0.bin").read_bytes()
        ranks = [
            subprocess.Popen(
                [sys.executable, "-c", JOB, logdir, data],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for _ in range(RANKS)
        ]  # fmt: skip
        for rank in ranks:
            assert rank.stdout.readline() == "recording\n"
    for rank in ranks:
        rank.communicate()
        assert rank.returncode == 0
    return logdir


VERBS = {
    "summary": ["summary", "LOGDIR"],
    "findings": ["findings", "LOGDIR"],
    "whatif": ["whatif", "LOGDIR", "--threads", "4"],
    "files": ["files", "LOGDIR"],
    "report": ["report", "LOGDIR", "-o", "OUT.html", "--force"],
    "darshan": ["export", "--darshan", "OUT.darshan", "LOGDIR", "--force"],
    "trace": ["export", "--trace", "OUT.json", "LOGDIR", "--force"],
    "csv": ["export", "--csv", "OUT.csv", "LOGDIR", "--force"],
    "advise": ["advise", "--logdir", "LOGDIR", "--fast", "OUT.fast"],
    "compare": ["compare", "LOGDIR", "LOGDIR"],
}


def run(capsys, words, logdir, out, *more):
    arguments = [str(logdir) if word == "LOGDIR" else word.replace("OUT", f"{out}/out") for word in words]
    code = main([*arguments, *more])
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


@pytest.mark.parametrize("verb", VERBS)
def test_text_says_that_others_overlap(verb, logdir, tmp_path, capsys):
    text = run(capsys, VERBS[verb], logdir, tmp_path)
    assert SAID in text
    others = sorted(path for path in tfdarshan.open_session(logdir).overlapping)
    assert all(str(path) in text for path in others)


@pytest.mark.parametrize("verb", VERBS)
def test_json_names_the_others(verb, logdir, tmp_path, capsys):
    found = json.loads(run(capsys, VERBS[verb], logdir, tmp_path, "--json"))
    found = found["runs"][1] if verb == "compare" else found
    assert len(found["overlapping_sessions"]) == RANKS
    assert all(tfdarshan.open_session(path).files is not None for path in found["overlapping_sessions"])


@pytest.mark.parametrize("verb", VERBS)
def test_a_session_that_is_named_itself_is_what_was_asked_for(verb, logdir, tmp_path, capsys):
    chosen = tfdarshan.open_session(logdir).path
    assert "overlap in time" not in run(capsys, VERBS[verb], chosen, tmp_path)


def test_sessions_one_after_the_other_do_not_overlap(logdir, tmp_path, capsys):
    # GIVEN only the first session, and one of the later ones
    first, *_, last = tfdarshan.find_sessions(logdir)
    for path in (first, last):
        shutil.copytree(path, tmp_path / "logs" / path.relative_to(logdir))

    # WHEN / THEN
    found = json.loads(run(capsys, VERBS["summary"], tmp_path / "logs", tmp_path, "--json"))
    assert found["overlapping_sessions"] == []
    assert "overlap in time" not in run(capsys, VERBS["summary"], tmp_path / "logs", tmp_path)


def test_medians_of_all_that_overlap_leave_none_out(logdir, tmp_path, capsys):
    text = run(capsys, [*VERBS["compare"], "--runs", "4"], logdir, tmp_path)
    assert "overlap in time" not in text


def test_the_tab_says_it_of_any_of_them(logdir):
    # GIVEN
    routes = Routes([Logdir(logdir)])
    listed = routes.sessions({})["sessions"]
    assert len(listed) == RANKS + 2

    # WHEN
    banners = [routes.view({"session": found["id"]})["banner"] for found in listed]

    # THEN the oldest is alone
    titles = [[panel["title"] for panel in banner if "Emulated" not in panel["title"]] for banner in banners]
    assert titles == [["1 of 4 sessions that overlap in time"]] * (RANKS + 1) + [[]]


def test_the_report_says_it_on_every_view(logdir, tmp_path):
    write_report(Source(tfdarshan.open_session(logdir)), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert text.count("1 of 4 sessions that overlap in time") > 3


def test_a_copy_of_a_session_is_no_other_one(tmp_path):
    # GIVEN a session, and a copy of it under another name
    with tfdarshan.profile(tmp_path / "logs", tf_profiler=False) as recorded:
        (tmp_path / "data").write_bytes(b"1")
    shutil.copytree(recorded.path, recorded.path.with_name("2020_01_01_00_00_00"))

    # THEN neither says that it is one of two
    assert tfdarshan.open_session(tmp_path / "logs").overlapping == []
