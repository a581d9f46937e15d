"""Records of an LMDB database through PyTorch's DataLoader, with workers that are forked and spawned."""

import subprocess
import sys

import pytest

from tests.integration.lmdb_reader.databases import write
from tests.integration.packages.found_packages import need

RECORDS = 500
VALUES = [b"%d." % number * (number % 300) for number in range(RECORDS)]
PROGRAM = """
import sys
import torch.utils.data as data
from tfdarshan.lmdb import Index, dataset

def values(loader):
    return [value for batch in loader for value in batch.tolist()]

def check(path):
    right = [b"%d." % number * (number % 300) for number in range(500)]
    for context in ("fork", "spawn"):
        batches = dataset(path, batch=16, framework="torch")
        loader = data.DataLoader(batches, batch_size=None, num_workers=2, multiprocessing_context=context)
        for _ in range(2):
            assert sorted(values(loader)) == sorted(right), context
        loader = data.DataLoader(
            Index(path, snapshot="check"), batch_size=50, collate_fn=list, num_workers=2,
            multiprocessing_context=context,
        )
        assert [value for batch in loader for _, value in batch] == right, context
    shared = dataset(path, batch=16, framework="torch", remedy="LMM", readers=2)
    loader = data.DataLoader(shared, batch_size=None, num_workers=2, multiprocessing_context="fork")
    for _ in range(2):
        assert sorted(values(loader)) == sorted(right)

if __name__ == "__main__":
    check(sys.argv[1])
    print("all were right")
"""

pytestmark = pytest.mark.long


def test_workers_share_the_records(variables, tmp_path):
    # GIVEN
    write(tmp_path / "db", [(b"%06d" % number, value) for number, value in enumerate(VALUES)])
    (tmp_path / "train.py").write_text(PROGRAM)
    need("torch", variables)

    # WHEN
    command = [sys.executable, tmp_path / "train.py", tmp_path / "db"]
    ran = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=280)

    # THEN
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "all were right\n"
