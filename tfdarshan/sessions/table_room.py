"""Says of a Parquet file that its rows take more memory than is free, before they are read.

Runs of one number, and text that stands for a code, take a few bytes in a file and any number in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdarshan.sessions import schema
from tfdarshan.sessions.whole_file import check_room, fits

# The widest number, and the offset of a text.
CELL_BYTES = 8
MOST_ROWS = max(schema.EVENTS_ROW_GROUP, schema.FILES_ROW_GROUP, schema.OVERVIEW_ROW_GROUP)
# Text in these is as long in memory as it is when it is decompressed; DICTIONARY can be measured.
AS_LONG = {"PLAIN", "RLE", "BIT_PACKED"}
DICTIONARY = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}


def check_groups(source: Any, file: Any) -> None:
    """Look at each row group of a file, as tables are read one row group at a time.

    Args:
        source: The file for Arrow.
        file: The same as a `ParquetFile`.

    Raises:
        ValueError: A row group has more rows than a session's, or text in an encoding that no session has.
        TooLargeError: One takes more memory than is free.
    """
    metadata = file.metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    if any(group.num_rows > MOST_ROWS for group in groups):
        most = max(group.num_rows for group in groups)
        raise ValueError(f"it has {most:,} rows in a row group, and a session has up to {MOST_ROWS:,}")
    if not groups:
        return
    check_room(max(_group_bytes(group, metadata.num_columns) for group in groups))
    texts = _texts(file)
    coded = [_coded(group, texts) for group in groups] if texts else []
    for number, (group, sizes) in enumerate(zip(groups, coded, strict=False)):
        if not fits(group.num_rows * sum(sizes.values())):
            check_room(_text_bytes(source, metadata, number, list(sizes)))


def check_rows(metadata: Any, groups: Sequence[int], columns: int) -> None:
    """Look at row groups that are read together.

    Raises:
        TooLargeError: They take more memory than is free.
    """
    if len(groups) > 1:
        check_room(sum(_group_bytes(metadata.row_group(group), columns) for group in groups))


def _group_bytes(group: Any, columns: int) -> int:
    return int(group.total_byte_size + group.num_rows * columns * CELL_BYTES)


def _texts(file: Any) -> list[int]:
    """Return the places of columns that are text in memory, and not codes of it."""
    plain = {field.name for field in file.schema_arrow if not str(field.type).startswith("dictionary")}
    columns = (file.metadata.schema.column(place) for place in range(file.metadata.num_columns))
    return [
        place
        for place, column in enumerate(columns)
        if column.physical_type == "BYTE_ARRAY" and column.name in plain
    ]


def _coded(group: Any, texts: Sequence[int]) -> dict[str, int]:
    """Return the bytes of each column of text whose rows may be longer than what stands for them."""
    found = {}
    for column in map(group.column, texts):
        encodings = set(column.encodings) - AS_LONG
        if encodings - DICTIONARY:
            raise ValueError(f"its column {column.path_in_schema} is encoded as no session's is")
        if encodings:
            found[column.path_in_schema] = column.total_uncompressed_size
    return found


def _text_bytes(source: Any, metadata: Any, group: int, columns: list[str]) -> int:
    """Return what the texts of a row group take, from how often each of their dictionaries is used."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with pq.ParquetFile(source, metadata=metadata, read_dictionary=columns) as file:
        found = file.read_row_group(group, columns=columns, use_threads=False)
    parts = [part for column in found.columns for part in column.chunks]
    return sum(pc.sum(pc.binary_length(part.dictionary).take(part.indices)).as_py() or 0 for part in parts)
