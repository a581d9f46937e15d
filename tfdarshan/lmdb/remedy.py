"""LMDBIO's remedies (Pumma et al., ACM TOPC 2019), by the names that the paper gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tfdarshan.errors import ConfigurationError

RemedyName = Literal["LMM", "DM", "DIO", "PROV", "COAL", "STAG"]
# What LMDBIO's COAL asks for at a time.
COALESCED_BYTES = 4 << 20


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """One of them, as it is here.

    Attributes:
        name: The paper's.
        stands: What it does here, or what does its work.
        access: As `Index` takes it.
        threads: The most reads in flight; None for the index's default.
        read_bytes: How much is read at a time: 0 for a batch, None for the data set's default.
        takes_turns: Only one reader of the file reads at a time, of all processes of this machine.
        shared: One process reads for all workers.
    """

    name: RemedyName
    stands: str
    access: Literal["auto", "cached", "direct"] = "direct"
    threads: int | None = 1
    read_bytes: int | None = 0
    takes_turns: bool = False
    shared: bool = False


LMM = Remedy(
    name="LMM",
    stands="one process reads for all workers, who get its batches in turn",
    access="auto",
    threads=None,
    read_bytes=None,
    shared=True,
)
DM = Remedy(
    name="DM",
    stands="each worker reads its own shard, whose place the index knows, through the page cache",
    access="cached",
)
DIO = Remedy(name="DIO", stands="DM by reads past the page cache, a batch each")
PROV = Remedy(
    name="PROV",
    stands="DIO: the index walks the pages, which is right for any database, and replays no page allocation",
)
COAL = Remedy(name="COAL", stands="DIO by reads of 4 MiB, neighbours merged", read_bytes=COALESCED_BYTES)
STAG = Remedy(
    name="STAG",
    stands="COAL, and only one reader of the file reads at a time, whichever process it is of",
    read_bytes=COALESCED_BYTES,
    takes_turns=True,
)
REMEDIES = {remedy.name: remedy for remedy in (LMM, DM, DIO, PROV, COAL, STAG)}


def remedy_of(name: str) -> Remedy:
    """Return a remedy by its name.

    Raises:
        ConfigurationError: There is none of this name.
    """
    for remedy in REMEDIES.values():
        if remedy.name == name:
            return remedy
    raise ConfigurationError(f"remedy must be one of {', '.join(REMEDIES)}, not {name!r}.")
