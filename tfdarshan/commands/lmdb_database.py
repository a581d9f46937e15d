"""`tfdarshan lmdb`: what is in an LMDB database, whether it is whole, and how fast it is read."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import add_json, print_json
from tfdarshan.file_name import printable

if TYPE_CHECKING:
    from tfdarshan.lmdb import Index
    from tfdarshan.lmdb.speed_test import Speed

KINDS = {
    2: "reverse keys",
    4: "several values a key",
    8: "integer keys",
    16: "values of one size",
    32: "integer values",
    64: "reverse values",
}


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "lmdb",
        help="look at, verify and measure an LMDB database",
        description="Show what is in an LMDB database, verify it, or measure how fast it can be read. The "
        "database is never changed (docs/reference/lmdb.md). Each action has --json.",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _add(actions, "info", "say what is in a database", info, db=True)
    verify_parser = _add(
        actions, "verify", "read all databases of a file, and say whether they are intact", verify
    )
    verify_parser.add_argument("--compare", action="store_true", help="also compare with what py-lmdb reads")
    bench_parser = _add(
        actions, "bench", "measure how fast a database is read, also by py-lmdb", bench, db=True
    )
    bench_parser.add_argument(
        "--threads", type=int, default=16, metavar="N", help="reads at a time, at most (default: 16)"
    )
    bench_parser.add_argument(
        "--access",
        choices=("auto", "cached", "direct"),
        default="auto",
        help="how values are read: see docs/reference/lmdb.md (default: auto)",
    )
    bench_parser.add_argument(
        "--shuffle", choices=("blocks", "exact"), help="read in a random order (default: in order)"
    )
    bench_parser.add_argument(
        "--tensorflow",
        action="store_true",
        help="time a tf.data pipeline as well",
    )
    bench_parser.add_argument(
        "--runs", type=int, default=3, metavar="N", help="runs of each reader (default: 3)"
    )
    bench_parser.add_argument(
        "--bytes",
        default="256M",
        metavar="SIZE",
        help="most bytes of values to read, such as 1G (default: 256M)",
    )
    bench_parser.add_argument(
        "--cold", action="store_true", help="have the page cache forget the file before each run"
    )


def _add(actions: Any, name: str, what: str, command: Any, *, db: bool = False) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=what, description=f"{what.capitalize()}.")
    parser.add_argument("path", metavar="PATH", help="the database's folder, or its data file")
    if db:
        parser.add_argument("--db", metavar="NAME", help="a sub-database (default: the main one)")
    add_json(parser)
    parser.set_defaults(command=command)
    return parser


def info(arguments: argparse.Namespace) -> int:
    """Print what is in a database."""
    from tfdarshan.lmdb import Index
    from tfdarshan.reports.text.lmdb_text import info_text

    with Index(arguments.path, _name(arguments), snapshot="check") as index:
        found = _info(index, arguments.db)
    _print(arguments, found, info_text)
    return 0


def verify(arguments: argparse.Namespace) -> int:
    """Read all databases of a file."""
    from tfdarshan.lmdb.verification import printable_name, verify
    from tfdarshan.reports.text.lmdb_text import verified_text

    found = verify(arguments.path, compare=arguments.compare)
    if arguments.json:
        rows = [dataclasses.asdict(one) | {"name": printable_name(one.name)} for one in found]
        print_json({"path": arguments.path, "compared": arguments.compare, "databases": rows})
    else:
        text = verified_text(printable(arguments.path), found, compared=arguments.compare)
        sys.stdout.write(text)
    return 0


def bench(arguments: argparse.Namespace) -> int:
    """Measure reading a database."""
    from tfdarshan.lmdb.data_path import data_path
    from tfdarshan.lmdb.speed_test import Trial, measure_speed
    from tfdarshan.reports.text.lmdb_text import speed_text
    from tfdarshan.staging.capacity import parse_size

    trial = Trial(
        path=data_path(arguments.path), db=_name(arguments), access=arguments.access,
        threads=arguments.threads, shuffle=arguments.shuffle, most_bytes=parse_size(arguments.bytes),
        framework="tensorflow" if arguments.tensorflow else "python", cold=arguments.cold,
    )  # fmt: skip
    speeds = measure_speed(trial, arguments.runs)
    if arguments.json:
        print_json({"path": arguments.path, "readers": [_speed(speed) for speed in speeds]})
    else:
        sys.stdout.write(speed_text(printable(arguments.path), speeds))
    return 0


def _speed(speed: Speed) -> dict[str, Any]:
    medians = {what: speed.median_s(what) for what in ("opening_s", "elapsed_s", "processor_s")}
    reading = None if speed.reading is None else dataclasses.asdict(speed.reading)
    found = {"value_bytes": speed.value_bytes, "reading": reading, "median": medians}
    return dataclasses.asdict(speed) | found


def _print(arguments: argparse.Namespace, found: dict[str, Any], text: Any) -> None:
    if arguments.json:
        print_json(found)
        return
    shown = {name: printable(value) if isinstance(value, str) else value for name, value in found.items()}
    shown["databases"] = [printable(name) for name in found["databases"]]
    sys.stdout.write(text(shown))


def _name(arguments: argparse.Namespace) -> bytes | None:
    return None if arguments.db is None else os.fsencode(arguments.db)


def _info(index: Index, name: str | None) -> dict[str, Any]:
    index.is_cached()  # looks
    sizes, facts = index.sizes, dataclasses.asdict(index.facts)
    ordered = sorted(sizes.tolist())
    return {
        "path": os.fspath(index.path),
        "database": name,
        "records": len(index),
        "value_bytes": int(sizes.sum(dtype="u8")),
        "least_bytes": ordered[0] if ordered else None,
        "median_bytes": ordered[len(ordered) // 2] if ordered else None,
        "most_bytes": ordered[-1] if ordered else None,
        "values_in_pages": int(index.in_pages.sum()),
        "kinds": [said for bit, said in KINDS.items() if facts["flags"] & bit],
        "databases": [os.fsdecode(database) for database in index.databases()],
        "reading": dataclasses.asdict(index.reading),
        "read_by": "py-lmdb" if index.reads_by_py_lmdb else "tfdarshan",
        **facts,
    }
