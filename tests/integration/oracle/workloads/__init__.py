"""What is done to files while strace and tfdarshan both watch.

A workload is a function of the directory it may use. `prepare_<name>`, where there is one, runs
before the session and makes the files the workload reads.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

Workload = Callable[[Path], None]

# A process runs the workloads of its groups one after the other, each in a session of its own.
GROUPS: dict[str, tuple[str, ...]] = {
    "tensorflow_io": (
        "read_file",
        "tfrecord_plain",
        "tfrecord_gzip",
        "fixed_length_record",
        "text_line",
        "dataset_cache",
        "dataset_save_and_load",
        "checkpoint",
        "sql_dataset",
        "gfile_copy",
        "gfile",
        "asynchronous_checkpoint",
        "saved_model",
        "summary_writer",
        "write_file",
    ),
    "keras_io": ("keras_file", "keras_hdf5_file", "keras_weights_file", "keras_callbacks"),
    "numpy_io": ("save_and_load", "load_memory_map", "tofile_and_fromfile", "npz", "memmap"),
    "array_io": ("hdf5", "hdf5_chunks", "image_files"),
    "table_io": (
        "csv",
        "feather_and_json",
        "pandas_parquet",
        "arrow_parquet",
        "arrow_parquet_memory_map",
        "arrow_memory_map",
        "sqlite",
        "sqlite_journal_modes",
    ),
    "python_io": (
        "binary_file",
        "text_file",
        "unbuffered_file",
        "append",
        "update_in_place",
        "read_whole_text",
        "descriptors",
        "vectors",
        "stats",
        "directories",
        "sendfile",
        "copy_file_range",
        "splice",
        "memory_map",
        "duplicates",
        "reused_numbers",
        "opened_before",
        "temporary_files",
        "rename_and_remove",
        "truncate",
        "sync",
        "copyfile",
        "copytree",
        "move",
        "archives",
        "compressed_files",
        "pickle_and_json",
        "database",
        "threads",
    ),
    "compiled_io": (
        "cpp_streams",
        "cpp_streams_loaded_late",
        "c_streams",
        "c_streams_loaded_late",
        "c_calls",
    ),
}


def group_of(name: str) -> str:
    """Return the group, and so the module, that workload `name` is in."""
    return next(group for group, names in GROUPS.items() if name in names)


def load(name: str) -> tuple[Workload, Workload]:
    """Return what prepares the workload `name`, and the workload."""
    module = importlib.import_module(f"{__name__}.{group_of(name)}")
    return getattr(module, f"prepare_{name}", _prepare_nothing), getattr(module, name)


def _prepare_nothing(directory: Path) -> None:
    pass
