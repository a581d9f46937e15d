"""Every reason that the advisor prints: a job of which it is true, and one of which it is not."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.staging.synthetic import FAST, HDD, file_use, job_of, malware_like, run_of
from tfdarshan.analysis.storage.time_model import TimeModel
from tfdarshan.native.spool_reader import PATHS_OF_NO_FILE
from tfdarshan.reports.text.advice_text import render
from tfdarshan.staging.advice import decide_on
from tfdarshan.staging.question import Question

ROOM_FOR_ALL = "There is room for all files"
SAME_FIGURE = "what it chooses saves as much, to within 1 %"
MB = 1_000_000
GROWING = 1_000 * np.arange(1, 101)


def advise(use, facts=None, fast=FAST, other_s=0.0, **question):
    question = {"fast": "/fast", "room_bytes": 1 << 60, "block_bytes": 1, **question}
    facts, job = facts or run_of(use, other_s=other_s), job_of(use, other_s=other_s)
    return decide_on(use, facts, Question(**question), fast, job).advice


def said(*arguments, **question):
    """Return the advice's text, its lines joined."""
    return " ".join(render(advise(*arguments, **question)).split())


def reason(*arguments, **question):
    (found,) = advise(*arguments, **question).reasons
    return found.code, found.sentence


def tier(times, s_per_byte_times=None):
    """Return a fast tier that takes so many times what the slow one takes."""
    per_byte = HDD[1] * (times if s_per_byte_times is None else s_per_byte_times)
    return dataclasses.replace(FAST, model=TimeModel(HDD[0] * times, per_byte, 50, 1.0))


@pytest.mark.parametrize(
    ("size", "opens", "room_for", "expected"),
    [
        # As many bytes in each, ten of them read six times as often as the others.
        (np.full(100, MB), np.repeat([6, 1], [10, 90]), 100, ROOM_FOR_ALL),
        (np.full(100, MB), np.repeat([1, 6], [90, 10]), 50, None),
        # The smallest are those that are read more often.
        (GROWING, np.repeat([6, 1], [50, 50]), 40, SAME_FIGURE),
        (GROWING, np.full(100, 6), 40, SAME_FIGURE),
        (GROWING, np.full(100, 6), 100, ROOM_FOR_ALL),
        (GROWING, np.repeat([1, 6], [90, 10]), 40, None),
    ],
)
def test_why_smallest_first_is_as_good(size, opens, room_for, expected):
    # WHEN there is room for so many of the smallest files
    text = said(file_use(size, opens), room_bytes=int(np.sort(size)[:room_for].sum()), session_epochs=1)

    # THEN
    assert [words for words in (ROOM_FOR_ALL, SAME_FIGURE) if words in text] == (
        [expected] if expected else []
    )


@pytest.mark.parametrize(("files_of_room", "share"), [(1.5, "50.0 %"), (3, None)])
def test_what_another_choice_could_save_more(files_of_room, share):
    # GIVEN three files of which one fits, or all
    text = said(file_use(np.full(3, 100 * MB), np.ones(3)), room_bytes=int(files_of_room * 100 * MB))

    # THEN it is that much more than the choice saves, not than it could
    assert ("No other choice" in text) == (share is not None)
    assert f"No other choice of files saves over {share} more." in text or share is None


@pytest.mark.parametrize(
    ("storage_opens", "words"),
    [
        (np.zeros(500), "the page cache served all passes over files"),
        (np.repeat([1, 0], [20, 480]), "storage served 1.3 % of the passes over files:"),
        (np.ones(500), "storage served 33.3 % of the passes over files:"),
    ],
)
def test_what_storage_served_where_the_page_cache_serves_the_rest(storage_opens, words):
    code, sentence = reason(file_use(malware_like(500), np.full(500, 3), storage_opens=storage_opens))

    assert code == "page_cache"
    assert sentence.startswith(words)


def test_the_page_cache_is_no_reason_where_storage_served_files_again():
    assert advise(file_use(malware_like(500), np.full(500, 3))).helps


@pytest.mark.parametrize(("storage_opens", "helps"), [(1, True), (0, False)])
def test_the_page_cache_is_no_reason_where_storage_served_one_large_file(storage_opens, helps):
    # GIVEN 500 small files that memory has, and one file with nearly all bytes, by storage or by memory
    size = np.append(np.full(500, 1_000), 100 * MB)
    use = file_use(size, np.ones(501), storage_opens=np.append(np.zeros(500), storage_opens))

    # THEN passes count by their bytes, too: 1 of 501 is less than 2 %, and here nearly all of the input
    assert advise(use).helps is helps


def test_how_fast_the_fast_tier_is():
    # GIVEN 4 s of reads where the files are
    use = file_use(np.full(100, MB), np.full(100, 1), tier=(0.04, 0.0))
    fast = dataclasses.replace(FAST, model=TimeModel(10.0, 1.0, 50, 1.0))

    code, sentence = reason(use, fast=fast)
    assert code == "fast_tier"
    assert sentence == (
        "the fast tier is not faster: reading an epoch takes the readers 4.000 s in all where the files are "
        "now, and 4.000 s on the fast tier"
    )
    assert advise(use, fast=dataclasses.replace(FAST, model=TimeModel(0.002, 0.0, 50, 1.0))).helps


@pytest.mark.parametrize(("share", "helps"), [(0.01, False), (0.5, True)])
def test_what_is_the_limit_where_staging_all_gains_little(share, helps):
    # GIVEN 25 ms of waiting for reads in an epoch, and what else takes the rest of it
    use = file_use(np.full(100, MB), np.ones(100), tier=(1e-3, 0.0))

    found = advise(use, other_s=0.025 * (1 / share - 1))

    assert found.helps is helps
    if not helps:
        assert found.reasons[0].code == "not_io"
        assert found.reasons[0].sentence.startswith(
            "training waits for input 1.0 % of the time, and storage takes 1.0 % of the readers' time, so "
            "decoding or computing is the limit: with every file staged an epoch would be "
        )


def test_what_does_not_fit():
    # GIVEN 100 files of 1 kB in one folder, and room for half of them
    use = file_use(np.full(100, 1_000), np.ones(100))

    assert reason(use, unit="directory", room_bytes=50_000) == (
        "capacity",
        "no folder that would gain fits: 50.0 kB may be used, and the smallest takes 100.0 kB",
    )
    assert reason(use, unit="file", room_bytes=500) == (
        "capacity",
        "no file that would gain fits: 500 B may be used, and the smallest takes 1.0 kB",
    )
    assert " faster; all files together would make it " in reason(use, unit="file", room_bytes=1_000)[1]
    assert advise(use, unit="file", room_bytes=50_000).helps


def test_when_the_copy_pays():
    use = file_use(np.full(500, MB), np.full(500, 2))
    slow = dataclasses.replace(FAST, write_bytes_per_s=1e8)
    pays = advise(use, fast=slow).copy.break_even_epoch
    assert pays > 1

    code, sentence = reason(use, fast=slow, epochs=pays - 1)

    assert (code, sentence) == (
        "copy",
        f"the copy pays off from epoch {pays} on, and the job runs {pays - 1} epochs",
    )
    assert advise(use, fast=slow, epochs=pays).helps


def test_why_files_are_left_out():
    # GIVEN files of which each but the last is out for another reason
    use = file_use(malware_like(100), np.ones(100))
    use.bytes_written[0] = 1
    use.moves[1] = 1
    paths = use.paths.to_pylist()
    paths[2:6] = [PATHS_OF_NO_FILE[1], "pipe:[7]", "/usr/data/000003", "/fast/000004"]
    use.is_input[4] = False
    use = dataclasses.replace(use, paths=pa.chunked_array([pa.array(paths, pa.large_string())]))

    found = {part.reason: part.files for part in advise(use).left_out}

    assert found == {
        "written in the session, so a copy would go stale": 1,
        "renamed, replaced or deleted in the session": 1,
        "beyond the profiler's memory cap, so not told apart": 1,
        "no file with a path of its own": 1,
        "programs, settings, libraries, system folders (--slow DIR looks at what is below it)": 1,
        "on the fast tier already, below /fast": 1,
    }
