"""Opens a Darshan log and gives its regions, decompressed and checked.

Darshan's own library ends the process where a log is damaged in some places and stops silently in others. So
every region is read here first, and given to PyDarshan only when all of it is there. A region that nobody
asks for is not decompressed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tfdarshan.errors import SessionDataError, reason
from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.region_records import SHAPES, ModuleRecords, NameRecords, RegionRecords
from tfdarshan.formats.importing.region_stream import PIECE, decompressed
from tfdarshan.sessions import schema
from tfdarshan.sessions.whole_file import TooLargeError, check_room, read_whole
from tfdarshan.units import human_bytes

# Bytes of memory for a byte of names at most: one without letters is 9, and 140 in a dictionary.
NAMES_GROWTH = 16
# And of records: its pieces, the region they are joined to, and the arrays that are made of it.
RECORDS_GROWTH = 4
OLD_VERSIONS = ("3.00", "3.10", "3.20", "3.21")
# A name of these follows its length, and no zero byte ends it.
COUNTED_NAMES = ("3.00",)
# The latest moment that metadata hold, in ns since the epoch: `meta_shape.Instant`.
LATEST_NS = 1 << 62
# Modules that later versions have in the midst of their lists.
INSERTED_MODULES = {"3.00": (4, 6), "3.10": (4, 6), "3.20": (6,), "3.21": (6,)}
# Modules that are read: no other region is decompressed.
NUMBERS = {
    name: number
    for name, number in (darshan_format.MODULE_IDS | darshan_format.LAYER_IDS).items()
    if name in SHAPES
}


class LogRegions:
    """A log whose header, job and names are sound.

    Attributes:
        version: The log's version, such as "3.41".
        job: Content of the job's region.
        names: The records' names, by record; bytes that are not UTF-8 appear as backslash escapes.
        record_modules: Which of POSIX and STDIO the log has.
        layers: Which of MPI-IO, HDF5, PnetCDF and Lustre it has.
        module_versions: The versions of these modules' records, and of DXT_POSIX records if the log has some.
        partial: Modules that ran out of memory or of records.
        swapped: Whether the log's numbers have the other byte order.

    Raises:
        SessionDataError: It is no Darshan log, or damaged, or newer than what is known here.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._content = read_whole(path)
        except OSError as error:
            raise SessionDataError(
                f"the log {path} cannot be read: {reason(error)}; give a Darshan log that you can read."
            ) from error
        self.version = self._version()
        header = self._header()
        self._compression = int(header["compression"])
        start = header.dtype.itemsize
        names, modules, versions, partial = self._locations(header)
        # Also of what is not read: a log that was cut off there is damaged all the same.
        if max(offset + length for offset, length in (names, *modules)) > len(self._content):
            raise self.damage("its end is cut off")
        starts = [offset for offset, _length in (names, *modules) if offset]
        self.job = self._job(start, min([*starts, len(self._content)]) - start)
        self.names = self._names(*names) if names[1] else {}
        self._places = {name: modules[number] for name, number in NUMBERS.items() if modules[number][1]}
        self.module_versions = {name: versions[NUMBERS[name]] for name in self._places}
        self.record_modules = [name for name in schema.MODULES if name in self._places]
        self.layers = [name for name in self._places if name in darshan_format.LAYER_IDS]
        self.partial = [name for name in self._places if partial >> NUMBERS[name] & 1]

    @property
    def order(self) -> Literal["<", ">"]:
        """Return the byte order of the log's numbers, as NumPy writes it."""
        return ">" if self.swapped else "<"

    def content(self, module: str) -> bytes:
        """Return the records of a module that the log has.

        Raises:
            SessionDataError: They are damaged, newer than known here, or more than there is memory for.
        """
        pieces = self._followed(module, self._places[module], self._module_records(module))
        return b"".join(self._kept(module, pieces, RECORDS_GROWTH))

    def count(self, module: str) -> int:
        """Return how many records a module has that the log has; all are decompressed, and none kept.

        Raises:
            SessionDataError: They are damaged, or newer than what is known here.
        """
        records = self._module_records(module)
        for _piece in self._followed(module, self._places[module], records):
            pass
        return records.count

    def check_times(self, start_ns: int, end_ns: int) -> None:
        """Check when the job began and ended.

        Raises:
            SessionDataError: A session's metadata cannot say so.
        """
        if not 0 <= start_ns <= LATEST_NS or end_ns > LATEST_NS:
            raise self.damage("its job began or ended at no date that a clock shows")

    def _version(self) -> str:
        word = self._content[:8].split(b"\0")[0]
        known = (*OLD_VERSIONS, darshan_format.LOG_VERSION)
        version = word.decode("ascii", "replace")
        if version in known:
            return version
        if len(word) == 4 and word[1:2] == b"." and (word[:1] + word[2:]).isdigit():
            raise SessionDataError(
                f"{self.path} is a Darshan log of version {version}, and tfdarshan reads {', '.join(known)}: "
                "convert it with Darshan's own tools, or upgrade tfdarshan."
            )
        raise SessionDataError(f"{self.path} is not a Darshan log: it does not begin with a log version.")

    def _header(self) -> Any:
        layout = darshan_format.OLD_HEADER if self.version in OLD_VERSIONS else darshan_format.HEADER
        if len(self._content) < layout.itemsize:
            raise self.damage("its header is cut off")
        for order in ("<", ">"):
            header = np.frombuffer(self._content, layout.newbyteorder(order), 1)[0]
            if header["magic"] == darshan_format.MAGIC:
                self.swapped = order == ">"
                return header
        raise self.damage("its header has no magic number")

    def _locations(self, header: Any) -> tuple[Any, list[tuple[int, int]], list[int], int]:
        """Return where names and modules are, the modules' versions and the flags, numbered as today."""
        names = tuple(map(int, header["names"]))
        modules = [(int(offset), int(length)) for offset, length in header["modules"]]
        versions = header["module_versions"].tolist()
        flags = [int(header["partial"]) >> number & 1 for number in range(len(modules))]
        for number in INSERTED_MODULES.get(self.version, ()):
            modules.insert(number, (0, 0))
            versions.insert(number, 0)
            flags.insert(number, 0)
        return names, modules, versions, sum(flag << number for number, flag in enumerate(flags))

    def _job(self, offset: int, length: int) -> bytes:
        job = b""
        for piece, _taken in self._pieces("job", offset, length):
            job += piece
            if len(job) > darshan_format.JOB_REGION_BYTES:
                raise self.damage(f"its job data is longer than {darshan_format.JOB_REGION_BYTES:,} bytes")
        layout = darshan_format.OLD_JOB if self.version in OLD_VERSIONS else darshan_format.JOB
        if len(job) <= layout.itemsize:
            raise self.damage("its job data is too short")
        return job

    def _names(self, offset: int, length: int) -> dict[int, str]:
        records = NameRecords(self.order, counted=self.version in COUNTED_NAMES)
        pieces = self._followed("name", (offset, length), records)
        for _piece in self._kept("name", pieces, NAMES_GROWTH):
            pass
        return records.names

    def _module_records(self, module: str) -> ModuleRecords:
        version, shapes = self.module_versions[module], SHAPES[module]
        if version not in shapes:
            raise SessionDataError(
                f"the Darshan log {self.path} has {module} version {version}, and tfdarshan reads up to "
                f"{max(shapes)}: upgrade tfdarshan, if the log is not damaged."
            )
        return ModuleRecords(shapes[version], self.order)

    def _kept(self, name: str, pieces: Iterator[bytes], growth: int) -> Iterator[bytes]:
        """Yield pieces that stay in memory, in one form or another, as long as there is room for them."""
        length_bytes = 0
        for piece in pieces:
            length_bytes += len(piece)
            if length_bytes > PIECE:  # most regions are one piece
                self._check_room(name, length_bytes, growth)
            yield piece

    def _check_room(self, name: str, length_bytes: int, growth: int) -> None:
        """Raise if there is no memory for a region of so many bytes."""
        try:
            check_room(growth * length_bytes)
        except TooLargeError as error:
            raise SessionDataError(
                f"the Darshan log {self.path} cannot be read: its {name} data takes more than "
                f"{human_bytes(length_bytes)}, and there is no memory for that. "
                "Read it on a machine with more memory."
            ) from error

    def _followed(self, name: str, place: tuple[int, int], records: RegionRecords) -> Iterator[bytes]:
        """Yield a region's pieces while its records are whole, and no more than its bytes can hold."""
        for piece, taken in self._pieces(name, *place):
            try:
                can_be = records.can_be(piece, taken)
            except ValueError as error:
                raise self.damage(f"its {name} records are not whole") from error
            if not can_be:
                raise self.damage(f"its {name} data expands to more records than its bytes can hold")
            yield piece
        if not (records.is_whole and records.count):
            raise self.damage(f"its {name} records are not whole")

    def _pieces(self, name: str, offset: int, length: int) -> Iterator[tuple[bytes, int]]:
        compressed = self._content[offset : offset + length]
        if length <= 0 or len(compressed) < length:
            raise self.damage(f"its {name} data is cut off")
        try:
            yield from decompressed(compressed, self._compression)
        except (zlib.error, OSError, EOFError, ValueError) as error:
            raise self.damage(f"its {name} data cannot be decompressed") from error

    def damage(self, what: str) -> SessionDataError:
        """Return the error that says what is wrong with the log."""
        return SessionDataError(f"the Darshan log {self.path} is damaged: {what}. Get another copy of it.")
