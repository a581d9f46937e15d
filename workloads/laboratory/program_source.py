"""The source text of a drawn program, as a user would write it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

from .extra_source import EXTRA_SOURCES
from .grain.grain_source import grain_input
from .program import GRAIN, LOADERS, PYTHON, TF_DATA, ExtraPart, Part, Program, Shape
from .python_source import python_input
from .pytorch.loader_source import loader_input
from .tf_data_source import tf_data_input

INPUTS: Mapping[Shape, Callable[[Program], Part]] = {
    **dict.fromkeys(TF_DATA, tf_data_input),
    **dict.fromkeys(PYTHON, python_input),
    **dict.fromkeys(LOADERS, loader_input),
    GRAIN: grain_input,
}


def source(program: Program, logdir: Path) -> str:
    """Return the whole text; at the end it prints its seconds in all, of training and of imports."""
    part = INPUTS[program.shape](program)
    extra = EXTRA_SOURCES[program.extra](program)
    imports = {"time", *part.imports, *extra.imports}
    imports |= {"import numpy as np"} if program.computes == "numpy" else set()
    imports |= {"import tfdarshan"} if program.marked else set()
    imports |= {"import tensorflow as tf"} if program.uses_tensorflow else set()
    defined = [
        '"""Trains a model."""',
        "import time\n\nbegan_s = time.perf_counter()",
        f"{_imports(imports)}\n\nimported_s = time.perf_counter()",
        _constants(program, logdir),
        part.text,
        extra.defined,
        _compute(program),
    ]
    done = [
        extra.before,
        _train(program, part, extra),
        'print(f"{time.perf_counter() - began_s:.4f} s in all, {trained_s:.4f} s of training")',
        'print(f"{imported_s - began_s:.4f} s of imports, {stepped_s:.4f} s of steps")',
        'print("epochs ended after", *(f"{end_s - start_s:.4f}" for end_s in ends_s), "s")',
    ]
    if part.imported_again:
        done = ['if __name__ == "__main__":\n' + textwrap.indent(_blocks(done), " " * 4)]
    return _blocks([*defined, *done]) + "\n"


def _blocks(blocks: list[str]) -> str:
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip())


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
    # Into memory that is kept: a new array costs page faults or none, by the state of the C library's heap.
    return (
        "weights = np.random.default_rng(0).random(100_000)\nsines = np.empty_like(weights)\n\n"
        f"def compute(batch):\n    for _ in range({rounds}):\n        np.sin(weights, out=sines)"
    )


# From the first step, as making a pipeline takes some 0.1 s, up to the end of the last one and of what the
# job does after it, such as a last validation, or waiting until its last checkpoint is on disk.
FIRST = "first_s = first_s or time.perf_counter()"
STEPPED = "stepped_s = time.perf_counter() - first_s"


def _train(program: Program, part: Part, extra: ExtraPart) -> str:
    inner = textwrap.indent(extra.after_step.strip("\n"), " " * 16 if program.marked else " " * 8)
    outer = textwrap.indent(extra.after_epoch.strip("\n"), " " * 4)
    counted = bool(extra.after_step.strip())
    # Taking an iterator down waits for a thread of TensorFlow's, up to 0.6 s by chance: not in what is timed.
    kept, epoch = part.kept, part.epoch
    if not program.marked:
        lines = ["done = 0"] if counted else []
        lines += ["begun = []"] if kept else []
        lines += [
            "ends_s, first_s = [], None",
            "start_s = time.perf_counter()",
            *(["first_s = start_s", part.begin] if part.begin else []),
            "for epoch in range(EPOCHS):",
        ]
        lines += [f"    batches = iter({epoch})", "    begun.append(batches)"] if kept else []
        lines += [f"    {FIRST}"]
        lines += [f"    for batch in {'batches' if kept else epoch}:", "        compute(batch)"]
        lines += ["        done += 1"] if counted else []
        lines += [inner, f"        {STEPPED}", *_after_epoch(outer, "    ")]
        lines += [*_timed(extra.at_end, ""), "trained_s = time.perf_counter() - start_s"]
        return "\n".join(line for line in lines if line)
    as_if = ""
    if program.as_if:
        slow = [f"{program.folders.data}/", f"{program.folders.out}/"]
        as_if = f", as_if={program.as_if!r}, as_if_paths={slow!r}"
    lines = ["done = 0"] if counted else []
    lines += ["begun = []"] if kept else []
    lines += [
        "ends_s, first_s = [], None",
        f"with tfdarshan.profile(LOGDIR{as_if}):",
        "    start_s = time.perf_counter()",
        "    for epoch in range(EPOCHS):",
        f"        batches = iter({epoch})",
        *(["        begun.append(batches)"] if kept else []),
        f"        {FIRST}",
        "        while True:",
        "            with tfdarshan.step() as step:",
        "                with step.input_wait():",
        "                    batch = next(batches, None)",
        "                if batch is None:",
        "                    break",
        "                compute(batch)",
    ]
    lines += ["                done += 1"] if counted else []
    lines += [
        inner,
        f"                {STEPPED}",
        *_after_epoch(textwrap.indent(outer, "    "), "        "),
    ]
    at_end = textwrap.indent(extra.at_end, "    ")
    lines += [*_timed(at_end, "    "), "    trained_s = time.perf_counter() - start_s"]
    return "\n".join(line for line in lines if line)


def _after_epoch(outer: str, indent: str) -> list[str]:
    """Return what the loop does after an epoch, and the time it ended."""
    return [*_timed(outer, indent), f"{indent}ends_s.append(time.perf_counter())"]


def _timed(text: str, indent: str) -> list[str]:
    """Return what counts as steps do."""
    return [text, f"{indent}{STEPPED}"] if text.strip() else []
