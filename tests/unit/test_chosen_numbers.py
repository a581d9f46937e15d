"""Chosen numbers stand in tables: of sessions in thresholds.py, of the replay model in priors.py.

At module level a number is 0, 1, 2, a half or a unit, or ALLOWED names its constant, with a reason.
Within a function it is one of these, an index, an operand of bits or powers, or a shape: an integer below 10
that nothing is compared with.
"""

import ast
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tfdarshan.replay.priors import PRIORS, SETTINGS
from tfdarshan.thresholds import THRESHOLD, THRESHOLDS

ROOT = Path(__file__).parents[2] / "tfdarshan"
# The rooms that are clean.
ROOMS = ("analysis", "findings", "replay", "staging", "storage_probe")
TABLES = {"priors"}
PLAIN = {0, 1, 2, 0.5}
# Nanoseconds in a second, bytes in a MB, percent, what keeps a divisor from 0, and permissions of files.
UNITS = {100, 1e6, 1e9, 1e-9, 0o600, 0o700, 0o777}
BITS_AND_POWERS = ast.LShift | ast.RShift | ast.BitAnd | ast.Pow
ALLOWED = {
    "calls, rows or bytes in memory at a time": {
        "call_unions.MOST_INTERVALS", "call_unions.PENDING", "depth_phases.MOST_WINDOWS",
        "file_batches.SMALL", "file_batches.TOGETHER",
        "segments.BLOCK", "session_calls.KEPT_CALLS",
        "session_files.MANY_ROWS", "outlier_calls.BLOCK", "stretches.PARTS", "stretches.PART_ROWS",
        "thinned.AT_MOST", "time_windows.WINDOW_CALLS",
        "write_calls.MOST_WRITES",
    },
    "what a figure or a sentence has room for": {
        "activity.PARTS", "activity.ROWS", "brief_tables.DIGITS", "directory.MOST_FOLDERS",
        "latency.PERCENTILES", "read_passes.MOST_PASSES", "unrecorded_programs.MOST_NAMED",
    },
    "how fine a computation is": {
        "serialization.DEEPEST", "serialization.GUESS", "serialization.SHARES", "curve.POINTS",
        "intervals.RADIX",
        "knapsack.CORE", "knapsack.GAP_WANTED", "knapsack.HEAVIEST", "knapsack.MOST_STEPS",
        "storage_share.STEPS_TOGETHER", "time_model.BUCKETS",
    },
    "units, and times that never come": {
        "batch_transport.LEFT", "brief_tables.MB", "brief_tables.MS",
        "capacity.KB", "capacity.KIB", "some_segments.EVER",
        "time_windows.EVER_NS", "truncated_trace.MIB_BYTES",
        "whatif.MB_BYTES",
    },
    "the kernel's, Darshan's and Arrow's": {
        "access_sizes.UPPER_LIMITS", "rate_limit.KERNELS_NS", "checksum.DIGEST_BYTES",
        "apply.STAT_BLOCK_BYTES", "file_ranges.BLOCK_BYTES", "file_table.MOST_BYTES", "reader_threads.IDLE",
        "reader_threads.IOPRIO_SET", "reader_threads.LEAST", "input_figures.PAGE_BYTES",
        "limited_quantity.COUNTED_BYTES", "mapped_waits.AROUND_PAGES", "mapped_waits.PAGE_BYTES",
        "probe.ALIGNMENT", "question.block_bytes", "read_pieces.READ_AHEAD_BYTES",
    },
    "how many files are copied, and looked at, at a time": {
        "apply.BATCH_BYTES", "apply.BATCH_FILES", "apply.threads", "copy_file.BUFFER_BYTES",
        "mirror.BATCH_LINKS", "original_looks.LOOK_AGAIN_S", "original_looks.LOOK_AHEAD_PROCESSES",
        "original_looks.LOOK_AHEAD_S", "plan_from_decision.LOOKS",
        "plan_from_decision.THREADS", "stage_folder.ATTEMPTS",
    },
    "sizes of buffers and shards that a fix names": {
        "mapped_fix_lines.WINDOW_BYTES", "mapped_fixes.AHEAD_BYTES", "shard_fix_lines.SHARD_BYTES",
        "small_reads.BUFFER_BYTES", "small_reads.PAGE_BYTES",
    },
    "questions that are asked of any storage": {"whatif.BETTER_STORAGE"},
    "the plan of a probe: what it reads, and for how long": {
        "data_files.AT_A_TIME", "data_files.MOST_FILES", "data_files.MOST_NAMES", "data_files.MOST_OPEN",
        "depth_scaling.LEAST_DEPTH", "file_ranges.ALL_CACHED", "file_ranges.FEWEST_OPEN",
        "file_ranges.MOST_OPEN", "file_ranges.MOST_RANGES", "file_ranges.RANGE_BYTES", "probe.BLOCK",
        "probe.FILES_OF_SIZE", "probe.LONGEST_S", "probe.ROUNDS", "probe.SIZES", "prober.BYTES",
        "prober.CELL_S", "prober.DEPTHS", "prober.FEW_RANGES", "prober.FIRST_ROUND", "prober.LEAST_BYTES",
        "prober.MOST_SECONDS", "prober.MOST_WARMINGS", "prober.PAUSE_S", "prober.SECONDS",
        "prober.SMALL_BYTES", "prober.WARM_READERS", "prober.WARM_READS", "reader_threads.HUNG_S",
        "session_probes.MOST_KEPT", "session_probes.MOST_OWN",
    },
}  # fmt: skip


Found = tuple[str, int, float]


def chosen_numbers(stem: str, statements: list[ast.stmt]) -> Iterator[Found]:
    """Yield the numbers of a module, or of a class in it, that stand in no table: where, line and value."""
    allowed = set().union(*ALLOWED.values())
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            yield from chosen_numbers(stem, statement.body)
        elif isinstance(statement, ast.FunctionDef):
            yield from ((stem, *found) for found in in_function(statement))
        else:
            nodes: list[Any] = list(ast.walk(statement))
            names = {f"{stem}.{node.id}" for node in nodes if stored(node)}
            values = {(node.lineno, node.value) for node in nodes if is_number(node)}
            bad = [value for value in values if value[1] not in PLAIN | UNITS]
            yield from ((stem, *value) for value in bad if not names or names - allowed)


def in_function(node: Any, *, compared: bool = False) -> Iterator[tuple[int, float]]:
    if is_number(node) and node.value not in PLAIN | UNITS:
        shape = type(node.value) is int and node.value < 10 and not compared
        yield from [] if shape else [(node.lineno, node.value)]
    compared = isinstance(node, ast.Compare) or (compared and isinstance(node, ast.BinOp | ast.UnaryOp))
    bits = isinstance(node, ast.BinOp) and isinstance(node.op, BITS_AND_POWERS)
    plain = bits or isinstance(node, ast.Subscript | ast.Slice)
    for child in ast.iter_child_nodes(node):
        if not (plain and is_number(child)):
            yield from in_function(child, compared=compared)


def is_number(node: Any) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def stored(node: Any) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def test_no_module_has_a_number_that_somebody_chose():
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py") if path.stem not in TABLES]
    assert len(files) > 100

    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")).body for path in files}
    assert not [one for stem, body in trees.items() for one in chosen_numbers(stem, body)]

    # ... and no constant is allowed that is not there
    every: list[tuple[str, Any]] = [
        (stem, node) for stem, body in trees.items() for top in body for node in ast.walk(top)
    ]  # fmt: skip
    names = {f"{stem}.{node.id}" for stem, node in every if stored(node)}
    assert not set().union(*ALLOWED.values()) - names


def test_a_number_that_somebody_chose_is_found():
    # GIVEN two that are chosen at module level, and two in a function, beside what is none
    module = """
SLOW, BESIDE = 4.0, 0.5
class Row:
    share: float = 0.3
def found(rows: int = 5):
    return rows[:3] if 1e9 * rows < 8 * 2 or rows > 0 else 1 << 20 & 12.5 * rows
"""
    # THEN
    assert sorted(found[1:] for found in chosen_numbers("module", ast.parse(module).body)) == [
        (2, 4.0), (4, 0.3), (6, 8), (6, 12.5),
    ]  # fmt: skip


def test_the_tables_have_no_more_rows_than_are_allowed():
    assert len(PRIORS) + len(SETTINGS) + len(THRESHOLDS) <= 150


def test_each_threshold_says_what_it_is_and_where_it_comes_from():
    assert all(row.unit and row.meaning and row.source for row in THRESHOLDS)
    assert len(THRESHOLD) == len(THRESHOLDS)
    assert all(math.isfinite(row.value) for row in THRESHOLDS)
