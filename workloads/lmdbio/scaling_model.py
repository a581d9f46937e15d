"""LMDBIO's axis of 1 to 9,216 processes, by a discrete-event simulation. A fitted model, not evidence.

One training step is simulated, in which all processes read one global batch from a file that is striped over
the servers of a parallel file system; a run is so many such steps and what computing takes, one after the
other. What a reader waits for, queues and seeks among it, comes out of the simulation; each figure put in is
in `Assumptions`, and in what `Assumptions.worded` says.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from .assumptions import Assumptions

Wake = Literal["all", "one"]
WAKES: tuple[Wake, ...] = ("all", "one")
LMDB, LMM, DM, DIO = "LMDB", "LMM", "LMM-DM", "LMM-DIO"
PROV, COAL, STAG = "LMM-DIO-PROV", "LMM-DIO-PROV-COAL", "LMM-DIO-PROV-COAL-STAG"
ARMS = (LMDB, LMM, DM, DIO, PROV, COAL, STAG)
AXIS = (1, 2, 4, 8, 16, 36, 72, 144, 288, 576, 1152, 2304, 4608, 9216)
# Of these, readers fault pages in: the kernel reads a window ahead, and wakes whoever waits.
MAPPED = (LMDB, LMM, DM)


@dataclass(frozen=True)
class Piece:
    """A part of a request on one server."""

    server: int
    begin: int  # within the server's part of the file
    size: int


def pieces(offset: int, size: int, assumed: Assumptions) -> list[Piece]:
    """Return where a range of the file lies; neighbouring stripes of one server are one piece."""
    found: dict[int, Piece] = {}
    end = offset + size
    while offset < end:
        stripe, within = divmod(offset, assumed.stripe_bytes)
        part = min(assumed.stripe_bytes - within, end - offset)
        server = stripe % assumed.servers
        begin = stripe // assumed.servers * assumed.stripe_bytes + within
        before = found.get(server)
        found[server] = Piece(
            server, before.begin if before else begin, (before.size if before else 0) + part
        )
        offset += part
    return list(found.values())


class Simulation:
    """One step of one arm."""

    def __init__(self, arm: str, processes: int, wake: Wake, assumed: Assumptions) -> None:
        import simpy

        self._arm, self._processes, self._wake, self._assumed = arm, processes, wake, assumed
        self._clock: Any = simpy.Environment()
        self._servers = [simpy.Resource(self._clock) for _ in range(assumed.servers)]
        self._served_to = [-1] * assumed.servers
        self._in_memory: set[tuple[int, int]] = set()
        self._done = [self._clock.event() for _ in range(assumed.nodes(processes))]
        self._dice = random.Random(assumed.seed)
        self.requests = self.seeks = 0

    def step_s(self) -> float:
        """Return what reading takes in a step on the mean, in seconds."""
        total = self._bytes_at_once()
        nodes = self._assumed.nodes(self._processes)
        for node in range(nodes):
            # One node waits for nobody.
            late_s = self._dice.uniform(0, self._assumed.jitter_s) if nodes > 1 else 0.0
            self._clock.process(self._node(node, total, late_s))
        self._clock.run()
        return float(self._clock.now) * self._assumed.step_bytes / total

    def _bytes_at_once(self) -> int:
        """COAL reads for as many steps as make each node's part large enough, and no more than there are."""
        assumed = self._assumed
        if self._arm not in (COAL, STAG):
            return assumed.step_bytes
        wanted = assumed.nodes(self._processes) * assumed.coalesced_bytes
        return min(max(wanted, assumed.step_bytes), assumed.step_bytes * assumed.steps)

    def _node(self, node: int, total: int, late_s: float) -> Generator[Any]:
        assumed = self._assumed
        yield self._clock.timeout(late_s)
        if self._arm == STAG and node >= assumed.staggered:
            yield self._done[node - assumed.staggered]
        nodes, readers = assumed.nodes(self._processes), self._readers(node)
        if self._arm in (LMDB, LMM):
            yield from self._fault_in(0, assumed.step_bytes, readers if self._arm == LMDB else 1)
        else:
            first, last = total * node // nodes, total * (node + 1) // nodes
            if self._arm == DM:
                yield self._clock.timeout(node * assumed.hand_over_s)
                yield from self._fault_in(first, last, 1)
            else:
                yield from self._read(first, last)
        self._done[node].succeed()
        if self._arm != LMDB:
            yield self._clock.timeout((readers - 1) * assumed.hand_over_s * total / assumed.step_bytes)

    def _readers(self, node: int) -> int:
        """Return how many processes a node has; the last one may have fewer."""
        per_node = self._assumed.readers_per_node
        return min(per_node, self._processes - node * per_node)

    def _fault_in(self, first: int, last: int, readers: int) -> Generator[Any]:
        """Read window by window, each waited for by all readers of the node."""
        woken = readers * readers if self._wake == "all" else readers
        for offset, size in windows(first, last, self._assumed.read_ahead_bytes):
            yield from self._request(offset, size)
            yield self._clock.timeout(woken * self._assumed.wake_up_s)

    def _read(self, first: int, last: int) -> Generator[Any]:
        """Read a node's own part by explicit calls."""
        assumed = self._assumed
        if self._arm == DIO:
            yield from self._fault_in(0, int(assumed.step_bytes * assumed.walked_share), 1)
        for offset, size in windows(first, last, assumed.coalesced_bytes):
            yield from self._request(offset, size)

    def _request(self, offset: int, size: int) -> Generator[Any]:
        """Ask all servers that hold a part at once, and wait for the last one."""
        parts = pieces(offset, size, self._assumed)
        if len(parts) == 1:
            yield from self._serve(parts[0])
        else:
            yield self._clock.all_of([self._clock.process(self._serve(part)) for part in parts])
        yield self._clock.timeout(self._assumed.round_trip_s)

    def _serve(self, part: Piece) -> Generator[Any]:
        with self._servers[part.server].request() as turn:
            yield turn
            yield self._clock.timeout(self._service_s(part))

    def _service_s(self, part: Piece) -> float:
        """Return what a server takes for a piece, and remember where it is then."""
        self.requests += 1
        if (part.server, part.begin) in self._in_memory:
            return part.size / self._assumed.memory_bandwidth
        seeks = part.begin != self._served_to[part.server]
        self.seeks += seeks
        self._served_to[part.server] = part.begin + part.size
        self._in_memory.add((part.server, part.begin))
        return part.size / self._assumed.server_bandwidth + seeks * self._assumed.seek_s


def windows(first: int, last: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield offset and size of a range's parts, each of at most `most` bytes."""
    for offset in range(first, last, most):
        yield offset, min(most, last - offset)


@dataclass(frozen=True)
class Run:
    """What the model gives for a whole run, in seconds."""

    reading_s: float
    computing_s: float

    @property
    def total_s(self) -> float:
        """Both, one after the other."""
        return self.reading_s + self.computing_s


def simulate(arm: str, processes: int, wake: Wake = "all", assumed: Assumptions | None = None) -> Run:
    """Simulate a run; the same arguments give the same figures.

    Raises:
        ModuleNotFoundError: SimPy is not installed.
    """
    assumed = assumed or Assumptions()
    step_s = Simulation(arm, processes, wake, assumed).step_s()
    computing_s = assumed.compute_s / processes + assumed.compute_floor_s
    return Run(step_s * assumed.steps, computing_s)
