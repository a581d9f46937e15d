"""A drawn training program: its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .storage_kind import PARTS

Shape = Literal[
    "map", "interleave", "records", "generator", "loop", "thread_pool", "torch_map", "torch_iterable", "grain"
]
SHAPES: tuple[Shape, ...] = ("map", "interleave", "records", "generator", "loop", "thread_pool")
TF_DATA: tuple[Shape, ...] = ("map", "interleave", "records")
PYTHON: tuple[Shape, ...] = ("generator", "loop", "thread_pool")
# By PyTorch's DataLoader, over a data set of samples and over one of shards.
LOADERS: tuple[Shape, ...] = ("torch_map", "torch_iterable")
GRAIN: Shape = "grain"
# How Python code reads a sample.
Access = Literal["file", "stats", "until_empty", "small_reads", "reopened", "random", "sqlite", "shards"]
# What is drawn of these: shards are a fix.
ACCESSES: tuple[Access, ...] = ("file", "stats", "until_empty", "small_reads", "reopened", "random", "sqlite")
Extra = Literal[
    "", "numpy_checkpoint", "tf_checkpoint", "torch_checkpoint", "synced_log", "small_writes", "validation"
]
EXTRAS: tuple[Extra, ...] = ("numpy_checkpoint", "tf_checkpoint", "synced_log", "small_writes", "validation")
CHECKPOINTS: tuple[Extra, ...] = ("numpy_checkpoint", "tf_checkpoint", "torch_checkpoint")
MOST_VALUES = 1024


@dataclass(frozen=True, kw_only=True)
class Folders:
    """Where a program finds its data and writes: on the storage in question, and on a fast one."""

    data: Path
    out: Path
    fast: Path
    fast_out: Path


@dataclass(frozen=True, kw_only=True)
class Program:
    """All that makes its source; a fix is the same program with some of it replaced.

    Attributes:
        marked: Records itself, with `tfdarshan.profile()` and steps; else it runs under `tfdarshan run`.
        threads: Calls at a time, or workers: 0 is one after another, -1 is `tf.data.AUTOTUNE`.
        threads_ahead: Threads of Python's own go on with samples of later batches, as `map_ahead` has them.
        pool: Threads of tf.data's own pool for it, 0 is what TensorFlow takes.
        cache: "" is none; "misplaced" is where it never fills: before an epoch that is cut short, or in a
            data set that is made anew for each epoch.
        cut: An epoch leaves the last batch out.
        chained: The pipeline is one expression, not a statement for each part.
        ahead: A thread of the program's own reads ahead of the loop.
        decode_in_map: The generator gives bytes, which a map of its data set decodes, several at a time.
        shards, cycle: Record files, and how many of them `interleave` takes in turn.
        start_method: Of workers, "" is what Python takes.
        prefetch_factor: Batches that each worker, or Grain's thread, is ahead; 0 is what the library takes.
        processes: Of Grain's, each of which has so many threads.
        persistent: Workers live on from one epoch to the next.
        any_order: Batches are taken as they are ready.
        hugging_face: The data set is one of Hugging Face's, of which a transform reads what is asked for.
        rounds: Sines of each value, if it decodes by arithmetic.
        chunk_bytes: Of a read, where files are read in small ones.
        shuffle_size: Samples of the shuffle buffer, if there is one.
        weights, every: Doubles of a checkpoint, and steps from one to the next.
        lines, line_bytes: Written to a log in each step.
        extra_cured: What the loop does besides is done as it should be.
    """

    folders: Folders
    shape: Shape
    access: Access = "file"
    decode: Literal["", "arithmetic", "jpeg"] = ""
    count: int
    size_bytes: int
    batch: int = 16
    epochs: int = 1
    step_s: float = 0.01
    computes: Literal["sleep", "numpy"] = "sleep"
    marked: bool = True
    as_if: str = ""
    slow_path: str = ""
    mixed: bool = False
    chained: bool = False
    cut: bool = False
    shards: int = PARTS
    cycle: int = 4
    rounds: int = 4
    chunk_bytes: int = 8192
    shuffle_size: int = 0
    extra: Extra = ""
    every: int = 4
    weights: int = 2_000_000
    lines: int = 8
    line_bytes: int = 24

    threads: int = 0
    threads_ahead: bool = False
    pool: int = 0
    prefetch: bool = False
    cache: Literal["", "right", "misplaced"] = ""
    shuffle: Literal["", "paths", "samples"] = ""
    gzip: bool = False
    buffer_bytes: int = 0
    ahead: bool = False
    in_memory: bool = False
    in_order: bool = False
    large_reads: bool = False
    listed_once: bool = False
    kept_open: bool = False
    known_size: bool = False
    large_pages: bool = False
    decode_in_map: bool = False
    staged: bool = False
    moved: bool = False
    extra_cured: bool = False
    start_method: Literal["", "spawn", "forkserver"] = ""
    prefetch_factor: int = 0
    processes: int = 0
    persistent: bool = False
    any_order: bool = False
    hugging_face: bool = False
    validation_cached: bool = False
    validation_threads: int = 0

    @property
    def values(self) -> int:
        """Return how many values of a sample are trained on: no file is smaller if their sizes are spread."""
        return max(1, min(MOST_VALUES, self.size_bytes // 4))

    @property
    def saved_bytes(self) -> int:
        """Return how many bytes its checkpoints have in all."""
        saves = self.count * self.epochs // (self.batch * self.every) if self.extra in CHECKPOINTS else 0
        return saves * self.weights * 8

    @property
    def uses_tensorflow(self) -> bool:
        return self.shape in (*TF_DATA, "generator") or self.extra == "tf_checkpoint"

    @property
    def library(self) -> str:
        """Name the library whose import takes seconds, "" if there is none."""
        if self.shape in LOADERS:
            return "torch"
        if self.shape == GRAIN:
            return "grain"
        return "tensorflow" if self.uses_tensorflow else ""

    @property
    def layout(self) -> str:
        """Names the layout of the data, one of `data_layout.LAYOUTS`."""
        if self.shape in ("interleave", "records"):
            pictures = "jpeg_" if self.decode == "jpeg" else ""
            return f"{pictures}{'gzip' if self.gzip else 'shards'}"
        if self.decode == "jpeg":
            return "jpeg_records" if self.access == "shards" else "jpeg"
        if self.access == "sqlite":
            return "large_pages" if self.large_pages else "database"
        return {"reopened": "packed", "random": "single", "shards": "records"}.get(self.access, "files")

    @property
    def folder(self) -> str:
        """Name the folder of the data: record files of one layout may be more or fewer."""
        return f"{self.layout}-{self.shards}"

    @property
    def data(self) -> Path:
        return (self.folders.fast if self.staged else self.folders.data) / self.folder

    @property
    def suffix(self) -> str:
        return {"shards": "tfrecord", "gzip": "tfrecord", "jpeg_shards": "tfrecord", "jpeg": "jpg"}.get(
            self.layout, "bin"
        )


@dataclass(frozen=True)
class Part:
    """The program's input: what it imports, defines, and what one epoch iterates over.

    Attributes:
        begin: What training begins with.
        imported_again: Workers import the program: what it does stands below `if __name__ == "__main__"`.
        kept: Iterators are kept until the time was taken.
    """

    imports: tuple[str, ...]
    text: str
    epoch: str
    begin: str = ""
    imported_again: bool = False
    kept: bool = False


@dataclass(frozen=True)
class ExtraPart:
    """What the loop does besides: indented by nobody yet."""

    imports: tuple[str, ...] = ()
    defined: str = ""
    before: str = ""
    after_step: str = ""
    after_epoch: str = ""
    at_end: str = ""


def listing(program: Program, name: str = "paths") -> str:
    """List the data's files, and what is moved from the slow part of the storage to the fast one."""
    lines = [f'{name} = sorted(str(path) for path in pathlib.Path(DATA).rglob("*.{program.suffix}"))']
    if program.mixed:
        lines.append(f"random.Random(7).shuffle({name})")
    if program.moved:
        fast = program.folders.fast / program.folder
        lines.append(
            f"{name} = [path.replace(DATA, {str(fast)!r}) if {program.slow_path!r} in path else path "
            f"for path in {name}]"
        )
    return "\n".join(lines)
