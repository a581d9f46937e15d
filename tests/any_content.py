"""Strategies that make wrong files of right ones: any JSON tree for a value, any column of a table."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from tests.mutations import VALUES, places

LEAVES = (
    st.sampled_from(VALUES) | st.integers() | st.floats() | st.text(max_size=5) | st.booleans() | st.none()
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
MOST_CHANGES = 3
SMALL = st.integers(-2, 2)
LARGE = st.integers(-(1 << 63), (1 << 63) - 1)
# What a column may be of, and values of that.
COLUMNS: tuple[tuple[Any, st.SearchStrategy[Any]], ...] = (
    (pa.int64(), SMALL | LARGE),
    (pa.uint64(), st.integers(0, (1 << 64) - 1)),
    (pa.int32(), st.integers(-(1 << 31), (1 << 31) - 1)),
    (pa.uint8(), st.integers(0, 255)),
    (pa.float64(), st.floats()),
    (pa.string(), st.text(max_size=5)),
    (pa.large_string(), st.text(max_size=5)),
    (pa.binary(), st.binary(max_size=5)),
    (pa.bool_(), st.booleans()),
    (pa.timestamp("ns"), LARGE),
    (pa.decimal128(38, 4), st.decimals(-1000, 1000, places=4, allow_nan=False)),
    (pa.null(), st.none()),
    (pa.list_(pa.int64()), st.lists(SMALL, max_size=3)),
    (pa.struct([("a", pa.int64())]), st.fixed_dictionaries({"a": SMALL})),
    (pa.dictionary(pa.int32(), pa.string()), st.text(max_size=5)),
)
Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def changed_json(draw: Draw, content: bytes) -> bytes:
    """Draw a JSON file with up to three values replaced, taken out, named otherwise or put in twice."""
    tree = json.loads(content)
    for _ in range(draw(st.integers(1, MOST_CHANGES))):
        found = list(places(tree))
        if not found:
            break
        holder, key = found[draw(st.integers(0, len(found) - 1))]
        change = draw(st.sampled_from(("replace", "replace", "remove", "rename", "copy")))
        if change == "replace":
            holder[key] = draw(TREES)
        elif change == "remove":
            del holder[key]
        elif change == "rename" and isinstance(holder, dict):
            holder[draw(st.text(max_size=5))] = holder.pop(key)
        else:
            other, its = found[draw(st.integers(0, len(found) - 1))]
            holder[key] = json.loads(json.dumps(other[its]))
    return json.dumps(tree).encode()


@st.composite
def changed_lines(draw: Draw, content: bytes) -> bytes:
    """Draw a file of JSON lines with one of them changed."""
    lines = content.splitlines()
    place = draw(st.integers(0, len(lines) - 1))
    lines[place] = draw(changed_json(lines[place]))
    return b"\n".join(lines) + b"\n"


@st.composite
def changed_table(draw: Draw, content: bytes) -> bytes:
    """Draw a Parquet file with up to three columns changed, and written in one of the ways that there are."""
    table = pq.read_table(io.BytesIO(content))
    for _ in range(draw(st.integers(1, MOST_CHANGES))):
        if table.num_columns:
            table = draw(st.sampled_from(TABLE_CHANGES))(draw, table)
    written = io.BytesIO()
    pq.write_table(
        table,
        written,
        compression=draw(st.sampled_from(("none", "snappy", "zstd", "gzip"))),
        row_group_size=draw(st.sampled_from((1, 7, 1 << 20))),
        use_dictionary=draw(st.booleans()),
        write_statistics=draw(st.booleans()),
        data_page_version=draw(st.sampled_from(("1.0", "2.0"))),
    )
    return written.getvalue()


def _place(draw: Draw, table: Any) -> int:
    place: int = draw(st.integers(0, table.num_columns - 1))
    return place


def _of_another_type(draw: Draw, table: Any) -> Any:
    place, (kind, values) = _place(draw, table), draw(st.sampled_from(COLUMNS))
    few = draw(st.lists(values | st.none(), min_size=1, max_size=3))
    column = pa.array([few[row % len(few)] for row in range(table.num_rows)], kind)
    return table.set_column(place, table.column_names[place], column)


def _with_other_values(draw: Draw, table: Any) -> Any:
    """Give a column values of its own type, some of them extreme, some null."""
    place = _place(draw, table)
    kind = table.schema.field(place).type
    values = next((values for known, values in COLUMNS if known == kind), None)
    if values is None:
        return table
    few = draw(st.lists(values | st.none(), min_size=1, max_size=3))
    column = pa.array([few[row % len(few)] for row in range(table.num_rows)], kind)
    return table.set_column(place, table.column_names[place], column)


def _without_one(draw: Draw, table: Any) -> Any:
    return table.remove_column(_place(draw, table))


def _named_otherwise(draw: Draw, table: Any) -> Any:
    names = list(table.column_names)
    names[_place(draw, table)] = draw(st.sampled_from(table.column_names) | st.text(max_size=5))
    return table.rename_columns(names)


def _twice(draw: Draw, table: Any) -> Any:
    place = _place(draw, table)
    return table.append_column(table.column_names[place], table.column(place))


def _other_rows(draw: Draw, table: Any) -> Any:
    if not draw(st.booleans()):
        return pa.concat_tables([table, table])
    return table.slice(draw(st.integers(0, table.num_rows)))


def _other_metadata(draw: Draw, table: Any) -> Any:
    known = list(table.schema.metadata or {}) or [b"a"]
    key = draw(st.sampled_from(known))
    changed = draw(st.binary(max_size=5) | st.sampled_from((b"9" * 5000, b"", b"-1")))
    return table.replace_schema_metadata({**(table.schema.metadata or {}), key: changed})


TABLE_CHANGES: tuple[Callable[[Draw, Any], Any], ...] = (
    _of_another_type,
    _with_other_values,
    _with_other_values,
    _without_one,
    _named_otherwise,
    _twice,
    _other_rows,
    _other_metadata,
)
