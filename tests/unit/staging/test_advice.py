"""What is advised for jobs whose times are known exactly."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.staging.synthetic import FAST, HDD, file_use, job_of, malware_like, run_of
from tfdarshan.staging.advice import decide_on
from tfdarshan.staging.question import Question

SHARES = (0.02, 0.08, 0.25)


def advise(use, other_s=0.0, fast=FAST, **question):
    question = {"fast": "/fast", "room_bytes": 1 << 60, "block_bytes": 1, **question}
    return decide_on(
        use, run_of(use, other_s=other_s), Question(**question), fast, job_of(use, other_s=other_s)
    )


def saved(use, share):
    """Return the seconds of readers that each rule saves with room for a share of the bytes."""
    advice = advise(use, room_bytes=int(share * use.size_bytes.sum()), everything=True).advice
    return {rule.name: rule.saved_thread_s for rule in advice.rules}


def test_saved_time_is_what_the_tiers_differ_by():
    # GIVEN 1,000 files read once each by 4 threads, 8 ms and 163 MB/s there, 20 us and 2 GB/s here
    use = file_use(malware_like(1_000), np.ones(1_000))

    # WHEN everything fits
    advice = advise(use, everything=True).advice

    # THEN
    total = use.size_bytes.sum()
    slow_s, fast_s = 1_000 * HDD[0] + total * HDD[1], 1_000 * 10e-6 + total / 2e9
    expected = advice.chosen.expected
    assert advice.chosen.files == 1_000
    assert expected.epoch_s == pytest.approx(slow_s / 4, rel=1e-4)
    assert expected.saved_s == pytest.approx((slow_s - fast_s) / 4, rel=0.03)
    assert expected.low_s <= expected.saved_s <= expected.high_s
    assert advice.helps


@pytest.mark.parametrize("share", SHARES)
def test_smallest_first_is_as_good_where_all_files_are_read_alike(share):
    found = saved(file_use(malware_like(1_000), np.ones(1_000), noise=0.1), share)

    assert found["this advice"] == pytest.approx(found["smallest first"], rel=0.05)
    assert found["this advice"] > found["largest first"]


@pytest.mark.parametrize("share", SHARES)
def test_a_tenth_read_five_times_gives_a_tenth_more_than_smallest_first(share):
    # GIVEN a tenth of the files, of any size, read five times as often
    opens = np.ones(1_000)
    opens[np.random.default_rng(1).permutation(1_000)[:100]] = 5

    found = saved(file_use(malware_like(1_000), opens), share)

    assert found["this advice"] >= 1.1 * found["smallest first"]


def test_a_file_that_memory_served_again_is_worth_its_first_pass():
    # GIVEN files of one size, half of them read ten times, of which storage served the first
    use = file_use(np.full(100, 1_000_000), np.repeat([10, 1], 50), storage_opens=np.ones(100))

    decision = advise(use)

    assert decision.saved_s == pytest.approx(np.full(100, decision.saved_s.mean()), rel=0.05)


def test_nothing_is_staged_where_the_page_cache_serves_all_later_epochs():
    use = file_use(malware_like(300), np.full(300, 3), storage_opens=np.ones(300))

    advice = advise(use).advice

    assert [reason.code for reason in advice.reasons] == ["page_cache"]
    assert advice.reasons[0].sentence.startswith("storage served 33.3 % of the passes over files:")


def test_nothing_is_staged_where_the_fast_tier_is_not_faster():
    use = file_use(malware_like(500), np.ones(500))
    slow = dataclasses.replace(FAST, model=dataclasses.replace(FAST.model, base_s=1.0, s_per_byte=1.0))

    advice = advise(use, fast=slow).advice

    assert [reason.code for reason in advice.reasons] == ["fast_tier"]


def test_nothing_is_staged_where_decoding_is_the_limit():
    # GIVEN reads that take 1 % of the time
    use = file_use(malware_like(500), np.ones(500))

    advice = advise(use, other_s=99 * float(use.read_s.sum()) / 4).advice

    assert [reason.code for reason in advice.reasons] == ["not_io"]
    assert "training waits for input 1.0 % of the time" in advice.reasons[0].sentence
    assert "storage takes 1.0 % of the readers' time" in advice.reasons[0].sentence


def test_input_wait_bounds_what_is_saved():
    # GIVEN a job that waits for 30 % of its time
    use = file_use(malware_like(500), np.ones(500))
    wait_s = float(use.read_s.sum()) / 4

    expected = advise(use, other_s=wait_s * 7 / 3).advice.chosen.expected

    # THEN all of it goes
    assert expected.saved_s == pytest.approx(0.3 * expected.epoch_s, rel=0.05)
    assert expected.low_s < expected.saved_s < expected.high_s


def test_copy_that_does_not_pay_in_the_epochs_there_are():
    # GIVEN a fast tier that takes a second for 100 KB
    use = file_use(np.full(500, 1_000_000), np.full(500, 2))
    advice = advise(use, fast=dataclasses.replace(FAST, write_bytes_per_s=1e5), epochs=3).advice

    assert [reason.code for reason in advice.reasons] == ["copy"]
    assert advice.copy.break_even_epoch > 1_000


def test_no_room_for_any_file():
    advice = advise(file_use(np.full(500, 1_000_000), np.ones(500)), room_bytes=1_000).advice

    assert [reason.code for reason in advice.reasons] == ["capacity"]
    assert advice.reasons[0].sentence == (
        "no file that would gain fits: 1.0 kB may be used, and the smallest takes 1.0 MB"
    )


def test_files_that_were_written_are_left_out():
    use = file_use(malware_like(100), np.ones(100))
    use.bytes_written[7] = 1

    decision = advise(use)

    assert 7 not in decision.rows
    assert [(part.files, part.reason[:7]) for part in decision.advice.left_out] == [(1, "written")]


def test_checkpoints_in_a_burst_buffer_are_left_out():
    # GIVEN a copy that the drain reads, under a name that nobody has written to
    use = file_use(malware_like(100), np.ones(100))
    paths = use.paths.to_pylist()
    paths[7] = "/local/.tfdarshan-burst/queue/00000001-abc/ckpt-1.data-00000-of-00001"
    use = dataclasses.replace(use, paths=pa.chunked_array([pa.array(paths, pa.large_string())]))

    decision = advise(use)

    assert 7 not in decision.rows
    assert [(part.files, part.reason) for part in decision.advice.left_out] == [
        (1, "checkpoints in a burst buffer")
    ]


def test_few_files_are_staged_where_they_give_nearly_all():
    # GIVEN 10 files read 190 times among 100 of the same size, which are read once
    use = file_use(np.full(110, 1_000_000), np.repeat([190, 1], [10, 100]))

    decision = advise(use, other_s=float(use.read_s.sum()) / 4)

    # THEN these are staged, and the curve has its knee there; all are if that is asked for
    assert decision.rows.tolist() == list(range(10))
    assert decision.advice.knee.files == pytest.approx(10, abs=5)
    assert decision.advice.rest.files == 110
    assert advise(use, everything=True).advice.chosen.files == 110


def test_all_files_are_staged_where_each_counts():
    advice = advise(file_use(malware_like(100), np.ones(100))).advice
    assert (advice.chosen.files, advice.rest) == (100, None)


def test_points_of_the_curve_are_simulated():
    # GIVEN 100 files read alike
    decision = advise(file_use(np.full(100, 1_000_000), np.ones(100)))

    # THEN the last point is all of them, and what is saved grows with the bytes
    found = [decision.expected_at(point).saved_s for point in decision.advice.curve]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(decision.advice.everything.saved_s)


def test_folders_are_staged_whole_when_asked_for():
    # GIVEN all files in one folder, and room for half of them
    use = file_use(np.full(100, 1_000), np.ones(100))

    assert advise(use, unit="directory").advice.chosen.files == 100
    assert advise(use, unit="directory", room_bytes=50_000).advice.chosen.files == 0
    assert advise(use, unit="file", room_bytes=50_000).advice.chosen.files == 50
