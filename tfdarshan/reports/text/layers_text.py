"""Words what a Darshan log has besides POSIX and STDIO; data in, text out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfdarshan.analysis.files.log_layers import Layer, LogLayers, Striping
from tfdarshan.file_name import printable
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout
from tfdarshan.terminal.paint import WIDTH
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_bytes, human_seconds, plural

LAYERS = Columns("  ", -13, 8, 9, 9, 11, 10, 10, 10, 10, 10)
ROWS = Columns(10, 9, 10, 10, 10, 10, "  ", -12, " ", -9, " ", 0)
HEAD = (
    "", "opens", "reads", "writes", "collective", "read", "written", "in reads", "in writes", "in opens",
)  # fmt: skip
TITLE = "Other layers of the log (their bytes reach files as POSIX calls: do not add them to those)"
TITLES = {
    "H5F": "HDF5 files", "H5D": "HDF5 data", "PNETCDF_FILE": "PnetCDF files", "PNETCDF_VAR": "PnetCDF data",
    "FIFO": "FIFO", "SOCKET": "socket",
}  # fmt: skip


def layer_lines(layers: LogLayers, width: int = WIDTH) -> list[str]:
    """Return the section of `summary -v`: a line for each module, Lustre's striping, what is of no file."""
    lines = []
    if layers.layers:
        table = [HEAD, *map(_layer_row, layers.layers)]
        layout = Layout(LAYERS, table, width, least=(9, 4, 8, 6, 3))
        lines += [*wrap(TITLE, width, hang="  "), *layout.all_lines(table), *wrap(layout.note(), width, "  ")]
    for label, text in layer_facts(layers):
        if label != "Layers":
            lines += wrap(f"  {label:<10}{text}", width, hang=" " * 12)
    return lines if layers.layers or not lines else ["Besides POSIX and STDIO", *lines]


def layer_facts(layers: LogLayers) -> list[tuple[str, str]]:
    """Return what the one-screen summary says, as pairs of a label and a text."""
    facts = [("Layers", "; ".join(map(_in_short, layers.layers)))] if layers.layers else []
    if layers.striping is not None:
        facts.append(("Lustre", striping_text(layers.striping)))
    if layers.no_files:
        facts.append(("No files", no_files_text(layers.no_files)))
    return facts


def striping_text(striping: Striping) -> str:
    """Word how Lustre striped the files."""
    count, size = _range(striping.stripe_count, str), _range(striping.stripe_size_bytes, _stripe_size)
    stripes = "stripe" if striping.stripe_count[1] == 1 else "stripes"
    each = " each" if striping.files > 1 else ""
    osts = plural(striping.osts, "OST")
    return f"{plural(striping.files, 'file')}, {count} {stripes} of {size}{each}, on {osts}"


def no_files_text(layers: Iterable[Layer]) -> str:
    """Describe what is left out of all times, for it is of no file."""
    said = [
        f"{plural(layer.records, TITLES[layer.module])} with "
        f"{plural((layer.reads or 0) + (layer.writes or 0), 'read or write', 'reads and writes')} "
        f"and {human_seconds(layer.time_s)} in calls"
        for layer in layers
    ]
    return f"{' and '.join(said)}: left out of the time in I/O, where a call waits for the other end"


def not_known_line(notes: Sequence[str]) -> str:
    """Fold what a log does not say into a line; "" if there is nothing."""
    return f"Not in the log: {', '.join(note.partition(':')[0] for note in notes)}" if notes else ""


def layer_rows(rows: Iterable[Mapping[str, Any]], width: int = WIDTH) -> list[str]:
    """Word rows of the layers table, those of one record each; a cell that the module lacks is "-"."""
    table = [
        ("time", "opens", "reads", "read", "writes", "written", "module", "rank", "name"),
        *map(_record_row, rows),
    ]
    layout = Layout(ROWS, table, width, least=(1, 7, 2, 4))
    return [*layout.all_lines(table), *wrap(layout.note(), width)]


def _record_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    times = [row[name] for name in ("read_s", "write_s", "meta_s") if _known(row[name])]
    name = printable(str(row["path"]))
    if _known(row["stripe_count"]):
        size = _stripe_size(int(row["stripe_size_bytes"]))
        name += f" ({plural(int(row['stripe_count']), 'stripe')} of {size}, OSTs {row['osts']})"
    columns = ("opens", "reads", "bytes_read", "writes", "bytes_written")
    return (
        human_seconds(sum(times)) if times else "-",
        *(_cell(row[column], "bytes" in column) for column in columns),
        str(row["module"]),
        "all" if row["rank"] < 0 else f"{int(row['rank'])}",
        name,
    )


def _layer_row(layer: Layer) -> tuple[str, ...]:
    return (
        TITLES.get(layer.module, layer.module),
        *(_cell(value, False) for value in (layer.opens, layer.reads, layer.writes, layer.collective)),
        *(_cell(value, True) for value in (layer.bytes_read, layer.bytes_written)),
        *(
            "-" if value is None else human_seconds(value)
            for value in (layer.read_s, layer.write_s, layer.meta_s)
        ),
    )


def _in_short(layer: Layer) -> str:
    said = [plural(layer.opens, "open")] if layer.opens else []
    said += [f"{human_bytes(layer.bytes_read)} read"] if layer.bytes_read else []
    said += [f"{human_bytes(layer.bytes_written)} written"] if layer.bytes_written else []
    said.append(f"{human_seconds(layer.time_s)} in calls")
    return f"{TITLES.get(layer.module, layer.module)}: {', '.join(said)}"


def _stripe_size(size_bytes: int) -> str:
    """Word the size of a stripe, which is a multiple of 64 KiB."""
    mib, rest = divmod(size_bytes, 1 << 20)
    return human_bytes(size_bytes) if rest else f"{mib:,} MiB"


def _cell(value: float | None, is_bytes: bool) -> str:
    if not _known(value):
        return "-"
    return human_bytes(value or 0) if is_bytes else f"{int(value or 0):,}"


def _known(value: Any) -> bool:
    """Return for a cell of a DataFrame or of a sum whether there is a number in it."""
    return value is not None and value == value


def _range(both: tuple[int, int], worded: Any) -> str:
    low, high = both
    return str(worded(low)) if low == high else f"{worded(low)} to {worded(high)}"
