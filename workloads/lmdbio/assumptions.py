"""What the model of LMDBIO's scaling is given, and each of it in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass

_WORDS = """
the file lies on {servers} servers of {server_gb_s:g} GB/s each, in stripes of {stripe_mib:g} MiB; no other
job uses them

a server serves one request at a time, and seeks for {seek_ms:g} ms if one does not go on where the last one
ended; each request has {round_trip_ms:g} ms of round trip on top

what another node asked for in the same step comes from the server's memory, at {memory_gb_s:g} GB/s

a step reads {step_mb:,.1f} MB however many processes share it; of {steps} steps one is simulated and taken
for all

nodes wait for each other after each step, and begin the next up to {jitter_ms:g} ms apart, as drawn with
seed {seed}

{readers_per_node} processes a node share its page cache; page faults read windows of {read_ahead_kib:g} KiB,
one after the other

LMDB and LMM read the whole step on each node, as records that are skipped are read too; LMDB's readers all
wait for each window

a wake-up takes {wake_up_us:g} us, and those of a node come one after the other; with wake-all (2019) each
reader's wait ends with all readers of the node woken, with wake-one (today) with that reader

handing a batch, or a cursor, to another takes {hand_over_us:g} us; DM's nodes begin one after the other, as
the cursor reaches them

DIO walks {walked_percent:g} % of the step on each node to find its records; PROV does not

COAL reads {coalesced_mib:g} MiB a node at a time, for several steps; STAG lets {staggered} nodes read at
once, one stripe a server, in the order of the file

computing takes {compute_s:,.0f} s that the processes share, and {compute_floor_s:g} s that they do not; it
overlaps with no reading

the {memory_gb_s:g} GB/s, the {wake_up_us:g} us, the {compute_floor_s:g} s and STAG's {staggered} nodes were
chosen so that wake-all comes near the paper's 65x, with the arms in the paper's order
"""


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """All that is put in. Times in seconds, sizes in bytes, rates in bytes per second."""

    servers: int = 24
    server_bandwidth: float = 0.9e9
    memory_bandwidth: float = 12e9
    seek_s: float = 4e-3
    round_trip_s: float = 0.5e-3
    stripe_bytes: int = 1 << 20
    read_ahead_bytes: int = 128 << 10
    coalesced_bytes: int = 4 << 20
    jitter_s: float = 2e-3
    seed: int = 0
    readers_per_node: int = 36
    wake_up_s: float = 3e-6
    hand_over_s: float = 50e-6
    walked_share: float = 0.01
    step_bytes: int = 9216 * 3072
    steps: int = 512
    compute_s: float = 4600.0
    compute_floor_s: float = 6.0

    @property
    def staggered(self) -> int:
        """How many nodes STAG lets read at once: as many as give each server one stripe."""
        return max(self.servers * self.stripe_bytes // self.coalesced_bytes, 1)

    def nodes(self, processes: int) -> int:
        """Return how many nodes so many processes take."""
        return -(-processes // self.readers_per_node)

    def worded(self) -> list[str]:
        """Say each in a sentence."""
        text = _WORDS.format(
            **asdict(self),
            server_gb_s=self.server_bandwidth / 1e9,
            memory_gb_s=self.memory_bandwidth / 1e9,
            seek_ms=1e3 * self.seek_s,
            round_trip_ms=1e3 * self.round_trip_s,
            jitter_ms=1e3 * self.jitter_s,
            stripe_mib=self.stripe_bytes / 2**20,
            read_ahead_kib=self.read_ahead_bytes / 2**10,
            coalesced_mib=self.coalesced_bytes / 2**20,
            step_mb=self.step_bytes / 1e6,
            wake_up_us=1e6 * self.wake_up_s,
            hand_over_us=1e6 * self.hand_over_s,
            walked_percent=100 * self.walked_share,
            staggered=self.staggered,
        )
        return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
