"""Tries tfdarshan with many Pythons, TensorFlows and pins, and keeps what came of each.

`--ends` tries the oldest and the newest of everything with this Python, in environments that are kept.
Otherwise each Python and TensorFlow gets an environment that is removed when its sets of pins were tried.
Their results go to docs/versions.json, of which `make docs` makes the table in docs/reference/install.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.version_pins import LEGACY_KERAS, NO_TENSORFLOW, SETS, oldest, tensorflow_versions

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "versions.json"
SMOKE = ROOT / "tools" / "version_smoke.py"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
# Named in the table.
NAMED = ("numpy", "pandas", "pyarrow", "protobuf")
MOST_MENDS = 3
VERSION = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"


class Environment:
    """A virtual environment, in a folder."""

    def __init__(self, folder: Path, interpreter: str) -> None:
        self.python = folder / "bin" / "python"
        # Compiled modules are written where they are used: a TensorFlow has thousands that are not.
        self.variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PIP_CONSTRAINT": ""}
        if not self.python.exists():
            subprocess.run([interpreter, "-m", "venv", folder], check=True)

    def install(self, *arguments: str) -> None:
        """Install with pip."""
        self.run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
                 "--no-compile", *arguments, check=True)  # fmt: skip

    def run(self, *arguments: str | Path, check: bool = False) -> str:
        """Run its Python, and return what it prints, with the last line `failed` if it fails."""
        done = subprocess.run(
            [self.python, *arguments], capture_output=True, text=True, env=self.variables, check=False
        )
        if check and done.returncode:
            raise SystemExit(f"{' '.join(map(str, arguments))} failed:\n{done.stdout}{done.stderr}")
        return f"{done.stdout}{'' if done.returncode == 0 else 'failed'}".strip()

    def version(self, package: str) -> str:
        """Return the version of a package."""
        return self.run("-c", VERSION, package)

    def prepare(self, pins: str, tensorflow: str, wheel: Path, exact: Sequence[str]) -> None:
        """Install a TensorFlow, this tfdarshan, and what is declared at one end or as pip resolves it."""
        # A TensorFlow brings a TensorBoard.
        wanted = f"tensorflow-cpu=={tensorflow}.*" if tensorflow else "tensorboard"
        if pins == "newest":
            self.install("--upgrade", "--upgrade-strategy", "eager", wanted, f"{wheel}[view]", "setuptools")
        else:
            self.install("--only-binary", ":all:", wanted, *exact, f"{wheel}[view]")
        if tensorflow:
            # Without what it requires: a second TensorFlow.
            self.install("--no-deps", f"{LEGACY_KERAS}=={tensorflow}.*")
        self.install("--no-deps", "--force-reinstall", str(wheel))

    def tried(self) -> dict[str, Any]:
        """Return what the smoke finds, and the commands that it named, which are run as printed."""
        mends: list[str] = []
        while True:
            lines = self.run(SMOKE).splitlines()
            mend = next((line.partition(": ")[2] for line in lines if line.startswith("mend: ")), None)
            if mend is None or len(mends) == MOST_MENDS:
                ok = lines[-1:] == ["ok"]
                versions = {name: self.version(name) for name in NAMED}
                return {"ok": ok, "mends": mends, "versions": versions, "failed": [] if ok else lines}
            mends.append(mend)
            self.run("-m", *shlex.split(mend), "--quiet", check=True)


def built_wheel(folder: Path) -> Path:
    """Return the wheel of this tree: one for all Pythons."""
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
         "--wheel-dir", folder, ROOT], check=True,
    )  # fmt: skip
    return next(folder.glob("*.whl"))


def try_ends(wheel: Path, prefix: str) -> int:
    """Try the oldest and the newest of everything in kept environments; return an exit status."""
    python = "{}.{}".format(*sys.version_info)
    failed = 0
    for pins, place in (("oldest", 0), ("newest", -1)):
        folder = Path(f"{prefix}-{pins}").absolute()
        made = folder / "made-of.json"
        wanted = [python, (ROOT / "pyproject.toml").read_text(encoding="utf-8")]
        environment = Environment(folder, sys.executable)
        if made.exists() and json.loads(made.read_text(encoding="utf-8")) == wanted:
            environment.install("--no-deps", "--force-reinstall", str(wheel))
        else:
            tensorflow = tensorflow_versions(python)[place]
            exact = oldest(python, tensorflow) if pins == "oldest" else ()
            environment.prepare(pins, tensorflow, wheel, exact)
            made.write_text(json.dumps(wanted), encoding="utf-8")
        failed += said(f"{pins} of everything", environment.tried())
    return int(bool(failed))


def said(what: str, result: dict[str, Any]) -> bool:
    """Print what came of an environment; return whether it failed."""
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    mended = "".join(f", after {mend}" for mend in result["mends"])
    print(f"{'ok' if result['ok'] else 'FAILED'}: {what} ({versions}){mended}", flush=True)
    for line in result["failed"]:
        print(f"    {line}")
    return not result["ok"]


def try_table(wheel: Path, pythons: Sequence[str], only: Sequence[str], sets: Sequence[str]) -> int:
    """Try each Python with each TensorFlow; return an exit status."""
    failed = 0
    for python in pythons:
        interpreter = working(f"python{python}")
        if interpreter is None:
            keep(python, NO_TENSORFLOW, "", "this Python was not at hand")
            continue
        there = tensorflow_versions(python) or [NO_TENSORFLOW]
        for tensorflow in only or there:
            if tensorflow not in there:
                keep(python, tensorflow, "", "no wheel")
                continue
            with tempfile.TemporaryDirectory(prefix="tfdarshan-versions-") as folder:
                environment = Environment(Path(folder), interpreter)
                for pins in sorted(sets, key=SETS.index):
                    exact = oldest(python, tensorflow) if pins == "oldest" else ()
                    environment.prepare(pins, tensorflow, wheel, exact)
                    result = environment.tried()
                    found = f"Python {python}, TensorFlow {tensorflow or 'has no wheel'}, {pins}"
                    failed += said(found, result)
                    keep(
                        python, tensorflow, pins, {name: result[name] for name in ("ok", "mends", "versions")}
                    )
    return int(bool(failed))


def working(name: str) -> str | None:
    """Return the path of a Python that starts, None if there is none."""
    path = shutil.which(name)
    starts = path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0
    return path if starts else None


def keep(python: str, tensorflow: str, pins: str, result: Any) -> None:
    """Write what came of one environment beside what is known of the others."""
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if not pins and tensorflow == NO_TENSORFLOW and known.get(python):
        # What was tried where this Python is counts more than that it is not here.
        return
    tried = known.setdefault(python, {}).setdefault(tensorflow, {})
    if pins:
        tried.pop("", None)
    tried[pins] = result
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main() -> int:
    """Try what the arguments name; return an exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--ends", metavar="PREFIX", help="try oldest and newest alone, in PREFIX-oldest and -newest"
    )
    parser.add_argument("--python", nargs="+", default=PYTHONS)
    parser.add_argument("--tensorflow", nargs="+", default=())
    parser.add_argument("--pins", nargs="+", default=SETS, choices=SETS)
    parser.add_argument(
        "--wheel", type=Path, help="a wheel that was built before, for several runs at a time"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tfdarshan-wheel-") as folder:
        wheel = (given.wheel or built_wheel(Path(folder))).absolute()
        if given.ends:
            return try_ends(wheel, given.ends)
        return try_table(wheel, given.python, given.tensorflow, given.pins)


if __name__ == "__main__":
    sys.exit(main())
