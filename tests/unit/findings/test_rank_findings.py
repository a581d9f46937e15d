"""What only a session of all ranks can say: planted causes are found, and clean jobs raise no alarm."""

import dataclasses

import numpy as np
import pytest

from tests import joint_training as joint_training_module
from tests.joint_training import MadeUpRank, joint_training
from tests.unit.findings.made_up_jobs import LOAD, PATHS
from tests.unit.findings.made_up_ranks import NAMES, everything, rank_findings, shards
from tfdarshan.findings import unsharded_input
from tfdarshan.findings.measurement import measure_leading
from tfdarshan.findings.replayed import gain_of
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import pipelines_of

SHARD = {"name": "shard"}


def hosts(world, a_host):
    return [f"n{rank // a_host}" for rank in range(world)]


# At each change so many seeds are tried, the others now and then.
FEW = 3


def seeds(count):
    return [pytest.param(seed, marks=pytest.mark.long) if seed >= FEW else seed for seed in range(count)]


@pytest.mark.parametrize("seed", seeds(10))
@pytest.mark.parametrize("cause", sorted(NAMES))
def test_a_planted_cause_is_found(tmp_path, cause, seed):
    # GIVEN
    rng = np.random.default_rng([seed, sorted(NAMES).index(cause)])
    world = int(rng.choice([2, 4, 6]))
    a_host = 1 if world == 2 and cause == "slow_node" else 2
    where, rank = hosts(world, a_host), int(rng.integers(world))
    times = [1.0] * world
    files = int(rng.integers(3, 6))
    dealt = shards(world, files, rng=rng if seed % 2 else None)
    if cause == "unsharded_input":
        dealt = everything(world, files, 1 + seed % 2, rng)
    elif cause == "shard_imbalance":
        dealt = shards(world, files, more=(rank, rng.uniform(1.7, 3.0)))
    elif cause == "slow_node":
        slow = rng.uniform(2.8, 6.0)
        times = [slow if host == where[rank] else 1.0 for host in where]
    else:
        times[rank] = rng.uniform(2.8, 6.0)

    # WHEN
    made = zip(dealt, where, times, strict=True)
    session = joint_training(tmp_path, [MadeUpRank(*one) for one in made], seed=seed)
    found = rank_findings(session)

    # THEN
    assert set(found) == {cause}
    assert found[cause].gain.speedup_range[0] > 1
    if cause != "unsharded_input":
        truth = _lost_s(dealt, times)
        assert found[cause].gain.saved_s == pytest.approx(truth, rel=0.35)
        assert found[cause].gain.low_s <= 1.1 * truth
    if cause in ("slow_rank", "shard_imbalance"):
        assert f"rank {rank} " in found[cause].title
    if cause == "slow_node":
        assert where[rank] in found[cause].title


def _lost_s(dealt, times):
    """Work out from what was made up what a step waits longer for the slowest rank than for the others."""
    taken = sorted(len(steps[0]) * (4.0 * slow + 0.1) for steps, slow in zip(dealt, times, strict=True))
    slowest = max(taken)
    return (slowest - float(np.median([one for one in taken if one < 0.8 * slowest]))) / 1e3


@pytest.mark.parametrize(("stalled", "found_names"), [(3, set()), (36, {"slow_rank"})])
def test_a_rank_whose_calls_stalled_now_and_then_is_not_slow(tmp_path, monkeypatch, stalled, found_names):
    # GIVEN four ranks on one node with 72 files each; some of the last rank's took 60 times as long
    slow_files = set(range(3 * 72, 3 * 72 + stalled))

    def times(_rank, files):
        return np.array([60.0 if file in slow_files else 1.0 for file in files])

    monkeypatch.setattr(joint_training_module, "_times", times)
    ranks = [MadeUpRank(steps) for steps in shards(4, 3)]

    # WHEN
    found = rank_findings(joint_training(tmp_path, ranks))

    # THEN it is slow only if most of its files are
    assert set(found) == found_names


@pytest.mark.parametrize("seed", seeds(10))
def test_a_slow_mount_of_one_node_is_named(tmp_path, seed):
    # GIVEN half of the input on each of two mounts, and one of these is slow on one node
    rng = np.random.default_rng([seed, 55])
    world = int(rng.choice([4, 6]))
    where, rank = hosts(world, 2), int(rng.integers(world))
    slow = rng.uniform(5.0, 9.0)
    dealt = shards(world, 4)
    on_data = seed % 2 == 0
    ranks = [
        MadeUpRank(
            steps,
            host,
            slow if on_data and host == where[rank] else 1.0,
            other_times=slow if not on_data and host == where[rank] else 1.0,
        )
        for steps, host in zip(dealt, where, strict=True)
    ]

    # WHEN
    found = rank_findings(joint_training(tmp_path, ranks, seed=seed, other_folder="/scratch"))

    # THEN files in /scratch are on the root file system
    assert set(found) == {"slow_node"}
    slow_point, quick_point = ("/data", "/") if on_data else ("/", "/data")
    assert where[rank] in found["slow_node"].title
    assert f"The slow mount is {slow_point} (" in found["slow_node"].what
    assert f"elsewhere); {quick_point} is not slow." in found["slow_node"].what


def test_a_mount_that_memory_serves_is_not_named(tmp_path):
    # GIVEN reads of 4 ms on one mount and of 20 us on the other, and a node where both take ten times as long
    slow = {"n0": 1.0, "n1": 10.0}
    ranks = [
        MadeUpRank(steps, host, slow[host], other_times=slow[host] / 200)
        for steps, host in zip(shards(4, 4), hosts(4, 2), strict=True)
    ]

    # WHEN
    found = rank_findings(joint_training(tmp_path, ranks, other_folder="/scratch"))

    # THEN
    assert "The slow mount is /data (" in found["slow_node"].what
    assert "elsewhere); / is not slow." in found["slow_node"].what


@pytest.mark.parametrize("seed", range(10))
def test_a_clean_job_raises_no_alarm(tmp_path, seed):
    # GIVEN sharded input, new shards in each epoch or not, and ranks that differ as they do
    rng = np.random.default_rng([seed, 77])
    world = (2, 3, 4, 6)[seed % 4]
    epochs = 1 + seed % 3
    dealt = shards(world, 4, epochs=epochs, rng=rng if seed % 2 else None)
    if seed == 5:  # all ranks read a few files, such as a tokenizer's
        dealt = [[[0, 1, 2], *steps] for steps in dealt]
    times = rng.uniform(0.85, 1.2, world)

    # WHEN
    made = zip(dealt, hosts(world, 1 + seed % 2), times, strict=True)
    session = joint_training(tmp_path, [MadeUpRank(*one) for one in made], seed=seed, noise=0.25)

    # THEN
    assert rank_findings(session) == {}


@pytest.mark.parametrize("pipeline", [[], [SHARD, LOAD], [LOAD], [LOAD, SHARD]])
def test_ranks_that_drop_samples_keep_their_steps_and_others_have_fewer(tmp_path, pipeline):
    # GIVEN four ranks that read all of the input: their steps wait 16.4 ms and compute for 10
    dealt = everything(4, 4, 1, np.random.default_rng(3))
    session = joint_training(tmp_path, [MadeUpRank(steps) for steps in dealt], noise=0.0)
    measures = measure_leading(session)
    noted = {"pipelines": {"found": [{"stages": [PATHS, *pipeline]}]}}
    measures = dataclasses.replace(measures, pipelines=pipelines_of(noted))

    # WHEN
    found = unsharded_input.find(measures)

    # THEN an epoch has a quarter of the steps, or each of them a quarter of the reads
    drops = pipeline == [LOAD, SHARD]
    expected = 26.4 / (10 + 16.4 / 4) if drops else 4
    assert gain_of(measures.job, found.edits, measures).speedup == pytest.approx(expected, rel=0.05)
    epoch = "Epochs get shorter, as they have fewer steps; a step takes as long as before."
    assert found.caveat == ("" if drops else epoch)
    assert found.fix.what.endswith("Put shard() in front of the reads." if drops else epoch)
    assert ("Each rank then drops the other ranks' samples. A step needs 1/4 of what" in found.what) is drops
    assert ("an epoch has 1/4 of the steps, and waits 1/4 as long." in found.what) is not drops


@pytest.mark.parametrize(("host", "expected"), [("n0", {"unsharded_input"}), ("n1", set())])
def test_the_same_path_on_another_hosts_disk_is_another_file(tmp_path, host, expected):
    # GIVEN
    dealt = everything(2, 4, 1, np.random.default_rng(3))
    ranks = [MadeUpRank(dealt[0], "n0"), MadeUpRank(dealt[1], host)]

    # WHEN
    session = joint_training(tmp_path, ranks, folder="/scratch")

    # THEN
    assert set(session.files["fs_type"].astype(str)) == {"ext4"}
    assert set(rank_findings(session)) == expected


def test_the_verdict_says_which_rank_it_is_of(tmp_path):
    # GIVEN
    ranks = [MadeUpRank(*one) for one in zip(shards(3, 4), ["n0"] * 3, (1.0, 5.0, 1.0), strict=True)]

    # WHEN
    session = joint_training(tmp_path, ranks)

    # THEN
    assert "rank 1 takes 4." in rank_findings(session)["slow_rank"].title
    assert "The verdict is about rank 1, which waits longest for input of 3 ranks." in session.verdict.notes
    assert session.joint.leading.rank == 1
    text = session.summary(verbose=True)
    assert text.split("rank  host")[1].splitlines()[1].split()[:2] == ["1", "n0"]


def test_without_steps_it_is_a_note(tmp_path):
    # GIVEN
    ranks = [MadeUpRank(*one) for one in zip(shards(3, 4), ["n0"] * 3, (1.0, 5.0, 1.0), strict=True)]

    # WHEN
    found = rank_findings(joint_training(tmp_path, ranks, marked=False, compute_ms=60.0))

    # THEN
    assert {name: one.kind for name, one in found.items()} == {"slow_rank": "note"}


@pytest.mark.long
@pytest.mark.parametrize("cause", sorted(NAMES - {"shard_imbalance"}))
def test_a_planted_cause_is_found_among_64_ranks(tmp_path, cause):
    # GIVEN 16 nodes of four ranks
    rng = np.random.default_rng(sorted(NAMES).index(cause))
    world, rank = 64, int(rng.integers(64))
    where, times = hosts(world, 4), [1.0] * world
    dealt = shards(world, 2, rng=rng)
    if cause == "unsharded_input":
        dealt = everything(world, 3, 1, rng)
    elif cause == "slow_node":
        times = [4.0 if host == where[rank] else 1.0 for host in where]
    else:
        times[rank] = 4.0

    # WHEN
    made = zip(dealt, where, times, strict=True)
    found = rank_findings(joint_training(tmp_path, [MadeUpRank(*one) for one in made]))

    # THEN
    assert set(found) == {cause}
    assert found[cause].gain.speedup_range[0] > 1
    if cause == "slow_rank":
        assert f"rank {rank} " in found[cause].title
    if cause == "slow_node":
        assert f"node {where[rank]} " in found[cause].title


@pytest.mark.long
def test_a_clean_job_of_64_ranks_raises_no_alarm(tmp_path):
    rng = np.random.default_rng(64)
    times = rng.uniform(0.85, 1.2, 64)
    made = zip(shards(64, 2, rng=rng), hosts(64, 4), times, strict=True)
    session = joint_training(tmp_path, [MadeUpRank(*one) for one in made], noise=0.25)
    assert rank_findings(session) == {}
