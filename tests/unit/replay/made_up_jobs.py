"""Sessions of jobs whose times were worked out by hand."""

from tests.unit.findings.made_up_training import LOOP, training

OPEN_MS, READ_MS, SIZE = 2, 8, 100_000


def file_job(
    logdir,
    *,
    batches=8,
    files=4,
    epochs=2,
    compute_ms=20,
    decode_ms=0,
    cached_ms=None,
    size=SIZE,
    read_ms=READ_MS,
    **more,
):  # fmt: skip
    """Write a job whose loop reads and decodes each batch's files itself, and computes then.

    With `cached_ms`, memory serves an epoch after the first: opens and reads take so long together.
    """
    calls, steps, at = [], [], 0
    for number in range(batches * epochs):
        began = at
        for file in range(number % batches * files, (number % batches + 1) * files):
            quick = cached_ms is not None and number >= batches
            open_ms, took_ms = (cached_ms / 2, cached_ms / 2) if quick else (OPEN_MS, read_ms)
            calls += [(at, at + open_ms, LOOP, "open", file, 0),
                      (at + open_ms, at + open_ms + took_ms, LOOP, "pread", file, size, 0),
                      (at + open_ms + took_ms, at + open_ms + took_ms, LOOP, "close", file, 0)]  # fmt: skip
            at += open_ms + took_ms + decode_ms
        steps.append((began, at + compute_ms, at - began))
        at += compute_ms
    return training(
        logdir, calls, steps, paths=[f"/data/{number:03}" for number in range(batches * files)],
        sizes=[size] * batches * files, **more,
    )  # fmt: skip


def record_job(logdir, offsets, *, read_ms, batches=8, size=8192, file_size=None):
    """Write a job whose loop reads records of one file, as many for each batch, and computes for 1 ms.

    Args:
        offsets: Where they are, in records.
        read_ms: What the read of each takes.
        file_size: The file's, in bytes; None: as much as is read.
    """
    calls, steps, at, each = [], [], 0, len(offsets) // batches
    for number in range(batches):
        began = at
        for record in range(number * each, (number + 1) * each):
            calls.append((at, at + read_ms[record], LOOP, "pread", 0, size, offsets[record] * size))
            at += read_ms[record]
        steps.append((began, at + 1, at - began))
        at += 1
    return training(logdir, calls, steps, sizes=[file_size or len(offsets) * size])


def database_job(logdir, *, pages, batches=8, samples=4, page=4096):
    """Write a job whose loop reads samples of a database, pages in memory of 1 us each, and decodes for 1 ms.

    A query reads the same two pages first, and then so many others.
    """
    calls, steps, at = [], [], 0.0
    for number in range(batches):
        began = at
        for sample in range(number * samples, (number + 1) * samples):
            for place in (0, 1, *range(2 + sample * pages, 2 + (sample + 1) * pages)):
                calls.append((at, at + 0.001, LOOP, "pread", 0, page, place * page))
                at += 0.004
            at += 1
        steps.append((began, at + 1, at - began))
        at += 1
    return training(logdir, calls, steps, sizes=[(2 + batches * samples * pages) * page])
