"""The processes of a session beside the one that began it, by the heads of their spools."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import SessionDataError
from tfdarshan.native.process_identity import ProcessIdentity, is_blank, process_identity
from tfdarshan.native.spool_reader import SpoolReader
from tfdarshan.sessions.process_role import KnownProcess, Role, roles_of


@dataclass(frozen=True)
class Child:
    """A process other than the owner; both are None if its spool cannot be read, or is blank."""

    spool: Path
    identity: ProcessIdentity | None = None
    role: Role | None = None
    is_blank: bool = False

    @property
    def can_be_read(self) -> bool:
        """Whether what it recorded can be read."""
        try:
            SpoolReader(self.spool).close()
        except SessionDataError:
            return False
        return True


def known_children(spools: list[Path], names: Mapping[int, str]) -> list[Child]:
    """Return the processes of some spools with their roles, in the order in which they were started."""
    identities: list[tuple[Path, ProcessIdentity]] = []
    unreadable = []
    for spool in spools:
        try:
            identities.append((spool, process_identity(spool)))
        except SessionDataError:
            with suppress(FileNotFoundError):  # of a process that found the session over, and has removed it
                unreadable.append(Child(spool, is_blank=is_blank(spool)))
    identities.sort(key=lambda found: _order(found[1]))
    roles = roles_of([_known(identity, names) for _, identity in identities])
    return [*unreadable, *(Child(*found, role) for found, role in zip(identities, roles, strict=True))]


def _order(identity: ProcessIdentity) -> tuple[int, int, int]:
    """Return what orders processes: of those that began within a clock tick, the lower number is first."""
    return identity.process_start, identity.pid, identity.start_realtime_ns


def _known(identity: ProcessIdentity, names: Mapping[int, str]) -> KnownProcess:
    return KnownProcess(
        pid=identity.pid,
        parent_pid=identity.parent_pid,
        owner=False,
        joined=identity.joined,
        start_ns=identity.start_realtime_ns,
        arguments=identity.arguments,
        process_start=identity.process_start,
        name=names.get(identity.pid, ""),
    )
