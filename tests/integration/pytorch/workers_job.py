"""Jobs whose workers are of a certain kind: some without a shard, or older than the session.

Prints where the session is.
"""

import json
import sys
import time
from pathlib import Path

from torch.utils.data import DataLoader, IterableDataset, get_worker_info

import tfdarshan

SHARDS, WORKERS, SAMPLES = 2, 4, 60


class Shards(IterableDataset):
    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        info = get_worker_info()
        for path in self.paths[info.id :: info.num_workers]:
            with open(path, "rb", buffering=0) as file:
                for _ in range(SAMPLES):
                    time.sleep(0.002)
                    yield file.read(1000)


def train(loader):
    for _ in loader:
        time.sleep(0.001)


def main(folder, kind):
    paths = [str(Path(folder) / f"{number}.shard") for number in range(SHARDS)]
    for path in paths:
        Path(path).write_bytes(bytes(1000 * SAMPLES))
    loader = DataLoader(Shards(paths), batch_size=4, num_workers=WORKERS, persistent_workers=kind == "older")
    if kind == "older":
        train(loader)
    with tfdarshan.profile(Path(folder) / "logs") as session:
        train(loader)
        train(loader)
    print(json.dumps({"session": str(session.path)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
