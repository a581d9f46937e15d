"""Puts beside an editable installation what a starting interpreter runs, and has pip own it.

A wheel brings these files; an editable installation brings only what is in packages. They are added to the
list that `pip uninstall` goes by, so that it leaves nothing.
"""

import csv
import shutil
import sysconfig
from importlib.metadata import distribution
from pathlib import Path

JOIN = Path(__file__).parents[1] / "csrc" / "python"
NAMES = ("tfdarshan_join.pth", "tfdarshan_join.py")


def main() -> None:
    """Copies them, and adds what is not in the list yet."""
    packages = Path(sysconfig.get_path("purelib"))
    for name in NAMES:
        (packages / name).unlink(missing_ok=True)
        shutil.copy(JOIN / name, packages)
    record = Path(str(distribution("tfdarshan").locate_file("."))) / _record_name()
    with record.open(newline="", encoding="utf-8") as file:
        owned = {row[0] for row in csv.reader(file)}
    with record.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows((name, "", "") for name in NAMES if name not in owned)


def _record_name() -> str:
    files = distribution("tfdarshan").files or []
    return next(str(path) for path in files if path.name == "RECORD")


if __name__ == "__main__":
    main()
