"""What is advised for jobs whose times are known exactly."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.staging.synthetic import FAST, HDD, file_use, malware_like, run_of
from tfdarshan.analysis.step_model import most_saved_s, noise_s
from tfdarshan.analysis.time_model import TimeModel
from tfdarshan.staging.advice import decide_on
from tfdarshan.staging.question import Question
from tfdarshan.staging.whole_input import stage_all

SHARES = (0.02, 0.08, 0.25)


def advise(use, facts=None, fast=FAST, **question):
    question = {"fast": "/fast", "room_bytes": 1 << 60, "block_bytes": 1, **question}
    return decide_on(use, facts or run_of(use), Question(**question), fast)


def gains(use, share):
    """Gives the gain of each rule with room for a share of the bytes."""
    advice = advise(use, room_bytes=int(share * use.size_bytes.sum())).advice
    return {rule.name: rule.expected.gain for rule in advice.rules}


def test_saved_time_is_what_the_tiers_differ_by():
    # GIVEN 1,000 files read once each by 4 threads, 8 ms and 163 MB/s there, 20 us and 2 GB/s here
    use = file_use(malware_like(1_000), np.ones(1_000))

    # WHEN everything fits
    advice = advise(use).advice

    # THEN
    total = use.size_bytes.sum()
    slow_s, fast_s = 1_000 * HDD[0] + total * HDD[1], 1_000 * 20e-6 + total / 2e9
    expected = advice.chosen.expected
    assert advice.chosen.files == 1_000
    assert expected.epoch_s == pytest.approx(slow_s / 4, rel=1e-4)
    assert expected.saved_s == pytest.approx((slow_s - fast_s) / 4, rel=1e-3)
    assert expected.low_s <= expected.saved_s <= expected.high_s
    assert advice.helps


@pytest.mark.parametrize("share", SHARES)
def test_smallest_first_is_as_good_where_all_files_are_read_alike(share):
    found = gains(file_use(malware_like(2_000), np.ones(2_000), noise=0.1), share)

    assert found["this advice"] == pytest.approx(found["smallest first"], rel=0.03)
    assert found["this advice"] > found["largest first"]


@pytest.mark.parametrize("share", SHARES)
def test_a_tenth_read_five_times_gives_a_tenth_more_than_smallest_first(share):
    # GIVEN a tenth of the files, of any size, read five times as often
    opens = np.ones(2_000)
    opens[np.random.default_rng(1).permutation(2_000)[:200]] = 5

    found = gains(file_use(malware_like(2_000), opens), share)

    assert found["this advice"] >= 1.1 * found["smallest first"]


@pytest.mark.parametrize("share", SHARES)
def test_zipf_heat_gives_twice_what_smallest_first_gives(share):
    opens = np.minimum(np.random.default_rng(2).zipf(1.6, 2_000), 500)

    found = gains(file_use(malware_like(2_000), opens), share)

    assert found["this advice"] >= 2 * found["smallest first"]


def test_files_whose_rereads_the_page_cache_served_are_not_staged():
    # GIVEN half of the files read ten times, of which storage served the first
    opens = np.repeat([10, 1], 500)
    use = file_use(malware_like(1_000), opens, storage_opens=np.ones(1_000))

    decision = advise(use)

    assert decision.rows.min() == 500
    assert decision.advice.helps


def test_nothing_is_staged_where_the_page_cache_serves_all():
    use = file_use(malware_like(500), np.full(500, 3), storage_opens=np.ones(500))

    advice = advise(use).advice

    assert [reason.code for reason in advice.reasons] == ["page_cache"]
    assert "the first time only" in advice.reasons[0].sentence


def test_nothing_is_staged_where_the_fast_tier_is_not_faster():
    use = file_use(malware_like(500), np.ones(500))
    slow = dataclasses.replace(FAST, model=TimeModel(HDD[0], HDD[1], 50, 1.0, 0.0))

    advice = advise(use, fast=slow).advice

    assert [reason.code for reason in advice.reasons] == ["fast_tier"]


def test_nothing_is_staged_where_decoding_is_the_limit():
    # GIVEN reads that take 1 % of the time
    use = file_use(malware_like(500), np.ones(500))
    facts = run_of(use, other_s=99 * float(use.read_s.sum()) / 4)

    advice = advise(use, facts).advice

    assert [reason.code for reason in advice.reasons] == ["not_io"]
    assert "1.0 % of the time" in advice.reasons[0].sentence


def test_nothing_is_staged_where_training_does_not_wait():
    use = file_use(malware_like(500), np.ones(500))

    advice = advise(use, input_wait=0.01).advice

    assert [reason.code for reason in advice.reasons] == ["not_io"]


def bounds(epoch_s, sure, most):
    """Gives the bounds of what is saved where such shares of an epoch go, with what runs differ by."""
    sure_s, most_s = sure * epoch_s, most * epoch_s
    return sure_s - noise_s(epoch_s, sure_s), most_saved_s(epoch_s, most_s + noise_s(epoch_s, most_s))


def test_input_wait_bounds_what_is_saved():
    use = file_use(malware_like(500), np.ones(500))

    expected = advise(use, input_wait=0.3).advice.chosen.expected

    # THEN all of it goes where nothing is read beside compute, but for what runs differ by, and at most the
    # rest gets quicker
    assert expected.saved_s == pytest.approx(0.3 * expected.epoch_s)
    assert (expected.low_s, expected.high_s) == pytest.approx(bounds(expected.epoch_s, 0.3, 0.3))


def test_some_batches_come_late_where_the_next_is_read_beside_compute():
    use = file_use(malware_like(500), np.ones(500))
    facts = run_of(use)
    facts = dataclasses.replace(facts, model=dataclasses.replace(facts.model_with(0.3), overlap=1.0))

    expected = advise(use, facts, input_wait=0.3).advice.chosen.expected

    assert expected.saved_s == pytest.approx(0.95 * 0.3 * expected.epoch_s)
    assert (expected.low_s, expected.high_s) == pytest.approx(bounds(expected.epoch_s, 0.85 * 0.3, 0.3))


def test_idle_readers_make_the_lower_bound_nothing():
    # GIVEN readers that are idle two thirds of the time, for a reason that the session does not tell
    use = file_use(malware_like(500), np.ones(500))

    expected = advise(use, run_of(use, other_s=2 * float(use.read_s.sum()) / 4)).advice.chosen.expected

    assert expected.low_s == 0 < expected.saved_s


def test_copy_that_does_not_pay_in_the_epochs_there_are():
    # GIVEN a fast tier that takes a second for 100 KB
    use = file_use(np.full(500, 1_000_000), np.ones(500))
    advice = advise(use, fast=dataclasses.replace(FAST, write_bytes_per_s=1e5), epochs=3).advice

    assert [reason.code for reason in advice.reasons] == ["copy"]
    assert advice.copy.break_even_epoch > 1_000


def test_no_room_for_any_file():
    advice = advise(file_use(np.full(500, 1_000_000), np.ones(500)), room_bytes=1_000).advice

    assert [reason.code for reason in advice.reasons] == ["capacity"]
    assert advice.reasons[0].sentence == (
        "no file that would gain fits: 1.0 kB may be used and the smallest takes 1.0 MB"
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


def test_capacity_curve_rises_and_its_knee_is_where_the_hot_files_end():
    # GIVEN 100 files read 50 times among 1,000 of the same size
    opens = np.repeat([50, 1], [100, 900])
    advice = advise(file_use(np.full(1_000, 1_000_000), opens), session_epochs=1).advice

    saved = [point.saved_s for point in advice.curve]
    assert saved == sorted(saved)
    assert advice.knee.files == pytest.approx(100, abs=25)


def test_folders_are_staged_whole_when_asked_for():
    # GIVEN all files in one folder, and room for half of them
    use = file_use(np.full(100, 1_000), np.ones(100))

    assert advise(use, unit="directory").advice.chosen.files == 100
    assert advise(use, unit="directory", room_bytes=50_000).advice.chosen.files == 0
    assert advise(use, unit="file", room_bytes=50_000).advice.chosen.files == 50


@pytest.mark.parametrize(("open_ms", "waits"), [(2.5, 250.0), (0.2, 150.0)])
def test_threads_wait_for_opens_that_a_server_answers_as_for_reads(open_ms, waits):
    # GIVEN 100 files that are opened in each of two epochs, and of 150 of these passes two reads from storage
    use = file_use([1_000_000] * 100, [2] * 100, storage_opens=[1] * 50 + [2] * 50)
    seconds = np.full(100, 2 * open_ms / 1e3, np.float32)
    use = dataclasses.replace(use, meta_s=seconds, open_s=seconds)

    # THEN of an epoch 150 reads count, and opens if they take longer than a local file system's
    found = stage_all(use, run_of(use), FAST).valuation.thread_time()
    assert found.waits == pytest.approx(waits)
