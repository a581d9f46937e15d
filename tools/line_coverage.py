"""Prints which share of the lines of tfdarshan/ and csrc/ the tests ran, and fails if it is below its floor.

`begin` drops what an earlier run counted, and prints "coverage" if this compiler's lines can be counted: the
variant of the hazard programs that does it. `report` prints both tables.

Python is counted in the process of the tests, in the first case of each. What tests start is not: counting
there reads and writes files, which are the calls that these tests count. C is counted in the hazard programs,
with a core built for it beside the core that everything else is tested with. So neither figure holds what
only other processes or later cases run.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
PYTHON_DATA = ROOT / "build" / "coverage" / "python"
C_DATA = ROOT / "build" / "native" / "coverage" / "core"
VARIANT = "coverage"
# A few points below what machines have where tests are skipped: without root, Chromium, strace or libdarshan.
FLOORS_PERCENT = {"tfdarshan": 85, "csrc": 73}


class Lines(NamedTuple):
    """How many lines of a file can run, and how many did."""

    run: int
    all: int

    @property
    def percent(self) -> float:
        """100 if there is nothing to run."""
        return 100 * self.run / self.all if self.all else 100.0


def total(parts: Iterable[Lines]) -> Lines:
    """Return the sum of several files."""
    counted = list(parts)
    return Lines(sum(part.run for part in counted), sum(part.all for part in counted))


def compiler() -> str:
    """Return the compiler that make takes."""
    return os.environ.get("CC", "cc")


def said_by(*command: str) -> str:
    """Return what a program prints, nothing if it cannot be run or fails."""
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError:
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""


def gcov() -> str | None:
    """Return the gcov of the compiler's own version, None if there is none."""
    version = said_by(compiler(), "-dumpfullversion")
    beside = said_by(compiler(), "-print-prog-name=gcov")
    for name in (beside, f"gcov-{version.partition('.')[0]}"):
        if version and name and said_by(name, "--version").partition("\n")[0].endswith(version):
            return name
    return None


def counts_lines() -> bool:
    """True if the compiler makes programs that count their lines."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.c"
        source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        command = [compiler(), "--coverage", "-o", str(source.with_suffix("")), str(source)]
        return subprocess.run(command, cwd=folder, capture_output=True).returncode == 0


def no_counts(folder: Path) -> NoReturn:
    """End the program: the tests did not run before."""
    sys.exit(f"tfdarshan: the tests left no counts of lines in {folder.relative_to(ROOT)}: run make test")


def why_no_c() -> str | None:
    """Return why C is not counted on this machine, None if it is."""
    if not gcov():
        return f"there is no gcov of {compiler()}'s version"
    if not counts_lines():
        return f"{compiler()} --coverage makes no program"
    return None


def python_lines() -> dict[str, Lines]:
    """Return the lines of each file of the package, by its path in it."""
    import coverage

    if not PYTHON_DATA.exists():
        no_counts(PYTHON_DATA)
    counted = coverage.Coverage(data_file=str(PYTHON_DATA), config_file=False)
    counted.load()
    counted.exclude("if TYPE_CHECKING:")
    files = {}
    for path in counted.get_data().measured_files():
        if Path(path).exists():
            _, statements, _, missing, _ = counted.analysis2(path)
            name = Path(path).relative_to(ROOT).as_posix().removeprefix("tfdarshan/")
            files[name] = Lines(len(statements) - len(missing), len(statements))
    return files


def gcov_files(program: str, data: list[Path]) -> Iterator[dict[str, Any]]:
    """Yield what gcov says of each source and header of each object."""
    command = [program, "--json-format", "--stdout", *map(str, data)]
    said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    for line in said.stdout.splitlines():
        if line.startswith("{"):
            yield from json.loads(line)["files"]


def c_lines(program: str) -> dict[str, Lines]:
    """Return the lines of each file of csrc/ by its path from there, a header's from all that include it."""
    data = sorted(C_DATA.rglob("*.gcda"))
    if not data:
        no_counts(C_DATA)
    ran: dict[str, dict[int, bool]] = defaultdict(dict)
    for file in gcov_files(program, data):
        _, in_csrc, name = file["file"].rpartition("csrc/")
        for line in file["lines"] if in_csrc else ():
            number = line["line_number"]
            ran[name][number] = ran[name].get(number, False) or line["count"] > 0
    return {name: Lines(sum(lines.values()), len(lines)) for name, lines in ran.items()}


def table(folder: str, files: dict[str, Lines]) -> Iterator[str]:
    """Yield a line for a folder of the repository and one for each of its rooms."""
    rooms: dict[str, list[Lines]] = defaultdict(list)
    for name, lines in files.items():
        room, below, _ = name.partition("/")
        rooms[f"{room}/" if below else ""].append(lines)
    yield row(f"{folder}/", total(files.values())) + f"   floor {FLOORS_PERCENT[folder]} %"
    for room, parts in sorted(rooms.items()):
        yield row(f"  {room or '(in no room)'}", total(parts))


def row(name: str, lines: Lines) -> str:
    """Return a line of a table."""
    return f"  {name:<24}{lines.percent:6.1f} %{lines.run:>9,} of {lines.all:,}"


def below_floor(folder: str, files: dict[str, Lines]) -> str | None:
    """Return a sentence if a folder is below its floor."""
    lines, floor = total(files.values()), FLOORS_PERCENT[folder]
    if lines.percent >= floor:
        return None
    return (
        f"tfdarshan: the tests ran {lines.percent:.1f} % of the lines of {folder}/, and the floor in "
        f"tools/line_coverage.py is {floor} %: add tests of what they miss."
    )


def report() -> int:
    """Print both tables; return 1 if a floor does not hold."""
    counted = {"tfdarshan": python_lines()}
    reason = why_no_c()
    program = gcov()
    if program and not reason:
        counted["csrc"] = c_lines(program)
    print("lines run: Python by the tests' own process, C by the hazard programs")
    for folder, files in counted.items():
        print("\n".join(table(folder, files)))
    if reason:
        print(f"tfdarshan: the lines of csrc/ were not counted, for {reason}.")
    if os.environ.get("PYTEST_ADDOPTS"):
        print("tfdarshan: PYTEST_ADDOPTS may leave out tests, so no floor is held.")
        return 0
    failed = [sentence for folder, files in counted.items() if (sentence := below_floor(folder, files))]
    print("\n".join(failed), end="\n" if failed else "", file=sys.stderr)
    return 1 if failed else 0


def begin() -> int:
    """Drop old counts and print the variant that counts the lines of C, if there can be one."""
    shutil.rmtree(PYTHON_DATA.parent, ignore_errors=True)
    PYTHON_DATA.parent.mkdir(parents=True)
    for path in C_DATA.rglob("*.gcda"):
        path.unlink()
    if not why_no_c():
        print(VARIANT)
    return 0


def main() -> int:
    """Run the verb; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=("begin", "report"))
    return begin() if parser.parse_args().verb == "begin" else report()


if __name__ == "__main__":
    sys.exit(main())
