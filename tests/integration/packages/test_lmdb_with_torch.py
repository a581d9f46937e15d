"""Records of an LMDB database through PyTorch's DataLoader, with workers that are forked and spawned."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.lmdb_reader.databases import write

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


def test_workers_share_the_records(tmp_path):
    # GIVEN
    write(tmp_path / "db", [(b"%06d" % number, value) for number, value in enumerate(VALUES)])
    folders = sorted(Path(os.environ.get("TFD_PACKAGES", "nowhere")).glob("lib/python*/site-packages"))
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.path += {list(map(str, folders))}\n")
    (tmp_path / "train.py").write_text(PROGRAM)
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"}
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    if subprocess.run([sys.executable, "-c", look], env=environment).returncode != 0:
        pytest.skip("torch is not installed: `make test-packages` makes an environment that has it")

    # WHEN
    command = [sys.executable, tmp_path / "train.py", tmp_path / "db"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)

    # THEN
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "all were right\n"
