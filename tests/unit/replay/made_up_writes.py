"""Jobs that write, and save, beside what they read."""

from tests.unit.findings.made_up_training import LOOP, training

SIZE, SAVED = 100_000, 16_000_000


def writing_job(logdir, *outputs, length=4096):
    """Make ten steps that read for 10 ms, compute for 20 and write for 30: to each output in turn."""
    calls = [(60 * n, 60 * n + 10, LOOP, "pread", 0, SIZE, n * SIZE) for n in range(10)]
    calls += [(60 * n + 30, 60 * n + 60, LOOP, "write", 1 + n % len(outputs), length, 0) for n in range(10)]
    steps = [(60 * n, 60 * n + 60, 10) for n in range(10)]
    sizes = [10 * SIZE, *[10 * length] * len(outputs)]
    return training(logdir, calls, steps, paths=["/data/a", *outputs], sizes=sizes)


def epochs_that_save(logdir, *, saver=LOOP, reads=True):
    """Make ten epochs of 20 steps of 100 ms; 4 s follow, of which 3.9 read other files, then a save of 0.2 s.

    The save opens its file for 10 ms and closes it for 10; it packs what its only write takes 60 ms for.
    """
    calls: list[tuple] = []
    steps: list[tuple] = []
    for begin in range(0, 62_000, 6200):
        steps += [(at, at + 100, 10) for at in range(begin, begin + 2000, 100)]
        calls += [(at, at + 10, LOOP, "pread", 0, SIZE, (at - begin) // 100 * SIZE) for at, *_ in steps[-20:]]
        validated = range(begin + 2050, begin + 5950, 390) if reads else ()
        calls += [(at, at + 390, LOOP, "pread", 1, SIZE, n * SIZE) for n, at in enumerate(validated)]
        calls += [
            (begin + 6000, begin + 6010, saver, "open", 2, 0),
            (begin + 6130, begin + 6190, saver, "write", 2, 16_000_000, 0),
            (begin + 6190, begin + 6200, saver, "close", 2, 0),
        ]
    paths = ["/data/a", "/data/b", "/out/model"]
    return training(logdir, calls, steps, paths=paths, sizes=[20 * SIZE, 10 * SIZE, 16_000_000])
