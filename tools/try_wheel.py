"""Tries a wheel as a stranger does: installs it, records a job, and reads what was recorded.

Each Python gets a virtual environment of its own. Nothing may be compiled: packages come as wheels, and a
machine that has a compiler is refused. What the sentence about a missing extra names is run as it is printed.

    python3 tools/try_wheel.py tfdarshan-0.1.0-cp310-abi3-manylinux_2_34_x86_64.whl [PYTHON ...]
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

COMPILERS = ("cc", "gcc", "clang", "g++")
# Each file is read to its end by a read of all and one of nothing, in each of two epochs.
FILES, FILE_BYTES, EPOCHS = 400, 20_011, 2
JOB = f"""
import hashlib, pathlib, tfdarshan

def batches():
    files = sorted(pathlib.Path("data").iterdir())
    for first in range(0, len(files), 20):
        yield [file.read_bytes() for file in files[first : first + 20]]

for epoch in range({EPOCHS}):
    for batch in tfdarshan.steps(batches()):
        for data in batch:
            hashlib.pbkdf2_hmac("sha256", data, b"salt", 6000)
"""
EXTRA = re.compile(r"^tfdarshan: reading sessions needs pandas: run `(pip install 'tfdarshan\[view\]')`\.$")
EXPECTED = {
    "POSIX_OPENS": FILES * EPOCHS,
    "POSIX_BYTES_READ": FILES * FILE_BYTES * EPOCHS,
    "TFD_ZERO_READS": FILES * EPOCHS,
}


class FailedError(Exception):
    """What did not come out as promised; one sentence."""


class Environment:
    """A virtual environment with the wheel, and a job beside it."""

    def __init__(self, folder: Path, python: str, wheel: Path) -> None:
        self.folder = folder
        self.variables = {
            "HOME": os.environ.get("HOME", "/"),
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "PIP_ONLY_BINARY": ":all:",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **{name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")},
            **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))},
        }
        self.run(python, "-m", "venv", str(folder))
        self._without_bytes = self._installed_bytes()
        self.run("pip", "install", "--quiet", str(wheel))
        (folder / "data").mkdir()
        for number in range(FILES):
            (folder / "data" / f"{number:04}.bin").write_bytes(bytes(FILE_BYTES))
        (folder / "job.py").write_text(JOB, encoding="utf-8")

    def run(self, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, which has to end with an exit code."""
        cwd = self.folder if self.folder.exists() else None
        done = subprocess.run(
            command, cwd=cwd, env=self.variables, capture_output=True, text=True, check=False
        )
        if done.returncode != code:
            said = (done.stderr or done.stdout).strip()
            raise FailedError(f"`{' '.join(command)}` ended with {done.returncode} instead of {code}: {said}")
        return done

    def installed_mb(self) -> float:
        """Return what was installed beside pip takes of the disk, in MB."""
        return (self._installed_bytes() - self._without_bytes) / 1e6

    def _installed_bytes(self) -> int:
        found = [path for path in self.folder.glob("lib/**/*") if path.is_file() and not path.is_symlink()]
        return sum(path.stat().st_blocks * 512 for path in found)


def record(environment: Environment) -> None:
    """Record the job, with what recording needs and no more."""
    environment.run("tfdarshan", "run", "--logdir", "logs", "job.py")
    doctor = environment.run("tfdarshan", "doctor").stdout
    if "FAILED" in doctor:
        raise FailedError(f"`tfdarshan doctor` failed:\n{doctor}")


def install_what_is_named(environment: Environment) -> None:
    """Ask for a summary, and run the command that the answer names."""
    said = environment.run("tfdarshan", "summary", "logs", code=1).stderr
    command = EXTRA.match(said.rstrip("\n"))
    if command is None:
        raise FailedError(f"`tfdarshan summary` did not name what is missing: {said}")
    environment.run("sh", "-c", f"{command[1]} --quiet")


def read(environment: Environment) -> str:
    """Check the counts of the job's files, and return the verdict."""
    listed = environment.run(
        "tfdarshan", "files", "--json", "--limit", "0", "--filter", "*/data/*.bin", "logs"
    )
    rows: list[dict[str, Any]] = json.loads(listed.stdout)["files"]
    found = {counter: sum(row[counter] for row in rows) for counter in EXPECTED}
    if found != EXPECTED:
        raise FailedError(f"{found} was counted instead of {EXPECTED}")
    verdict = environment.run("tfdarshan", "summary", "logs").stdout.partition("\n\n")[0]
    environment.run("tfdarshan", "report", "logs", "-o", "report.html")
    return " ".join(verdict.split())


def try_python(python: str, wheel: Path) -> str:
    """Try the wheel with one Python; return what it took."""
    with tempfile.TemporaryDirectory(prefix="tfdarshan-wheel-") as name:
        began = time.monotonic()
        environment = Environment(Path(name) / "venv", python, wheel)
        recorder_mb = environment.installed_mb()
        record(environment)
        recorded_s = time.monotonic() - began
        install_what_is_named(environment)
        all_mb = environment.installed_mb()
        verdict = read(environment)
        read_s = time.monotonic() - began
    return (
        f"recorded after {recorded_s:.0f} s with {recorder_mb:.0f} MB installed, "
        f"a verdict after {read_s:.0f} s with {all_mb:.0f} MB: {verdict}"
    )


def main(wheel: str, *pythons: str) -> int:
    """Try all; return the exit code."""
    if compiler := next(filter(None, map(shutil.which, COMPILERS)), None):
        print(f"tfdarshan: {compiler} is here: wheels are tried where nothing can be built", file=sys.stderr)
        return 1
    failed = False
    for python in pythons or (sys.executable,):
        try:
            print(f"{python}: {try_python(python, Path(wheel).resolve())}", flush=True)
        except FailedError as error:
            failed = True
            print(f"FAILED {python}: {error}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
