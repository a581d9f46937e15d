"""What is decoded is kept where each epoch is known to decode the same, not where it draws random numbers."""

import pytest

from tests.scenario_sessions import KB
from tests.unit.findings.made_up_training import training
from tests.unit.findings.test_cures_of_pipelines import BATCH, CACHE, DECODE, LOAD, PATHS, PREFETCH
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.pipeline_api import keep_decoded, keep_in_memory, validation_cure

STEPS, WAIT_MS, COMPUTE_MS, FILES = 100, 20, 30, 25
BUSY_S, ONE_S = 19.0, 4.5
SAME, DRAWS = {"random": False}, {"random": True}
BOTH = LOAD | {"does": ["reads", "decodes"], "function": "load"}
SMALL, LARGE = {"element_bytes": 10 * KB}, {"element_bytes": 1 << 30}
AUGMENT = {"name": "map", "function": "augment", "random": True}
FILTER = {"name": "filter", "random": False}
SCALE = {"name": "map", "function": "scale", "random": False}
SHUFFLE, REPEAT, TAKE = (
    {"name": "shuffle", "size": 320},
    {"name": "repeat", "size": 4},
    {"name": "take", "size": 9},
)
CHANGED = "samples are changed at random as they are decoded"


def job(logdir, *stages, datasets=1, batch_bytes=None, pause_ms=0.0, cpu_s=BUSY_S, size=500 * KB):
    """Gives steps that wait 20 ms and compute for 30; a reader, 1 of 10 ms in a call, works beside all of it.

    It keeps its 4 processors busy, or one of them. Each of 25 files is read four times, in parts.
    """
    at, steps = 0.0, []
    calls: list[tuple] = []
    for step in range(STEPS):
        end = at + WAIT_MS + COMPUTE_MS
        steps.append((at, end, WAIT_MS))
        calls += [
            (at + n, at + n + 1, 1, "pread", step % FILES, size / 5, n // 10 * size // 5)
            for n in range(0, WAIT_MS + COMPUTE_MS, 10)
        ]
        at = end + (pause_ms if (step + 1) % FILES == 0 else 0.0)
    one = {"stages": list(stages), "pool_threads": None, "datasets": datasets, "iterators": 4}
    one |= {"batch_bytes": batch_bytes} if batch_bytes else {}
    return training(
        logdir, calls, steps, paths=[f"/data/{n}" for n in range(FILES)], sizes=[size] * FILES,
        meta={"machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": cpu_s},
              "pipelines": {"found": [one], "left_out": 0}},
    )  # fmt: skip


def found_in(session, name="decode_bound"):
    return next(one for one in diagnose(session).findings if one.name == name)


@pytest.mark.parametrize("cpu_s", [ONE_S, BUSY_S], ids=["processors are free", "processors are busy"])
def test_what_draws_no_random_numbers_and_fits_is_kept_for_certain(tmp_path, cpu_s):
    # GIVEN a map that decodes the same in each of four epochs, whose elements take 10 kB
    session = job(tmp_path, PATHS, BOTH | SAME | SMALL, BATCH, cpu_s=cpu_s)
    measures, one = measure(session), found_in(session)

    # THEN to keep what it gives is promised within 0.7 and 0.9 of what three of them decode, and of the waits
    again_s = measures.model.other_s * 3 / 4
    assert one.kind == "problem"
    assert one.cure.line == "dataset = dataset.map(load).cache()"
    assert one.gain.saved_s == pytest.approx(min(0.9 * again_s, 0.98 * 0.75 * 0.020), rel=0.05)
    assert one.gain.low_s == pytest.approx(min(0.7 * again_s, 0.8 * 0.75 * 0.020), rel=0.05)
    drawn = "no function in front of it draws random numbers, by TensorFlow's graph"
    assert [(entry.claim, entry.support) for entry in one.gain.assumptions[1:]] == [
        ("each epoch decodes the same", drawn),
        ("what is decoded stays in memory", "4.0 MB are < 0.1 % of it"),
    ]
    assert diagnose(session).verdict.finding == "decode_bound"


def test_a_session_that_does_not_say_is_as_uncertain_as_ever(tmp_path):
    session = job(tmp_path, PATHS, BOTH, BATCH)
    gain = found_in(session).gain
    assert gain.low_s == 0
    assert [entry.claim for entry in gain.doubts] == ["each epoch decodes the same"]


def test_nothing_is_certain_of_samples_of_unknown_size(tmp_path):
    gain = found_in(job(tmp_path, PATHS, BOTH | SAME, BATCH)).gain
    assert [entry.claim for entry in gain.doubts] == ["what is decoded stays in memory"]
    assert gain.low_s == 0


@pytest.mark.parametrize(
    ("behind", "known"),
    [
        ((BATCH, PREFETCH), True),
        ((BATCH, AUGMENT), False),
        ((AUGMENT, BATCH), False),
        ((FILTER, BATCH), False),
    ],
)
def test_samples_of_unknown_shape_are_as_large_as_their_batches(tmp_path, behind, known):
    # GIVEN batches of 2 MB, of what is decoded or of what something else makes of it
    gain = found_in(job(tmp_path, PATHS, BOTH | SAME, *behind, batch_bytes=2_000_000)).gain
    (room,) = [entry for entry in gain.assumptions if entry.claim == "what is decoded stays in memory"]
    assert room.support == ("50.0 MB are 0.3 % of it" if known else "")


def test_nobody_knows_how_many_samples_are_kept_that_a_filter_drops(tmp_path):
    gain = found_in(job(tmp_path, PATHS, BOTH | SAME | SMALL, FILTER, BATCH)).gain
    assert "what is decoded stays in memory" in {entry.claim for entry in gain.doubts}


def test_what_a_cache_of_each_epoch_holds_fits(tmp_path):
    # GIVEN a data set that is made anew for each epoch, with a cache that nothing ends early
    session = job(tmp_path / "whole", PATHS, BOTH | SAME, CACHE, BATCH, datasets=4)
    gain = found_in(session).gain

    # THEN
    assert gain.assumptions[2].support == "each epoch's own cache() holds it already"
    assert gain.low_s > 0
    cut = job(tmp_path / "cut", PATHS, BOTH | SAME, CACHE, BATCH, TAKE, datasets=4)
    assert not found_in(cut).gain.supported


def test_what_does_not_fit_is_not_kept(tmp_path):
    # GIVEN 400 GB of decoded samples, from a few files that fit
    session = job(tmp_path, PATHS, BOTH | SAME | LARGE, BATCH)
    cure = found_in(session).cure
    assert (cure.what, cure.line) == (
        "Decode less, by storing the data smaller: the processors have no more to give.",
        "",
    )
    assert "fits_in_memory" not in {one.name for one in diagnose(session).findings}


@pytest.mark.parametrize("cpu_s", [ONE_S, BUSY_S], ids=["processors are free", "processors are busy"])
def test_what_draws_random_numbers_is_not_kept(tmp_path, cpu_s):
    session = job(tmp_path, PATHS, BOTH | DRAWS | SMALL, BATCH, cpu_s=cpu_s)
    one = found_in(session)
    assert one.what.endswith(" map(load) draws random numbers: what it gives is not the same in each epoch.")
    assert "cache()" not in one.cure.line
    assert CHANGED not in {entry.refuted_by for entry in one.gain.assumptions}
    assert ("decode in a map of its own, and put cache() behind that." in one.cure.what) == (cpu_s > 10)
    other = found_in(job(tmp_path / "same", PATHS, BOTH | SAME | SMALL, BATCH))
    assert "draws random numbers" not in other.what + other.cure.what


def test_a_map_that_works_behind_the_cache_may_be_what_takes_the_time(tmp_path):
    # GIVEN decoding, and random changes of what was decoded
    alone = found_in(job(tmp_path / "alone", PATHS, BOTH | SAME | SMALL, BATCH)).gain
    one = found_in(job(tmp_path / "both", PATHS, BOTH | SAME | SMALL, AUGMENT, BATCH))

    # THEN the cache stands between both, and half is expected
    assert one.cure.line == "dataset = dataset.map(load).cache()"
    assert one.gain.saved_s == pytest.approx(alone.saved_s / 2)
    assert one.gain.low_s == 0
    assert one.gain.doubts[0].claim == "what decodes takes this time, not what works behind it"


@pytest.mark.parametrize(
    ("stages", "line"),
    [
        ((PATHS, BOTH, BATCH), "dataset = dataset.map(load).cache()"),
        ((PATHS, LOAD | SAME, DECODE | SAME, SCALE, AUGMENT, BATCH), "dataset = dataset.map(scale).cache()"),
        ((PATHS, LOAD | SAME, DECODE | SAME, SHUFFLE, SCALE, BATCH),
         "dataset = dataset.map(decode, num_parallel_calls=2).cache()"),
        ((PATHS, LOAD, DECODE, {"name": "map", "function": "scale"}, BATCH),
         "dataset = dataset.map(decode, num_parallel_calls=2).cache()"),
        ((PATHS, SHUFFLE, BOTH | SAME, BATCH), "dataset = dataset.map(load).cache().shuffle(320)"),
        ((PATHS, BATCH, BOTH | SAME, PREFETCH), "dataset = dataset.map(load).cache()"),
    ],
    ids=["one map", "the last that draws nothing", "before a shuffle", "no further than known",
         "paths shuffled", "of batches"],
)  # fmt: skip
def test_the_cache_goes_behind_what_is_the_same_in_each_epoch(tmp_path, stages, line):
    assert keep_decoded(measure(job(tmp_path, *stages))).line == line


def test_a_cache_behind_repeat_has_no_end(tmp_path):
    cure = keep_decoded(measure(job(tmp_path / "repeat", PATHS, REPEAT, BOTH | SAME, BATCH)))
    assert cure.what.endswith(" repeat() in front of a cache() leaves it no end: put it behind.")
    assert cure.line == ""
    assert not found_in(job(tmp_path / "gain", PATHS, REPEAT, BOTH | SAME | SMALL, BATCH)).gain.supported


def test_batches_of_what_is_shuffled_are_others_in_each_epoch(tmp_path):
    gain = found_in(job(tmp_path, PATHS, SHUFFLE, BATCH, BOTH | SAME | SMALL)).gain
    assert "each epoch decodes the same" in {entry.claim for entry in gain.doubts}


def test_only_what_is_read_is_kept_of_a_map_that_reads_and_draws(tmp_path):
    # GIVEN a map that reads, decodes and changes at random
    drawing = measure(job(tmp_path / "draws", PATHS, BOTH | DRAWS, BATCH))
    other = measure(job(tmp_path / "same", PATHS, BOTH | SAME, BATCH))

    # THEN no line puts a cache behind it
    said = "map(load) draws random numbers, and a cache() behind it would repeat them in each epoch:"
    kept = keep_in_memory(drawing)
    assert kept.what.endswith(f" {said} read in a map of its own, and put cache() between both.")
    assert kept.line == ""
    assert keep_in_memory(other).line == "dataset = dataset.map(load).cache()"


def test_a_validation_set_that_draws_is_not_kept(tmp_path):
    measures = measure(job(tmp_path, PATHS, BOTH | SAME, BATCH))
    (one,) = measures.pipelines
    drawing = measure(job(tmp_path / "draws", PATHS, BOTH | DRAWS, BATCH)).pipelines[0]
    for second, line in ((drawing, ""), (one, "dataset = dataset.map(load).cache()")):
        object.__setattr__(measures, "pipelines", (one, second))
        assert validation_cure(measures, 16, keep=True).line == line


def test_pauses_in_which_data_sets_are_made_are_in_the_upper_bound(tmp_path):
    # GIVEN a pause of 100 ms after each epoch, in which another data set may be made
    stages = (PATHS, BOTH | SAME, CACHE, BATCH)
    again, once = (
        found_in(job(tmp_path / str(count), *stages, datasets=count, pause_ms=100.0)).gain for count in (4, 1)
    )
    assert again.high_s - once.high_s == pytest.approx(3 * 0.100 / STEPS, rel=0.01)
    assert again.saved_s == pytest.approx(once.saved_s)
