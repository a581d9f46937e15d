"""What a Darshan log has besides POSIX and STDIO: sums of the layers table, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfdarshan.sessions.process_data import ProcessData

LUSTRE = "LUSTRE"
NO_FILES = ("FIFO", "SOCKET")
COUNTS = ("opens", "reads", "writes", "collective", "bytes_read", "bytes_written")
SECONDS = ("read_s", "write_s", "meta_s")
STRIPING = ("stripe_count", "stripe_size_bytes", "osts")


@dataclass(frozen=True)
class Layer:
    """The sums of one module's records; None: the module does not count such calls.

    Seconds are added up over ranks and files. `records` is one for each file and rank, or for all ranks.
    """

    module: str
    records: int
    opens: int | None = None
    reads: int | None = None
    writes: int | None = None
    collective: int | None = None
    bytes_read: int | None = None
    bytes_written: int | None = None
    read_s: float | None = None
    write_s: float | None = None
    meta_s: float | None = None

    @property
    def time_s(self) -> float:
        """Seconds in all calls."""
        return sum(seconds or 0.0 for seconds in (self.read_s, self.write_s, self.meta_s))


@dataclass(frozen=True)
class Striping:
    """How Lustre striped the files: the smallest and the largest figure, and how many OSTs they lie on."""

    files: int
    stripe_count: tuple[int, int]
    stripe_size_bytes: tuple[int, int]
    osts: int


@dataclass(frozen=True)
class LogLayers:
    """What a log has besides.

    Attributes:
        modules: The log's modules that a session shows, POSIX and STDIO too.
        layers: MPI-IO, HDF5 and PnetCDF, in the log's order.
        striping: Lustre's, None where the log has none.
        no_files: FIFOs and sockets: their calls are in no other figure.
    """

    modules: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()
    striping: Striping | None = None
    no_files: tuple[Layer, ...] = ()


@dataclass
class _Sums:
    records: dict[str, int] = field(default_factory=dict)
    values: dict[tuple[str, str], float] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    osts: set[str] = field(default_factory=set)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, batch: Any) -> None:
        module = np.array(batch.column("module").to_pylist())
        for name in dict.fromkeys(module.tolist()):
            part = batch.filter(module == name)
            self.records[name] = self.records.get(name, 0) + part.num_rows
            for column in (*COUNTS, *SECONDS):
                known = part.column(column).drop_null()
                if len(known):
                    before = self.values.get((name, column), 0)
                    self.values[name, column] = before + sum(known.to_pylist())
            if name == LUSTRE:
                self._stripe(part)

    def _stripe(self, part: Any) -> None:
        self.files.update(part.column("path").to_pylist())
        for text in part.column("osts").drop_null().to_pylist():
            self.osts.update(filter(None, text.split(",")))
        for column in STRIPING[:2]:
            known = part.column(column).drop_null().to_pylist()
            low, high = self.ranges.get(column, (1 << 63, 0))
            if known:
                self.ranges[column] = min(low, *known), max(high, *known)

    def layer(self, name: str) -> Layer:
        sums = {column: self.values.get((name, column)) for column in (*COUNTS, *SECONDS)}
        return Layer(name, self.records[name], **sums)  # type: ignore[arg-type]

    def striping(self) -> Striping | None:
        if len(self.ranges) < len(STRIPING) - 1:
            return None
        count, size = (self.ranges[column] for column in STRIPING[:2])
        return Striping(len(self.files), count, size, len(self.osts))


def log_layers(processes: Sequence[ProcessData]) -> LogLayers:
    """Add up the layers of an imported log; nothing for any other session.

    Raises:
        SessionDataError: The table is damaged or missing.
    """
    sums = _Sums()
    for process in processes:
        if process.meta["tables"].get("layers"):
            for batch in process.batches("layers", ("module", "path", *COUNTS, *SECONDS, *STRIPING)):
                sums.add(batch)
    above = [name for name in sums.records if name != LUSTRE and name not in NO_FILES]
    return LogLayers(
        modules=tuple(processes[0].meta.get("darshan", {}).get("modules", ())),
        layers=tuple(map(sums.layer, above)),
        striping=sums.striping(),
        no_files=tuple(sums.layer(name) for name in NO_FILES if name in sums.records),
    )
