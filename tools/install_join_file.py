"""Puts beside an editable installation what a starting interpreter runs, and has pip own it.

A wheel brings this file; an editable installation brings only what is in packages. It is added to the
list that `pip uninstall` goes by, so that it leaves nothing.
"""

import csv
import shutil
import sysconfig
from importlib.metadata import distribution
from pathlib import Path

JOIN = Path(__file__).parents[1] / "csrc" / "python" / "tfdarshan_join.pth"


def main() -> None:
    """Copies it, and adds it where it is not in the list yet."""
    packages = Path(sysconfig.get_path("purelib"))
    (packages / JOIN.name).unlink(missing_ok=True)
    shutil.copy(JOIN, packages)
    record = Path(str(distribution("tfdarshan").locate_file("."))) / _record_name()
    with record.open(newline="", encoding="utf-8") as file:
        owned = {row[0] for row in csv.reader(file)}
    if JOIN.name not in owned:
        with record.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerow((JOIN.name, "", ""))


def _record_name() -> str:
    files = distribution("tfdarshan").files or []
    return next(str(path) for path in files if path.name == "RECORD")


if __name__ == "__main__":
    main()
