"""Opens a Darshan log and gives its regions, decompressed and checked.

Darshan's own library ends the process where a log is damaged in some places and stops silently in others. So
every region is read here first, and given to PyDarshan only when all of it is there.
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Collection, Generator, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tfdarshan.errors import SessionDataError, reason
from tfdarshan.file_name import table_name
from tfdarshan.formats import darshan_format
from tfdarshan.sessions.whole_file import TooLargeError, check_room, read_whole
from tfdarshan.units import human_bytes

KEPT = "DXT_POSIX"
PIECE = 1 << 20
# Bytes of memory for a byte of names at most: one without letters is 9, and 140 in a dictionary.
NAMES_GROWTH = 16
# And of records: its pieces, the region they are joined to, and the arrays that are made of it.
RECORDS_GROWTH = 4
READ_MODULES = ("POSIX", "STDIO", "DXT_POSIX")
OLD_VERSIONS = ("3.00", "3.10", "3.20", "3.21")
# A name of these follows its length, and no zero byte ends it.
COUNTED_NAMES = ("3.00",)
# Modules that later versions have in the midst of their lists.
INSERTED_MODULES = {"3.00": (4, 6), "3.10": (4, 6), "3.20": (6,), "3.21": (6,)}


class LogRegions:
    """A log whose header and compression are sound.

    Attributes:
        version: The log's version, such as "3.41".
        job: Content of the job's region.
        names: The records' names, by record; bytes that are not UTF-8 appear as backslash escapes.
        modules: Content of the regions that are kept, where the log has them.
        lengths: How many bytes the regions of POSIX, STDIO and DXT_POSIX have, decompressed.
        module_versions: The versions of these modules' records.
        layers: The versions of the records of MPI-IO, HDF5, PnetCDF and Lustre, where the log has them.
        partial: Modules that ran out of memory or of records.
        swapped: Whether the log's numbers have the other byte order.

    Args:
        path: The log.
        kept: Modules whose content is kept.
        rest_checked: Whether the regions of all other modules are decompressed, too, to see that they are
            whole. Where they are not, `lengths` and `layers` leave them out.

    Raises:
        SessionDataError: It is no Darshan log, or damaged, or newer than what is known here.
    """

    def __init__(self, path: Path, *, kept: Collection[str] = (KEPT,), rest_checked: bool = True) -> None:
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
            raise self._damage("its end is cut off")
        starts = [offset for offset, _length in (names, *modules) if offset]
        self.job = self._region("job", start, min([*starts, len(self._content)]) - start)
        if len(self.job) <= darshan_format.OLD_JOB_BYTES:
            raise self._damage("its job data is too short")
        self.names = self._names(self._region("name", *names)) if names[1] else {}
        wanted = {name: darshan_format.MODULE_IDS[name] for name in READ_MODULES}
        wanted = {name: number for name, number in wanted.items() if modules[number][1]}
        if not rest_checked:
            wanted = {name: number for name, number in wanted.items() if name in kept}
        self.modules = {
            name: self._region(name, *modules[number]) for name, number in wanted.items() if name in kept
        }
        self.lengths = {
            name: len(self.modules[name]) if name in kept else self._length(name, *modules[number])
            for name, number in wanted.items()
        }
        self.module_versions = {name: versions[number] for name, number in wanted.items()}
        above = {
            name: number
            for name, number in darshan_format.LAYER_IDS.items()
            if rest_checked and modules[number][1]
        }
        for name, number in above.items():
            self._length(name, *modules[number])  # PyDarshan gets no region that is damaged
        self.layers = {name: versions[number] for name, number in above.items()}
        wanted |= above
        self.partial = [name for name, number in wanted.items() if partial >> number & 1]
        del self._content

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
            raise self._damage("its header is cut off")
        for order in ("<", ">"):
            header = np.frombuffer(self._content, layout.newbyteorder(order), 1)[0]
            if header["magic"] == darshan_format.MAGIC:
                self.swapped = order == ">"
                return header
        raise self._damage("its header has no magic number")

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

    def _region(self, name: str, offset: int, length: int) -> bytes:
        pieces: list[bytes] = []
        length_bytes = 0
        for piece in self._pieces(name, offset, length):
            pieces.append(piece)
            length_bytes += len(piece)
            if len(pieces) > 1:  # most regions are one
                self._check_room(name, length_bytes)
        return b"".join(pieces)

    def _check_room(self, name: str, length_bytes: int) -> None:
        """Raise if there is no memory for a region of so many bytes: kilobytes may hold terabytes."""
        try:
            check_room((NAMES_GROWTH if name == "name" else RECORDS_GROWTH) * length_bytes)
        except TooLargeError as error:
            raise SessionDataError(
                f"the Darshan log {self.path} cannot be read: its {name} data takes more than "
                f"{human_bytes(length_bytes)}, and there is no memory for that. "
                "Read it on a machine with more memory."
            ) from error

    def _length(self, name: str, offset: int, length: int) -> int:
        """Return a region's length; all of it is decompressed for that, and none of it kept."""
        return sum(map(len, self._pieces(name, offset, length)))

    def _pieces(self, name: str, offset: int, length: int) -> Iterator[bytes]:
        compressed = self._content[offset : offset + length]
        if length <= 0 or len(compressed) < length:
            raise self._damage(f"its {name} data is cut off")
        if self._compression == darshan_format.UNCOMPRESSED:
            yield compressed
            return
        try:
            yield from _decompressed(compressed, self._compression)
        except (zlib.error, OSError, EOFError, ValueError) as error:
            raise self._damage(f"its {name} data cannot be decompressed") from error

    def _names(self, region: bytes) -> dict[int, str]:
        order: Literal["big", "little"] = "big" if self.swapped else "little"
        return {
            int.from_bytes(record, order): table_name(name)
            for record, name in self._name_records(region, order)
        }

    def _name_records(self, region: bytes, order: Literal["big", "little"]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the number, as bytes, and the name of each record."""
        place, counted = 0, self.version in COUNTED_NAMES
        while place < len(region):
            first = place + 8 + 4 * counted
            if counted:
                end = first + int.from_bytes(region[place + 8 : first], order)
            else:
                end = region.find(b"\0", first)
            if not first <= end <= len(region) - (not counted):
                raise self._damage("a name is cut off")
            yield region[place : place + 8], region[first:end]
            place = end + (not counted)

    def _damage(self, what: str) -> SessionDataError:
        return SessionDataError(f"the Darshan log {self.path} is damaged: {what}.")


def _decompressed(compressed: bytes, compression: int) -> Iterator[bytes]:
    """Decompress a region piece by piece: each process of a job may have written a stream of its own."""
    while compressed:
        if compression == darshan_format.ZLIB:
            compressed = yield from _inflated(compressed)
        elif compression == darshan_format.BZIP2:
            compressed = yield from _unpacked(compressed)
        else:
            raise ValueError(f"no compression has the number {compression}")


def _inflated(compressed: bytes) -> Generator[bytes, None, bytes]:
    """Yield what a zlib stream holds; return what comes after it."""
    stream = zlib.decompressobj()
    while not stream.eof:
        piece = stream.decompress(compressed, PIECE)
        compressed = stream.unconsumed_tail
        if not piece and not compressed and not stream.eof:
            raise EOFError("a stream does not end")
        yield piece
    return stream.unused_data


def _unpacked(compressed: bytes) -> Generator[bytes, None, bytes]:
    """Yield what a bzip2 stream holds; return what comes after it."""
    stream = bz2.BZ2Decompressor()
    while not stream.eof:
        if stream.needs_input and not compressed:
            raise EOFError("a stream does not end")
        yield stream.decompress(compressed, PIECE)
        compressed = b""
    return stream.unused_data
