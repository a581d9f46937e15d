"""`tfdarshan workload`: the papers' workloads, and their results beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tfdarshan.commands.arguments import add_json, print_json, say
from tfdarshan.errors import ConfigurationError
from tfdarshan.terminal.columns import fitted

DEFAULT_WORK_DIR = "workload-runs"
DEFAULT_TIER = "hdd"


def add_parser(verbs: Any) -> None:
    """Add the verb and its own verbs."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "workload",
        help="run the papers' workloads",
        description="Run the workloads of published papers on I/O in deep learning, profiled, and print "
        "their results beside the papers' own. Every action has --help and --json.",
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_list(actions)
    _add_run(actions)
    _add_data(actions)
    _add_table(actions)
    _add_clean(actions)


def _add_list(actions: Any) -> None:
    parser = actions.add_parser("list", help="list the workloads", description="List the workloads.")
    add_json(parser)
    parser.set_defaults(command=list_command)


def _add_run(actions: Any) -> None:
    parser = actions.add_parser(
        "run",
        help="run workloads",
        description="Run workloads on a tier. Data is generated where it is missing, each run is a session, "
        "and the result is one JSON file. The exit code is 1 where an exact count is wrong.",
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help="workloads, or all")
    parser.add_argument(
        "--tier",
        action="append",
        metavar="TIER",
        help="storage to run on: hdd, ssd, optane, lustre, bucket, shm, cached or a folder (may be repeated; "
        "default: hdd)",
    )
    parser.add_argument(
        "--backend",
        choices=("emulation", "device", "fuse"),
        default="emulation",
        help="what plays a device that is named: emulation sleeps in the process by a model of the "
        "device, device limits a real one, fuse mounts a file system that takes the model's time; both need "
        "root. lmdbio reads by page faults, which no emulation slows: it takes fuse (default: emulation)",
    )
    parser.add_argument("--quick", action="store_true", help="small settings: about a minute each")
    parser.add_argument(
        "--repeats",
        type=_positive,
        metavar="N",
        help="how often each measurement runs (default: 5, with --quick 1)",
    )
    parser.add_argument(
        "--set",
        action="append",
        type=_setting,
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the workload, such as workers=8 (may be repeated; the error for an unknown name "
        "lists all names)",
    )
    _add_data_options(parser)
    _add_work_dir(parser)
    add_json(parser)
    parser.set_defaults(command=run_command)


def _add_data(actions: Any) -> None:
    parser = actions.add_parser(
        "data",
        help="generate a data set",
        description="Generate a data set, or go on with one, and print where it is.",
    )
    parser.add_argument(
        "set", choices=("imagenet", "median-112k", "caltech101", "malware"), help="which data set"
    )
    parser.add_argument(
        "--format",
        choices=("files", "tfrecord", "lmdb"),
        default="files",
        help="single files, or packed files (default: files)",
    )
    _add_data_options(parser)
    _add_work_dir(parser)
    add_json(parser)
    parser.set_defaults(command=data_command)


def _add_table(actions: Any) -> None:
    parser = actions.add_parser(
        "table",
        help="print the results beside the papers'",
        description='Print each result beside the one that its paper published. The column "kind" says how '
        "the two compare: exact (equal), shape (the curve has the same form), assumed (an input, not "
        "measured), scale (smaller than in the paper).",
    )
    parser.add_argument("--page", metavar="FILE", help="write the table and its plots into a Markdown page")
    _add_work_dir(parser)
    add_json(parser)
    parser.set_defaults(command=table_command)


def _add_clean(actions: Any) -> None:
    parser = actions.add_parser(
        "clean",
        help="unmount storage and remove temporary files of earlier runs",
        description="Unmount storage and remove temporary files of earlier runs, killed ones included.",
    )
    parser.add_argument("--all", action="store_true", help="also remove generated data, sessions and results")
    _add_work_dir(parser)
    add_json(parser)
    parser.set_defaults(command=clean_command)


def list_command(arguments: argparse.Namespace) -> int:
    """Print the workloads."""
    with _installed():
        from tfdarshan.workloads.catalogue import WORKLOADS
    if arguments.json:
        print_json([{"name": one.name, "paper": one.paper, "about": one.about} for one in WORKLOADS])
        return 0
    for line in fitted([(one.name, one.paper, one.about) for one in WORKLOADS]):
        print(line)
    return 0


def run_command(arguments: argparse.Namespace) -> int:
    """Run workloads; 1 where an exact count is wrong."""
    with _installed():
        from tfdarshan.workloads import runner, table
        from tfdarshan.workloads.catalogue import WORKLOADS
    names = arguments.names
    if names == ["all"]:
        names = [one.name for one in WORKLOADS]
    plan = runner.Plan(
        names=tuple(names),
        tiers=tuple(dict.fromkeys(arguments.tier or [DEFAULT_TIER])),
        work_dir=Path(arguments.work_dir).absolute(),
        backend=arguments.backend,
        quick=arguments.quick,
        repeats=arguments.repeats,
        seed=arguments.seed,
        files=arguments.files,
        size_scale=arguments.size_scale,
        data_dir=Path(arguments.data_dir).absolute() if arguments.data_dir else None,
        settings=dict(arguments.set),
    )
    results = runner.run_plan(plan, say=lambda line: say(line, error=True))
    if arguments.json:
        print_json(results)
    else:
        print(table.as_text(results), end="")
    return 0 if all(result.ok for result in results) else 1


def data_command(arguments: argparse.Namespace) -> int:
    """Generate a data set."""
    with _installed():
        from tfdarshan.workloads.data_sets import make_data_set
    path, files = make_data_set(
        arguments.set,
        work_dir=Path(arguments.work_dir).absolute(),
        layout=arguments.format,
        count=arguments.files,
        seed=arguments.seed,
        size_scale=arguments.size_scale,
        data_dir=Path(arguments.data_dir).absolute() if arguments.data_dir else None,
    )
    total_bytes = sum(file.size_bytes for file in files)
    if arguments.json:
        print_json({"path": path, "files": len(files), "bytes": total_bytes})
    else:
        say(f"{len(files):,} files, {total_bytes:,} bytes, in {path}")
    return 0


def table_command(arguments: argparse.Namespace) -> int:
    """Print the table."""
    with _installed():
        from tfdarshan.workloads import table
        from tfdarshan.workloads.result import read_results
    results = read_results(Path(arguments.work_dir))
    if arguments.page:
        table.fill_page(Path(arguments.page), results)
        with _installed():
            from tfdarshan.workloads.plots import draw_plots
        draw_plots(results, Path(arguments.page).parent)
    if arguments.json:
        print_json(results)
    elif not arguments.page:
        print(table.as_text(results), end="")
    return 0


def clean_command(arguments: argparse.Namespace) -> int:
    """Remove what runs left behind."""
    with _installed():
        from tfdarshan.workloads.runner import clean
    done = clean(Path(arguments.work_dir).absolute(), everything=arguments.all)
    if arguments.json:
        print_json(done)
    else:
        for line in done or ["there was nothing to clean"]:
            say(line)
    return 0


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help="a real data set in its published layout, instead of generated files",
    )
    parser.add_argument(
        "--files",
        type=_positive,
        metavar="N",
        help="how many files to use (default: as many as the workload needs)",
    )
    parser.add_argument(
        "--size-scale",
        type=_factor,
        default=1.0,
        metavar="X",
        help="multiply the size of the malware workload's files, of random bytes, by this (default: 1)",
    )
    parser.add_argument(
        "--seed",
        type=_not_negative,
        default=0,
        metavar="N",
        help="number that chooses the generated set (default: 0)",
    )


def _add_work_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--work-dir",
        default=DEFAULT_WORK_DIR,
        metavar="DIR",
        help=f"folder for data, sessions and results (default: {DEFAULT_WORK_DIR})",
    )


@contextmanager
def _installed() -> Iterator[None]:
    """Yield which extra brings what a workload imports and this environment lacks."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"workloads need {error.name}: pip install 'tfdarshan[workloads]'."
        ) from error


def _setting(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _positive(text: str) -> int:
    value = _not_negative(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _not_negative(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _factor(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 < value <= 100:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 100, not {text}")
    return value
