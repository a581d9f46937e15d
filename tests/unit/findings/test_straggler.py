"""A slow file, a slow mount and a slow moment are told apart."""

import random

import pytest

from tests.unit.findings.made_up_jobs import KB
from tests.unit.findings.made_up_training import training
from tests.unit.findings.told import told
from tests.unit.findings.whole_files import QUICK_MS, SLOW_MS, read_whole, slow_shards, steps_until
from tfdarshan.findings import straggler
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.straggler import find
from tfdarshan.replay.storage_edits import Staged


def found(session):
    """Return what is told of slow files; a fix that gives little is no reason to say nothing here."""
    one = find(measure(session))
    assert one is None or one.edits
    return one


@pytest.mark.parametrize("readers", [1, 4])
def test_storage_that_is_slow_at_times_has_no_slow_files(tmp_path, readers):
    # GIVEN storage that is 30 times slower for 300 ms of each second
    session = read_whole(
        tmp_path, lambda file, at: SLOW_MS if at % 1000 < 300 else QUICK_MS, readers=readers, files=2000
    )

    assert found(session) is None


@pytest.mark.parametrize("readers", [1, 4])
def test_files_that_are_slow_whenever_they_are_read_are_named(tmp_path, readers):
    # GIVEN every fortieth file
    session = read_whole(tmp_path, lambda file, at: SLOW_MS if file % 40 == 7 else QUICK_MS, readers=readers)

    assert "/data/0047" in found(session).files


def test_one_slow_shard_of_many_reads_is_named_though_it_was_read_once(tmp_path):
    # GIVEN one of ten that takes 30 times as long, in order
    session = slow_shards(tmp_path, lambda shard, at: SLOW_MS if shard == 4 else QUICK_MS)

    assert found(session).files == ("/data/shard-4",)


def test_a_shard_read_while_storage_stood_still_is_not(tmp_path):
    # GIVEN a stall of 2 s within one shard, and storage that is as quick for it as for others else
    session = slow_shards(tmp_path, lambda shard, at: 2000 if 900 < at < 905 else QUICK_MS)

    assert found(session) is None


def test_a_slow_folder_is_named_though_its_later_epochs_come_from_memory(tmp_path):
    # GIVEN three epochs over eight folders, one of them 40 times slower; memory serves all but the first
    at, calls = 0.0, []
    for epoch in range(3):
        for file in range(400):
            times = 40 if file % 8 == 3 else 1
            opened = at + 0.5 * times
            end = opened + (1.0 * times if epoch == 0 else 0.03)
            calls += [(at, opened, 1, "open", file, 0), (opened, end, 1, "read", file, 100 * KB)]
            at = end
    paths = [f"/data/part-{file % 8}/{file:04}" for file in range(400)]
    session = training(tmp_path, calls, steps_until(at), paths=paths, sizes=[100 * KB] * 400)

    assert found(session).title.startswith("/data/part-3 takes")


def test_storage_that_allows_so_many_calls_a_second_has_slow_files_in_a_note_only(tmp_path):
    # GIVEN a limit that makes every fourteenth file or so wait until 50 ms are over, whichever that is
    calls, at, allowed = [], 0.0, 14
    for file in range(400):
        end = at + 0.2 + 0.01 * (file % 7)
        allowed -= 1
        if allowed == 0:
            end, allowed = (at // 50 + 1) * 50.0, 14
        calls.append((at, end, 1, "read", file, 30 * KB))
        at = end
    paths = [f"/data/{file:04}" for file in range(400)]
    session = training(tmp_path, calls, steps_until(at), paths=paths, sizes=[30 * KB] * 400)

    # THEN they are no problem of their own
    assert found(session).kind == "note"
    assert "Each was slow in one read only" in found(session).what


def test_folders_that_lie_beside_quick_ones_are_counted_and_not_called_by_the_folder_of_all(tmp_path):
    # GIVEN eight folders in one, two of them 40 times slower
    at, calls = 0.0, []
    for file in range(400):
        end = at + (40.0 if file % 8 in (3, 5) else 1.0)
        calls += [(at, at + 0.1, 1, "open", file, 0), (at + 0.1, end, 1, "read", file, 100 * KB)]
        at = end
    paths = [f"/data/part-{file % 8}/{file:04}" for file in range(400)]
    session = training(tmp_path, calls, steps_until(at), paths=paths, sizes=[100 * KB] * 400)

    assert found(session).title.startswith("2 folders take")


def test_of_shards_read_in_turn_the_one_that_waits_for_a_limit_is_not_slow(tmp_path):
    # GIVEN eight shards in folders of their own, read four in turn. Each 100 ms a limit holds up a read, two
    # of three times the first shard's of the four, for the others are read ahead meanwhile
    at, calls, turn = 0.0, [], 0
    for first in (0, 4):
        for part in range(120):
            for shard in range(4):
                end = at + (1.0 if shard and part % 4 == 0 else 0.05)
                if part % 5 == 4 and shard == (turn % 4 if turn % 3 == 0 else 0):
                    end, turn = (at // 100 + 1) * 100.0, turn + 1
                calls.append((at, end, 1, "read", first + shard, 256 * KB, part * 256 * KB))
                at = end
    paths = [f"/data/part-{shard}/shard" for shard in range(8)]
    session = training(tmp_path, calls, steps_until(at), paths=paths, sizes=[120 * 256 * KB] * 8)

    assert found(session) is None


@pytest.mark.parametrize(("slow_reads", "named"), [(5, False), (36, True)])
def test_a_folder_is_slow_for_more_than_a_few_reads(tmp_path, slow_reads, named):
    # GIVEN eight shards in folders of their own, each of 72 reads that memory serves but for the first one.
    # Of four some take far longer, as those do that a limit holds back
    at, calls, noise = 0.0, [], random.Random(1)
    for part in range(72):
        for shard in range(8):
            is_slow = shard < 4 and part % (72 // slow_reads) == 0 and part
            end = at + (noise.uniform(20, 90) if is_slow else 0.05 if part else 8.0)
            calls.append((at, end, 1, "read", shard, 256 * KB, part * 256 * KB))
            at = end
    paths = [f"/data/part-{shard}/shard" for shard in range(8)]
    session = training(tmp_path, calls, steps_until(at), paths=paths, sizes=[72 * 256 * KB] * 8)

    assert (found(session) is not None) is named


def epochs_from_memory(logdir, open_ms, *, epochs=4, reads=1):
    """Return a session of files read whole by one reader; memory serves all reads but the first epoch's.

    `open_ms(file, epoch)` is what it takes to open a file.
    """
    at = 0.0
    calls: list[tuple] = []
    for epoch in range(epochs):
        for file in range(100):
            opened = at + open_ms(file, epoch)
            calls.append((at, opened, 1, "open", file, 0))
            at = opened
            for part in range(reads):
                end = at + (QUICK_MS if epoch == 0 else 0.05)
                calls.append((at, end, 1, "read", file, 100 * KB, part * 100 * KB))
                at = end
    paths = [f"/data/{file:04}" for file in range(100)]
    return training(logdir, calls, steps_until(at), paths=paths, sizes=[reads * 100 * KB] * 100)


@pytest.mark.parametrize("reads", [1, 8])
def test_a_file_that_is_slow_to_open_in_each_epoch_is_named_though_memory_serves_its_reads(tmp_path, reads):
    # GIVEN a server that takes 200 ms to open one of its files, and 1 ms to open any other
    session = epochs_from_memory(tmp_path, lambda file, epoch: 200 if file == 47 else 1, reads=reads)

    assert found(session).files == ("/data/0047",)


def test_a_file_that_was_slow_to_open_twice_is_not(tmp_path):
    # GIVEN one that takes as long in all, in two epochs of four
    session = epochs_from_memory(tmp_path, lambda file, epoch: 400 if file == 47 and epoch in (1, 3) else 1)

    assert found(session) is None


@pytest.mark.parametrize(("epochs", "named"), [(6, True), (7, False)])
def test_a_file_that_is_slow_to_open_in_half_of_the_epochs_is_named(tmp_path, epochs, named):
    # GIVEN a file that is slow to open in three epochs
    session = epochs_from_memory(
        tmp_path, lambda file, epoch: 400 if file == 47 and epoch in (1, 3, 5) else 1, epochs=epochs
    )

    assert (found(session) is not None) is named


def test_files_that_are_slow_to_open_beside_each_other_are_not(tmp_path):
    # GIVEN a server that stands still in each epoch for a while, in which three files in a row are opened
    session = epochs_from_memory(tmp_path, lambda file, epoch: 200 if file in (47, 48, 49) else 1)

    assert found(session) is None


def pool_in_order(logdir):
    """Return four epochs of five steps that wait for eight readers each; of one file of forty in each epoch.

    It takes 100 ms to open that one, others 4 ms; memory serves the reads of later epochs.
    """
    at, calls, steps = 0.0, [], []
    for epoch in range(4):
        for step in range(5):
            ready = at
            for reader in range(8):
                opened = at + (100.0 if (step, reader) == (2, 3) else 4.0)
                end = opened + (4.0 if epoch == 0 else 0.05)
                calls.append((at, opened, 1 + reader, "open", 8 * step + reader, 0))
                calls.append((opened, end, 1 + reader, "read", 8 * step + reader, 100 * KB))
                ready = max(ready, end)
            steps.append((at, ready + 5, ready - at))
            at = ready + 5
    paths = [f"/data/{file:04}" for file in range(40)]
    meta = {"machine": {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": 0.1}}
    return training(logdir, calls, steps, paths=paths, sizes=[100 * KB] * 40, meta=meta)


def test_a_slow_file_that_all_readers_wait_for_costs_what_steps_wait_for_it_alone(tmp_path):
    one = told(pool_in_order(tmp_path), straggler)

    # THEN it is not shared out to eight readers: steps wait 384 ms for it, of 591 ms
    assert one.gain.before_s == pytest.approx(0.591 / 20, rel=0.02)
    assert 0.384 / 20 / 2 < one.gain.saved_s <= 0.384 / 20


def test_the_file_that_each_epoch_begins_with_is_not_slow_where_the_kernel_opens_all(tmp_path):
    # GIVEN files that memory serves; the first one of each epoch is opened 140 times slower than others
    at, calls = 0.0, []
    for _ in range(4):
        for file in range(100):
            opened = at + (0.28 if file == 0 else 0.002)
            calls += [(at, opened, 1, "open", file, 0), (opened, opened + 0.01, 1, "read", file, 10 * KB)]
            at = opened + 1
    paths = [f"/data/{file:04}" for file in range(100)]
    measures = measure(training(tmp_path, calls, steps_until(at), paths=paths, sizes=[10 * KB] * 100))

    assert find(measures) is None


def test_only_the_slow_files_are_copied(tmp_path):
    measures = measure(read_whole(tmp_path, lambda file, at: SLOW_MS if file % 40 == 7 else QUICK_MS))
    one = find(measures)

    (staged,) = one.edits
    assert isinstance(staged, Staged)
    named = [int(path.rpartition("/")[2]) for path in measures.files.rows["path"][staged.files]]
    assert named == [7 + 40 * n for n in range(10)]
    assert one.work == "copy some"
