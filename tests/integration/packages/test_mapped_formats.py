"""Page faults and bytes of mapped formats whose packages are those of training jobs."""

import sys
from pathlib import Path

import pytest

from tests.integration.mapped.read_formats import check_format
from tests.integration.packages.found_packages import installed

ROOT = Path(__file__).parents[3]


@pytest.mark.long
@pytest.mark.parametrize("name", ["safetensors", "torch", "datasets"])
def test_faults_and_bytes_of_a_mapped_format_are_the_kernel_s(environment, tmp_path, name):
    if name not in installed(environment):
        pytest.skip(f"{name} cannot be installed here")
    where = {"TFD_PACKAGES_FOLDER": str(environment), "TFD_ROOT": str(ROOT)}
    check_format(name, [sys.executable, "-I", "-S"], tmp_path, where)
