"""Fixes of a dataset or loader of Grain's, as one types them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdarshan.frameworks.grain.dataset_look import LOADER, declared
from tfdarshan.frameworks.words import DRAWN_BEHIND, Fix
from tfdarshan.units import plural

DEFAULT_BUFFER = 500
# Of a thread that only has to read beside the loop.
FEW_AHEAD = 4
GUARDED = (
    'Grain starts processes with the script itself: keep what it runs below `if __name__ == "__main__":`.'
)


class DatasetWords:
    """The words for one dataset or loader.

    Args:
        look: What it looks like: fields of `meta_shape.LoaderShape`.
    """

    def __init__(self, look: Mapping[str, Any]) -> None:
        self._look = look

    def lines(self, name: str = "dataset", **changes: Any) -> str:
        """Return what makes it, as a program has it, with some of its arguments changed."""
        given = {**self._look, **changes}
        threads, buffer = int(given["threads"]), int(given.get("buffer", DEFAULT_BUFFER))
        ahead = "" if buffer == DEFAULT_BUFFER else f", prefetch_buffer_size={buffer}"
        options, workers = f"grain.ReadOptions(num_threads={threads}{ahead})", int(given.get("workers", 0))
        if given.get("dataset") == LOADER:
            processes = f", worker_count={workers}" if workers else ""
            return (
                "loader = grain.DataLoader(data_source=source, sampler=sampler, operations=operations"
                f"{processes}, read_options={options})"
            )
        lines = [f"{name} = {name}.to_iter_dataset({options})"]
        if workers:
            started = f"grain.MultiprocessingOptions(num_workers={workers})"
            lines.append(f"{name} = {name}.mp_prefetch({started})")
        return "\n".join(lines)

    def more_readers(self, readers: int) -> Fix:
        """Word it by threads: each makes one batch, or reads one sample, after the other."""
        now = declared(self._look).readers
        has = plural(now, "thread") if now else "no thread: the training loop reads its input itself"
        return self._with_threads(
            f"Have {plural(readers, 'thread')} read the input. Now the dataset has {has}.", readers
        )

    def fewer_readers(self, readers: int) -> Fix:
        """Word it by threads."""
        return self._with_threads(f"Have {plural(readers, 'thread')} read the input.", readers)

    def read_ahead(self) -> Fix:
        """Word it by a thread, or by a larger buffer."""
        what = "Prepare the next batches while a step computes."
        threads, of_batch = int(self._look["threads"]), int(self._look.get("buffer_batch", 1))
        if not threads:
            return self._changed(
                f"{what} A thread of Grain's prepares them.", threads=1, buffer=FEW_AHEAD * of_batch
            )
        buffer = max(2 * int(self._look.get("buffer", 0)), 2 * threads, 2 * of_batch)
        return self._changed(f"{what} The threads then have up to {buffer:,} ready.", buffer=buffer)

    def keep_in_memory(self) -> Fix:
        """Word it by the source: processes have what was there before they were started."""
        what = "Keep the source's samples in memory from the first epoch on."
        if not self._look.get("workers"):
            head = "def __getitem__(self, number):"
            return Fix(f"{what} {DRAWN_BEHIND}", f"@functools.cache\n{head}", head)
        return Fix(
            f"{what} Processes do not share what they read: load them before the first epoch. {DRAWN_BEHIND}",
            "samples = [source[number] for number in range(len(source))]\n"
            "dataset = grain.MapDataset.source(samples)",
            "dataset = grain.MapDataset.source(source)",
            loads_first=True,
        )

    def more_decoding(self, calls: int) -> Fix:
        """Word it by processes: threads share Python's lock."""
        return self._changed(
            f"Decode in {plural(calls, 'process', 'processes')}, which do not share Python's lock. {GUARDED}",
            workers=calls,
        )

    def more_validation(self, readers: int) -> Fix:
        """Word it by threads of the validation set."""
        what = f"Have {plural(readers, 'thread')} read the validation set."
        return self._with_threads(what, readers, name="validation")

    def keep_workers(self) -> Fix:
        """Word it by one pass over all epochs: each pass starts its processes."""
        return Fix(
            "Iterate once over all epochs, so that Grain starts its processes once.",
            "batches = iter(dataset.repeat(epochs))  # before to_iter_dataset() and mp_prefetch()",
        )

    def any_order(self) -> Fix:
        """Word it by more threads: Grain keeps the order of batches."""
        return self._with_threads(
            "Have more threads make the batches behind a slow one: Grain keeps their order.",
            2 * max(1, int(self._look["threads"])),
        )

    def more_shards(self, shards: int) -> Fix:
        """Word it by slices, of which each reader has one."""
        return Fix(
            f"Split the input into {shards} parts of one size.",
            f"parts = [dataset[number::{shards}] for number in range({shards})]",
        )

    def equal_parts(self) -> Fix:
        """Word it by a shuffle: each reader then has samples of all sizes."""
        return Fix("Give each process samples of all sizes.", "dataset = dataset.shuffle(seed=0)")

    def read_in_order(self, samples: int) -> Fix:
        """Word it by an order of blocks in the source."""
        return Fix(
            f"Read blocks of {samples:,} consecutive samples, and shuffle the blocks.",
            f"blocks = np.random.default_rng(0).permutation(-(-len(source) // {samples}))\n"
            "order = [number for block in blocks for number in "
            f"range(len(source))[{samples} * block : {samples} * (block + 1)]]\n"
            "dataset = grain.MapDataset.source(order).map(source.__getitem__)",
            "dataset = grain.MapDataset.source(source).shuffle(seed=0)",
        )

    def part_of_rank(self) -> Fix:
        """Word it by a slice, or by an argument of a loader."""
        what = "Let each rank read a part of the samples."
        if self._look.get("dataset") == LOADER:
            now = self.lines()
            return Fix(what, f"{now[:-1]}, shard_options=grain.sharding.ShardByJaxProcess())", now)
        return Fix(what, "dataset = dataset[rank::world_size]  # in front of shuffle()")

    def less_transport(self) -> Fix:
        """Word it by small types, converted in the loop."""
        return Fix(
            "Move fewer bytes from processes to the training loop. Have processes hand over small types, "
            "such as uint8 images, and convert each batch in the loop.",
            "batch = batch.astype(np.float32) / 255  # in the loop",
        )

    def _with_threads(self, what: str, threads: int, **named: str) -> Fix:
        """Change the threads, of each process if there are some, and what is ahead if that is too little."""
        workers = min(int(self._look.get("workers", 0)), threads)
        each = -(-threads // max(1, workers))
        buffer = int(self._look.get("buffer", DEFAULT_BUFFER))
        ahead = max(buffer, 2 * each) if buffer else DEFAULT_BUFFER
        return self._changed(what, workers=workers, threads=each, buffer=ahead, **named)

    def _changed(self, what: str, name: str = "dataset", **changes: Any) -> Fix:
        return Fix(what, self.lines(name, **changes), self.lines(name))
