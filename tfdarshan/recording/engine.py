"""Chooses the engine that counts: libdarshan where one is found and can be used, else the builtin fold.

libdarshan is looked for in this order: the option `darshan_library`, the environment variable
TFDARSHAN_DARSHAN_LIBRARY, the process itself (a site may have preloaded it), the dynamic loader's path. It is
loaded and initialised once per process and stays; sessions take the difference of its records.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import EngineError, reason
from tfdarshan.native import _extension
from tfdarshan.native.memory_left import free_bytes
from tfdarshan.native.versions import VERSION

LIBRARY_VARIABLE = "TFDARSHAN_DARSHAN_LIBRARY"
LIBRARY_NAME = "libdarshan.so"
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
RECORD_BYTES = 704 + 248
NAME_BYTES = 160
# Of the memory that is free, what libdarshan may touch while it zeroes its buffers.
MEMORY_SHARE = 4

NOT_FOUND = (
    "no libdarshan was found: load your site's darshan module, or name the library with darshan_library or "
    f"{LIBRARY_VARIABLE}"
)


@dataclass(frozen=True)
class Engine:
    """Which engine counts a session.

    Attributes:
        name: "darshan" or "builtin".
        version: Of libdarshan, or of tfdarshan.
        source: Where it comes from: "argument", "environment", "already in the process", "dynamic loader" or
            "tfdarshan".
        library: Path of libdarshan; empty for the builtin engine.
        foreign: libdarshan was loaded by somebody else: it is only read.
        notes: What a reader of the session has to know about the choice, one clause each.
    """

    name: str
    version: str
    source: str
    library: str = ""
    foreign: bool = False
    notes: tuple[str, ...] = ()

    @property
    def is_darshan(self) -> bool:
        """Return whether libdarshan counts."""
        return self.name == "darshan"

    def block(self) -> dict[str, str]:
        """Return what the metadata says of it."""
        return {"name": self.name, "version": self.version, "source": self.source, "library": self.library}


def builtin(*notes: str) -> Engine:
    """Return the builtin engine."""
    return Engine("builtin", VERSION, "tfdarshan", notes=notes)


def choose_engine(name: str, library: str | os.PathLike[str] | None, *, files: int, folder: Path) -> Engine:
    """Find the engine for a session, and load libdarshan where it is the one.

    Args:
        name: "builtin", "darshan" or "auto".
        library: Path of libdarshan, or None to look for it.
        files: For how many files its memory is laid out, the first time it is loaded.
        folder: Where the files that libdarshan reads or maps while it starts may be put.

    Raises:
        EngineError: `name` is "darshan" and there is none that can be used.
    """
    if name == "builtin":
        return builtin()
    try:
        engine = _find(library, files, folder)
    except EngineError as error:
        if name == "darshan":
            raise
        return builtin(f"the builtin engine counted, because {str(error).rstrip('.')}")
    if engine is None:
        if name == "darshan":
            raise EngineError(f"{NOT_FOUND}.")
        return builtin()
    return engine


def _find(library: str | os.PathLike[str] | None, files: int, folder: Path) -> Engine | None:
    if library is not None:
        return _load(os.fspath(library), "argument", files, folder)
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        return _load(named, "environment", files, folder)
    if _adopt():
        return _described("already in the process")
    if not _loader_knows(LIBRARY_NAME):
        return None
    return _load(LIBRARY_NAME, "dynamic loader", files, folder)


def _adopt() -> bool:
    found = int(_extension.core().lib.tfd_darshan_adopt())
    if found < 0:
        raise EngineError(f"{_extension.last_error()}.")
    return found > 0


def _load(library: str, source: str, files: int, folder: Path) -> Engine:
    """Load libdarshan, or return the one that an earlier session loaded.

    A copy that is in the process already comes first whatever was named: two would count each other's calls.
    """
    if os.sep in library:
        check_object(Path(library))
    if _adopt():
        return _described("already in the process")
    notes = []
    possible = min(files, files_that_fit(free_bytes()))
    if possible < files:
        notes.append(f"libdarshan has room for {possible:,} of {files:,} files: memory is short")
    try:
        _load_fresh(library, possible, folder)
    except OSError as error:
        raise EngineError(
            f"libdarshan's configuration cannot be written to {folder}: {reason(error)}."
        ) from error
    return _described(source, *notes)


def _load_fresh(library: str, files: int, folder: Path) -> None:
    ffi, lib = _extension.core()
    private = Path(tempfile.mkdtemp(prefix="tfdarshan-darshan-", dir=folder)).resolve()
    try:
        name_mb = max(1, files * NAME_BYTES >> 20) + 1
        (private / "config").write_text(configuration(files, name_mb), encoding="utf-8")
        trials = [private / "first", private / "second"]
        for trial in trials:
            trial.touch()
        fresh = ffi.new("struct tfd_darshan_info *")
        loaded_before = lib.tfd_darshan_describe(fresh) == 0
        options = ffi.new("struct tfd_darshan_options *")
        paths: list[str | Path] = [library, private / "config", *trials]
        names = [ffi.new("char[]", os.fsencode(path)) for path in paths]
        options.path, options.config_path, options.name_bytes = names[0], names[1], name_mb << 20
        _check(lib.tfd_darshan_load(options), library)
        if not loaded_before:
            _check(lib.tfd_darshan_record_opens(names[2], names[3]), library)
            _check(lib.tfd_darshan_check_trial(names[2], names[3]), library)
    finally:
        shutil.rmtree(private, ignore_errors=True)


def configuration(files: int, name_mb: int) -> str:
    """Return libdarshan's configuration file: room for `files` files in each module, and nothing left out."""
    lines = (
        f"MODMEM {(files * RECORD_BYTES >> 20) + 2}",
        f"NAMEMEM {name_mb}",
        f"MAX_RECORDS {files} POSIX,STDIO",
        "NAME_INCLUDE .* *",
        "MOD_DISABLE *",
        "MOD_ENABLE POSIX,STDIO",
    )
    return "".join(f"{line}\n" for line in lines)


def check_object(path: Path) -> None:
    """Check that a file is a shared object for this machine.

    Raises:
        EngineError: It is missing, no ELF file, or for another machine.
    """
    try:
        with path.open("rb") as file:
            head = file.read(20)
    except OSError as error:
        raise EngineError(f"libdarshan {path} cannot be read: {reason(error)}.") from error
    if len(head) < 20 or head[:4] != b"\x7fELF":
        raise EngineError(
            f"{path} is not a shared library: name the file libdarshan.so of your site's Darshan."
        )
    order = ">" if head[5] == 2 else "<"
    kind, machine = struct.unpack_from(f"{order}HH", head, 16)
    if head[4] != 2 or machine != ELF_MACHINES.get(platform.machine()):
        raise EngineError(
            f"{path} is for another machine than this one, which is {platform.machine()}: "
            "name a libdarshan built for it."
        )
    if kind != 3:
        raise EngineError(f"{path} is an ELF file, but not a shared library: name the file libdarshan.so.")


def files_that_fit(available_bytes: int) -> int:
    """Return for how many files libdarshan may lay out its memory."""
    return max(1024, available_bytes // MEMORY_SHARE // (RECORD_BYTES + NAME_BYTES))


def _loader_knows(name: str) -> bool:
    """Ask the dynamic loader's usual places, without loading: to load it is to run its constructors."""
    folders = [*os.environ.get("LD_LIBRARY_PATH", "").split(":"), *_cached_folders(name)]
    return any(folder and (Path(folder) / name).exists() for folder in folders)


def _cached_folders(name: str) -> list[str]:
    folders = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"]
    try:
        cache = Path("/etc/ld.so.cache").read_bytes()
    except OSError:
        return folders
    found = re.findall(rb"(/[^\0]*)/" + re.escape(os.fsencode(name)) + rb"[^\0/]*\0", cache)
    return [*folders, *map(os.fsdecode, found)]


def _described(source: str, *notes: str) -> Engine:
    ffi, lib = _extension.core()
    info = ffi.new("struct tfd_darshan_info *")
    _check(lib.tfd_darshan_describe(info), LIBRARY_NAME)
    return Engine(
        "darshan",
        _extension.text(info.version),
        source,
        _extension.text(info.path),
        bool(info.foreign),
        notes,
    )


def _check(code: int, library: str) -> None:
    if code >= 0:
        return
    why = _extension.last_error()
    missing = re.match(r"(lib\S+?): cannot open shared object file", why)
    if missing and not missing[1].startswith("libdarshan"):
        needed = missing[1]
        hint = (
            "load the MPI module it was built with"
            if "mpi" in needed
            else "add its folder to LD_LIBRARY_PATH"
        )
        raise EngineError(
            f"libdarshan {library} needs {needed}, which the dynamic loader does not find: {hint}."
        )
    raise EngineError(f"libdarshan {library} cannot be used: {why}.")
