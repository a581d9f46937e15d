"""Input that is in shards already: each file holds many samples."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.input_files import mask_of
from tfdarshan.findings.fix_lines import reader_of
from tfdarshan.findings.measures import Measures

# Formats of many records a file, by their names; 00003-of-00128 is one part of a data set.
NAMES = (
    r"(?i)(\.(tfrecords?|tfrec|array_?record|riegeli|tar|tgz|parquet|arrow|mds|recordio)(\.(gz|zst|bz2))?"
    r"|-\d+-of-\d+[^/]*)$"
)
READERS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset")


def in_shards_already(paths: Any) -> Array:
    """Return which files hold many records by their names: bool, one entry for each path."""
    return mask_of(pc.match_substring_regex(paths, NAMES))


def steps_read_records(measures: Measures) -> bool:
    """Return whether the steps' pipeline takes records out of files, in a stage or in its function."""
    reader = reader_of(measures)
    return reader is not None and any(name in (reader.name, *_words(reader.function)) for name in READERS)


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text).split()
