"""How to read a mapped file without page faults: in the words of its format, and of the job's framework."""

from __future__ import annotations

from tfdarshan.analysis.steps.mapped_waits import FileWaits
from tfdarshan.file_name import exact_name, shell_word
from tfdarshan.findings.finding import Fix
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.priors import SETTING
from tfdarshan.thresholds import THRESHOLD

READERS = int(SETTING["readers"])
# What the kernel is told to read ahead, and file systems that lie on one device.
WINDOW_BYTES = 4 << 20
BLOCK_TYPES = ("ext2", "ext3", "ext4", "xfs", "f2fs")
NAMES = {
    "lmdb": "LMDB database", "npy": "NumPy array", "arrow": "Arrow file", "arrow_stream": "Arrow file",
    "safetensors": "safetensors file", "hdf5": "HDF5 file", "parquet": "Parquet file",
    "torch": "PyTorch file", "gguf": "GGUF file",
}  # fmt: skip
POOL = f"pool = concurrent.futures.ThreadPoolExecutor({READERS})\n"


def name_of(file: FileWaits) -> str:
    """Name what a mapped file is: "LMDB database", "mapped file"."""
    return NAMES.get(file.format, "mapped file")


def read_ahead_of_faults(measures: Measures, file: FileWaits, *, jumps: bool) -> Fix:
    """Word how to have more in flight than the page that a thread waits for.

    Args:
        measures: The session.
        file: The file.
        jumps: It is read out of order.
    """
    if file.format == "lmdb":
        return _lmdb(measures, file, jumps=jumps)
    if file.format == "arrow":
        return Fix(
            f"Have {READERS} threads read record batches ahead, with file calls.",
            "read = lambda number: pa.ipc.open_file(pa.OSFile(path)).get_batch(number)\n"
            f"{POOL}"
            "batches = pool.map(read, numbers)  # numbers: of the record batches, in the order wanted",
            "reader = pa.ipc.open_file(pa.memory_map(path))",
        )
    if file.format == "arrow_stream":
        return Fix(
            "Read with file calls instead of page faults. Load a Hugging Face dataset with "
            "keep_in_memory=True if it fits in memory, or let workers of a DataLoader read it.",
            "reader = pa.ipc.open_stream(pa.OSFile(path))",
            "reader = pa.ipc.open_stream(pa.memory_map(path))",
        )
    if file.format == "safetensors":
        flavour = next((name for name in ("torch", "tensorflow") if name in measures.versions), "numpy")
        kind = {"torch": "pt", "tensorflow": "tf", "numpy": "np"}[flavour]
        return Fix(
            "Read the whole file with file calls, before it is used.",
            f"tensors = safetensors.{flavour}.load(pathlib.Path(path).read_bytes())",
            f'file = safetensors.safe_open(path, framework="{kind}")',
        )
    if file.format == "torch":
        return Fix(
            "Read the whole file with file calls.",
            "state = torch.load(path, mmap=False)",
            "state = torch.load(path, mmap=True)",
        )
    if file.format == "parquet":
        return Fix(
            "Read with file calls instead of page faults.",
            "table = pq.read_table(path, memory_map=False, pre_buffer=True)",
            "table = pq.read_table(path, memory_map=True)",
        )
    return _array(measures, file)


def _lmdb(measures: Measures, file: FileWaits, *, jumps: bool) -> Fix:
    framework = next((name for name in ("tensorflow", "torch") if name in measures.versions), "")
    options = "batch=batch_size"
    options += ', shuffle="blocks"' if jumps else ""
    options += f', framework="{framework}"' if framework else ""
    return Fix(
        "Read the database with merged reads, several at a time, instead of page faults.",
        f"dataset = tfdarshan.lmdb.dataset({file.path!r}, {options})",
        "transaction.get(key)",
    )


def _array(measures: Measures, file: FileWaits) -> Fix:
    what = f"Have {READERS} threads copy the rows of the next steps out of the mapping, ahead of time."
    memory = measures.machine.rank_bytes
    if file.format == "npy" and memory is not None and 0 <= file.size_bytes <= THRESHOLD["room"] * memory:
        what += " If most of the array is needed, read all of it with np.load(path): it fits in memory."
    return Fix(
        what,
        f"batches = map_ahead(lambda rows: np.array(array[rows]), order, threads={READERS})  "
        "# from tfdarshan.ahead; order: a list of row numbers for each batch",
        "batch = array[rows]",
    )


def read_single_pages(file: FileWaits) -> Fix:
    """Word how to have page faults read no more than the page that is touched."""
    what = "Tell the kernel that the mapping is read out of order: a page fault then reads one page only."
    if file.format == "npy":
        return Fix(what, "array._mmap.madvise(mmap.MADV_RANDOM)  # once, array being the np.memmap")
    if file.format == "lmdb":
        return Fix(what, "environment = lmdb.open(path, readonly=True, readahead=False)")
    return Fix(what, "mapped.madvise(mmap.MADV_RANDOM)  # once, mapped being the mmap.mmap")


def read_larger_windows(file: FileWaits) -> Fix:
    """Word how to have the kernel read further ahead on the file's mount, which root may set."""
    where = shell_word(exact_name(file.mount_point or "/"))
    what = (
        "Have the kernel read 4 MB ahead on this mount, as root. Without root, call madvise(MADV_WILLNEED) "
        "on the next 128 KiB, again and again."
    )
    if file.fs_type in BLOCK_TYPES:
        line = f"blockdev --setra 8192 $(findmnt -no SOURCE {where})"
    else:
        line = f"echo 4096 > /sys/class/bdi/$(mountpoint -d {where})/read_ahead_kb"
    return Fix(what, f"{line}  # for all readers of the mount")
