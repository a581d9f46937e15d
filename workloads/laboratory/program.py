"""A drawn training program: its parameters, and its source text as a user would write it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Shape = Literal["map", "interleave", "records", "generator", "loop", "thread_pool"]
SHAPES: tuple[Shape, ...] = ("map", "interleave", "records", "generator", "loop", "thread_pool")
TF_DATA: tuple[Shape, ...] = ("map", "interleave", "records")
PYTHON: tuple[Shape, ...] = ("generator", "loop", "thread_pool")
# How Python code reads a sample.
Access = Literal["file", "stats", "until_empty", "small_reads", "reopened", "random", "sqlite"]
ACCESSES: tuple[Access, ...] = ("file", "stats", "until_empty", "small_reads", "reopened", "random", "sqlite")
Extra = Literal["", "numpy_checkpoint", "tf_checkpoint", "synced_log", "small_writes", "validation"]
EXTRAS: tuple[Extra, ...] = ("numpy_checkpoint", "tf_checkpoint", "synced_log", "small_writes", "validation")


@dataclass(frozen=True, kw_only=True)
class Folders:
    """Where a program finds its data and writes: on the storage in question, and on a fast one."""

    data: Path
    out: Path
    fast: Path
    fast_out: Path


@dataclass(frozen=True, kw_only=True)
class Program:
    """All that makes its source; a cure is the same program with some of it replaced.

    Attributes:
        marked: Records itself, with `tfdarshan.profile()` and steps; else it runs under `tfdarshan run`.
        threads: Calls at a time: 0 is one after another, -1 is `tf.data.AUTOTUNE`.
        pool: Threads of tf.data's own pool for it, 0 is what TensorFlow takes.
        cache: "" is none; "misplaced" is where it never fills: before an epoch that is cut short, or in a
            data set that is made anew for each epoch.
        cut: An epoch leaves the last batch out.
        chained: The pipeline is one expression, not a statement for each part.
        ahead: A thread of the program's own reads ahead of the loop.
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
    extra: Extra = ""
    every: int = 4

    threads: int = 0
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
    staged: bool = False
    moved: bool = False
    extra_cured: bool = False
    validation_cached: bool = False
    validation_threads: int = 0

    @property
    def uses_tensorflow(self) -> bool:
        return self.shape in (*TF_DATA, "generator") or self.extra == "tf_checkpoint"

    @property
    def layout(self) -> str:
        """Names the layout of the data, one of `data_layout.LAYOUTS`."""
        if self.shape in ("interleave", "records"):
            return "gzip" if self.gzip else "shards"
        if self.decode == "jpeg":
            return "jpeg"
        return {"reopened": "packed", "random": "single", "sqlite": "database"}.get(self.access, "files")

    @property
    def data(self) -> Path:
        return (self.folders.fast if self.staged else self.folders.data) / self.layout

    @property
    def suffix(self) -> str:
        return {"shards": "tfrecord", "gzip": "tfrecord", "jpeg": "jpg"}.get(self.layout, "bin")


def source(program: Program, logdir: Path) -> str:
    """Gives the whole text; it prints its seconds in all and of training at the end."""
    from .extra_source import EXTRA_SOURCES
    from .python_source import python_input
    from .tf_data_source import tf_data_input

    part = tf_data_input(program) if program.shape in TF_DATA else python_input(program)
    extra = EXTRA_SOURCES[program.extra](program)
    imports = {"time", *part.imports, *extra.imports}
    imports |= {"import numpy as np"} if program.computes == "numpy" else set()
    imports |= {"import tfdarshan"} if program.marked else set()
    imports |= {"import tensorflow as tf"} if program.uses_tensorflow else set()
    blocks = [
        '"""Trains a model."""',
        "import time\n\nbegan_s = time.perf_counter()",
        _imports(imports),
        _constants(program, logdir),
        part.text,
        extra.before,
        _compute(program),
        _train(program, part.epoch, extra.after_step, extra.after_epoch),
        extra.at_end,
        'print(f"{time.perf_counter() - began_s:.4f} s in all, {trained_s:.4f} s of training")',
    ]
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n"


@dataclass(frozen=True)
class Part:
    """The program's input: what it imports, defines, and what one epoch iterates over."""

    imports: tuple[str, ...]
    text: str
    epoch: str


@dataclass(frozen=True)
class ExtraPart:
    """What the loop does besides: indented by nobody yet."""

    imports: tuple[str, ...] = ()
    before: str = ""
    after_step: str = ""
    after_epoch: str = ""
    at_end: str = ""


def listing(program: Program, name: str = "paths") -> str:
    """Lists the data's files, and what is moved from the slow part of the storage to the fast one."""
    lines = [f'{name} = sorted(str(path) for path in pathlib.Path(DATA).rglob("*.{program.suffix}"))']
    if program.mixed:
        lines.append(f"random.Random(7).shuffle({name})")
    if program.moved:
        fast = program.folders.fast / program.layout
        lines.append(
            f"{name} = [path.replace(DATA, {str(fast)!r}) if {program.slow_path!r} in path else path "
            f"for path in {name}]"
        )
    return "\n".join(lines)


def _imports(names: set[str]) -> str:
    lines = [name if " " in name else f"import {name}" for name in names if name != "time"]
    return "\n".join(sorted(lines, key=lambda line: (line.split()[1].split(".")[0], line)))


def _constants(program: Program, logdir: Path) -> str:
    out = program.folders.fast_out if program.staged and program.extra_cured else program.folders.out
    lines = [f"DATA = {str(program.data)!r}"]
    if program.extra not in ("", "validation"):
        lines.append(f"OUT = {str(out)!r}")
    if program.marked:
        lines.append(f"LOGDIR = {str(logdir)!r}")
    return "\n".join([*lines, f"EPOCHS = {program.epochs}", f"BATCH = {program.batch}"])


def _compute(program: Program) -> str:
    if program.computes == "sleep":
        return f"def compute(batch):\n    time.sleep({program.step_s})"
    rounds = max(1, round(program.step_s / 1e-3))
    return (
        "weights = np.random.default_rng(0).random(100_000)\n\n"
        f"def compute(batch):\n    for _ in range({rounds}):\n        np.sin(weights)"
    )


def _train(program: Program, epoch: str, after_step: str, after_epoch: str) -> str:
    inner = textwrap.indent(after_step.strip("\n"), " " * 16 if program.marked else " " * 8)
    outer = textwrap.indent(after_epoch.strip("\n"), " " * 4)
    counted = bool(after_step.strip())
    if not program.marked:
        lines = ["done = 0"] if counted else []
        lines += ["start_s = time.perf_counter()", "for epoch in range(EPOCHS):"]
        lines += [f"    for batch in {epoch}:", "        compute(batch)"]
        lines += ["        done += 1"] if counted else []
        lines += [inner, outer, "trained_s = time.perf_counter() - start_s"]
        return "\n".join(line for line in lines if line)
    as_if = ""
    if program.as_if:
        slow = [f"{program.folders.data}/", f"{program.folders.out}/"]
        as_if = f", as_if={program.as_if!r}, as_if_paths={slow!r}"
    lines = ["done = 0"] if counted else []
    lines += [
        f"with tfdarshan.profile(LOGDIR{as_if}):",
        "    start_s = time.perf_counter()",
        "    for epoch in range(EPOCHS):",
        f"        batches = iter({epoch})",
        "        while True:",
        "            with tfdarshan.step() as step:",
        "                with step.input_wait():",
        "                    batch = next(batches, None)",
        "                if batch is None:",
        "                    break",
        "                compute(batch)",
    ]
    lines += ["                done += 1"] if counted else []
    lines += [inner, textwrap.indent(outer, "    "), "    trained_s = time.perf_counter() - start_s"]
    return "\n".join(line for line in lines if line)
