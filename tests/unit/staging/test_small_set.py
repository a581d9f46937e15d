"""Where a few files give nearly all: staging begins with them, and says what the rest adds."""

import json

import numpy as np
import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.staging.synthetic import FAST, HDD, file_use, malware_like, run_of
from tfdarshan.commands import main
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.staging import NAME
from tfdarshan.reports.text.advice_text import render
from tfdarshan.reports.views.panel import Text, Tiles
from tfdarshan.reports.views.staging_view import StagingQuery, staging_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import decide, decide_on
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.expectation import Expectation
from tfdarshan.staging.question import Question
from tfdarshan.staging.small_set import is_enough, small_set
from tfdarshan.terminal.paint import WIDTH

MB, FILES, FOLDERS, READERS = 1_000_000, 96, 8, 4
QUICK_MS, SLOW_MS = 4.0, 160.0


def slow_part(number):
    """Says whether a file is in the third of eight folders."""
    return number % FOLDERS == 3


def job(
    logdir, is_slow, *, files=FILES, order=None, reads=1, readers=READERS, size=MB, folders=FOLDERS, wait=0.5
):
    """Readers that take the next file each when they are done: two epochs, whose steps wait half of it."""
    calls: list[tuple] = []
    free_ms = [0.0] * readers
    order = list(range(files)) * 2 if order is None else order
    for number in order:
        reader = int(np.argmin(free_ms))
        at = free_ms[reader]
        calls.append((at, at + 0.5, reader + 1, "open", number, 0))
        at += 0.5
        for part in range(reads):
            taken = is_slow(number, at)
            calls.append((at, at + taken, reader + 1, "pread", number, size // reads, part * size // reads))
            at += taken
        free_ms[reader] = at
    paths = [f"/data/part-{number % folders}/{number:03}" for number in range(files)]
    end = max(free_ms)
    steps = epochs_of_steps(20, end / 20, wait * end / 20)
    return training(logdir, calls, steps, paths=paths, sizes=[size] * files)


def times(number, at_ms):
    del at_ms
    return SLOW_MS if slow_part(number) else QUICK_MS


def advise(session, **question):
    question = {"fast": "/fast", "room_bytes": 1 << 40, "block_bytes": 1, **question}
    return decide([session], Question(**question), FAST)


def chosen_paths(decision):
    return set(decision.use.paths.take(decision.rows.tolist()).to_pylist())


def test_one_slow_folder_of_eight_is_what_staging_begins_with(tmp_path):
    # GIVEN 96 MB, of which 12 MB lie in a folder that is 40 times slower
    session = job(tmp_path, times)

    # WHEN
    decision = advise(session)
    text = " ".join(render(decision.advice).split())
    (finding,) = (one for one in diagnose(session).findings if one.name == NAME)

    # THEN advice, plan and finding ask for these, and say what the rest adds
    assert {path.split("/")[2] for path in chosen_paths(decision)} == {"part-3"}
    assert text.startswith("Stage 12 files, 12.0 MB, to /fast")
    assert "84 files more, 84.0 MB, would add" in text
    assert finding.cure.what.startswith("Stage 12.0 MB to a local disk")
    assert finding.files
    assert set(finding.files) <= chosen_paths(decision)
    rest, first = decision.advice.rest, decision.advice.chosen
    assert 0.8 <= first.saved_thread_s / rest.saved_thread_s < 1
    # ... and no more than what they take
    slow_s = 2 * 12 * (SLOW_MS + 0.5) / 1e3
    assert decision.promise.staged_slow_s * 2 == pytest.approx(slow_s, rel=0.02)


def test_files_without_which_an_epoch_is_much_longer_are_staged_with_them(tmp_path):
    # GIVEN the same files in a job that does nothing but wait for them
    advice = advise(job(tmp_path, times, wait=0.99)).advice

    # THEN the slow folder saves 85 % of the seconds, but all files make an epoch several times shorter still
    assert (advice.chosen.files, advice.rest) == (FILES, None)


@pytest.mark.parametrize(
    ("low_s", "low_of_all_s", "enough"), [(1.0, 3.0, True), (0.0, 3.0, False), (0.0, 0.0, True)]
)
def test_a_few_files_of_which_nothing_is_certain_are_not_enough(low_s, low_of_all_s, enough):
    # GIVEN an epoch of 10 s, of which a few files save 4.9 s, and all 5
    few, everything = Expectation(10.0, 4.9, low_s, 6.0), Expectation(10.0, 5.0, low_of_all_s, 6.0)

    # THEN they are where something is certain of them, or nothing of all
    assert is_enough(few, everything) is enough


def test_all_are_staged_if_asked_for(tmp_path, capsys, monkeypatch):
    session = job(tmp_path / "logs", times)
    # A busy machine's own disk may be no quicker than the storage of this job.
    monkeypatch.setattr("tfdarshan.staging.probe.probe_tier", lambda _folder, _readers: LOCAL_SSD)

    assert advise(session, everything=True).advice.chosen.files == FILES
    words = ["advise", "--logdir", str(session.path), "--fast", str(tmp_path / "fast"), "--json"]
    found = [json.loads(_said(capsys, [*words, *more]))["advice"] for more in ([], ["--all"])]
    assert [advice["rules"][0]["files"] for advice in found] == [12, FILES]
    assert [advice["rest"] is None for advice in found] == [False, True]


def test_the_commands_of_the_tab_write_the_plan_that_it_shows(tmp_path):
    # GIVEN the tab, which stages what is asked for by the room
    panels = staging_view(Source(job(tmp_path, times)), StagingQuery(room_bytes=50 * MB))

    # WHEN
    commands = next(panel.code for panel in panels if isinstance(panel, Text) and panel.code)
    tiles = {tile.label: tile for panel in panels if isinstance(panel, Tiles) for tile in panel.items}

    # THEN
    assert int(tiles["Files to copy"].value.text) > 12
    assert " --all " in commands


def test_the_tab_begins_with_the_few_files_that_advice_chooses(tmp_path):
    # GIVEN the tab without any room that was asked for
    panels = staging_view(Source(job(tmp_path, times)))

    # WHEN
    texts = [panel for panel in panels if isinstance(panel, Text)]
    (how,) = (text for text in texts if text.code)
    tiles = {tile.label: tile for panel in panels if isinstance(panel, Tiles) for tile in panel.items}

    # THEN it says what these give, what the others would add, and the commands that stage these
    assert tiles["Files to copy"].value.text == "12"
    assert texts[0].lines[-1].startswith(f"{FILES - 12} files more, 84.0 MB, would add ")
    assert how.lines[-1] == (
        "These commands write the plan with these files, copy them, and run the job with the copies:"
    )
    assert " --all " not in how.code


def _said(capsys, words):
    assert main(words) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("readers", [1, READERS])
def test_one_slow_shard_of_twelve(tmp_path, readers):
    # GIVEN shards of 8 MB, each read in 64 parts, of which one is 40 times slower
    def one(number, at_ms):
        del at_ms
        return SLOW_MS if number == 5 else QUICK_MS

    session = job(
        tmp_path, one, files=12, order=list(range(12)), reads=64, readers=readers, size=8 * MB, folders=1
    )

    decision = advise(session)

    assert chosen_paths(decision) == {"/data/part-0/005"}
    assert "1 slow file" in render(decision.advice)
    assert max(map(len, render(decision.advice).splitlines())) <= WIDTH


@pytest.mark.parametrize("readers", [1, READERS])
@pytest.mark.parametrize("reads", [1, 8, 40])
def test_slow_moments_make_no_file_slow(tmp_path, readers, reads):
    # GIVEN storage that is 20 times slower for 300 ms of each second
    def in_moments(number, at_ms):
        del number
        return 20 * QUICK_MS if at_ms % 1000 < 300 else QUICK_MS

    rng = np.random.default_rng(3)
    order = np.concatenate([rng.permutation(400), rng.permutation(400)]).tolist()
    session = job(tmp_path, in_moments, files=400, order=order, reads=reads, readers=readers)

    # THEN every file counts alike
    assert advise(session).advice.chosen.files == 400


def test_a_read_that_hung_once_makes_no_file_slow(tmp_path):
    # GIVEN one of 800 reads that took 40 times as long
    hung: list[float] = []

    def once(number, at_ms):
        if number == 7 and not hung:
            hung.append(at_ms)
            return SLOW_MS
        return QUICK_MS

    assert advise(job(tmp_path, once)).advice.chosen.files == FILES


@pytest.mark.parametrize(
    ("size", "tier"), [(np.full(500, MB), HDD), (malware_like(500), HDD), (malware_like(500), (8e-3, 0.0))]
)
def test_all_are_staged_where_every_file_counts(size, tier):
    use = file_use(size, np.ones(500), tier=tier)

    advice = decide_on(
        use, run_of(use), Question(fast="/fast", room_bytes=1 << 40, block_bytes=1), FAST
    ).advice

    assert (advice.chosen.files, advice.rest) == (500, None)


def test_files_of_a_hundred_times_the_heat_come_first():
    # GIVEN 10 of 200 files read 500 times as often
    opens = np.repeat([500, 1], [10, 190])
    use = file_use(np.full(200, MB), opens)
    question = Question(fast="/fast", room_bytes=1 << 40, block_bytes=1, session_epochs=1, input_wait=0.3)

    advice = decide_on(use, run_of(use), question, FAST).advice

    assert (advice.chosen.files, advice.rest.files) == (10, 200)


@pytest.mark.parametrize(
    ("value", "weight", "small"),
    [
        ([70, 15, 15], [1, 10, 10], [0]),  # most of it, and a byte gives 47 times as much
        ([69, 16, 15], [1, 10, 10], None),  # not most of it
        ([90, 5, 5], [8, 4, 4], None),  # a byte gives nine times as much
        ([1, 1, 1], [1, 1, 1], None),
        ([5], [1], None),
    ],
)
def test_the_rule(value, weight, small):
    found = small_set(np.array(value, float), np.array(weight, float), np.arange(len(value)))

    assert (None if found is None else found.tolist()) == small
