"""Sessions of made-up jobs that several tests ask: readers, tf.data pipelines, crowds of readers."""

from tests.closed_readers import Delay, calls_of
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.findings.diagnosis import diagnose

KB = 1_000
PATHS = {"name": "from_tensor_slices", "size": 320}
LOAD = {"name": "map", "does": ["reads"], "function": "read_image", "file": "/job/train.py", "line": 12}
DECODE = {"name": "map", "does": ["decodes"], "function": "decode", "calls": 2}
BATCH = {"name": "batch", "size": 16}
PREFETCH = {"name": "prefetch", "size": -1}
CACHE = {"name": "cache"}
TAKE_9 = {"name": "take", "size": 9}
SHARDS = {"name": "TFRecordDataset", "compression": "GZIP"}
INTERLEAVE = {
    "name": "interleave",
    "size": 4,
    "does": ["reads"],
    "function": "lambda s: tf.data.TFRecordDataset(s)",
}
GENERATOR = {
    "name": "from_generator",
    "does": ["python"],
    "function": "samples",
    "file": "/job/data.py",
    "line": 7,
}
OPTIONS = {"name": "with_options"}
WAITING = epochs_of_steps(20, 100, 90)


def rests(mean_ms):
    return lambda noise: noise.expovariate(1 / mean_ms)


def names(session):
    return [finding.name for finding in diagnose(session).findings]


def readers_job(logdir, calls, *, waits=0.9, cpus=None, cpu_s=1.0):
    """Return a session of steps of 50 ms that wait for calls which read one large file each."""
    readers = 1 + max(reader for _, _, reader, _ in calls)
    made = [
        (start, end, reader + 1, "pread", reader, length, place * length)
        for place, (start, end, reader, length) in enumerate(calls)
    ]
    end = max(call[1] for call in calls)
    steps = [(50.0 * n, 50.0 * n + 50, 50 * waits) for n in range(int(end // 50))]
    paths = [f"/data/{reader}" for reader in range(readers)]
    meta = {} if cpus is None else {"machine": {"cpus": cpus, "memory_bytes": 1 << 34, "cpu_s": cpu_s}}
    return training(logdir, made, steps, paths=paths, sizes=[10**12] * readers, meta=meta)


def pipeline_job(logdir, *stages, pool_threads=None, datasets=1, iterators=3, readers=1, found=True, **meta):
    """Return a session of a job whose steps of 50 ms wait 45 for readers, each of whose calls takes 5 ms."""
    calls = calls_of(Delay(5), readers=readers, rest_ms=rests(0.5))
    made = [
        (start, end, reader + 1, "pread", reader, length, place * length)
        for place, (start, end, reader, length) in enumerate(calls)
    ]
    steps = [(50.0 * n, 50.0 * n + 50, 45.0) for n in range(int(calls[-1][1] // 50))]
    one = {
        "stages": list(stages),
        "pool_threads": pool_threads,
        "datasets": datasets,
        "iterators": iterators,
    }
    meta["pipelines"] = {"found": [one] if stages else [], "left_out": 0}
    return training(
        logdir,
        made,
        steps,
        paths=[f"/data/{reader}" for reader in range(readers)],
        sizes=[10**12] * readers,
        meta=meta if found else {},
    )


def jumping(folder):
    """Write a session of reads anywhere in two files, 5 ms each."""
    calls = [
        (at, at + 5, tid, "pread", tid % 2, 8_000, (at * 7919 + tid * 104_729) % 40_000 * 1_000)
        for at in range(0, 2_000, 5)
        for tid in range(1, 17)
    ]
    return training(folder, calls, WAITING, paths=("/data/a", "/data/b"), sizes=[40_000_000] * 2)


def crowded(folder):
    """Write a session of 2 readers at 400 MB/s for a fifth of each half second, else 16 at 25 MB/s."""
    calls = []
    for at in range(0, 2_000, 4):
        readers, length = (16, 6_250) if at % 500 < 400 else (2, 800_000)
        calls += [(at, at + 4, tid + 1, "pread", tid, length, at * 1_000_000) for tid in range(readers)]
    return training(folder, calls, WAITING, paths=[f"/data/{n}" for n in range(16)], sizes=[10**11] * 16)


def decoding(folder):
    """Write a session of one reader that reads 1 of 10 ms, and decodes the rest, on four processors."""
    calls = [(at, at + 1, 1, "read", 0, 100_000, at * 1_000_000) for at in range(0, 2_000, 10)]
    machine = {"machine": {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 1.8}}
    return training(folder, calls, WAITING, sizes=[10**10], meta=machine)
