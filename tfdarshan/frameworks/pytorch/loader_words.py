"""Fixes of a DataLoader, as one types them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdarshan.frameworks.pytorch.loader_look import CONTEXT, DEFAULT_PREFETCH
from tfdarshan.frameworks.words import DRAWN_BEHIND, Fix
from tfdarshan.units import plural

# Arguments that a loader keeps whatever the order of its samples.
OF_ANY_ORDER = ("collate_fn", "worker_init_fn")
PARTS = (
    "Each worker reads all of an iterable data set, unless the set's __iter__() gives it a part: "
    "get_worker_info() says which worker it is."
)
# Batches that a single worker has ready, where it only has to read beside the loop.
ONE_WORKERS_BATCHES = 4


class LoaderWords:
    """The words for one loader, and others that the same steps take batches from.

    Args:
        look: What it looks like: fields of `meta_shape.LoaderShape`.
        others: What the others look like.
    """

    def __init__(self, look: Mapping[str, Any], *others: Mapping[str, Any]) -> None:
        self._look = look
        self._others = [LoaderWords(one) for one in others]

    def loader(self, **changes: Any) -> str:
        """Return the loader as a program has it, with some of its arguments changed."""
        given = {**self._look, **changes}
        arguments, of_job = ["dataset"], given.get("given", ())
        size, batched = given.get("batch_size"), given.get("batched", True)
        # PyTorch takes neither with batches of the job's own.
        sized = batched and "batch_sampler" not in of_job
        # A data set that gives whole batches gives them for lists of places if the sampler makes these.
        if "sampler" in of_job or not (batched or size is None):
            arguments.append("sampler=sampler")
        if not batched:
            arguments.append("batch_size=None")
        elif not sized:
            arguments.append("batch_sampler=batch_sampler")
        elif size not in (None, 1):
            arguments.append(f"batch_size={size}")
        if given.get("shuffled") and (sized or not (batched or size)):
            arguments.append("shuffle=True")
        if given.get("drop_last") and sized:
            arguments.append("drop_last=True")
        if given.get("workers"):
            arguments.append(f"num_workers={given['workers']}")
            # A loader without workers has none.
            ahead = given.get("prefetch_factor") or DEFAULT_PREFETCH
            if ahead != DEFAULT_PREFETCH:
                arguments.append(f"prefetch_factor={ahead}")
            # JAX has threads, which a worker that is forked does not have.
            if self._look.get("runs_jax") and not self._look.get("workers"):
                arguments.append(f'{CONTEXT}="spawn"')
            elif CONTEXT in of_job:
                arguments.append(f'{CONTEXT}="{given.get("start_method")}"')
            if given.get("persistent"):
                arguments.append("persistent_workers=True")
            if not given.get("in_order", True):
                arguments.append("in_order=False")
        arguments += [f"{name}={name}" for name in of_job if name in OF_ANY_ORDER]
        if given.get("pinned"):
            arguments.append("pin_memory=True")
        return f"loader = DataLoader({', '.join(arguments)})"

    def more_readers(self, readers: int) -> Fix:
        """Word it by workers: each reads one sample after the other."""
        now = int(self._look.get("workers", 0))
        has = plural(now, "worker") if now else "no worker: the training loop reads its input itself"
        return self._changed(
            f"Have {plural(readers, 'worker')} read the input. Now the DataLoader has {has}.",
            workers=readers,
            persistent=True,
        )

    def fewer_readers(self, readers: int) -> Fix:
        """Word it by workers."""
        return self._changed(f"Have {plural(readers, 'worker')} read the input.", workers=readers)

    def read_ahead(self) -> Fix:
        """Word it by a worker, or by more batches of each worker."""
        what = "Prepare the next batches while a step computes."
        if not self._look.get("workers"):
            return self._changed(
                f"{what} A worker of the DataLoader prepares them.",
                workers=1, prefetch_factor=ONE_WORKERS_BATCHES, persistent=True,
            )  # fmt: skip
        ahead = max(2 * int(self._look.get("prefetch_factor") or DEFAULT_PREFETCH), ONE_WORKERS_BATCHES)
        return self._changed(f"{what} Each worker then has {ahead} batches ready.", prefetch_factor=ahead)

    def keep_in_memory(self) -> Fix:
        """Word it by the data set: workers have what was there before they were started."""
        what = "Keep the samples of the data set in memory from the first epoch on."
        iterable, workers = self._look.get("iterable"), self._look.get("workers")
        if not (iterable or workers or self._look.get("installed")):
            head = "def __getitem__(self, number):"
            return Fix(f"{what} {DRAWN_BEHIND}", f"@functools.cache\n{head}", head)
        why = "Workers do not share what they read: load" if workers else "Load"
        # An iterable data set has no numbers.
        samples = "list(dataset)" if iterable else "[dataset[number] for number in range(len(dataset))]"
        ends = " Only a data set that ends can be loaded." if iterable else ""
        return Fix(
            f"{what} {why} them before the first epoch.{ends} {DRAWN_BEHIND}",
            f"samples = {samples}\n" + self.loader().replace("(dataset", "(samples", 1),
            self.loader(),
            loads_first=True,
            all_input=self._all_input(),
        )

    def _all_input(self) -> float | None:
        """Return the samples of the data set over those of all batches, of which a rank takes a part."""
        taken = self._look.get("batches", 0) * (self._look.get("batch_size") or 0)
        samples = self._look.get("samples")
        return samples / taken if samples and taken else None

    def more_decoding(self, calls: int) -> Fix:
        """Word it by workers, which decode what they read."""
        return self._changed(
            f"Decode in {plural(calls, 'worker')}: each has a processor to itself.",
            workers=calls,
            persistent=True,
        )

    def more_validation(self, readers: int) -> Fix:
        """Word it by workers of the loader of the validation set."""
        loader = "validation_loader = DataLoader(validation_set, batch_size=batch_size{})"
        return Fix(
            f"Have {plural(readers, 'worker')} read the validation set.",
            loader.format(f", num_workers={readers}, persistent_workers=True"),
            loader.format(""),
        )

    def keep_workers(self) -> Fix:
        """Word it by an argument, which takes a loader that is made once."""
        return self._changed(
            "Keep the workers from one epoch to the next. Make the DataLoader once, before the first epoch.",
            persistent=True,
        )

    def any_order(self) -> Fix:
        """Word it by an argument of PyTorch 2.6 and later."""
        return self._changed(
            "Take each batch when it is ready, whichever worker made it. This needs PyTorch 2.6 or later. "
            "The order of batches then differs from run to run.",
            in_order=False,
        )

    def more_shards(self, shards: int) -> Fix:
        """Word it by writing the samples anew, dealt out to shards."""
        return Fix(
            f"Split the input into {shards} (or {2 * shards}, {3 * shards}, ...) shards of equal size: each "
            "worker then reads as many. write() is your function that writes samples into a file of the "
            "job's format.",
            f"for number in range({shards}):  # once\n"
            f'    write("DIR/%05d" % number, samples[number::{shards}])',
        )

    def equal_parts(self) -> Fix:
        """Word it by dealing out shards by size, in the data set's `__iter__`."""
        return Fix(
            "Give each worker shards of all sizes: sort the shards by size, and deal them out to the "
            "workers in turn.",
            "shards = sorted(shards, key=os.path.getsize)[info.id :: info.num_workers]  "
            "# in __iter__; info: get_worker_info()",
            "shards = shards[info.id * part : (info.id + 1) * part]",
        )

    def read_in_order(self, samples: int) -> Fix:
        """Word it by an order of blocks, which one worker reads; an iterable data set has its own order."""
        what = f"Read blocks of {samples:,} consecutive samples, and shuffle the blocks."
        if self._look.get("iterable"):
            return Fix(what, "block = os.pread(file, 1 << 20, offset)  # cut the samples out of the block")
        workers = min(1, int(self._look.get("workers", 0)))
        return Fix(
            what,
            f"blocks = torch.randperm(-(-len(dataset) // {samples})).tolist()  # each epoch\n"
            "order = [number for block in blocks for number in "
            f"range(len(dataset))[{samples} * block : {samples} * (block + 1)]]\n"
            + self._sampled("order", workers=workers),
            self.loader(),
        )

    def part_of_rank(self) -> Fix:
        """Word it by a sampler; an iterable data set deals out its own files."""
        what = "Let each rank read a part of the samples."
        if self._look.get("iterable"):
            return Fix(what, "files = files[rank::world_size]  # in __iter__, before workers get their parts")
        shuffled = "" if self._look.get("shuffled") else ", shuffle=False"
        return Fix(
            f"{what} Call sampler.set_epoch(epoch) before each epoch, which then has another order.",
            f"sampler = DistributedSampler(dataset{shuffled})  # from torch.utils.data.distributed\n"
            + self._sampled("sampler"),
            self.loader(),
        )

    def _sampled(self, sampler: str, **changes: Any) -> str:
        """Return the loader with another order of its samples."""
        given = self._look.get("given", ())
        size = {"batch_size": "batch_size"} if "batch_sampler" in given else {}
        kept = [name for name in given if name in OF_ANY_ORDER]
        line = self.loader(**size, shuffled=False, given=kept, **changes)
        return line.replace("(dataset", f"(dataset, sampler={sampler}", 1)

    def less_transport(self) -> Fix:
        """Word it by what a worker hands over: one tensor for each batch, not one for each sample."""
        return Fix(
            "Move fewer bytes from workers to the training loop. Have workers hand over small types, such as "
            "uint8 images, and convert each batch in the loop.",
            "batch = batch.to(device).float().div_(255)  # in the loop",
            "batch = batch.float().div(255)              # in the data set",
        )

    def _changed(self, what: str, **changes: Any) -> Fix:
        each = [self, *self._others]
        if self._others:
            what = f"{what} Change each DataLoader that training takes batches from."
        if int(changes.get("workers", 0)) > 1 and any(one._read_whole for one in each):
            what = f"{what} {PARTS}"
        # Those that a job makes anew for each file are one line.
        lines = {one.loader(): one.loader(**changes) for one in each}
        return Fix(what, "\n".join(lines.values()), "\n".join(lines))

    @property
    def _read_whole(self) -> bool:
        """Whether it has an iterable data set, which one process reads."""
        return bool(self._look.get("iterable")) and int(self._look.get("workers", 0)) <= 1
