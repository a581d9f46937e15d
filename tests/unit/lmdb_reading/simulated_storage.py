"""Storage in simulated time: how long a read with so many in flight lasts."""

from __future__ import annotations

import random
from collections.abc import Callable

# What one request to the storage asks for.
REQUEST_BYTES = 128 << 10

# Gives seconds for bytes read in `calls` places with so many in flight.
Storage = Callable[[int, int, int], float]


def _requests(read_bytes: int, calls: int) -> int:
    return max(read_bytes // REQUEST_BYTES, calls)


def late(latency_s: float = 3e-3, bandwidth: float = 2e9) -> Storage:
    """Answer each request after a while, as many at once as one likes."""

    def elapsed_s(read_bytes: int, calls: int, depth: int) -> float:
        waits = -(-_requests(read_bytes, calls) // depth)
        return max(waits * latency_s, read_bytes / bandwidth)

    return elapsed_s


def narrow(bandwidth: float = 163e6) -> Storage:
    """Return so much, however it is asked."""
    return lambda read_bytes, calls, depth: read_bytes / bandwidth


def seeking(exponent: float, *, seek_s: float = 8e-3, bandwidth: float = 163e6) -> Storage:
    """One head: a read in order seeks once, several at once at each request; an elevator shortens seeks."""

    def elapsed_s(read_bytes: int, calls: int, depth: int) -> float:
        seeks = calls if depth == 1 else _requests(read_bytes, calls)
        return seeks * seek_s * depth**-exponent + read_bytes / bandwidth

    return elapsed_s


def memory(bandwidth: float = 5e9, call_s: float = 2e-5) -> Storage:
    """Copy; each thread that is started costs, and gains nothing."""
    return lambda read_bytes, calls, depth: read_bytes / bandwidth + depth * call_s


def shared_with(others: int, storage: Storage) -> Storage:
    """The same with other processes that have so many in flight: each in flight has its share of the time."""
    return lambda read_bytes, calls, depth: storage(read_bytes, calls, depth) * (others + depth) / depth


MOST = 16
READ_BYTES = 16 << 20
GIB = 1 << 30


def read_all(search, storage, total, *, scattered=False, noise=0.0, seed=0):
    """Read so many bytes as measured_reading does; return the simulated seconds."""
    dice, elapsed_s = random.Random(seed), 0.0

    def taken(read_bytes, depth):
        calls = read_bytes // REQUEST_BYTES if scattered else 1
        return storage(read_bytes, calls, depth) * (1 + noise * dice.uniform(-1, 1))

    left = total
    while left > 0:
        read_left = min(READ_BYTES, left)
        left -= read_left
        while search.is_due and read_left >= search.part_bytes:
            depth, part = search.next, search.part_bytes
            part_s = taken(part, depth)
            search.add_part(depth, part, part_s)
            elapsed_s, read_left = elapsed_s + part_s, read_left - part
        if read_left:
            rest_s = taken(read_left, search.depth)
            search.add_settled(read_left, rest_s)
            elapsed_s += rest_s
    return elapsed_s
