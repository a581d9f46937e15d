"""No call is ever charged to another file, however many threads open and close at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tfdarshan
from tests import later_tensorflow as tf

tf.needs("tensorflow")

FILES = 1000
EPOCHS = 20
THREADS = 16
SMALLEST_BYTES = 3000  # each file is one byte longer than the one before


@pytest.mark.timeout(300)
def test_no_file_is_charged_with_anothers_calls(tmp_path: Path) -> None:
    # GIVEN files that can be told apart by their sizes
    data = tmp_path / "data"
    data.mkdir()
    sizes = {str(data / f"{number}"): SMALLEST_BYTES + number for number in range(FILES)}
    for path, size_bytes in sizes.items():
        Path(path).write_bytes(b"x" * size_bytes)
    dataset = _reading_dataset(sorted(sizes))

    # WHEN each of many epochs is a session of its own
    wrong = []
    for epoch in range(EPOCHS):
        with tfdarshan.profile(tmp_path / "logs", trace=epoch % 2 == 0) as session:
            assert sum(1 for _ in dataset) == FILES
        wrong += [f"epoch {epoch}: {problem}" for problem in _problems(session.files, sizes)]

    # THEN in every one each file has exactly its own calls
    assert not wrong, f"{len(wrong)} of {EPOCHS * FILES} files: " + "; ".join(wrong[:10])


def _reading_dataset(paths: list[str]) -> Any:
    dataset = tf.data.Dataset.from_tensor_slices(paths).shuffle(FILES)
    dataset = dataset.map(
        lambda path: tf.strings.length(tf.io.read_file(path)), num_parallel_calls=THREADS, deterministic=False
    )
    options = tf.data.Options()
    options.threading.private_threadpool_size = THREADS
    return dataset.with_options(options)


def _problems(files: pd.DataFrame, sizes: dict[str, int]) -> list[str]:
    columns = ["POSIX_OPENS", "POSIX_READS", "TFD_ZERO_READS", "POSIX_BYTES_READ"]
    rows = files[files["path"].isin(list(sizes))]
    problems = [f"{len(rows)} rows for {len(sizes)} files"] if len(rows) != len(sizes) else []
    for path, counted in zip(rows["path"], rows[columns].itertuples(index=False), strict=True):
        if tuple(counted) != (1, 2, 1, sizes[path]):
            problems.append(f"{Path(path).name} of {sizes[path]} bytes has {dict(counted._asdict())}")
    return problems
