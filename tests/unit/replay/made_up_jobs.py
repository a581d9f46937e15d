"""Sessions of jobs whose times were worked out by hand."""

from tests.unit.findings.made_up_training import LOOP, training

OPEN_MS, READ_MS, SIZE = 2, 8, 100_000


def file_job(logdir, *, batches=8, files=4, epochs=2, compute_ms=20, decode_ms=0, cached_ms=None, **more):
    """Writes a job whose loop reads and decodes each batch's files itself, and computes then.

    With `cached_ms`, memory serves an epoch after the first: opens and reads take so long together.
    """
    calls, steps, at = [], [], 0
    for number in range(batches * epochs):
        began = at
        for file in range(number % batches * files, (number % batches + 1) * files):
            quick = cached_ms is not None and number >= batches
            open_ms, read_ms = (cached_ms / 2, cached_ms / 2) if quick else (OPEN_MS, READ_MS)
            calls += [(at, at + open_ms, LOOP, "open", file, 0),
                      (at + open_ms, at + open_ms + read_ms, LOOP, "pread", file, SIZE, 0),
                      (at + open_ms + read_ms, at + open_ms + read_ms, LOOP, "close", file, 0)]  # fmt: skip
            at += open_ms + read_ms + decode_ms
        steps.append((began, at + compute_ms, at - began))
        at += compute_ms
    return training(
        logdir, calls, steps, paths=[f"/data/{number:03}" for number in range(batches * files)],
        sizes=[SIZE] * batches * files, **more,
    )  # fmt: skip
