"""The tables of the Staging view: folders and files that go to the fast tier, rules, time models."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.storage.time_model import TimeModel
from tfdarshan.reports.views.files_view import folder_cell
from tfdarshan.reports.views.panel import Cell, Table, bytes_per_s, duration, number, size
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import Advice, Decision
from tfdarshan.units import human_bytes, human_range, human_times, percent

MOST_FOLDERS = 20
MOST_FILES = 20


def folders_table(source: Source, decision: Decision) -> Table:
    """Say of each folder how much of it goes to the fast tier; those that most goes from come first."""
    use, rows = decision.use, decision.candidates
    parents = pc.replace_substring_regex(use.paths.take(pa.array(rows)), "/[^/]*$", "")
    encoded = pa.chunked_array(parents).combine_chunks().dictionary_encode()
    folder, names = encoded.indices.to_numpy(), encoded.dictionary
    staged = np.isin(rows, decision.rows, assume_unique=True)
    moved = np.maximum(use.size_bytes[rows], 0)

    def added(weight: Array) -> Array:
        return np.bincount(folder, weight, minlength=len(names)).astype(np.int64)

    files, files_staged = added(np.ones(len(rows))), added(staged)
    held, held_staged = added(moved), added(moved * staged)
    order = np.lexsort((np.arange(len(names)), -held_staged))
    order = order[files_staged[order] > 0]
    cells = []
    for place in order[:MOST_FOLDERS].tolist():
        path = names[place].as_py() or "/"
        shown = path if source.redaction is None else source.redaction.folder(path)
        cells.append(
            [
                folder_cell(shown),
                number(files_staged[place]),
                number(files[place] - files_staged[place]),
                size(held_staged[place]),
                size(held[place] - held_staged[place]),
                Cell(percent(held_staged[place], held[place])),
            ]
        )
    columns = (
        ("folder (files directly in it)", "text"),
        ("files to copy", "number"),
        ("files that stay", "number"),
        ("bytes to copy", "number"),
        ("bytes that stay", "number"),
        ("share", "number"),
    )
    note = f"the {MOST_FOLDERS} with most to copy, of {len(order):,}" if len(order) > MOST_FOLDERS else ""
    return Table("staging-folders", "What goes where", columns, cells, note)


def files_table(source: Source, decision: Decision) -> Table:
    """List the files to copy that save most."""
    use = decision.use
    order = np.lexsort((decision.rows, -decision.saved_s))[:MOST_FILES]
    rows = decision.rows[order]
    cells = []
    for row, saved_s, path in zip(
        rows.tolist(),
        decision.saved_s[order].tolist(),
        use.paths.take(pa.array(rows)).to_pylist(),
        strict=True,
    ):
        shown = path if source.redaction is None else source.redaction.path(path)
        known = int(use.size_bytes[row])
        cells.append(
            [
                Cell(shown, shown, ("file", shown)),
                duration(saved_s),
                size(known if known >= 0 else None),
                number(use.opens[row]),
                size(use.bytes_read[row]),
                size(use.storage_bytes[row]),
            ]
        )
    columns = (
        ("file to copy", "text"),
        ("readers' time saved an epoch", "number"),
        ("size", "number"),
        ("opens", "number"),
        ("read", "number"),
        ("of it from storage", "number"),
    )
    chosen = len(decision.rows)
    note = f"the {MOST_FILES} that save most, of {chosen:,}" if chosen > MOST_FILES else ""
    return Table("staging-files", "Files to copy", columns, cells, note)


def rules_table(advice: Advice) -> Table:
    """Compare the advice with the paper's rule, smallest first, and with largest first."""
    cells = []
    for rule in advice.rules:
        cells.append(
            [
                Cell(rule.name),
                number(rule.files),
                size(rule.bytes),
                duration(rule.expected.saved_s),
                Cell(human_times(rule.expected.speedup)),
                Cell(human_range(*rule.expected.speedup_range)),
            ]
        )
    columns = (
        ("rule", "text"),
        ("files", "number"),
        ("bytes", "number"),
        ("saved an epoch", "number"),
        ("gain", "number"),
        ("range", "number"),
    )
    enough = advice.room_bytes <= advice.question.room_bytes
    title = f"Rules, with room for {'all files' if enough else human_bytes(advice.question.room_bytes)}"
    return Table("staging-rules", title, columns, cells)


def tiers_table(advice: Advice) -> Table:
    """Return what a pass over a file takes."""
    here = [Cell(words) for words in ("any size", "-", "by the model")]
    cells = [[Cell("where the files are"), duration(advice.pass_s), *here]]
    fast = advice.fast_tier
    cells.append([Cell("fast tier"), *_model(fast.model), Cell(fast.note)])
    columns = (
        ("tier", "text"),
        ("a file", "number"),
        ("a byte", "number"),
        ("files", "number"),
        ("fit", "text"),
    )
    note = "One pass over a file (open, read, close) takes a + size / b; the mean where the files are."
    return Table("staging-tiers", "Time of a pass", columns, cells, note)


def left_out_table(advice: Advice) -> list[Table]:
    """Return which files were not considered and why; nothing where all were."""
    if not advice.left_out:
        return []
    parts = sorted(advice.left_out, key=lambda part: -part.bytes_read)
    cells = [[Cell(part.reason), number(part.files), size(part.bytes_read)] for part in parts]
    columns = (("reason", "text"), ("files", "number"), ("read", "number"))
    return [Table("staging-left-out", "Not considered", columns, cells)]


def _model(model: TimeModel) -> list[Cell]:
    per_byte = bytes_per_s(1 / model.s_per_byte) if model.s_per_byte > 0 else Cell("any size")
    return [duration(model.base_s), per_byte, number(model.files) if model.files else Cell("-")]
