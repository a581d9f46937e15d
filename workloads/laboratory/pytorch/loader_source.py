"""The input of programs that read by PyTorch's DataLoader."""

from __future__ import annotations

from dataclasses import replace

from ..program import ExtraPart, Part, Program
from ..python_source import sample_reader

MAP = """\
class Samples(Dataset):
    def __len__(self):
        return len(samples)

{kept}    def __getitem__(self, number):
        return torch.tensor(read(samples[number]))
"""
TRANSFORM = """\
def read_rows(rows):
    return {"data": [torch.tensor(read(samples[number])) for number in rows["number"]]}
"""
HUGGING_FACE = 'datasets.Dataset.from_dict({"number": range(len(samples))}).with_transform(read_rows)'
ITERABLE = """\
class Shards(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        shards = samples if info is None else samples[info.id :: info.num_workers]
        for path in shards:
            for sample in read_shard(path):
                yield torch.tensor(sample)
"""
VALIDATION = """\
class Validation(Dataset):
    def __len__(self):
        return len(validation_paths)

{kept}    def __getitem__(self, number):
        with open(validation_paths[number], "rb") as file:
            return torch.tensor(np.frombuffer(file.read(), np.uint8)[:{values}])
"""
KEPT = "    @functools.cache\n"
MAP_NAMES = "from torch.utils.data import DataLoader, Dataset"


def loader_input(program: Program) -> Part:
    """Return definitions, the loader that training begins with, and its name."""
    # Who takes samples out of order is the loader, whatever reads them.
    imports, blocks = sample_reader(replace(program, in_order=True))
    imports |= {"import torch", *(["multiprocessing"] if program.start_method else [])}
    if program.shape == "torch_iterable":
        imports.add("from torch.utils.data import DataLoader, IterableDataset, get_worker_info")
        blocks.append(ITERABLE)
    elif program.hugging_face:
        imports |= {"datasets", "from torch.utils.data import DataLoader"}
        blocks.append(TRANSFORM)
    else:
        imports |= {MAP_NAMES, *(["functools"] if _keeps_items(program) else [])}
        blocks.append(MAP.format(kept=KEPT if _keeps_items(program) else ""))
    text = "\n\n".join(block.strip("\n") for block in blocks)
    return Part(tuple(imports), text, "loader", begin=_begin(program), imported_again=True)


def _keeps_items(program: Program) -> bool:
    by_item = program.shape == "torch_map" and not program.hugging_face
    return program.in_memory and by_item and not program.threads


def _begin(program: Program) -> str:
    """Make the data set and its loader."""
    name = "dataset"
    lines = [f"multiprocessing.set_start_method({program.start_method!r})"] if program.start_method else []
    made = "Shards()" if program.shape == "torch_iterable" else "Samples()"
    lines.append(f"dataset = {HUGGING_FACE if program.hugging_face else made}")
    if program.in_memory and not _keeps_items(program):
        lines.append("kept = [sample for sample in dataset]")
        name = "kept"
    return "\n".join([*lines, f"loader = DataLoader({', '.join([name, *_arguments(program)])})"])


def _arguments(program: Program) -> list[str]:
    workers = min(1, program.threads) if program.in_order else program.threads
    shuffled = program.shuffle and not program.in_order
    return [
        "batch_size=BATCH",
        *(["shuffle=True"] if shuffled else []),
        *([f"num_workers={workers}"] if workers else []),
        *([f"prefetch_factor={program.prefetch_factor}"] if workers and program.prefetch_factor else []),
        *(["persistent_workers=True"] if workers and program.persistent else []),
        *(["in_order=False"] if workers and program.any_order else []),
    ]


def loader_validation(program: Program, listed: str) -> ExtraPart:
    """Read a set of files of its own after each epoch by a loader of its own."""
    kept = KEPT if program.validation_cached else ""
    imports = ["pathlib", "import numpy as np", "import torch", MAP_NAMES, *(["functools"] if kept else [])]
    workers = program.validation_threads
    more = f", num_workers={workers}, persistent_workers=True" if workers else ""
    return ExtraPart(
        tuple(imports),
        defined=f"{listed}\n\n{VALIDATION.format(kept=kept, values=program.values)}",
        before=f"validation_set = Validation()\n"
        f"validation_loader = DataLoader(validation_set, batch_size=BATCH{more})",
        after_epoch="for batch in validation_loader:\n    pass",
    )
