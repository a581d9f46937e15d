"""Which versions of the packages that tfdarshan declares are tried together.

No file holds them: the oldest follow from the minimums in pyproject.toml and from the wheels that pip finds
for a Python.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

# In the order in which one environment can have them: only a new one shows what pip resolves.
SETS = ("resolved", "newest", "oldest")
# The Keras of `TF_USE_LEGACY_KERAS=1`, with the version of its TensorFlow.
LEGACY_KERAS = "tf_keras"
NO_VERSION = "0+none"
# In place of a TensorFlow's version: a Python that it has no wheel for.
NO_TENSORFLOW = ""
# By Python and TensorFlow, what it needs and does not say: with protobuf 3, which has compiled code for
# Python 3.10 alone, `import tensorflow` ends in a segmentation fault.
UNSAID = {("3.10", "2.19"): {"protobuf": SpecifierSet(">=4")}}


def declared() -> list[Requirement]:
    """Return what tfdarshan requires to record and to read sessions."""
    found = [Requirement(text) for text in requires("tfdarshan") or []]
    return [one for one in found if one.marker is None or one.marker.evaluate({"extra": "view"})]


def tensorflow_versions(python: str) -> list[str]:
    """Return the minor versions of TensorFlow that have a wheel for a Python, the oldest first."""
    found = wheel_versions("tensorflow-cpu", python)
    return list(dict.fromkeys(minor(version) for version in found if Version(version) >= Version("2.16")))


def minor(version: str) -> str:
    """Return the first two numbers of a version."""
    return ".".join(version.split(".")[:2])


@functools.cache
def wheel_versions(package: str, python: str) -> list[str]:
    """Return the releases of a package that have a wheel for a Python, the oldest first."""
    # `pip index` lists what has no wheel, too; of a version that there is not, pip lists all that fit, also
    # what was taken back.
    offered = _listed(r"^Available versions: (.+)$", "index", "versions", package, "--python-version", python)
    fitting = _listed(
        r"\(from versions: (.+)\)", "install", "--dry-run", "--no-deps", "--target", "unused",
        "--python-version", python, "--only-binary", ":all:", f"{package}=={NO_VERSION}",
    )  # fmt: skip
    return sorted(offered & fitting, key=Version)


def _listed(where: str, *arguments: str) -> set[str]:
    """Return the versions that pip lists in what it prints."""
    done = subprocess.run([*PIP, *arguments], capture_output=True, text=True, check=False)
    listed = re.search(where, done.stdout + done.stderr, re.MULTILINE)
    return set(listed[1].split(", ")) if listed else set()


def oldest(python: str, tensorflow: str) -> list[str]:
    """Return a requirement for the oldest wheel of each package that fits a Python and a TensorFlow."""
    wanted = bounds_of_tensorflow(python, tensorflow) if tensorflow != NO_TENSORFLOW else {}
    pins = []
    for requirement in declared():
        allowed = requirement.specifier & wanted.get(requirement.name, SpecifierSet())
        fitting = [found for found in wheel_versions(requirement.name, python) if found in allowed]
        pins.append(f"{requirement.name}=={fitting[0]}")
    return pins


def bounds_of_tensorflow(python: str, tensorflow: str) -> dict[str, SpecifierSet]:
    """Return what a TensorFlow requires of other packages."""
    done = subprocess.run(
        [*PIP, "install", "--quiet", "--dry-run", "--no-deps", "--ignore-installed", "--report", "-",
         "--python-version", python, "--only-binary", ":all:", "--target", "unused",
         f"tensorflow-cpu=={tensorflow}.*"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    texts = json.loads(done.stdout)["install"][0]["metadata"].get("requires_dist", [])
    found = [Requirement(text) for text in texts]
    environment = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    applying = [one for one in found if one.marker is None or one.marker.evaluate(environment)]
    unsaid = UNSAID.get((python, tensorflow), {})
    return {one.name: one.specifier & unsaid.get(one.name, SpecifierSet()) for one in applying}


PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
