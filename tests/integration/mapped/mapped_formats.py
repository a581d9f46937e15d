"""Reads a data set through a mapping in a session, and prints what session and kernel say, as JSON.

`python mapped_formats.py FORMAT make FOLDER` writes it, `... FORMAT read PATH LOGDIR WARM` reads it, and
another one of the kind first. TFD_PACKAGES_FOLDER and TFD_ROOT say where other packages are.
"""

import ctypes
import json
import os
import site
import sys
from pathlib import Path

if "TFD_PACKAGES_FOLDER" in os.environ:
    site.addsitedir(os.environ["TFD_PACKAGES_FOLDER"])
    sys.path.append(os.environ["TFD_ROOT"])

import numpy as np

import tfdarshan
from tfdarshan.analysis.files.mapped_reads import mapped_reads

ROWS, COLUMNS = 768, 4096  # 24 MiB of 8-byte numbers
PAGE, CACHESTAT = 4096, 451


def numbers():
    """Return what each format holds: its sum is no other's."""
    return np.arange(ROWS * COLUMNS, dtype=np.int64).reshape(ROWS, COLUMNS)


def come_bytes(handle):
    """Return what of a file is in the page cache, or was evicted, by cachestat(2)."""
    whole, found = (ctypes.c_uint64 * 2)(0, 0), (ctypes.c_uint64 * 5)()
    failed = ctypes.CDLL(None).syscall(CACHESTAT, handle, whole, found, 0)
    cached, _, _, evicted, _ = found
    return None if failed else (cached + evicted) * PAGE


def make_npy(folder):
    np.save(folder / "rows.npy", numbers())
    return folder / "rows.npy"


def read_npy(path):
    return int(np.load(path, mmap_mode="r").sum())


def make_lmdb(folder):
    import lmdb

    with lmdb.open(str(folder), map_size=1 << 28) as database, database.begin(write=True) as writing:
        for number, row in enumerate(numbers()):
            writing.put(b"%06d" % number, row.tobytes())
    return folder / "data.mdb"


def read_lmdb(path):
    import lmdb

    with lmdb.open(str(path.parent), readonly=True, lock=False) as database:
        with database.begin(buffers=True) as reading:
            return sum(int(np.frombuffer(value, np.int64).sum()) for _, value in reading.cursor())


def make_arrow(folder):
    import pyarrow as pa

    schema = pa.schema([("x", pa.int64())])
    with pa.OSFile(str(folder / "rows.arrow"), "wb") as out, pa.ipc.new_file(out, schema) as writer:
        for row in numbers():
            writer.write_batch(pa.record_batch([pa.array(row)], schema))
    return folder / "rows.arrow"


def read_arrow(path):
    import pyarrow as pa

    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    places = range(reader.num_record_batches)
    return sum(int(reader.get_batch(place).column(0).to_numpy().sum()) for place in places)


def make_hdf5(folder):
    import h5py

    with h5py.File(folder / "rows.h5", "w") as file:
        file["rows"] = numbers()
    return folder / "rows.h5"


def read_hdf5(path):
    import h5py

    with h5py.File(path, "r") as file:
        rows = file["rows"]
        offset, shape, dtype = rows.id.get_offset(), rows.shape, rows.dtype
    return int(np.memmap(path, dtype, "r", offset, shape).sum())


def make_safetensors(folder):
    import safetensors.numpy

    safetensors.numpy.save_file({"rows": numbers()}, folder / "rows.safetensors")
    return folder / "rows.safetensors"


def read_safetensors(path):
    import safetensors

    with safetensors.safe_open(path, framework="np") as file:
        return int(file.get_tensor("rows").sum())


def make_torch(folder):
    import torch

    torch.save({"rows": torch.from_numpy(numbers())}, folder / "rows.pt")
    return folder / "rows.pt"


def read_torch(path):
    import torch

    return int(torch.load(path, mmap=True)["rows"].sum())


def make_datasets(folder):
    import datasets

    data = datasets.Dataset.from_dict({"rows": numbers()})
    data.save_to_disk(folder / "data")
    [path] = (folder / "data").glob("*.arrow")
    return path


def read_datasets(path):
    import datasets

    data = datasets.load_from_disk(path.parent).with_format("numpy")
    return sum(int(row["rows"].sum()) for row in data)


FORMATS = {
    "npy": (make_npy, read_npy),
    "lmdb": (make_lmdb, read_lmdb),
    "arrow": (make_arrow, read_arrow),
    "hdf5": (make_hdf5, read_hdf5),
    "safetensors": (make_safetensors, read_safetensors),
    "torch": (make_torch, read_torch),
    "datasets": (make_datasets, read_datasets),
}


def make(name, folder):
    """Write it, have the page cache forget it, and name its file."""
    path = FORMATS[name][0](folder)
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    print(path)


def read(name, path, logdir, warm):
    """Read it in a session, its packages being there already, and say what came of it."""
    FORMATS[name][1](warm)
    handle = os.open(path, os.O_RDONLY)
    before = come_bytes(handle)
    with tfdarshan.profile(logdir, mapped=True) as session:
        found = FORMATS[name][1](path)
        after = come_bytes(handle)
    reads = mapped_reads(session.session.processes)
    [file] = [one for one in reads.slowest if one.path == str(path)]
    block = session.session.meta[0]["mapping"]
    print(
        json.dumps(
            {
                "sum": found,
                "came_in": None if before is None else after - before,
                "seen_bytes": file.bytes_in,
                "seen_faults": file.faults,
                "seen_s": file.wait_s,
                "longest_s": file.longest_s,
                "share": reads.sampled_share,
                "notes": reads.notes,
                "events": block["faults"],
                "kernel": block["minor_faults"] + block["major_faults"],
            }
        )
    )


if __name__ == "__main__":
    if sys.argv[2] == "make":
        make(sys.argv[1], Path(sys.argv[3]))
    else:
        read(sys.argv[1], *map(Path, sys.argv[3:6]))
