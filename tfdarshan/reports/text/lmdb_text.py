"""What is said of an LMDB database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdarshan.file_name import printable
from tfdarshan.lmdb.measured_reading import Reading
from tfdarshan.lmdb.speed_test import PY_LMDB, Speed
from tfdarshan.lmdb.verification import Verified, printable_name
from tfdarshan.units import exact_bytes, human_bytes, human_rate, human_seconds, percent, plural


def info_text(info: dict[str, Any]) -> str:
    """Return what `tfdarshan lmdb info` prints of its own --json."""
    rows = [
        ("records", f"{info['records']:,}"),
        ("values", exact_bytes(info["value_bytes"])),
        ("sizes", _sizes(info)),
        ("values of their own pages", f"{info['values_in_pages']:,}"),
        ("kind", ", ".join(info["kinds"]) or "one value a key"),
        ("file", f"{exact_bytes(info['file_bytes'])}, pages of {info['page_bytes']:,} B"),
        ("tree", f"{plural(info['depth'], 'level')}, {plural(info['leaf_pages'], 'leaf page')}"),
        ("transaction", f"{info['transaction']:,}"),
        ("read by", info["read_by"]),
        ("page cache", _cached(info["reading"])),
    ]
    if info["databases"]:
        rows.append(("sub-databases", ", ".join(info["databases"])))
    lines = [f"{info['path']}, {info['database'] or 'the main database'}"]
    return "".join(f"{line}\n" for line in [*lines, *(f"  {name:<27}{said}" for name, said in rows)])


def _cached(reading: dict[str, Any]) -> str:
    if reading["cached_share"] is None:
        return "unknown"
    how = "read from there" if reading["from_cache"] else "what is in flight is measured while it is read"
    return f"has {percent(reading['cached_share'], 1)} of it: {how}"


def reading_text(reading: Reading) -> str:
    """Describe how a database was read, and what that was chosen by; nothing if it was told how."""
    if reading.access != "auto":
        return ""
    if reading.from_cache and reading.cached_share is not None:
        return f"read from the page cache, which has {percent(reading.cached_share, 1)} of it"
    in_flight = plural(reading.in_flight, "read")
    if not reading.looks:
        return f"read with {in_flight} in flight: too little to measure more"
    tried = ", ".join(f"{depth}: {human_rate(speed, 1)}" for depth, speed in sorted(reading.speeds.items()))
    turns = "; readers of a process take turns" if reading.takes_turns else ""
    return f"read with {in_flight} in flight, which gave most of those tried: {tried}{turns}"


def _sizes(info: dict[str, Any]) -> str:
    if not info["records"]:
        return "-"
    least, median, most = (human_bytes(info[f"{name}_bytes"]) for name in ("least", "median", "most"))
    return f"{least} to {most}, median {median}"


def verified_text(path: str, found: Sequence[Verified], *, compared: bool) -> str:
    """Return what was read, a line for each database."""
    lines = [f"{path} is whole" + (", and py-lmdb reads the same:" if compared else ":")]
    for one in found:
        what = f"{plural(one.records, 'record')}, {exact_bytes(one.value_bytes)} of values"
        lines.append(f"  {printable(printable_name(one.name))}: {what}, {one.digest}")
    return "\n".join(lines) + "\n"


def speed_text(path: str, speeds: Sequence[Speed]) -> str:
    """Return each reader's bandwidth and processor time, and how many times as fast as py-lmdb it is."""
    runs = plural(len(speeds[0].runs), "run")
    lines = [f"{path}, {exact_bytes(speeds[0].value_bytes)} of values, {runs} each by turns, medians"]
    other = speeds[-1] if speeds[-1].reader == PY_LMDB else None
    for speed in speeds:
        elapsed_s, processor_s = speed.median_s("elapsed_s"), speed.median_s("processor_s")
        said = (
            f"  {speed.reader:<44}{human_rate(speed.value_bytes, elapsed_s):>12}, "
            f"processor {human_seconds(processor_s)}, opened in {human_seconds(speed.median_s('opening_s'))}"
        )
        if other not in (None, speed):
            said += f"; {other.median_s('elapsed_s') / elapsed_s:.1f}x"
        lines.append(said)
        if speed.reading is not None and (how := reading_text(speed.reading)):
            lines.append(f"    {how}")
    if other is None:
        lines.append("  py-lmdb is not installed: there is nothing to compare with (pip install lmdb).")
    return "\n".join(lines) + "\n"
