"""What rows of the catalogue have in common, whether they are of a session or of a log."""

from __future__ import annotations

import os
import posixpath
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.errors import ConfigurationError, UnsupportedPlatformError
from tfdarshan.file_name import command_words, table_name
from tfdarshan.fleet.job_columns import DAMAGED, NEWER, NO_RECORDS, READ, UNREADABLE
from tfdarshan.fleet.job_files import SECONDS, JobFiles, input_folder, mount_entries
from tfdarshan.formats.darshan_format import ONLY_HOST, UNKNOWN_HOST
from tfdarshan.formats.importing.ranks import SHARED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdarshan.findings.diagnosis import Diagnosis

Row = dict[str, Any]
MOST_DOUBTS = 8
INTERPRETER = re.compile(r"(?:python|pypy|bash|sh|perl|ruby|Rscript|julia|node)[0-9.]*")
OPTIONS_WITH_VALUE = ("-W", "-X", "-Q")
# What goes wrong on a machine, such as a full disk, and says nothing of an input.
OF_THE_MACHINE = (ConfigurationError, UnsupportedPlatformError, OSError, MemoryError)
# What messages of readers say of data that this tfdarshan is too old for.
TOO_OLD = re.compile(r"reads up to|a Darshan log of version")


def begin_row(path: str, kind: str, fingerprint: str) -> Row:
    """Return what is known of an input before it is read."""
    return {
        "input": table_name(os.fsencode(path)),
        "kind": kind,
        "state": READ,
        "fingerprint": fingerprint,
        "catalogued_ns": time.time_ns(),
    }


def left_out(row: Row, state: str, note: str) -> Row:
    """Return the row of an input that has no figures."""
    return row | {"state": state, "note": note}


def state_of(said: str) -> str:
    """Tell damage from data that is newer than this tfdarshan, by what a reader said."""
    if "no POSIX or STDIO records" in said:
        return NO_RECORDS
    if TOO_OLD.search(said):
        return NEWER
    return UNREADABLE if "cannot be read" in said else DAMAGED


def file_figures(files: JobFiles) -> Row:
    """Return the columns that rows of files make."""
    read, posix_reads = files.total("bytes_read"), files.total("posix_reads")
    small = files.total("small_reads")
    again = read - int(files.unique_bytes.sum())
    entries = mount_entries(files)
    first = entries[0] if entries else {"mount_point": None, "fs_type": None}
    sums = {name: files.total(name) for name in ("opens", "reads", "writes", "syncs", "bytes_read")}
    return {
        **sums,
        "bytes_written": files.total("bytes_written"),
        "stats": files.total("stats") if files.stats_known else None,
        **{name: files.total(name) for name in SECONDS},
        "small_reads": small,
        "small_read_share": small / posix_reads if posix_reads else None,
        "reread_bytes": again if read else None,
        "reread_share": again / read if read else None,
        "mount_point": first["mount_point"],
        "fs_type": first["fs_type"],
        "mounts": entries,
        **input_folder(files),
    }


def finding_figures(diagnosis: Diagnosis, duration_s: float) -> Row:
    """Return the columns of what was found: seconds of the whole job, that a finding has by the unit."""
    named, gain = diagnosis.named, diagnosis.verdict.gain
    row: Row = {"verdict": diagnosis.verdict.state, "finding": diagnosis.verdict.finding}
    if named is not None:
        row["finding_title"] = named.title
        row["finding_cost_s"] = min(named.cost_s * diagnosis.units, duration_s)
    if gain is not None and gain.before_s > 0:
        low_s, high_s = gain.low_s * diagnosis.units, gain.high_s * diagnosis.units
        row["finding_gain_s"] = gain.saved_s * diagnosis.units
        row["finding_gain_low_s"], row["finding_gain_high_s"] = low_s, high_s
    return row


def application_of(command: str) -> str | None:
    """Name the program of a command: the script or module where an interpreter runs one."""
    words = command_words(command)
    if not words:
        return None
    name = posixpath.basename(words[0])
    if INTERPRETER.fullmatch(name):
        return _script(words[1:]) or name
    return name or None


def _script(words: list[str]) -> str | None:
    while words:
        word, *words = words
        if word == "-m":
            return words[0] if words else None
        if word in OPTIONS_WITH_VALUE:
            words = words[1:]
        elif not word.startswith("-"):
            return posixpath.basename(word)
        elif word.startswith("-c"):
            return None
    return None


def hosts_of_ranks(metas: Sequence[Row]) -> Row:
    """Return the columns of hosts of a session made of a log; {} if the log names none.

    Ranks that no segment is of may have run on other hosts: how many nodes there are is unknown then.
    """
    ranks: dict[str, set[int]] = {}
    for meta in metas:
        for host, of_host in meta["darshan"].get("hosts", {}).items():
            ranks.setdefault(host, set()).update(of_host)
    ranks.pop(UNKNOWN_HOST, None)
    log = metas[0]["darshan"]
    named = set().union(*ranks.values()) - {SHARED}
    is_known = len(named) >= log.get("processes", 1) or ONLY_HOST in log.get("metadata", {})
    return {"hosts": ",".join(sorted(ranks)), "nodes": len(ranks) if is_known else None} if ranks else {}


def owner_of(path: Path) -> tuple[int | None, str | None]:
    """Return the number and the name of a folder's owner; None for what is not known."""
    import pwd

    try:
        uid = path.stat().st_uid
    except OSError:
        return None, None
    try:
        return uid, pwd.getpwuid(uid).pw_name
    except KeyError:
        return uid, None
