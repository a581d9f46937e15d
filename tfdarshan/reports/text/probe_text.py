"""Words what a probe of the storage under a folder found."""

from __future__ import annotations

from tfdarshan.file_name import printable
from tfdarshan.storage_probe.depth_scaling import Scaling
from tfdarshan.storage_probe.probe_result import StorageProbe
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_bytes, human_seconds, percent, plural

FIGURES = Columns("  ", -26, 0)
LEVELS = Columns("  ", -26, 11, 11, 11, 11, 11)
# From these shares of a call on that are served one at a time storage is full, or not.
FULL, WAITING = 0.7, 0.3
# One file has no others that it could be slower than.
FEWEST_COMPARED = 2


def probe_text(probe: StorageProbe, width: int = WIDTH) -> str:
    """Return it as text, ending in a newline."""
    where = f" ({probe.fs_type} at {probe.mount_point})" if probe.mount_point else ""
    lines = wrap(printable(f"{probe.folder}{where}, on {probe.host}"), width, hang="  ")
    if probe.open_s is not None:
        lines.append(FIGURES.row("an open", human_seconds(probe.open_s)))
    if probe.small is not None:
        alone = f"{human_seconds(probe.small.alone_s)}, {probe.small.levels[0].calls_per_s:,.0f} a second"
        lines.append(FIGURES.row(f"a read of {human_bytes(probe.small.size)}", alone))
    if probe.large is not None:
        level = probe.large.levels[0]
        rate = f"{human_seconds(level.call_s)}, {human_bytes(level.bytes_per_s)}/s by one reader"
        lines.append(FIGURES.row(f"a read of {human_bytes(probe.large.size)}", rate))
    lines += _levels(probe)
    for sentence in (_more_readers(probe), _places(probe), _cached(probe), _how(probe)):
        lines += wrap(printable(sentence), width, "  ", "    ")
    return "\n".join(lines) + "\n"


def _levels(probe: StorageProbe) -> list[str]:
    """Return the table of what each number of readers got."""
    lines = []
    for scaling, name in ((probe.small, "small reads a second"), (probe.large, "bytes a second")):
        if scaling is None:
            continue
        lines.append(LEVELS.row("readers at a time", *(level.readers for level in scaling.levels)))
        rates = (
            f"{level.calls_per_s:,.0f}" if scaling is probe.small else human_bytes(level.bytes_per_s)
            for level in scaling.levels
        )
        lines.append(LEVELS.row(name, *rates))
    # Where both were read by as many, one line says it.
    return lines if len(lines) < 4 or lines[0] != lines[2] else [*lines[:2], lines[3]]


def _more_readers(probe: StorageProbe) -> str:
    said = []
    for scaling, noun in ((probe.small, "operations"), (probe.large, "bandwidth")):
        if scaling is None or scaling.share is None:
            continue
        times = f"{scaling.times:.1f} times the {noun} of one"
        said.append(f"{scaling.most_readers} readers get {times} ({_kind(scaling)})")
    if not said:
        return (
            "The probe cannot tell what more readers get: storage answers faster than it asks, or there was "
            "too little to read."
        )
    return "More readers: " + "; ".join(said) + "."


def _kind(scaling: Scaling) -> str:
    assert scaling.share is not None
    served = f"{percent(scaling.share, 1)} of a call served one at a time, {percent(scaling.low, 1)} to "
    served += percent(scaling.high, 1)
    if scaling.low >= FULL:
        return f"storage is full: {served}"
    return f"storage waits: {served}" if scaling.high <= WAITING else served


def _places(probe: StorageProbe) -> str:
    places, said = probe.places, []
    if places.slow_files:
        path, times = places.slow_files[0]
        be = "is" if len(places.slow_files) == 1 else "are"
        said.append(
            f"{len(places.slow_files):,} of {places.files:,} files {be} slow whenever read, most of all "
            f"{path}, {times:.0f} times as slow as others"
        )
    if places.slow_share > 0:
        said.append(
            f"at {percent(places.slow_share, 1)} of the moments all files were slow, {places.slow_times:.0f} "
            "times as slow as at others"
        )
    if said:
        return "Slowness: " + "; ".join(said) + "."
    if places.files < FEWEST_COMPARED:
        return "Slowness by file is not shown: files are too small, or too few, to read one several times."
    moments = "and no moment was" if places.moments else "and moments are too few to tell"
    return f"Slowness: none of {places.files:,} files is slower than the others, {moments}."


def _cached(probe: StorageProbe) -> str:
    if probe.cached_share is None:
        return "The probe cannot tell what the page cache holds: the kernel hides it for other users' files."
    return (
        f"Page cache: {percent(probe.cached_share, 1)} of the parts that were looked at are in it, and were "
        "not measured."
    )


def _how(probe: StorageProbe) -> str:
    way = "past the page cache" if probe.direct else "through the page cache, each part once"
    unreadable = f", {probe.unreadable:,} more cannot be read" if probe.unreadable else ""
    return (
        f"Measured in {human_seconds(probe.seconds)} by reading {human_bytes(probe.bytes_read)} of "
        f"{plural(probe.files, 'file')}{unreadable}, {way}, at {'idle' if probe.idle else 'least'} priority."
    )
