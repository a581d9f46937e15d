"""Readers that read, rest, and read again, on storage of a known kind: the calls that they make."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Delay:
    """Storage that makes each call wait, beside all others."""

    call_ms: float

    def end(self, at_ms: float, size: int, noise: random.Random) -> float:
        return at_ms + self.call_ms * noise.lognormvariate(0, 0.1)


@dataclass
class Queue:
    """A wait beside all others, and then one thing that serves one call after the other."""

    wait_ms: float
    call_ms: float
    ms_per_byte: float = 0.0
    free_ms: float = field(default=0.0)

    def end(self, at_ms: float, size: int, noise: random.Random) -> float:
        self.free_ms = max(self.free_ms, at_ms) + self.call_ms + size * self.ms_per_byte
        return self.free_ms + self.wait_ms


@dataclass
class Budget:
    """Storage that lets so many calls, or bytes, of an interval pass at once, and holds the next one."""

    calls: int
    interval_ms: float = 100.0
    call_ms: float = 0.5
    bytes: int = 0
    passed: int = field(default=0)
    from_ms: float = field(default=0.0)

    def end(self, at_ms: float, size: int, noise: random.Random) -> float:
        begins = max(at_ms, self.from_ms)
        started = begins // self.interval_ms * self.interval_ms
        if started > self.from_ms:
            self.from_ms, self.passed = started, 0
        allowed = self.bytes or self.calls
        if self.passed >= allowed:
            # What was too much for one interval is the next one's.
            self.passed = self.passed - allowed if self.bytes else 0
            self.from_ms += self.interval_ms
            begins = self.from_ms
        self.passed += size if self.bytes else 1
        return begins + self.call_ms


@dataclass
class Stalls:
    """Storage that is quick, and makes a call wait for long now and then: at random, or each so many."""

    each: int = 0
    passed: int = field(default=0)

    def end(self, at_ms: float, size: int, noise: random.Random) -> float:
        self.passed += 1
        held = self.passed % self.each == 0 if self.each else noise.random() < 0.1
        return at_ms + (90.0 if held else 0.5)


def calls_of(
    storage: Delay | Queue | Budget | Stalls,
    *,
    readers: int,
    rest_ms: Callable[[random.Random], float],
    count: int = 1500,
    size: Callable[[random.Random], int] = lambda noise: 100_000,
) -> list[tuple[float, float, int, int]]:
    """Return (start, end, reader, bytes) of the calls, in ms, in order of start."""
    noise = random.Random(5)
    ready = [(rest_ms(noise), reader) for reader in range(readers)]
    heapq.heapify(ready)
    calls = []
    for _ in range(count):
        at, reader = heapq.heappop(ready)
        length = size(noise)
        end = storage.end(at, length, noise)
        calls.append((at, end, reader, length))
        heapq.heappush(ready, (end + rest_ms(noise), reader))
    return sorted(calls)


def shared_pipe(
    *, readers: int, rest_ms: Callable[[random.Random], float], alone_ms: float, count: int = 1500
) -> list[tuple[float, float, int, int]]:
    """Return the same of a pipe that is shared by all calls in it, each of which takes `alone_ms` alone."""
    noise = random.Random(5)
    resting = [(rest_ms(noise), reader) for reader in range(readers)]
    heapq.heapify(resting)
    moving: dict[int, list[float]] = {}
    calls: list[tuple[float, float, int, int]] = []
    now = 0.0
    while len(calls) < count:
        first = min(moving, key=lambda reader: moving[reader][1]) if moving else -1
        ends = now + moving[first][1] * len(moving) if moving else float("inf")
        begins = resting[0][0] if resting else float("inf")
        passed = (min(ends, begins) - now) / max(len(moving), 1)
        for state in moving.values():
            state[1] -= passed
        now = min(ends, begins)
        if begins <= ends:
            moving[heapq.heappop(resting)[1]] = [now, alone_ms]
        else:
            calls.append((moving.pop(first)[0], now, first, 100_000))
            heapq.heappush(resting, (now + rest_ms(noise), first))
    return sorted(calls)
