"""Says of a Parquet file that its rows take more memory than is free, before they are read.

Runs of one number, and text that stands for a code, take a few bytes in a file and any number in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tfdarshan.sessions import schema
from tfdarshan.sessions.page_headers import Page, pages_of
from tfdarshan.sessions.whole_file import check_room, fits

# The widest number, and the offset of a text.
CELL_BYTES = 8
# What Arrow keeps of a value of a dictionary besides its text: a pointer, a length and an offset.
ENTRY_BYTES = 24
MOST_ROWS = max(schema.EVENTS_ROW_GROUP, schema.FILES_ROW_GROUP, schema.OVERVIEW_ROW_GROUP)
TEXT, NUMBERS = "BYTE_ARRAY", ("BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE")
# PLAIN, RLE and BIT_PACKED: text in these is as long in memory as it is when it is decompressed.
AS_LONG = {0, 3, 4}
# PLAIN_DICTIONARY and RLE_DICTIONARY: text in these can be measured.
DICTIONARY = {2, 8}


def check_groups(metadata: Any) -> None:
    """Look at the footer of a file, as tables are read one row group at a time.

    Raises:
        ValueError: A row group has more rows than a session's, or a column is one of no session.
    """
    groups = (metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
    most = max(groups, default=0)
    if most > MOST_ROWS:
        raise ValueError(f"it has {most:,} rows in a row group, and a session has up to {MOST_ROWS:,}")
    for column in map(metadata.schema.column, range(metadata.num_columns)):
        is_flat = column.path == column.name and not column.max_repetition_level
        if not is_flat or column.physical_type not in (TEXT, *NUMBERS):
            raise ValueError(f"its column {column.path} is of a type that no session has")


def check_read(source: Any, file: Any, groups: Sequence[int], columns: Collection[str] | None) -> None:
    """Look at the pages of row groups that are read together.

    Args:
        source: The file for Arrow.
        file: The same as a `ParquetFile`.
        groups: Numbers of the row groups.
        columns: Names of the columns, None for all.

    Raises:
        ValueError: A page has no header, or text in an encoding that no session has.
        TooLargeError: They take more memory than is free.
    """
    plain = {field.name for field in file.schema_arrow if not str(field.type).startswith("dictionary")}
    needed_bytes, repeated = 0, []
    for number in groups:
        group, texts = file.metadata.row_group(number), {}
        if not group.num_rows:  # Arrow reads no page of it, and it may have none.
            continue
        for column in map(group.column, range(group.num_columns)):
            name = column.path_in_schema
            if columns is not None and name not in columns:
                continue
            pages = list(pages_of(source, column))
            needed_bytes += group.num_rows * CELL_BYTES + sum(map(_page_bytes, pages))
            if column.physical_type == TEXT and _is_coded(name, pages) and name in plain:
                texts[name] = sum(page.size_bytes for page in pages if page.is_dictionary)
        if texts:
            repeated.append((number, list(texts), group.num_rows * sum(texts.values())))
    check_room(needed_bytes)
    if not fits(sum(most for _, _, most in repeated)):
        check_room(sum(_text_bytes(source, file.metadata, number, names) for number, names, _ in repeated))


def _page_bytes(page: Page) -> int:
    return page.size_bytes + page.is_dictionary * page.values * ENTRY_BYTES


def _is_coded(name: str, pages: Sequence[Page]) -> bool:
    """Return whether the rows of a column of text may be longer than what stands for them."""
    encodings = {page.encoding for page in pages} - AS_LONG
    if encodings - DICTIONARY:
        raise ValueError(f"its column {name} is encoded as no session's is")
    return any(page.is_dictionary for page in pages)


def _text_bytes(source: Any, metadata: Any, group: int, columns: list[str]) -> int:
    """Return what the texts of a row group take, from how often each of their dictionaries is used."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with pq.ParquetFile(source, metadata=metadata, read_dictionary=columns) as file:
        found = file.read_row_group(group, columns=columns, use_threads=False)
    parts = [part for column in found.columns for part in column.chunks]
    return sum(pc.sum(pc.binary_length(part.dictionary).take(part.indices)).as_py() or 0 for part in parts)
