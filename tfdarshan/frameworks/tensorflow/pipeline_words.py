"""Fixes of a tf.data pipeline, as one types them: each takes out what is there, and puts in what is new."""

from __future__ import annotations

from dataclasses import replace

from tfdarshan.frameworks.tensorflow.cache_place import shuffled_before
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import AUTOTUNE, Pipeline, Stage
from tfdarshan.frameworks.words import DRAWN_BEHIND, Fix
from tfdarshan.units import plural

GENERATOR, PYTHON = "from_generator", "python"
AHEAD = "prefetch(tf.data.AUTOTUNE)"
# While a step takes its samples out of a map, and computes, four calls left a pool of four so idle that eight
# were 1.2 times as fast.
TWICE = "Let the map make twice as many calls: results that wait to be taken count as calls."
# A pipeline that nobody looked at: one that reads a file a sample.
USUAL = Stage("map", function="load", does=("reads",))
DECODES = Stage("map", function="decode")
LAST = Stage("batch", function="batch_size")
# Samples that a buffer holds where samples are shuffled in memory, one after the other.
SHUFFLED_SAMPLES = 10_000
ORDER = " Call shuffle() after cache(): cache() repeats the order of the first epoch."
RECORDS_IN_ORDER = (
    f"dataset = tf.data.TFRecordDataset(shards, buffer_size=8 << 20).shuffle({SHUFFLED_SAMPLES:_})"
)
# A line that deals files out to ranks, and the line as it is.
BY_RANK = ("dataset = files.shard(world_size, rank).interleave(...)", "dataset = files.interleave(...)")


def records(compression: str, buffer_bytes: int) -> str:
    """Return a data set of records with such a buffer."""
    packed = f', compression_type="{compression}"' if compression else ""
    return f"tf.data.TFRecordDataset(path{packed}, buffer_size={buffer_bytes})"


def with_calls(what: str, reader: Stage, readers: int, threads: float) -> Fix:
    """Word how a stage makes so many calls at a time.

    Args:
        what: What to do, a sentence.
        reader: The stage.
        readers: How many calls.
        threads: How many threads tf.data has for them.
    """
    changed, before = reader.with_calls(readers), reader.statement
    lines = [changed.statement]
    if reader.library:
        # Whoever calls the library has no line of it, and AUTOTUNE uses the threads that there are.
        changed, before, lines = reader, "", []
    if changed.deterministic is False and reader.deterministic is not False:
        what += " The order of samples then differs from run to run."
    if readers > threads:
        # A read that waits holds a thread of tf.data's pool, which has one for each processor.
        has = plural(round(threads), "thread")
        what += f" tf.data ran on {has} in this session: give it {readers}."
        lines += [
            "options = tf.data.Options()",
            f"options.threading.private_threadpool_size = {readers}",
            "dataset = dataset.with_options(options)",
        ]
    return Fix(what, "\n".join(lines), before)


def decoded_by(what: str, decoder: Stage, calls: int, threads: float | None) -> Fix:
    """Word how a stage decodes by so many calls, on so many threads; None if that is unknown."""
    if decoder.library:
        return with_calls(what, decoder, calls, threads or calls)
    if threads is None or calls <= threads:
        return Fix(what, replace(decoder, calls=AUTOTUNE).statement, decoder.statement)
    fix = with_calls(what, decoder, calls, threads)
    if decoder.name != "map":
        return fix
    lines = [decoder.with_calls(2 * calls).statement, *fix.line.splitlines()[1:]]
    return Fix(f"{fix.what} {TWICE}", "\n".join(lines), fix.instead_of)


def fewer_calls(what: str, reader: Stage, calls: int) -> Fix:
    """Word how a stage makes fewer calls at a time."""
    return Fix(what, replace(reader, calls=calls).statement, reader.statement)


def prefetched(what: str, pipeline: Pipeline | None) -> Fix:
    """Word how to end a pipeline in a buffer."""
    last = LAST if pipeline is None else pipeline.last
    return Fix(what, f"{last.statement}.{AHEAD}", last.statement)


def kept_as_usual(what: str, place: Stage) -> Fix:
    """Word how to keep what a stage gives of a pipeline that nobody has looked at."""
    return Fix(what + ORDER, f"{place.statement}.cache()", place.statement)


def kept_behind(what: str, pipeline: Pipeline, place: Stage) -> Fix:
    """Word how to keep what a stage gives, in another order in each epoch if it has another now."""
    shuffled = shuffled_before(pipeline, place)
    said, again = (ORDER, f".{shuffled.typed}") if shuffled is not None else ("", "")
    if place.library:
        returned = f"{what}{made_anew(pipeline)} Call cache() on the data set that {place.library} returns."
        return Fix(returned + said, f"dataset = dataset.cache(){again}")
    said = f"{what}{made_anew(pipeline)}{said}"
    return Fix(said, f"{place.statement}.cache(){again}", place.statement)


def made_anew(pipeline: Pipeline) -> str:
    """Say what else it takes to keep anything if each epoch has a data set of its own."""
    if not pipeline.made_anew:
        return ""
    return (
        " Each epoch makes the data set again, and loses the cache: make the data set once, before the "
        "first epoch."
    )


def apart(what: str, verb: str, drawing: Stage) -> Fix:
    """Word how to keep what a stage makes that draws random numbers as well; `verb`: "read" or "decode"."""
    return Fix(
        f"{what} {drawing.typed} also draws random numbers, which cache() after it would repeat in each "
        f"epoch: {verb} in a map before it, and put cache() between the two maps."
    )


def with_workers(what: str, readers: int, before: int) -> Fix:
    """Word how threads make the batches of a PyDataset, of which `before` do so now."""
    now = f"workers={before}" if before > 1 else ""
    return Fix(
        f"{what} Give the PyDataset {readers} workers: each is a thread that makes whole batches. Its "
        "__init__() hands them on to super().__init__().",
        f"dataset = Batches(workers={readers}, max_queue_size={readers})",
        f"dataset = Batches({now})",
    )


def kept_after_generator(what: str, pipeline: Pipeline) -> Fix:
    """Word it for a generator, whose call has arguments of its own: in front of what follows."""
    if pipeline.stages[0].is_py_dataset:
        head = "def __getitem__(self, number):"
        return Fix(f"{what} {DRAWN_BEHIND}", f"@functools.cache\n{head}", head)
    following = pipeline.after(pipeline.stages[0])
    if not following:
        return Fix(what, "dataset = dataset.cache()")
    return Fix(what, f"dataset = dataset.cache().{following[0].typed}", following[0].statement)


def cache_that_fills(pipeline: Pipeline, cache: Stage) -> Fix:
    """Word how to have a cache() serve that no epoch fills."""
    if pipeline.made_anew:
        return Fix(
            "Make the data set once, before the first epoch. At present each epoch makes it again, and loses "
            "its cache().",
            "dataset = make_dataset()  # before the first epoch\nfor batch in dataset:",
            "for batch in make_dataset():",
        )
    cut = next((stage for stage in pipeline.after(cache) if stage.name == "take"), None)
    if cut is None or cut.size is None or cut.size < 0:
        return Fix(
            "Read each epoch to its end, or put the take() that ends it early in front of cache(). At "
            "present no epoch fills the cache(), so it is never used."
        )
    batched = [stage.size or 1 for stage in pipeline.after(cache) if stage.name in ("batch", "padded_batch")]
    batched = batched if pipeline.has("batch") in pipeline.before(cut) else []
    samples = cut.size * (batched[0] if batched else 1)
    ends = pipeline.before(cache)[-1:]
    # It is there already; but who stops behind it is not told that nothing follows, and nor is the cache.
    is_cut = any(stage.name == "take" and 0 <= (stage.size or 0) <= samples for stage in ends)
    return Fix(
        f"Put take() in front of cache(). At present {cut.typed} ends each epoch before the cache() is full, "
        "so it is never used.",
        f"dataset = dataset.{'' if is_cut else f'take({samples}).'}cache()",
        f"dataset = dataset.cache()\n{cut.statement}",
    )
