"""Words what reads through mapped files cost; data in, text out."""

from __future__ import annotations

from collections.abc import Iterable

from tfdarshan.analysis.files.mapped_reads import MappedFile, MappedReads
from tfdarshan.file_name import printable
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout, fact_lines
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_bytes, human_seconds, plural, shortened

FACTS = 22
ROWS = Columns(12, 12, 12, 12, 12, "   ", 0)
HEAD = ("in faults", "slowest", "faults", "bytes in", "file size", "path")


def mapped_lines(mapped: MappedReads, width: int = WIDTH) -> list[str]:
    """Return the section of `summary -v`: what came in, what threads waited for, and the files."""
    if not mapped.files:
        return []
    lines = wrap("Mapped files (read by page faults, which are no calls)", width, hang="  ")
    return [*lines, *fact_lines(_facts(mapped), width, FACTS, "  "), *mapped_rows(mapped.slowest, width)]


def mapped_rows(files: Iterable[MappedFile], width: int = WIDTH) -> list[str]:
    """Return a table of mapped files, with its head."""
    table = [HEAD, *map(_row, files)]
    layout = Layout(ROWS, table, width, least=(1, 4), cut=shortened)
    return [*layout.all_lines(table), *wrap(layout.note(), width)]


def mapped_fact(mapped: MappedReads) -> str:
    """Say it in a line for the one-screen summary, of a session with mapped files."""
    parts = [plural(mapped.files, "file"), f"{bytes_in(mapped)} came in", _waited(mapped)]
    return ", ".join(parts)


def bytes_in(mapped: MappedReads) -> str:
    """Word the bytes that came in, as far as they are known."""
    if mapped.bytes_in is None:
        return "unknown bytes"
    return ("at least " if mapped.bytes_unknown else "") + human_bytes(mapped.bytes_in)


def _waited(mapped: MappedReads) -> str:
    if mapped.fault_s is None:
        return "time in page faults unknown"
    return f"{_about(mapped)}{human_seconds(mapped.fault_s)} in page faults"


def _about(mapped: MappedReads) -> str:
    """Describe how a time in page faults is known: by all of them, by a part, or by looks at threads."""
    if mapped.at_least:
        return "at least "
    return "about " if mapped.sampled_share is not None and mapped.sampled_share < 1 else ""


def _facts(mapped: MappedReads) -> list[tuple[str, str]]:
    about = _about(mapped)
    faults = "unknown" if mapped.faults is None else f"{about}{mapped.faults:,.0f}"
    time = "unknown"
    if mapped.fault_s is not None and mapped.wait_s is not None:
        time = f"{about}{human_seconds(mapped.fault_s)}, over threads {human_seconds(mapped.wait_s)}"
    left_out = f" ({plural(mapped.bytes_unknown, 'file')} unknown)" if mapped.bytes_unknown else ""
    return [
        ("files, mappings", f"{mapped.files:,}, {mapped.mappings:,} of {human_bytes(mapped.bytes_mapped)}"),
        ("into the page cache", bytes_in(mapped) + (left_out if mapped.bytes_in is not None else "")),
        *_known_bytes("out of it", mapped.bytes_evicted, "at least "),
        *_known_bytes("touched", mapped.bytes_touched, "about "),
        ("page faults", faults),
        ("time in page faults", time),
    ]


def _known_bytes(name: str, count: float | None, bound: str) -> list[tuple[str, str]]:
    return [] if count is None else [(name, bound + human_bytes(count))]


def _row(file: MappedFile) -> tuple[str, ...]:
    def seconds(value: float | None, before: str = "") -> str:
        return "unknown" if value is None else before + human_seconds(value)

    return (
        seconds(file.fault_s, ">= " if file.at_least else ""),
        seconds(file.longest_s),
        "unknown" if file.faults is None else f"{file.faults:,.0f}",
        "unknown" if file.bytes_in is None else human_bytes(file.bytes_in),
        human_bytes(file.size_bytes) if file.size_bytes >= 0 else "-",
        printable(file.path),
    )
