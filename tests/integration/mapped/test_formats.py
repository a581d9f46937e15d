"""Page faults and bytes of mapped formats: all that need no package but those of the tests."""

import sys
from pathlib import Path

import pytest

from tests.integration.mapped.read_formats import check_format

ROOT = Path(__file__).parents[3]
FORMATS = [("npy", "numpy"), ("arrow", "pyarrow"), ("lmdb", "lmdb"), ("hdf5", "h5py")]


@pytest.mark.parametrize(("name", "module"), FORMATS)
def test_faults_and_bytes_of_a_mapped_format_are_the_kernel_s(tmp_path, name, module):
    pytest.importorskip(module)
    check_format(name, [sys.executable], tmp_path, {"PYTHONPATH": str(ROOT)})
