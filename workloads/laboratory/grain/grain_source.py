"""The input of programs that read by Grain's datasets."""

from __future__ import annotations

from dataclasses import replace

from ..program import Part, Program
from ..python_source import sample_reader

SAMPLES = """\
class Samples:
    def __len__(self):
        return len(samples)

{kept}    def __getitem__(self, number):
        return read(samples[number])
"""
KEPT = "    @functools.cache\n"


def grain_input(program: Program) -> Part:
    """Return definitions, the dataset that training begins with, and its name."""
    # Who takes samples out of order is the dataset, whatever reads them.
    imports, blocks = sample_reader(replace(program, in_order=True))
    imports |= {"grain", *(["functools"] if program.in_memory else [])}
    blocks.append(SAMPLES.format(kept=KEPT if program.in_memory else ""))
    text = "\n\n".join(block.strip("\n") for block in blocks)
    return Part(tuple(imports), text, "dataset", begin=_begin(program), imported_again=True)


def _begin(program: Program) -> str:
    """Make the dataset: one thread after the other makes a batch of it."""
    shuffled = ".shuffle(seed=0)" if program.shuffle and not program.in_order else ""
    lines = [
        f"dataset = grain.MapDataset.source(Samples()){shuffled}.batch(BATCH)",
        f"dataset = dataset.to_iter_dataset(grain.ReadOptions({_read_options(program)}))",
    ]
    if program.processes:
        workers = f"grain.MultiprocessingOptions(num_workers={program.processes})"
        lines.append(f"dataset = dataset.mp_prefetch({workers})")
    return "\n".join(lines)


def _read_options(program: Program) -> str:
    ahead = program.threads * program.prefetch_factor
    # Without a thread nothing is ahead; else Grain takes 500 batches.
    buffer = f", prefetch_buffer_size={ahead}" if ahead or not program.threads else ""
    return f"num_threads={program.threads}{buffer}"
