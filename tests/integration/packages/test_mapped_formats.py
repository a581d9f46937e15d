"""Page faults and bytes of mapped formats whose packages are those of training jobs."""

import sys

import pytest

from tests.integration.mapped.read_formats import check_format
from tests.integration.packages.test_training_packages import ROOT, environment, installed  # noqa: F401


@pytest.mark.long
@pytest.mark.parametrize("name", ["safetensors", "torch", "datasets"])
def test_faults_and_bytes_of_a_mapped_format_are_the_kernel_s(environment, tmp_path, name):  # noqa: F811
    if name not in installed(environment):
        pytest.skip(f"{name} cannot be installed here")
    where = {"TFD_PACKAGES_FOLDER": str(environment), "TFD_ROOT": str(ROOT)}
    check_format(name, [sys.executable, "-I", "-S"], tmp_path, where)
