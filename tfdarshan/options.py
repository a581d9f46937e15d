"""The options of a session: one spelling in Python, on the command line and in the documentation."""

from __future__ import annotations

import dataclasses
import glob
import os
import re
import site
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfdarshan.errors import ConfigurationError, meant
from tfdarshan.storage_model import find_model

MIN_MEMORY_CAP_MB = 16
MAX_MEMORY_CAP_MB = 1 << 20
ENGINES = ("auto", "darshan", "builtin")
MIN_DARSHAN_FILES = 1024
MAX_DARSHAN_FILES = 100_000_000
MAX_TF_PROFILER_S = 86_400

# /dev without /dev/shm, where data sets are kept.
DEV_PATTERNS = ("/dev/[!s]*", "/dev/s[!h]*", "/dev/sh[!m]*", "/dev/shm[!/]*")
OTHER_PATTERNS = ("*.so", "*.so.*", "*.pyc", "/proc/*", "/sys/*")


@dataclass(frozen=True)
class Kind:
    """What an option may be.

    Checked by a rule of its own: options are read before a profiled program has begun, and no library is to
    be imported into its process for them.

    Attributes:
        words: What to give.
        holds: Whether a value is of this kind; patterns and storage are checked as they are looked up.
        typed: Its values by the words that the command line has for them, if those are all that it may be.
    """

    words: str
    holds: Callable[[Any], bool] = lambda value: True
    typed: Mapping[str, bool | str] = field(default_factory=dict)


def _option(default: Any, meaning: str, kind: Kind) -> Any:
    return field(default=default, metadata={"help": meaning, "allowed": kind.words, "kind": kind})


def _one_of(words: str, *values: bool | str) -> Kind:
    return Kind(words, lambda value: any(isinstance(value, type(one)) and value == one for one in values))


def _whole_number(least: int, most: int, unit: str = "") -> Kind:
    words = f"a whole number{unit and f' of {unit}'} from {least:,} to {most:,}"
    return Kind(words, lambda value: _is_whole_number(value) and least <= value <= most)


def _is_whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_SWITCH = _one_of("True or False", True, False)
_SWITCH_OR_AUTO = Kind(
    "True, False or 'auto'",
    lambda value: value == "auto" or isinstance(value, bool),
    {"auto": "auto", "yes": True, "no": False},
)
_PATH = Kind("a path, or None", lambda value: value is None or isinstance(value, (str, os.PathLike)))
_PATTERNS = Kind("a list of shell globs: * matches / too, and one that ends in / means everything below")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to record and how much of it.

    A pattern is a shell glob matched against the absolute path; `*` also matches `/`, and a pattern that ends
    in `/` means everything below. One that begins with a name, `.` or `..` is below the working directory: it
    is made absolute when the options are. A path that `include` matches is recorded whatever `exclude` says.
    Files left out have no rows, and are counted in the coverage.

    Raises:
        ConfigurationError: A value is of the wrong type or out of range.
    """

    engine: str = _option(
        "auto",
        "which engine counts: darshan, builtin, or auto for darshan where it is found",
        _one_of("'auto', 'darshan' or 'builtin'", *ENGINES),
    )
    darshan_library: str | os.PathLike[str] | None = _option(
        None,
        "path of libdarshan.so (default: TFDARSHAN_DARSHAN_LIBRARY, the process, the dynamic loader)",
        _PATH,
    )
    darshan_files: int = _option(
        1_000_000,
        "number of files that libdarshan gets memory for, when it is first loaded in a process",
        _whole_number(MIN_DARSHAN_FILES, MAX_DARSHAN_FILES),
    )
    include: Sequence[str] = _option(
        (), "patterns of paths that are recorded although they are excluded", _PATTERNS
    )
    exclude: Sequence[str] = _option(
        (), "patterns of paths that are not recorded, besides the default ones", _PATTERNS
    )
    default_excludes: bool = _option(
        True,
        "do not record files of the interpreter's libraries, *.so, *.pyc, /proc, /sys and /dev except "
        "/dev/shm",
        _SWITCH,
    )
    memory_cap_mb: int = _option(
        1024,
        "most memory that the recording may take, in MiB, all processes and ranks on one host together",
        _whole_number(MIN_MEMORY_CAP_MB, MAX_MEMORY_CAP_MB, "MiB"),
    )
    trace: bool = _option(True, "keep a trace (one segment per call) besides the counters", _SWITCH)
    trace_memory_mb: int | None = _option(
        None,
        "memory that the trace (one segment per call) may take, in MiB, out of the memory cap (default: a "
        "quarter of the cap)",
        Kind(
            "a whole number of MiB from 1 to memory_cap_mb, or None",
            lambda value: value is None or (_is_whole_number(value) and 1 <= value <= MAX_MEMORY_CAP_MB),
        ),
    )
    spool_dir: str | os.PathLike[str] | None = _option(
        None,
        "folder for the recording while it runs (default: TFDARSHAN_SPOOL_DIR, /dev/shm, TMPDIR)",
        _PATH,
    )
    follow_children: bool = _option(
        True, "record child processes too: forks, and Python programs that the job starts", _SWITCH
    )
    programs: bool = _option(
        False,
        "also record programs that are not Python, such as ffmpeg, if the job starts them",
        _SWITCH,
    )
    mapped: bool | str = _option(
        False,
        "watch page faults on mapped files, and count the bytes that they read, from a thread; "
        "auto watches only large mappings (docs/reference/mapped-files.md)",
        _SWITCH_OR_AUTO,
    )
    as_if: str | None = _option(
        None,
        "slow file calls down to simulate other storage: hdd, ssd, optane, lustre or bucket (engine "
        "builtin only)",
        Kind("one of these names, or None for the storage that there is"),
    )
    as_if_paths: Sequence[str] = _option(
        (),
        "with as_if: patterns of the paths to slow down, such as '/data/*' (default: every recorded file)",
        _PATTERNS,
    )
    tf_profiler: bool | str = _option(
        "auto",
        "also run TensorFlow's profiler; auto does if the job imports TensorFlow",
        _SWITCH_OR_AUTO,
    )
    tf_profiler_max_s: int = _option(
        60,
        "seconds after which TensorFlow's profiler ends, because its trace grows in memory; the I/O session "
        "goes on",
        _whole_number(1, MAX_TF_PROFILER_S, "seconds"),
    )
    probe: bool = _option(
        False,
        "when the session has ended, measure the storage under its input for up to 5 s "
        "(docs/reference/probe.md)",
        _SWITCH,
    )
    job: str | None = _option(
        None,
        "name of the distributed job whose ranks share a session (default: TFDARSHAN_JOB, or the launcher's)",
        Kind(
            "a name, or None",
            lambda value: value is None or (isinstance(value, str) and bool(value.strip())),
        ),
    )

    def __post_init__(self) -> None:
        for option in dataclasses.fields(self):
            value, kind = getattr(self, option.name), option.metadata["kind"]
            if not kind.holds(value):
                raise ConfigurationError(f"{option.name} must be {kind.words}, not {value!r}.")
        for name in ("include", "exclude", "as_if_paths"):
            object.__setattr__(self, name, _checked_patterns(name, getattr(self, name)))
        if self.programs and not self.follow_children:
            raise ConfigurationError(
                "programs are child processes, which follow_children=False leaves out: give one of the two."
            )
        if self.trace and self.trace_limit_mb > self.memory_cap_mb:
            raise ConfigurationError(
                f"trace_memory_mb ({self.trace_memory_mb}) is part of memory_cap_mb "
                f"({self.memory_cap_mb}) and cannot be larger: lower the one or raise the other."
            )
        _check_as_if(self.as_if, self.as_if_paths, self.engine)
        if self.probe and self.as_if is not None:
            raise ConfigurationError(
                "probe measures the storage that there is, and as_if emulates another: give one of the two."
            )

    @property
    def trace_limit_mb(self) -> int:
        """MiB of segments kept in the trace."""
        return self.memory_cap_mb // 4 if self.trace_memory_mb is None else self.trace_memory_mb

    def include_patterns(self) -> tuple[str, ...]:
        """Return the include patterns as the filter wants them."""
        return tuple(map(_below, self.include))

    def exclude_patterns(self) -> tuple[str, ...]:
        """Return the user's and then the default exclude patterns as the filter wants them."""
        defaults = default_exclude_patterns() if self.default_excludes else ()
        return (*map(_below, self.exclude), *defaults)

    def as_if_patterns(self) -> tuple[str, ...]:
        """Return the patterns of emulated paths as the C library's fnmatch wants them.

        An open file has the kernel's name, so folders that lead elsewhere by a link are there twice.
        """
        patterns = tuple(map(_below, self.as_if_paths))
        return tuple(dict.fromkeys((*patterns, *map(_followed, patterns))))

    def as_dict(self) -> dict[str, Any]:
        """Return the options as they are written into the session's metadata."""
        values = dataclasses.asdict(self)
        for name in ("include", "exclude", "as_if_paths"):
            values[name] = list(values[name])
        for name in ("spool_dir", "darshan_library"):
            values[name] = None if values[name] is None else os.fspath(values[name])
        return values


def make_options(values: dict[str, Any]) -> Options:
    """Check keyword arguments and return the options.

    Raises:
        ConfigurationError: A name is unknown or a value cannot be used.
    """
    names = [option.name for option in dataclasses.fields(Options)]
    for name in values:
        if name not in names:
            hint = meant(name, names, f"the options are {', '.join(names)}.")
            raise ConfigurationError(f"there is no option {name}: {hint}")
    return Options(**values)


def flag(name: str, value: Any) -> str:
    """Return an option as the command line has it: `--trace-memory-mb 512`, `--no-trace`, `--mapped yes`."""
    typed, dashed = Options.__dataclass_fields__[name].metadata["kind"].typed, name.replace("_", "-")
    if typed:
        return f"--{dashed} {typed_word(typed, value)}"
    if isinstance(value, bool):
        return f"--{dashed}" if value else f"--no-{dashed}"
    return f"--{dashed} {value}"


def typed_word(typed: Mapping[str, bool | str], value: Any) -> str:
    """Return the command line's word for a value."""
    return next(word for word, meant in typed.items() if meant == value)


def keeps_trace(values: dict[str, Any]) -> bool:
    """Return for a session's options, as its metadata has them, whether a trace was asked for."""
    return bool(values.get("trace", True))


def default_exclude_patterns() -> tuple[str, ...]:
    """List what is left out of the tables by default: the interpreter's libraries and what is not data."""
    folders = dict.fromkeys(
        path for folder in _library_folders() for path in (folder, str(Path(folder).resolve()))
    )
    return (*(f"{folder}/*" for folder in folders), *OTHER_PATTERNS, *DEV_PATTERNS)


def _library_folders() -> list[str]:
    paths = sysconfig.get_paths()
    folders = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib") if paths.get(name)]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    # Without a home the user's own is below `~`.
    return [folder.rstrip("/") for folder in folders if folder.startswith("/")]


def _below(pattern: str) -> str:
    return f"{pattern}*" if pattern.endswith("/") else pattern


def _check_as_if(as_if: Any, paths: Sequence[str], engine: str) -> None:
    if as_if is None:
        if paths:
            raise ConfigurationError(
                "as_if_paths says where as_if applies: give as_if too, such as 'lustre'."
            )
        return
    find_model(as_if)
    if engine == "darshan":
        raise ConfigurationError(
            "as_if goes with the builtin engine: libdarshan's times would be without the emulation. "
            "Leave engine='darshan' out."
        )


def _checked_patterns(name: str, patterns: Any) -> tuple[str, ...]:
    if isinstance(patterns, (str, bytes)) or not isinstance(patterns, Sequence):
        raise ConfigurationError(
            f"{name} must be a list of path patterns, not {patterns!r}: write {name}=['...']."
        )
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern or "\0" in pattern:
            raise ConfigurationError(
                f"{name} holds {pattern!r}, which is not a path pattern: use text such as '/data/*'."
            )
    return tuple(map(_absolute, patterns))


def _followed(pattern: str) -> str:
    """Return a pattern with the links of the folders followed that it names."""
    plain = re.split(r"[*?[]", pattern, maxsplit=1)[0]
    path = plain if plain == pattern else plain.rpartition("/")[0]
    return glob.escape(os.path.realpath(path)) + pattern[len(path) :] if path else pattern


def _absolute(pattern: str) -> str:
    """Put a pattern that begins with a name below the working directory; a folder is all that is in it.

    Paths are matched without `..`, `.` and doubled slashes, so that a pattern must not have them either.
    """
    if not pattern.endswith("/") and not glob.has_magic(pattern) and os.path.isdir(pattern):  # noqa: PTH112
        pattern = f"{pattern}/"
    if pattern.startswith(("*", "?", "[")):
        return pattern
    folder = "/" if pattern.startswith("/") else _working_directory(pattern)
    # Two slashes at the beginning are kept, as POSIX has it.
    whole = os.path.normpath(os.path.join(glob.escape(folder), pattern)).replace("//", "/", 1)  # noqa: PTH118
    return f"{whole}/" if pattern.endswith("/") and whole != "/" else whole


def _working_directory(pattern: str) -> str:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError as error:
        raise ConfigurationError(
            f"the pattern {pattern!r} is below the working directory, which is not there: write it from / on."
        ) from error
