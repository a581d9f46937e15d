"""A training job in kinds that differ in how batches come: each runs bare, and then recorded.

Prints what the loop itself has timed, and what its batches were.
"""

import hashlib
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

import tfdarshan
from tests.integration.pytorch.kinds import BATCH, EPOCHS, FILE_BYTES, FILES, KINDS

READ_S, COMPUTE_S = 0.002, 0.004


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    time.sleep(READ_S)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


class Files(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, number):
        return read(self.paths[number])


class Stream(IterableDataset):
    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        info = get_worker_info()
        mine = self.paths if info is None else self.paths[info.id :: info.num_workers]
        return map(read, mine)


def stateful_loader():
    """Return a loader's class as torchdata has it: defined late, and making its iterators by itself."""

    class Stateful(DataLoader):
        made: Any = None

        def __iter__(self):
            if self.made is None:
                self.made = self._get_iterator()
            else:
                self.made._reset(self)
            return self.made

    return Stateful


class Marks:
    """What the loop times itself: each step from its request to the next one."""

    def __init__(self):
        self.steps = 0
        self.wait_s = self.step_s = 0.0
        self.digest = []


def batches(loader, marks):
    """Yield batches, with the wait for each in `marks`."""
    begin = time.perf_counter()
    iterator = iter(loader)
    while True:
        try:
            batch = next(iterator)
        except StopIteration:
            return
        waited_s = time.perf_counter() - begin
        marks.digest.append(hashlib.sha256(batch.numpy().tobytes()).hexdigest())
        marks.wait_s += waited_s
        yield batch
        marks.step_s += time.perf_counter() - begin
        begin = time.perf_counter()


def train(paths, *, accumulate=1, validate=False, optimizer=True, iterable=False, stateful=False, **options):
    torch.manual_seed(7)
    data = Stream(paths) if iterable else Files(paths)
    kind = stateful_loader() if stateful else DataLoader
    loader = kind(data, batch_size=BATCH, shuffle=None if iterable else True, **options)
    validation = DataLoader(Files(paths[:8]), batch_size=2)
    model = torch.nn.Linear(FILE_BYTES, 1)
    stepper = torch.optim.SGD(model.parameters(), lr=1e-9)
    marks = Marks()
    for _ in range(EPOCHS):
        for place, batch in enumerate(batches(loader, marks)):
            loss = model(batch.float()).mean()
            time.sleep(COMPUTE_S)
            if optimizer:
                loss.backward()
                if place % accumulate == accumulate - 1:
                    stepper.step()
                    marks.steps += 1
            else:
                marks.steps += 1
        if validate:
            with torch.no_grad():
                for batch in validation:
                    model(batch.float())
    return marks


def main(folder, wanted):
    paths = [str(Path(folder) / f"{number}.bin") for number in range(FILES)]
    for number, path in enumerate(paths):
        Path(path).write_bytes(bytes(itertools.islice(itertools.cycle([number, 255 - number]), FILE_BYTES)))
    for kind in wanted:
        bare = train(paths, **KINDS[kind])
        with tfdarshan.profile(Path(folder) / "logs") as session:
            recorded = train(paths, **KINDS[kind])
        said = {
            "kind": kind, "session": str(session.path), "steps": recorded.steps,
            "wait_share": recorded.wait_s / recorded.step_s,
            "bare": bare.digest, "recorded": recorded.digest,
        }  # fmt: skip
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or KINDS)
