"""Checks that tfdarshan works here, by known calls whose counts can only be one thing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.doctor.other_programs import OTHER_PROGRAMS
from tfdarshan.doctor.packages import loaded_packages
from tfdarshan.doctor.trial_session import counters_of, trial_session
from tfdarshan.errors import TfdarshanError
from tfdarshan.native import _bridge, _extension
from tfdarshan.options import Options
from tfdarshan.recording.spool import choose_folder
from tfdarshan.reports.text.agreement_text import agreement_sentence
from tfdarshan.units import human_bytes, plural

# Sizes no other file is likely to have.
FILE_BYTES = 1_234_567
READ_BYTES = 400_000
# What has a starting interpreter join a session.
JOIN_FILE = "tfdarshan_join.pth"


@dataclass(frozen=True)
class Check:
    """One thing that was tried."""

    name: str
    ok: bool
    finding: str


def run_checks(engine: str = "builtin", library: str | None = None) -> list[Check]:
    """Run all checks; where one of the first two fails, those that record cannot run.

    Args:
        engine: With "darshan" also libdarshan is tried, and compared with the builtin fold.
        library: Path of libdarshan; None looks for it.
    """
    checks = [_tried("platform", _check_platform), _tried("packages", loaded_packages)]
    if all(check.ok for check in checks):
        steps = (
            ("hooks", _check_hooks),
            ("spool folder", _check_spool_folder),
            ("known calls", _check_known_calls),
            ("started Python", _check_started_python),
            ("programs", _check_programs),
            ("detached", _check_detached),
        )
        checks += [_tried(name, check) for name, check in steps]
        if engine != "builtin":
            checks += _check_darshan(engine, library)
    if checks[0].ok:
        checks += [_tried(name, check) for name, check in OTHER_PROGRAMS]
    return checks


def known_calls(folder: Path) -> dict[str, int]:
    """Make calls on a new file and return the counters that must come out."""
    path = folder / "known"
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    os.pwrite(handle, bytes(FILE_BYTES), 0)
    position = 0
    while got := len(os.pread(handle, READ_BYTES, position)):
        position += got
    os.fstat(handle)
    os.fsync(handle)
    os.close(handle)
    return {
        "POSIX_OPENS": 1,
        "POSIX_READS": -(-FILE_BYTES // READ_BYTES) + 1,
        "POSIX_WRITES": 1,
        "POSIX_STATS": 1,
        "POSIX_FSYNCS": 1,
        "POSIX_BYTES_READ": FILE_BYTES,
        "POSIX_BYTES_WRITTEN": FILE_BYTES,
        "TFD_ZERO_READS": 1,
    }


def _tried(name: str, check: Callable[[], str]) -> Check:
    try:
        return Check(name, True, check())
    except TfdarshanError as error:
        return Check(name, False, str(error))


def _check_platform() -> str:
    _extension.core()
    return f"{platform.machine()}, {_extension.c_library_version()}, Python {platform.python_version()}"


def _check_hooks() -> str:
    hooks = _bridge.hooks()
    here = sum(hook.available for hook in hooks)
    if not here:
        raise TfdarshanError(
            "none of the hooked functions exists in this C library: please report this machine."
        )
    return f"{here} of {len(hooks)} hooked functions exist in this C library"


def _check_spool_folder() -> str:
    folder = choose_folder(Options())
    usage = os.statvfs(folder)
    return f"{folder}, {human_bytes(usage.f_bavail * usage.f_frsize)} free"


def _check_known_calls() -> str:
    with trial_session(known_calls, engine="builtin") as (folder, expected, session):
        counted = counters_of(session, folder / "known", expected)
        wrong = {
            counter: (counted[counter], count)
            for counter, count in expected.items()
            if counted[counter] != count
        }
        slots = session.meta[0]["attach"]["start"]["slots_patched"]
    if wrong:
        said = ", ".join(f"{counter} {found} instead of {count}" for counter, (found, count) in wrong.items())
        raise TfdarshanError(f"known calls were miscounted: {said}; please report this machine.")
    return f"{plural(slots, 'slot')} patched, {len(expected)} counters as expected"


def _check_started_python() -> str:
    """Start an interpreter that reads a file of known size, and look for it in the session."""
    read = "import sys\nwith open(sys.argv[1], 'rb') as file:\n    sys.exit(0 if file.read() else 1)"
    found, _ = _read_by([sys.executable, "-c", read])
    if found == 0:
        return (
            f"not seen: {JOIN_FILE} is not where {sys.executable} looks at its start; forks are seen. "
            "Install tfdarshan into that interpreter's environment, or record with programs=True"
        )
    if found != FILE_BYTES:
        raise TfdarshanError(
            f"of {FILE_BYTES:,} bytes that a started Python read {found:,} were seen: please report it."
        )
    return "a Python that is started joins the session"


def _check_programs() -> str:
    """Start a program that reads a file of known size, and look for it in the session."""
    if (problem := _extension.program_library_problem()) is not None:
        return f"not seen: {problem}"
    library = _extension.program_library()
    program = shutil.which("cat")
    if program is None:
        return f"{library.name} is there; without cat it is not tried"
    found, programs = _read_by([program], programs=True)
    if programs["unseen"]:
        return f"{library.name} is there, and {program} does not take it: {programs['unseen'][0]['why']}"
    if found != FILE_BYTES:
        raise TfdarshanError(
            f"of {FILE_BYTES:,} bytes that {program} read {found:,} were seen: record without programs=True, "
            "and please report this machine."
        )
    return f"{library.name} sees what {program} reads"


def _read_by(command: list[str], *, programs: bool = False) -> tuple[int, dict[str, Any]]:
    """Return the bytes of a known file that a session has of a program, and what it says of programs."""

    def read(folder: Path) -> None:
        (folder / "known").write_bytes(bytes(FILE_BYTES))
        subprocess.run([*command, folder / "known"], stdout=subprocess.DEVNULL, check=False)

    with trial_session(read, engine="builtin", programs=programs) as (folder, _, session):
        read_here = counters_of(session, folder / "known", ("POSIX_BYTES_READ", "TFD_COPY_READ_BYTES"))
        return read_here.total(), session.meta[0].get("programs", {})


def _check_darshan(engine: str, library: str | None) -> list[Check]:
    """Check that libdarshan counts what the builtin engine counts; with "auto" there need not be one."""
    found: list[dict[str, Any]] = []

    def used() -> str:
        meta = _darshan_session(engine, library)
        if meta["engine"]["name"] != "darshan":
            why = [note for note in meta["bounds"] if "libdarshan" in note]
            return "; ".join(why) or "none was found: the builtin engine counts"
        found.append(meta)
        return "{version}, {library} ({source})".format_map(meta["engine"])

    def agrees() -> str:
        verify = found[0]["verify"]
        if verify["unexplained_rows"]:
            raise TfdarshanError(f"{agreement_sentence(verify)}; please report this libdarshan.")
        return agreement_sentence(verify)

    checks = [_tried("libdarshan", used)]
    if found:
        checks.append(_tried("two counters", agrees))
    return checks


def _darshan_session(engine: str, library: str | None) -> dict[str, Any]:
    """Record known calls, and return the session's metadata."""
    with trial_session(known_calls, engine=engine, darshan_library=library) as (_, _, session):
        return session.meta[0]


def _check_detached() -> str:
    left = _bridge.slots_holding_wrappers()
    if left:
        raise TfdarshanError(
            f"{plural(left, 'slot')} still patched after the session: please report this machine."
        )
    return "every slot holds its own value again"
