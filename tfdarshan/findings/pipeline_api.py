"""What a job reads its input with: a cure is said in the words of what was seen."""

from __future__ import annotations

from tfdarshan.analysis.call_kinds import KIND
from tfdarshan.findings.finding import Cure
from tfdarshan.findings.measures import Measures

# The loop reads its input itself where its thread makes this share of the reads.
OWN_READS = 0.8


def read_by_loop(measures: Measures) -> bool:
    """Says whether the training loop's own thread reads the input."""
    segments, loop = measures.segments, measures.loop_thread
    places = measures.places[measures.kinds == KIND["read"]]
    return (
        loop is not None and len(places) > 0 and bool((segments.thread[places] == loop).mean() >= OWN_READS)
    )


def more_readers(measures: Measures, readers: int, before: int) -> Cure:
    """Words how to read with so many calls at a time, where `before` ran at a time."""
    what = f"Read with {readers} calls at a time."
    if read_by_loop(measures):
        return Cure(
            f"{what} Now {measures.loop} reads its input itself: let threads do it.",
            f"pool = concurrent.futures.ThreadPoolExecutor({readers})\n"
            "batches = pool.map(load, paths)  # load() reads; the loop takes what is ready",
        )
    lines = [f"dataset = dataset.map(load, num_parallel_calls={readers}, deterministic=False)"]
    if readers > (measures.machine.cpus or 1):
        # tf.data's pool has as many threads as there are processors, and a read that waits holds one.
        what += f" tf.data has {measures.machine.cpus or 1:.0f} threads on this machine: give it as many."
        lines += [
            "options = tf.data.Options()",
            f"options.threading.private_threadpool_size = {readers}",
            "dataset = dataset.with_options(options)",
        ]
    threads = "" if before <= 1 else f", num_parallel_calls={before}"
    return Cure(what, "\n".join(lines), f"dataset = dataset.map(load{threads})")


def read_ahead(measures: Measures) -> Cure:
    """Words how to prepare input while a step computes."""
    what = "Prepare the next batches while a step computes."
    if read_by_loop(measures):
        return Cure(
            f"{what} Now the loop reads its input itself: let a thread do it.",
            "pool = concurrent.futures.ThreadPoolExecutor(1)\n"
            "following = pool.submit(load, step + 1)  # before the step computes\n"
            "batch = following.result()  # at the next one's start",
        )
    return Cure(
        what,
        "dataset = dataset.batch(batch_size).prefetch(tf.data.AUTOTUNE)",
        "dataset = dataset.batch(batch_size)",
    )
