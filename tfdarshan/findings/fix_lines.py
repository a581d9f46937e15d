"""What a job reads its input with: a fix is said in its words, and takes out only what is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfdarshan.analysis.ranks.worker_lives import WorkerLives, worker_lives
from tfdarshan.findings.finding import Fix
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks import all_frameworks
from tfdarshan.frameworks.tensorflow.cache_place import behind, draws
from tfdarshan.frameworks.tensorflow.pipeline_words import (
    DECODES,
    GENERATOR,
    PYTHON,
    USUAL,
    apart,
    cache_that_fills,
    decoded_by,
    fewer_calls,
    kept_after_generator,
    kept_as_usual,
    kept_behind,
    made_anew,
    prefetched,
    with_calls,
    with_workers,
)
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import (
    AUTOTUNE,
    Pipeline,
    Stage,
    training_pipeline,
    validation_pipeline,
)
from tfdarshan.frameworks.words import DRAWN_BEHIND, Words
from tfdarshan.replay.priors import SETTING
from tfdarshan.staging.candidate import databases

# The loop reads its input itself where its thread makes this share of the reads.
OWN_READS = SETTING["loop_reads"]
LESS_TO_DECODE = "Store samples as training needs them, such as images already resized, to decode less"
AS_LIBRARIES_DO = "as NumPy and Pillow let other threads run meanwhile"
# How Python code reads one sample after the other.
ONE_BY_ONE = "for sample in samples:\n    yield read(sample)"
# Threads that share a connection take turns, and sqlite3 refuses one that another thread has opened.
CONNECTIONS = """\
class Database(threading.local):  # each thread opens its own
    def __init__(self):
        self.execute = sqlite3.connect(path).execute
database = Database()"""
CONNECTS = "database = sqlite3.connect(path)"


def read_by_loop(measures: Measures) -> bool:
    """Return whether the training loop's own thread reads the input."""
    facts = measures.facts
    return facts.reads > 0 and facts.loop_reads / facts.reads >= OWN_READS


def input_pipeline(measures: Measures) -> Pipeline | None:
    """Return the tf.data pipeline that steps take their batches from; None if none is known to read files."""
    return training_pipeline(measures.pipelines or (), _asked(measures))


def _asked(measures: Measures) -> Sequence[tuple[int, float]]:
    return () if measures.windows is None else measures.windows.asked


def reader_of(measures: Measures) -> Stage | None:
    """Return the stage of that pipeline that reads."""
    pipeline = input_pipeline(measures)
    return None if pipeline is None else pipeline.reader


def words_of(measures: Measures) -> Words | None:
    """Return how the framework types fixes whose loader feeds the training loop; None if there is none."""
    return all_frameworks.words_of(measures.session.meta[0])


def reads_whole_files(measures: Measures) -> bool:
    """Return whether tf.io.read_file reads the input: it asks for each file's end, whatever is changed."""
    reader = reader_of(measures)
    return (
        reader is not None
        and reader.name == "map"
        and reader.does[:1] == ("reads",)
        and PYTHON not in reader.does
    )


def reads_by_sqlite(measures: Measures) -> bool:
    """Return whether SQLite reads most of the input: a connection reads page after page."""
    read = measures.costs.read_bytes
    theirs = float(read[databases(measures.files.paths)].sum())
    return 2 * theirs > float(read.sum())


def reads_by_tf_data(measures: Measures) -> bool:
    """Return whether tf.data reads the input, or may: nobody has looked, or it was iterated in another way.

    TensorFlow's readers say with each read where in the file it is: who does not is Python.
    """
    if input_pipeline(measures) is not None:
        return True
    if words_of(measures) is not None or not measures.may_use("tensorflow"):
        return False
    if measures.pipelines is not None and measures.facts.placed_reads < OWN_READS * measures.facts.reads:
        return False
    unseen = measures.pipelines is None or "tensorflow" in measures.versions
    return unseen and not read_by_loop(measures)


def reads_in_python(measures: Measures) -> bool:
    """Return whether Python code reads the input: threads, a generator, or a map that runs Python."""
    if (reader := reader_of(measures)) is None:
        return not reads_by_tf_data(measures)
    return reader.name == GENERATOR or (PYTHON in reader.does and "reads" not in reader.does)


def own_threads(measures: Measures) -> float:
    """Return how many threads of its own Python code reads with; 1 where it reads one file after the other.

    tf.data asks a generator for one sample after the other. Where its calls overlap all the same it has
    threads of its own, and each of them reads a file at a time, however few of them are in a call at once.
    """
    reader, readers = reader_of(measures), measures.pipeline.readers
    # The iterators of two epochs may overlap for a moment.
    alone = round(measures.model.readers) <= 1
    if alone or not reads_in_python(measures) or reads_by_workers(measures):
        return 1.0
    if reader is not None and reader.name != GENERATOR:
        return 1.0
    return max(measures.model.readers, readers.threads)


def runs_as_many(measures: Measures, stage: Stage | None, calls: int) -> bool:
    """Return whether a stage runs so many calls at a time already, as far as it can be told to."""
    pipeline = input_pipeline(measures)
    if pipeline is None or stage is None or stage.calls is None:
        return False
    cpus = measures.machine.cpus or 1
    enough = calls <= (pipeline.pool_threads or cpus)
    return enough and (stage.calls == AUTOTUNE or stage.calls >= calls)


def reads_as_many(measures: Measures, readers: int) -> bool:
    """Return whether the pipeline reads with so many calls at a time already, as far as it can be told to.

    Threads of Python's own do if there are so many, however few of them are in a call at once.
    """
    if own_threads(measures) > 1 and round(measures.pipeline.readers.alive) >= readers:
        return True
    return runs_as_many(measures, reader_of(measures), readers)


def prepares_ahead(measures: Measures) -> bool:
    """Return whether the pipeline ends in a buffer already."""
    pipeline = input_pipeline(measures)
    return pipeline is not None and pipeline.prefetches


def more_readers(measures: Measures, readers: int, before: int) -> Fix:
    """Word how to read with so many calls at a time, where `before` ran at a time."""
    what = f"Make {readers} reads at a time."
    pipeline, words = input_pipeline(measures), words_of(measures)
    if pipeline is None and words is not None:
        return words.more_readers(readers)
    if pipeline is not None and pipeline.reader is not None:
        reader = pipeline.reader
        if reader.name == GENERATOR:
            where = f" in {reader.place}" if reader.place else " in the generator"
            threads = round(own_threads(measures))
            if reader.is_py_dataset:
                return with_workers(what, readers, threads)
            if threads > 1:
                line = "yield from map_ahead(read, samples, threads={})  # from tfdarshan.ahead"
                what += f" Now {threads} threads read{where}: give their pool, or map_ahead(), {readers}."
                return Fix(what, line.format(readers), line.format(threads))
            return _by_threads(
                measures, f"{what} The generator reads sample after sample: let threads read{where}.", readers
            )
        if "python" in reader.does and "reads" not in reader.does:
            what += f" {reader.function} runs Python, which computes in one call at a time."
        return with_calls(what, reader, readers, _threads(measures, pipeline))
    if reads_by_tf_data(measures):
        reader = replace(USUAL, calls=before if before > 1 else None)
        return with_calls(what, reader, readers, _threads(measures, None))
    if read_by_loop(measures):
        if "torch" in measures.versions:
            return Fix(
                f"{what} Now {measures.loop} reads its input itself: let workers of a DataLoader read.",
                f"loader = DataLoader(dataset, batch_size=batch_size, num_workers={readers})",
                "loader = DataLoader(dataset, batch_size=batch_size)",
            )
        return _by_threads(
            measures, f"{what} Now {measures.loop} reads its input itself: let threads read.", readers
        )
    return _more_python_readers(measures, what, readers)


def _by_threads(measures: Measures, what: str, threads: int) -> Fix:
    """Word it for Python code that calls read() for one sample after the other."""
    line = f"yield from map_ahead(read, samples, threads={threads})  # from tfdarshan.ahead"
    fix = Fix(f"{what} read() is your function that returns one sample.", line, ONE_BY_ONE)
    if not reads_by_sqlite(measures):
        return fix
    said = f"{fix.what} Each thread needs a connection of its own."
    return Fix(said, f"{CONNECTIONS}\n{line}", f"{CONNECTS}\n{ONE_BY_ONE}")


def _pools(measures: Measures, threads: int, before: int) -> tuple[str, str]:
    """Return a pool of so many threads, and the pool as it is: of SQLite's readers each has a connection."""
    pool = f"pool = ThreadPoolExecutor({{}}{', initializer=connect' if reads_by_sqlite(measures) else ''})"
    return f"{pool.format(threads)}  # from concurrent.futures", pool.format(before)


def _threads(measures: Measures, pipeline: Pipeline | None) -> float:
    """Return how many threads tf.data has: a pipeline's own, or one for each processor."""
    own = None if pipeline is None else pipeline.pool_threads
    return own or measures.machine.cpus or 1


def _more_python_readers(measures: Measures, what: str, readers: int) -> Fix:
    if reads_by_workers(measures):
        return Fix(f"{what} Each worker of a DataLoader makes one.", *_with_workers(measures, readers))
    threads = round(measures.pipeline.readers.alive)
    if threads <= 1:
        # Who reads ahead of the loop in a thread has no pool.
        what += " Now one thread of the job reads one sample after another: use more threads."
        return _by_threads(measures, what, readers)
    return Fix(f"{what} Give the pool that reads {readers} threads.", *_pools(measures, readers, threads))


def reads_by_workers(measures: Measures) -> bool:
    """Return whether a DataLoader's worker processes read the input."""
    return "torch" in measures.versions and measures.summary.processes > 1


def starts_workers_anew(measures: Measures) -> bool:
    """Return whether the workers that read the input end with each epoch, and keep nothing for the next."""
    return reads_by_workers(measures) and _workers(measures).started_anew


def _with_workers(measures: Measures, readers: int) -> tuple[str, str]:
    """Return the DataLoader with so many workers, and as it is."""
    return _loader(readers), _loader(_workers(measures).at_a_time)


def _loader(workers: int) -> str:
    return f"loader = DataLoader(dataset, batch_size=batch_size, num_workers={workers})"


def _workers(measures: Measures) -> WorkerLives:
    """Return the worker processes; where none is known for one, each process but the main one is."""
    others = measures.summary.processes - 1
    found = worker_lives(measures.session.meta)
    return found if found.started else WorkerLives(others, others)


def fewer_readers(measures: Measures, readers: int, before: int) -> Fix:
    """Word how to read with fewer calls at a time."""
    what = f"Make {readers} read{'s' * (readers > 1)} at a time."
    pipeline, words = input_pipeline(measures), words_of(measures)
    if pipeline is None and words is not None:
        return words.fewer_readers(readers)
    reader = reader_of(measures)
    if reader is None and reads_by_tf_data(measures):
        reader = replace(USUAL, calls=before)
    if reader is None and reads_by_workers(measures):
        return Fix(what, *_with_workers(measures, readers))
    if reader is None or reader.name == GENERATOR:
        return Fix(what, *_pools(measures, readers, before))
    return fewer_calls(what, reader, readers)


def read_ahead(measures: Measures) -> Fix:
    """Word how to prepare input while a step computes."""
    what = "Prepare the next batches while a step computes."
    pipeline, words = input_pipeline(measures), words_of(measures)
    if pipeline is None and words is not None:
        return words.read_ahead()
    if reads_by_workers(measures) and pipeline is None:
        what += " Each worker of the DataLoader then has 4 batches ready."
        loader = _loader(_workers(measures).at_a_time)
        return Fix(what, f"{loader[:-1]}, prefetch_factor=4)", loader)
    if pipeline is None and not reads_by_tf_data(measures):
        return _by_a_thread(measures, what)
    return prefetched(what, pipeline)


def _by_a_thread(measures: Measures, what: str) -> Fix:
    """Word it for a loop that iterates over what Python code reads."""
    line, goes = "for batch in read_ahead(batches):  # from tfdarshan.ahead", "for batch in batches:"
    if not read_by_loop(measures):
        return Fix(
            f"{what} At present the loop waits for each batch to be read: let a thread read ahead.",
            line,
            goes,
        )
    what += " At present the loop reads its input itself: let a thread read ahead."
    if not reads_by_sqlite(measures):
        return Fix(what, line, goes)
    shared = f"{CONNECTS[:-1]}, check_same_thread=False)"
    what += " The thread uses a connection that another thread opened."
    return Fix(what, f"{shared}\n{line}", f"{CONNECTS}\n{goes}")


def keep_in_memory(measures: Measures) -> Fix:
    """Word how to keep what was read in memory."""
    what = "Keep the input in memory from the first epoch on."
    pipeline, words = input_pipeline(measures), words_of(measures)
    if pipeline is None and words is not None:
        return words.keep_in_memory()
    if pipeline is None and reads_by_tf_data(measures):
        return kept_as_usual(what, USUAL)
    if pipeline is None or pipeline.reader is None:
        return _cached_calls(measures, f"{what} read() returns a sample. {DRAWN_BEHIND}", "read")
    reader, cache = pipeline.reader, pipeline.has("cache")
    drawing = draws(pipeline, reader)
    if drawing is not None:
        return apart(what, "read", drawing)
    if cache is not None:
        return cache_that_fills(pipeline, cache)
    if reader.name == GENERATOR:
        return kept_after_generator(what + made_anew(pipeline), pipeline)
    return kept_behind(what, pipeline, reader)


def _cached_calls(measures: Measures, what: str, function: str) -> Fix:
    """Word it for a Python function that is called with the same arguments in each epoch."""
    if starts_workers_anew(measures):
        what += (
            " Workers end with each epoch: read all samples before the first epoch, so that workers "
            "inherit them."
        )
        line = f"samples = {{path: {function}(path) for path in paths}}"
        return Fix(what, line, loads_first=True)
    head = f"def {function}(path):"
    return Fix(what, f"@functools.cache\n{head}", head)


def keeps_decoded(measures: Measures) -> bool:
    """Return whether what `keep_in_memory` keeps is decoded: the stage that reads decodes, too."""
    reader = reader_of(measures)
    return reader is not None and "decodes" in reader.does


def more_decoding(measures: Measures, calls: int) -> Fix:
    """Word how to decode with so many calls at a time, which keep all processors busy."""
    what = "Decode several samples at a time."
    decoder, words = decoding_stage(measures), words_of(measures)
    if decoder is None and words is not None:
        return words.more_decoding(calls)
    pipeline = input_pipeline(measures)
    if pipeline is None and not reads_by_tf_data(measures):
        return _more_python_decoding(measures, what)
    if decoder is None:
        decoder = DECODES
    if decoder.is_py_dataset:
        return with_workers(what, _processors(measures), round(own_threads(measures)))
    if decoder.name == GENERATOR:
        return _by_threads(
            measures,
            f"{what} The generator decodes one sample after another: let threads read and decode, "
            f"{AS_LIBRARIES_DO}. If your own Python code decodes, yield bytes and decode in dataset.map().",
            _processors(measures),
        )
    threads = None if pipeline is None else pipeline.pool_threads
    return decoded_by(what, decoder, calls, threads or measures.machine.cpus)


def _more_python_decoding(measures: Measures, what: str) -> Fix:
    """Word it for a loop, or threads or workers of the job's own, that decode what they read."""
    count, threads = _processors(measures), round(measures.pipeline.readers.alive)
    if reads_by_workers(measures):
        return Fix(f"{what} Each worker of the DataLoader makes one.", *_with_workers(measures, count))
    if read_by_loop(measures) or threads <= 1:
        who = "The loop" if read_by_loop(measures) else "A thread"
        what += f" {who} decodes one sample after another: let threads read and decode, {AS_LIBRARIES_DO}."
        return _by_threads(measures, what, count)
    if threads < count:
        return Fix(f"{what} Give the pool that decodes {count} threads.", *_pools(measures, count, threads))
    return Fix(
        "Decode in processes: threads wait for each other at Python's lock.",
        f"pool = ProcessPoolExecutor({count})  # from concurrent.futures",
        f"pool = ThreadPoolExecutor({threads})",
    )


def _processors(measures: Measures) -> int:
    """Return how many calls keep all processors busy, two at least."""
    return max(2, round(measures.machine.cpus or 2))


def keep_decoded(measures: Measures, limit: str = "", *, fits: bool = True, again: bool = True) -> Fix:
    """Word how to decode less, where each epoch decodes the same, or where `limit` says why not more.

    Args:
        measures: The session.
        limit: Why no more calls can decode at a time; "" if they can.
        fits: Whether what is decoded may fit into memory.
        again: Whether the job decodes anything again, as far as is seen: in one epoch a cache only fills.
    """
    why = f"Decoding more samples at a time would not help, because {limit}."
    if not fits:
        return Fix(f"{LESS_TO_DECODE}. {why}")
    if not again:
        later = "if more epochs follow, keep decoded samples in memory"
        return Fix(f"{LESS_TO_DECODE}; {later}. {why}")
    what = "Keep decoded samples in memory from the first epoch on."
    if limit:
        what = (
            "Keep decoded samples in memory from the first epoch on, or store samples as training needs "
            f"them. {why}"
        )
    pipeline = input_pipeline(measures)
    # Readers of text decode what they read.
    made = DECODES if pipeline is None else pipeline.stages[0]
    decoder = decoding_stage(measures) or reader_of(measures) or made
    drawing = None if pipeline is None else draws(pipeline, decoder)
    if drawing is not None:
        return apart(what, "decode", drawing)
    cache = None if pipeline is None else pipeline.has("cache")
    if pipeline is not None and cache is not None and cache in pipeline.after(decoder):
        return cache_that_fills(pipeline, cache)
    if cache is not None:
        return Fix(what)
    if pipeline is not None and decoder.name == GENERATOR:
        return kept_after_generator(what, pipeline)
    words = words_of(measures)
    if pipeline is None and words is not None:
        return replace(words.keep_in_memory(), what=f"{what} {DRAWN_BEHIND}")
    if pipeline is None and not reads_by_tf_data(measures):
        return _cached_calls(measures, f"{what} read() also decodes. {DRAWN_BEHIND}", "read")
    if pipeline is None:
        return kept_as_usual(what, decoder)
    place = behind(pipeline, decoder)
    if pipeline.has("repeat") in pipeline.before(place):
        return Fix(f"{what} A cache() behind repeat() never fills: put repeat() behind cache().")
    return kept_behind(what, pipeline, place)


def decoding_stage(measures: Measures) -> Stage | None:
    """Return the stage that decodes: the last map that does, else the last that has a function."""
    pipeline = input_pipeline(measures)
    if pipeline is None:
        return None
    mapped = [stage for stage in pipeline.stages if stage.name in ("map", GENERATOR)]
    decoding = [stage for stage in mapped if "decodes" in stage.does]
    return next(iter([*decoding[::-1], *mapped[::-1]]), None)


def validation_fix(measures: Measures, readers: int, *, keep: bool) -> Fix:
    """Word how to keep a validation set in memory, or to read it with so many calls at a time."""
    return replace(_validation_lines(measures, readers, keep=keep), data_set="validation")


def _validation_lines(measures: Measures, readers: int, *, keep: bool) -> Fix:
    pipeline = validation_pipeline(measures.pipelines or (), _asked(measures))
    reader = None if pipeline is None else pipeline.reader
    words = words_of(measures)
    if reader is None and words is not None and not keep:
        return words.more_validation(readers)
    if pipeline is None or reader is None or reader.name == GENERATOR:
        if keep:
            return _cached_calls(measures, "Keep the validation set in memory.", "read_validation")
        return Fix(
            f"Read the validation set with {readers} calls at a time.",
            f"samples = concurrent.futures.ThreadPoolExecutor({readers}).map(read_validation, paths)",
        )
    if keep:
        what = "Keep the validation set in memory from its first pass on."
        drawing = draws(pipeline, reader)
        if drawing is not None:
            return apart(what, "read", drawing)
        return kept_behind(what, pipeline, reader)
    what = f"Read the validation set with {readers} calls at a time."
    return with_calls(what, reader, readers, _threads(measures, pipeline))
