"""`tfdarshan stage`: copies what a plan says, checks the copies, and takes them back."""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import add_json, check_least, print_json, say
from tfdarshan.file_name import shell_word
from tfdarshan.units import human_bytes, plural

if TYPE_CHECKING:
    from tfdarshan.staging.plan_file import Plan

NAMES_SHOWN = 10
SOMETHING_WRONG = 1


def add_parser(verbs: Any) -> None:
    """Add the verb and its own verbs."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "stage",
        help="apply, verify or undo a staging plan",
        description="Copy what a plan says to the fast tier, check the copies, or take them back. "
        "Originals are only read. Every action has --help and --json.",
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    apply = _action(actions, "apply", _apply, "copy the plan's files that are not there yet")
    apply.add_argument("--dry-run", action="store_true", help="say what would be copied, and copy nothing")
    apply.add_argument("--threads", type=int, default=4, metavar="N", help="copies at a time (default: 4)")
    apply.add_argument(
        "--bandwidth",
        metavar="SIZE",
        help="read at most this many bytes a second, such as 200M (default: no limit)",
    )
    apply.add_argument(
        "--mirror",
        action="store_true",
        help="also link every other file of the data set, so that the fast folder has all of it",
    )
    apply.add_argument(
        "--refresh",
        action="store_true",
        help="also copy originals that changed after the plan was made, in their present state",
    )
    verify = _action(actions, "verify", _verify, "find copies that are missing, stale or damaged")
    verify.add_argument(
        "--quick",
        action="store_true",
        help="compare only sizes and modification times, do not read the copies",
    )
    verify.add_argument("--threads", type=int, default=4, metavar="N", help="reads at a time (default: 4)")
    undo = _action(actions, "undo", _undo, "remove exactly what apply made")
    undo.add_argument("--dry-run", action="store_true", help="say what would be removed, and remove nothing")


def _action(actions: Any, name: str, command: Any, about: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=about, description=f"{about.capitalize()}."
    )
    parser.add_argument(
        "plan", type=Path, metavar="PLAN", help="a plan that `tfdarshan advise -o PLAN` wrote"
    )
    add_json(parser)
    parser.set_defaults(command=command)
    return parser


def _apply(arguments: argparse.Namespace) -> int:
    from tfdarshan.staging.apply import ApplyOptions, apply_plan
    from tfdarshan.staging.plan_file import read_plan
    from tfdarshan.terminal.progress import Progress

    plan = read_plan(arguments.plan)
    options = ApplyOptions(
        threads=_threads(arguments),
        bytes_per_s=_bytes_per_s(arguments),
        mirror=arguments.mirror,
        refresh=arguments.refresh,
        dry_run=arguments.dry_run,
    )
    with Progress("staging, bytes") as progress:
        result = apply_plan(plan, options, progress)
    if arguments.json:
        print_json(result)
    else:
        verb, would = ("would copy", "would be ") if options.dry_run else ("copied", "")
        say(
            f"{verb} {plural(result.copied, 'file')}, {human_bytes(result.copied_bytes)}, to {plan.fast_root}"
        )
        if result.there:
            say(f"{plural(result.there, 'file')} there already")
        if result.links:
            say(f"{plural(result.links, 'link')} to {plan.slow_root} {would}made for the others")
        _print_problems(result.problems, "not staged")
        if result.stopped:
            say(f"{would}stopped: {result.stopped}")
    return SOMETHING_WRONG if result.problems or result.stopped else 0


def _verify(arguments: argparse.Namespace) -> int:
    from tfdarshan.staging.plan_file import read_plan
    from tfdarshan.staging.verify import MEANINGS, verify_plan
    from tfdarshan.terminal.progress import Progress

    plan = read_plan(arguments.plan)
    with Progress("verifying, files") as progress:
        result = verify_plan(plan, quick=arguments.quick, threads=_threads(arguments), progress=progress)
    if arguments.json:
        print_json(result)
    else:
        say(f"{plural(result.good, 'copy', 'copies')} of {len(plan.files):,} good in {plan.fast_root}")
        _print_problems(
            {name: MEANINGS.get(state, state) for name, state in result.wrong.items()}, "not good"
        )
        _print_problems(
            dict.fromkeys(result.dangling_links, "its original is gone"), "links that lead nowhere"
        )
    return SOMETHING_WRONG if result.wrong or result.dangling_links else 0


def _undo(arguments: argparse.Namespace) -> int:
    from tfdarshan.staging.plan_file import read_plan
    from tfdarshan.staging.undo import undo_plan
    from tfdarshan.terminal.progress import Progress

    plan: Plan = read_plan(arguments.plan)
    with Progress("removing, names") as progress:
        result = undo_plan(plan, dry_run=arguments.dry_run, progress=progress)
    if arguments.json:
        print_json(dataclasses.asdict(result))
    else:
        verb = "would remove" if arguments.dry_run else "removed"
        copies, links = plural(result.files, "copy", "copies"), plural(result.links, "link")
        say(f"{verb} {copies}, {links} and {plural(result.folders, 'folder')} from {plan.fast_root}")
        if result.of_other_plans:
            left = plural(len(result.of_other_plans), "copy or link", "copies and links")
            say(f"left for other plans: {left}; undo those plans too" + ":" * bool(result.other_plans))
            for path in result.other_plans:
                say(f"  tfdarshan stage undo {shell_word(path)}")
        _print_problems(result.kept, "left there")
    return SOMETHING_WRONG if result.kept else 0


def _bytes_per_s(arguments: argparse.Namespace) -> int | None:
    from tfdarshan.staging.capacity import parse_size

    if arguments.bandwidth is None:
        return None
    limit = parse_size(arguments.bandwidth)
    check_least("--bandwidth", limit, 1)
    return limit


def _threads(arguments: argparse.Namespace) -> int:
    threads = int(arguments.threads)
    check_least("--threads", threads, 1)
    return threads


def _print_problems(problems: dict[str, str], title: str) -> None:
    """Print names by reason, the first few of each."""
    if not problems:
        return
    say(f"{plural(len(problems), 'name')} {title}:")
    for why, count in Counter(problems.values()).most_common():
        say(f"  {count:,}: {why}")
        names = [name for name, found in problems.items() if found == why]
        for name in names[:NAMES_SHOWN]:
            say(f"    {name}")
        if len(names) > NAMES_SHOWN:
            say(f"    and {len(names) - NAMES_SHOWN:,} more (--json has all)")
