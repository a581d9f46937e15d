"""What-if against the truth: a job on storage of a known kind, simulated again with the change made."""

import random
from dataclasses import replace

import pytest

from tests.closed_readers import Queue
from tests.unit.findings.made_up_training import training
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.whatif import StorageChange, what_if

FILES, BATCH, COMPUTE_MS, WARM_MS, SIZE = 160, 8, 12.0, 0.05, 100_000


class Uneven(Queue):
    """A queue whose waits and service differ by a quarter from read to read."""

    def end(self, at_ms, size, noise):
        served = (self.call_ms + size * self.ms_per_byte) * noise.lognormvariate(0, 0.25)
        self.free_ms = max(self.free_ms, at_ms) + served
        return self.free_ms + self.wait_ms * noise.lognormvariate(0, 0.25)


# The same 5 ms a read of one reader: a wait, a pipe, half of each, and a limit of 200 reads a second.
LATENCY = Uneven(5.0, 0.0)
PIPE = Uneven(0.0, 0.0, 5.0 / SIZE)
BOTH = Uneven(2.5, 0.0, 2.5 / SIZE)
RATE = Uneven(0.0, 5.0)
STORAGE = {"latency": LATENCY, "pipe": PIPE, "both": BOTH, "rate": RATE}


def job(storage, readers, cold_epochs, epochs, size=lambda noise: SIZE):
    """Gives calls and steps, in ms: the readers take the files of a batch in turn, then the step computes.

    Memory serves all epochs but the first ones.
    """
    noise, storage = random.Random(3), replace(storage)
    sizes = [size(noise) for _ in range(FILES)]
    calls, steps, at = [], [], 0.0
    for first in range(0, FILES * epochs, BATCH):
        ready = [at + 0.01 * reader for reader in range(readers)]
        for place in range(first, first + BATCH):
            reader = min(range(readers), key=ready.__getitem__)
            begin, file = ready[reader], place % FILES
            cold = place < FILES * cold_epochs
            end = storage.end(begin, sizes[file], noise) if cold else begin + WARM_MS
            calls.append((begin, end, reader + 1, "pread", file, sizes[file], 0))
            ready[reader] = end
        got = max(ready)
        steps.append((at, got + COMPUTE_MS, got - at))
        at = got + COMPUTE_MS
    return sorted(calls), steps, sizes


def changed(storage, change):
    """Gives the storage after a change."""
    return replace(
        storage,
        wait_ms=storage.wait_ms * change.latency,
        call_ms=storage.call_ms * change.latency,
        ms_per_byte=storage.ms_per_byte / change.bandwidth,
    )


def spread(noise):
    """Draws sizes of 20 kB to 700 kB, most of them."""
    return int(min(2_000_000, max(2_000, noise.lognormvariate(11.5, 0.8))))


DEVICES = {
    "bandwidth 2x": StorageChange(bandwidth=2.0),
    "bandwidth 0.5x": StorageChange(bandwidth=0.5),
    "latency 0.5x": StorageChange(latency=0.5),
    "latency 3x": StorageChange(latency=3.0),
}
READERS = {"more threads": StorageChange(threads=8), "fewer threads": StorageChange(threads=1)}
ONE_SIZE = [(name, change, lambda noise: SIZE) for name, change in (DEVICES | READERS).items()]
ALL_SIZES = [(f"{name}, sizes differ", change, spread) for name, change in DEVICES.items()]


@pytest.mark.parametrize(
    ("change", "size"),
    [pytest.param(change, size, id=name) for name, change, size in (*ONE_SIZE, *ALL_SIZES)],
)
@pytest.mark.parametrize("epochs", [(1, 3), (3, 3)], ids=["warm later", "all cold"])
@pytest.mark.parametrize("readers", [1, 2, 4])
@pytest.mark.parametrize("kind", STORAGE)
def test_the_truth_is_inside_the_range(tmp_path, kind, readers, epochs, change, size):
    # GIVEN a job whose files are all of one size, or of many
    calls, steps, sizes = job(STORAGE[kind], readers, epochs[0], epochs[1], size)
    session = training(
        tmp_path, calls, steps, paths=[f"/data/{n}" for n in range(FILES)], sizes=sizes,
        meta={"machine": {"cpus": 16, "memory_bytes": 1 << 34, "cpu_s": 0.01}},
    )  # fmt: skip

    # WHEN it is run once more on the other storage
    _, after, _ = job(changed(STORAGE[kind], change), change.threads or readers, epochs[0], epochs[1], size)
    truth = steps[-1][1] / after[-1][1]

    # THEN
    low, high = what_if(measure(session), change).gain.speedup_range
    assert low * 0.97 <= truth <= high * 1.03
