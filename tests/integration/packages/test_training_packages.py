"""A session beside each of the packages that training jobs load most, under each kind of interpreter.

Their libraries are linked in every way there is: lazily or not, with and without RELRO, by several compilers,
with pointers to libc's functions in constant data. `make test-packages` makes their environment.
"""

import json
import math
import re
import subprocess
import sysconfig
from importlib.metadata import requires
from pathlib import Path

import pytest

from tests.integration.packages.found_packages import installed, normal
from tests.integration.packages.interpreters import KINDS, interpreters

# What is imported, where that is not the package's name.
MODULES = {
    "grpcio": "grpc",
    "lz4": "lz4.frame",
    "netcdf4": "netCDF4",
    "opencv-python-headless": "cv2",
    "pillow": "PIL.Image",
    "protobuf": "google.protobuf.message",
    "scikit-learn": "sklearn",
    "tensorflow-cpu": "tensorflow",
    "xgboost-cpu": "xgboost",
}
# What the extra names because tfdarshan itself needs it.
OWN = {"cffi", "msgspec", "plotly", "tqdm", "xxhash"}
AT_LEAST = 40

ROOT = Path(__file__).parents[3]
CHILD = Path(__file__).with_name("sessions_beside.py")
CHUNK, SIZE = 65_536, 1_234_567
INTERPRETERS = interpreters()


def packages():
    """Return the packages that extra `packages` names."""
    extra = [line for line in requires("tfdarshan") or [] if line.endswith('extra == "packages"')]
    return sorted({normal(re.match(r"[\w.-]+", line)[0]) for line in extra} - OWN)


PACKAGES = packages()


def test_the_list_is_long_enough():
    assert len(PACKAGES) >= AT_LEAST
    assert set(MODULES) <= set(PACKAGES)


@pytest.mark.long
def test_enough_packages_are_installed(environment):
    lacking = set(PACKAGES) - installed(environment)
    assert len(PACKAGES) - len(lacking) >= AT_LEAST, f"not installed: {', '.join(sorted(lacking))}"


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("package", PACKAGES)
def test_sessions_beside(environment, tmp_path, package, kind):
    # GIVEN the package, an interpreter and a file
    if package not in installed(environment):
        pytest.skip(f"{package} cannot be installed here")
    if kind not in INTERPRETERS:
        pytest.skip(f"no {kind} Python {sysconfig.get_python_version()} is here")
    data = tmp_path / "data.bin"
    data.write_bytes(bytes(SIZE))
    module = MODULES.get(package, package)

    # WHEN it is imported in a process of its own, and two sessions record reads of the file
    ran = subprocess.run(
        [INTERPRETERS[kind], "-I", "-S", CHILD, environment, ROOT, module, data, tmp_path / "logs"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
    )

    # THEN both have the exact counts, and leave nothing behind
    assert ran.returncode == 0, ran.stdout + ran.stderr
    expected = {
        "POSIX_OPENS": 1,
        "POSIX_READS": math.ceil(SIZE / CHUNK) + 1,
        "TFD_ZERO_READS": 1,
        "POSIX_BYTES_READ": SIZE,
        "active": False,
        "slots": 0,
    }
    assert json.loads(ran.stdout.splitlines()[-1]) == [expected, expected]
