"""Which files are of one data set: folders that the input's time goes to, such as training and validation.

Folders tell data sets apart only if they are read one after the other; whether they are, the calls show.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.intervals import Array

# A folder with a smaller share of the time is counted with the others.
LEAST_SHARE = 0.1
# Folders are looked for among so many files: what a tenth of the time goes to is among them.
SAMPLED = 20_000


def data_sets(files: FileTable, is_input: Array) -> Array | None:
    """Gives the number of each file's set, int8 by row of the file table; None if all are of one.

    Args:
        files: The files.
        is_input: Which of them are input, bool.
    """
    rows = files.rows
    time_s = np.where(is_input, (rows["read_s"] + rows["meta_s"]).to_numpy(), 0.0)
    used = np.flatnonzero(time_s > 0)
    sampled = used[:: max(1, len(used) // SAMPLED)]
    folders = _folders(files.paths.take(pa.array(sampled)).to_pylist(), time_s[sampled])
    if len(folders) < 2:
        return None
    found = np.zeros(len(rows), np.int8)
    for number, folder in enumerate(folders, 1):
        below = pc.starts_with(files.paths, f"{folder}/")
        if isinstance(below, pa.ChunkedArray):
            below = below.combine_chunks()
        found[below.to_numpy(zero_copy_only=False)] = number
    return found


def _folders(paths: list[str], time_s: Array) -> list[str]:
    """Gives the topmost folders side by side that have a tenth of the time each; fewer than two if none."""
    folder, least_s = "", LEAST_SHARE * float(time_s.sum())
    chosen = list(zip(paths, time_s.tolist(), strict=True))
    while chosen:
        spent: dict[str, float] = defaultdict(float)
        for path, seconds in chosen:
            name, below, _ = path[len(folder) + 1 :].partition("/")
            if below:
                spent[name] += seconds
        much = sorted(name for name, seconds in spent.items() if seconds >= least_s)
        beside_s = sum(seconds for _, seconds in chosen) - sum(spent[name] for name in much)
        if len(much) != 1 or beside_s >= least_s:
            return [f"{folder}/{name}" for name in much]
        folder = f"{folder}/{much[0]}"
        chosen = [(path, seconds) for path, seconds in chosen if path.startswith(f"{folder}/")]
    return []
