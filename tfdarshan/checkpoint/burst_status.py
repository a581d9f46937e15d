"""How a tier stands, read without owning it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tfdarshan.checkpoint.burst_errors import BurstBufferError
from tfdarshan.checkpoint.copying import Copier
from tfdarshan.checkpoint.fast_tier import QUEUE, pending_entries, read_pairing
from tfdarshan.checkpoint.interval_cost import interval_costs, interval_sentence
from tfdarshan.checkpoint.ledger import CheckpointRow, ledger_path, read_ledger
from tfdarshan.checkpoint.manifest import Entry
from tfdarshan.checkpoint.ownership import owner_of
from tfdarshan.checkpoint.slow_tier import MANIFESTS, damaged_files
from tfdarshan.checkpoint.state_file import read_state
from tfdarshan.durable.file_operations import Storage
from tfdarshan.sessions.session_directory import BURST_CONTROL


@dataclass(frozen=True, kw_only=True)
class TierStatus:
    """How a tier stands.

    Attributes:
        folder: The tier.
        tier: Which one it is.
        owner: Who owns it, in words; "" for nobody.
        slow_folder: Where a fast tier drains to.
        pending: What waits on a fast tier, oldest first.
        pending_bytes: Bytes of these.
        durable: The latest checkpoint of a slow tier.
        kept: All that a slow tier's state file names, oldest first.
        verified: How many checkpoints were read back, None where that was not asked for.
        damaged: What is wrong, for each checkpoint that is not what was written.
        interval_cost: What saving costs, in words; "" where it is not known.
        ledger: One row per checkpoint.
    """

    folder: Path
    tier: Literal["fast", "slow"]
    owner: str
    slow_folder: str = ""
    pending: tuple[Entry, ...] = ()
    pending_bytes: int = 0
    durable: str = ""
    kept: tuple[str, ...] = ()
    verified: int | None = None
    damaged: dict[str, str] = field(default_factory=dict)
    interval_cost: str = ""
    ledger: list[CheckpointRow] = field(default_factory=list)


def burst_status(folder: Path, *, verify: bool = False) -> TierStatus:
    """Describe how a tier stands.

    Raises:
        BurstBufferError: The folder is no tier of a burst buffer.
        OSError: It cannot be read.
    """
    control = folder / BURST_CONTROL
    rows = read_ledger(ledger_path(folder))
    owner = _owner(control / "lock")
    cost = interval_sentence(interval_costs(rows))
    if (control / QUEUE).is_dir():
        pending, pairing = tuple(pending_entries(folder)), read_pairing(folder)
        return TierStatus(
            folder=folder,
            tier="fast",
            owner=owner,
            slow_folder=pairing.folder if pairing else "",
            pending=pending,
            pending_bytes=sum(entry.size_bytes for entry in pending),
            interval_cost=cost,
            ledger=rows,
        )
    if not (control / MANIFESTS).is_dir():
        what = f"has no {BURST_CONTROL}" if folder.is_dir() else "is not a folder"
        raise BurstBufferError(f"{folder} {what}: name the fast or the slow folder of a burst buffer.")
    state = read_state(folder)
    return TierStatus(
        folder=folder,
        tier="slow",
        owner=owner,
        durable=state.latest if state else "",
        kept=tuple(name for name, _ in state.kept) if state else (),
        verified=len(list((control / MANIFESTS).glob("*.json"))) if verify else None,
        damaged=damaged_files(folder, Copier(Storage())) if verify else {},
        interval_cost=cost,
        ledger=rows,
    )


def _owner(lock: Path) -> str:
    owner = owner_of(lock)
    if owner is None:
        return ""
    return f"process {owner['pid']} on {owner['host']}" if owner else "a process that is not known"
