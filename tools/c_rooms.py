"""Checks that the C core's rooms are entered one way only, as csrc/README.md names them.

Takes the object files that `make -C tests/native core` leaves and reads in their symbol tables which file
uses which names of which other file. Prints each call and each include that goes against ROOMS_BELOW, and
each circle between files, of which a header is a part; exits with 1 if there is one.
"""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

CSRC = Path("csrc")
OBJECTS = Path("build/native/plain/core")
# The rooms that each room may use. attach.c lies in none and is its own; all may use tfdarshan.h.
ROOMS_BELOW = {
    "base": "",
    "spool": "base",
    "job": "base spool",
    "hooks": "base",
    "counters": "base spool",
    "recorder": "base spool job counters",
    "mapping": "base spool job recorder",
    "faults": "base spool recorder mapping",
    "darshan": "base hooks recorder",
    "emulation": "base hooks recorder",
    "wrappers": "base spool job hooks counters recorder mapping darshan emulation",
    "reader": "base spool counters",
    "attach": "base spool job hooks counters recorder faults darshan emulation wrappers reader",
    "tensorflow": "base spool counters recorder reader attach",
    "joining": "base spool job hooks recorder faults attach",
    "probe": "hooks",
    "batches": "",
    "offline/aggregate": "",
    "offline/lmdb": "",
    "offline/replay": "",
    "offline/tf_data": "offline/lmdb",
}
OPEN = "tfdarshan"
DEFINED = "BCDRTVW"
UNDEFINED = "U"

# A file, and the files that it uses with the names that it takes from each.
Uses = dict[str, dict[str, set[str]]]


def symbols(objects: Path) -> Iterator[tuple[str, str, str]]:
    """Yield file, kind and name of each global symbol: the file as "room/name"."""
    for path in sorted(objects.rglob("*.o")):
        file = path.relative_to(objects).with_suffix("").as_posix()
        if not (CSRC / file).with_suffix(".c").exists():
            continue  # left by an older build
        listed = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
        for line in listed.splitlines():
            *_, kind, name = line.split()
            yield file, kind, name


def calls(objects: Path) -> Uses:
    """Return which names files take from each other when they are linked."""
    table = list(symbols(objects))
    owner = {name: file for file, kind, name in table if kind in DEFINED and name.startswith("tfd_")}
    uses: Uses = defaultdict(lambda: defaultdict(set))
    for file, kind, name in table:
        if kind == UNDEFINED and name in owner:
            uses[file][owner[name]].add(name)
    return uses


def includes(csrc: Path) -> Uses:
    """Return which headers files include from other rooms."""
    uses: Uses = defaultdict(lambda: defaultdict(set))
    for path in sorted(csrc.rglob("*.[ch]")):
        file = path.relative_to(csrc).with_suffix("").as_posix()
        for header in re.findall(r'#include "(\S+)\.h"', path.read_text(encoding="utf-8")):
            uses[file][header].add(f'#include "{header}.h"')
    return uses


def room_of(file: str) -> str:
    """Return the folder of "room/name"; a file that lies in none is its own room."""
    return file.rpartition("/")[0] or file


def upward(uses: Mapping[str, Mapping[str, set[str]]]) -> Iterator[str]:
    """Yield a sentence for each use of a room that is not below."""
    for file, used in sorted(uses.items()):
        below = {OPEN, room_of(file), *ROOMS_BELOW.get(room_of(file), "").split()}
        for other, names in sorted(used.items()):
            if room_of(other) not in below:
                yield f"csrc/{file} uses {other}, which is not below it: {', '.join(sorted(names))}"


def circles(uses: Mapping[str, Mapping[str, set[str]]]) -> list[set[str]]:
    """Return the sets of two and more files of which each reaches each other."""
    reached = {file: reachable(file, uses) for file in uses}
    found = {
        frozenset(other for other in others if file in reached.get(other, ()))
        for file, others in reached.items()
    }
    return sorted((set(circle) for circle in found if len(circle) > 1), key=sorted)


def reachable(file: str, uses: Mapping[str, Mapping[str, set[str]]]) -> set[str]:
    """Return the files that a file uses, and those that they use, and so on."""
    found: set[str] = set()
    left = [file]
    while left:
        new = set(uses.get(left.pop(), ())) - found
        found |= new
        left.extend(new)
    return found


def problems_of(linked: Uses, included: Uses) -> list[str]:
    """Return a sentence for each use that goes up and for each circle of calls, includes or both."""
    problems = [*upward(linked), *upward(included)]
    both = {file: linked.get(file, {}) | included.get(file, {}) for file in {*linked, *included}}
    return problems + [f"csrc/ has a circle: {', '.join(sorted(circle))}" for circle in circles(both)]


def main() -> int:
    """Print the problems of this folder's csrc/; return 1 if there are any."""
    if not any(OBJECTS.rglob("*.o")):
        sys.exit(f"{OBJECTS} holds no object files: run make -C tests/native core")
    problems = problems_of(calls(OBJECTS), includes(CSRC))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
