"""How a Darshan log file is laid out: header, regions and records, as NumPy dtypes.

A log is a header, which is not compressed, and after it one compressed region for the job, one for the names
of the records and one for each module that has records. The header says where each region is.

Source: Darshan's public headers darshan-log-format.h, darshan-posix-log-format.h, darshan-stdio-log-format.h,
darshan-dxt-log-format.h and darshan-heatmap-log-format.h of release 3.5.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LOG_VERSION = "3.41"
MAGIC = 6567223
ZLIB, BZIP2, UNCOMPRESSED = 0, 1, 2
MAX_MODULES = 64
JOB_REGION_BYTES = 4096
METADATA_BYTES = 1024
HOST_BYTES = 64
# The host of a session's ranks of which a log does not say where they ran.
UNKNOWN_HOST = "unknown"
# Key of a job's metadata that names the host of all ranks, in logs that tfdarshan writes.
ONLY_HOST = "tfdarshan_host"

# Number of each module in the header's lists, and the version of its records that is written here. Version 2
# of DXT_POSIX, which Darshan 3.5.0 writes, is not read by PyDarshan 3.5.0.
MODULE_IDS = {"POSIX": 1, "STDIO": 9, "DXT_POSIX": 10, "HEATMAP": 15}
# Modules above and below POSIX and STDIO that are read and never written.
LAYER_IDS = {"MPI-IO": 2, "H5F": 3, "H5D": 4, "PNETCDF_FILE": 5, "PNETCDF_VAR": 6, "LUSTRE": 8}
MODULE_VERSIONS = {"POSIX": 4, "STDIO": 2, "DXT_POSIX": 1, "HEATMAP": 1}

# Bytes of a record by the version of the module's records. Source: the modules' headers of the releases that
# brought the versions, of which 3.0.0 is the first.
RECORD_BYTES = {
    "POSIX": {1: 680, 2: 648, 3: 664, 4: 704},
    "STDIO": {1: 240, 2: 248},
    "MPI-IO": {1: 544, 2: 544, 3: 560},
    "H5F": {1: 40, 2: 56, 3: 80},
    "H5D": {1: 904},
    "PNETCDF_FILE": {1: 48, 2: 64, 3: 152},
    "PNETCDF_VAR": {1: 1120},
}

# Darshan's own: bins double their width until so many cover the job.
MAX_HEATMAP_BINS = 200
FIRST_BIN_WIDTH_S = 0.1

LOCATION = np.dtype([("offset", "u8"), ("length", "u8")])


def header_dtype(modules: int, partial: str) -> np.dtype[Any]:
    """Return the header's layout, padded as C pads it."""
    return np.dtype(
        [
            ("version", "S8"),
            ("magic", "i8"),
            ("compression", "u1"),
            ("partial", partial),
            ("names", LOCATION),
            ("modules", LOCATION, (modules,)),
            ("module_versions", "u4", (modules,)),
        ],
        align=True,
    )


HEADER = header_dtype(MAX_MODULES, "u8")
# Before log version 3.41.
OLD_HEADER = header_dtype(16, "u4")

JOB = np.dtype(
    [
        ("uid", "i8"),
        ("start_s", "i8"),
        ("start_ns", "i8"),
        ("end_s", "i8"),
        ("end_ns", "i8"),
        ("processes", "i8"),
        ("job", "i8"),
        ("metadata", f"S{METADATA_BYTES}"),
    ]
)
# Before log version 3.41 the nanoseconds were not there.
OLD_JOB = np.dtype(
    [
        ("uid", "i8"),
        ("start_s", "i8"),
        ("end_s", "i8"),
        ("processes", "i8"),
        ("job", "i8"),
        ("metadata", f"S{METADATA_BYTES}"),
    ]
)
OLD_JOB_BYTES = OLD_JOB.itemsize

DXT_RECORD = np.dtype(
    [
        ("id", "u8"),
        ("rank", "i8"),
        ("shared", "i8"),
        ("host", f"S{HOST_BYTES}"),
        ("writes", "i8"),
        ("reads", "i8"),
    ]
)
_SEGMENT = [("offset", "i8"), ("length", "i8"), ("start_s", "f8"), ("end_s", "f8")]
# By the version of DXT_POSIX records; the writes of a record come before its reads.
SEGMENTS = {1: np.dtype(_SEGMENT), 2: np.dtype([*_SEGMENT, ("thread", "u8")])}

# By the version of LUSTRE records: what is before a file's layout, and the bytes of each of its parts.
# Source: darshan-lustre-log-format.h, and darshan-lustre-logutils.c for version 1.
LUSTRE_RECORDS = {
    1: np.dtype([(name, "i8") for name in ("id", "rank", "osts", "mdts", "first", "stripe_size", "stripes")]),
    2: np.dtype([(name, "i8") for name in ("id", "rank", "components", "stripes")]),
}
LUSTRE_PARTS = {1: {"stripes": 8}, 2: {"components": 72, "stripes": 8}}
# Darshan takes a layout from an extended attribute of XATTR_SIZE_MAX bytes at most, in which a component
# takes 80 bytes or more and a stripe 24. Source: darshan-lustre.c, linux/limits.h and lustre_user.h.
LAYOUT_BYTES = 1 << 16

# The two members after these are pointers, in a log as in memory; then come the write bins and the read bins.
HEATMAP_RECORD = np.dtype(
    [
        ("id", "u8"),
        ("rank", "i8"),
        ("bin_width_s", "f8"),
        ("bins", "i8"),
        ("write_bins", "u8"),
        ("read_bins", "u8"),
    ]
)


def counter_record(counters: int, f_counters: int) -> np.dtype[Any]:
    """Return the layout of a POSIX or STDIO record with so many counters."""
    return np.dtype(
        [
            ("id", "u8"),
            ("rank", "i8"),
            ("counters", "i8", (counters,)),
            ("f_counters", "f8", (f_counters,)),
        ]
    )


def nameless(record: int) -> str:
    """Return what a session calls a record whose name a log does not have."""
    return f"(record {record})"
