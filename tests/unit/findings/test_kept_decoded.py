"""What is decoded is kept where each epoch is known to decode the same, not where it draws random numbers."""

import dataclasses

import pytest

from tests.unit.findings.made_up_jobs import BATCH, DECODE, LOAD, PATHS, PREFETCH
from tests.unit.findings.made_up_maps import BOTH, BUSY_S, DRAWS, LARGE, ONE_S, SAME, SMALL, maps_job
from tests.unit.findings.told import told
from tfdarshan.findings import decode_bound
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.fix_lines import keep_decoded, keep_in_memory, validation_fix
from tfdarshan.findings.kept_samples import kept_samples
from tfdarshan.findings.measurement import measure
from tfdarshan.replay.edits import CacheInMemory, DecodeCalls
from tfdarshan.replay.promise import promise
from tfdarshan.reports.text.findings_text import findings_text
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.reports.views.panel import Cards

AUGMENT = {"name": "map", "function": "augment", "random": True}
FILTER = {"name": "filter", "random": False}
SCALE = {"name": "map", "function": "scale", "random": False}
SHUFFLE, REPEAT = {"name": "shuffle", "size": 320}, {"name": "repeat", "size": 4}


def found_in(session):
    return decode_bound.find(measure(session))


def test_what_fits_is_kept_if_the_processors_have_no_more_to_give(tmp_path):
    # GIVEN a map that decodes the same in each of four epochs, whose elements take 10 kB
    one = told(maps_job(tmp_path, PATHS, BOTH | SAME | SMALL, BATCH), decode_bound)

    # THEN three of them wait no more
    assert (one.kind, one.edits) == ("problem", (CacheInMemory(),))
    assert one.fix.line == "dataset = dataset.map(load).cache()"
    assert one.fix.what.endswith(
        "Decoding more samples at a time would not help, because all processors are busy."
    )
    assert one.gain.wait_s == pytest.approx(0.75 * 0.020, rel=0.1)


def test_what_a_reader_of_text_decodes_is_kept(tmp_path):
    # GIVEN lines of text that no map works on, and processors that are busy
    one = found_in(maps_job(tmp_path, {"name": "TextLineDataset", "random": False, **SMALL}, BATCH))

    # THEN
    assert one.fix.line.endswith(".cache()")
    assert one.fix.instead_of in one.fix.line


def test_a_cache_that_spares_decoding_is_a_fix_of_decoding_first(tmp_path):
    # GIVEN files that are read again from the page cache, for a tenth of what decoding takes
    found = diagnose(maps_job(tmp_path, PATHS, BOTH | SAME | SMALL, BATCH))

    # THEN decoding has the headline; that the input is read again has the same fix, and is not it
    first, memory = (
        next(one for one in found.findings if one.name == name) for name in ("decode_bound", "fits_in_memory")
    )
    assert first.edits == memory.edits == (CacheInMemory(),)
    assert found.verdict.finding == "decode_bound"
    assert memory.one_of == ("decode_bound",)
    # ... and it is printed once
    line, said = "+ dataset = dataset.map(load).cache()", f'Make the same change as for "{first.title}".'
    text = " ".join(findings_text(found).split())
    assert (text.count(line), text.count(said), text.count("Try first: faster decoding")) == (1, 1, 0)
    (cards,) = (panel for panel in findings_panels(found) if isinstance(panel, Cards))
    card = next(one for one in cards.items if one.name == "fits_in_memory")
    assert (card.label, card.fix, card.line, card.instead_of) == ("worth knowing", said, "", "")


def test_the_better_of_more_calls_and_a_cache_is_named(tmp_path):
    # GIVEN processors that are free
    measures = measure(maps_job(tmp_path, PATHS, BOTH | SAME | SMALL, BATCH, cpu_s=ONE_S))
    found = decode_bound.find(measures)
    more, kept = (promise(measures.job, edit).expected for edit in (DecodeCalls(), CacheInMemory()))

    assert (found.edits == (CacheInMemory(),)) is (kept > more)
    assert ("cache()" in found.fix.line) is (kept > more)


@pytest.mark.parametrize(
    ("behind", "kept"),
    [((BATCH, PREFETCH), 50e6), ((BATCH, AUGMENT), None), ((AUGMENT, BATCH), None), ((FILTER, BATCH), None)],
)
def test_samples_of_unknown_shape_are_as_large_as_their_batches(tmp_path, behind, kept):
    # GIVEN batches of 2 MB, of what is decoded or of what something else makes of it
    samples = kept_samples(measure(maps_job(tmp_path, PATHS, BOTH | SAME, *behind, batch_bytes=2_000_000)))

    assert samples.kept_bytes == kept


def test_what_does_not_fit_is_not_kept(tmp_path):
    # GIVEN 400 GB of decoded samples, from a few files that fit
    found = found_in(maps_job(tmp_path, PATHS, BOTH | SAME | LARGE, BATCH))

    # THEN no fix is left, and the reader is told what remains
    assert (found.kind, found.edits, found.fix.line) == ("note", (), "")
    assert found.fix.what == (
        "Store samples as training needs them, such as images already resized, to decode less. Decoding "
        "more samples at a time would not help, because all processors are busy."
    )


@pytest.mark.parametrize("cpu_s", [ONE_S, BUSY_S], ids=["processors are free", "processors are busy"])
def test_what_draws_random_numbers_is_not_kept(tmp_path, cpu_s):
    one = found_in(maps_job(tmp_path, PATHS, BOTH | DRAWS | SMALL, BATCH, cpu_s=cpu_s))

    assert one.what.endswith(" map(load) draws random numbers, so its samples differ from epoch to epoch.")
    assert one.edits == ((DecodeCalls(),) if cpu_s == ONE_S else ())
    said = "decode in a map before it, and put cache() between the two maps."
    assert (said in one.fix.what) == (cpu_s == BUSY_S)


def test_a_map_that_works_behind_the_cache_may_be_what_takes_the_time(tmp_path):
    # GIVEN decoding, and random changes of what was decoded
    one = found_in(maps_job(tmp_path / "both", PATHS, BOTH | SAME | SMALL, AUGMENT, BATCH))

    # THEN the cache stands between both
    assert one.fix.line == "dataset = dataset.map(load).cache()"
    assert one.edits == (CacheInMemory(works_behind=True),)


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
    assert keep_decoded(measure(maps_job(tmp_path, *stages))).line == line


def test_a_cache_behind_repeat_has_no_end(tmp_path):
    fix = keep_decoded(measure(maps_job(tmp_path / "repeat", PATHS, REPEAT, BOTH | SAME, BATCH)))
    assert fix.what.endswith(" A cache() behind repeat() never fills: put repeat() behind cache().")
    assert fix.line == ""


def test_only_what_is_read_is_kept_of_a_map_that_reads_and_draws(tmp_path):
    # GIVEN a map that reads, decodes and changes at random
    drawing = measure(maps_job(tmp_path / "draws", PATHS, BOTH | DRAWS, BATCH))
    other = measure(maps_job(tmp_path / "same", PATHS, BOTH | SAME, BATCH))

    # THEN no line puts a cache behind it
    said = "map(load) also draws random numbers, which cache() after it would repeat in each epoch:"
    kept = keep_in_memory(drawing)
    assert kept.what.endswith(f" {said} read in a map before it, and put cache() between the two maps.")
    assert kept.line == ""
    assert keep_in_memory(other).line == "dataset = dataset.map(load).cache()"


def test_a_validation_set_that_draws_is_not_kept(tmp_path):
    measures = measure(maps_job(tmp_path, PATHS, BOTH | SAME, BATCH))
    (one,) = measures.pipelines
    drawing = measure(maps_job(tmp_path / "draws", PATHS, BOTH | DRAWS, BATCH)).pipelines[0]
    same = dataclasses.replace(one)
    for second, line in ((drawing, ""), (same, "dataset = dataset.map(load).cache()")):
        object.__setattr__(measures, "pipelines", (one, second))
        assert validation_fix(measures, 16, keep=True).line == line
