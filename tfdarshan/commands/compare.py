"""`tfdarshan compare`: whether runs are comparable, what changed, and whether that fails a check."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import add_json, check_least, print_json
from tfdarshan.commands.exit_codes import WRONG_USE
from tfdarshan.commands.workers import add_runner, check_runner, runner_of
from tfdarshan.errors import ConfigurationError, SessionDataError, reason
from tfdarshan.file_name import exact_name

if TYPE_CHECKING:
    from tfdarshan.comparison.change import Change, Comparison, Failure
    from tfdarshan.comparison.measured_run import Side
    from tfdarshan.partials.serial import Runner

HOLDS = 1
MOST_RUNS = 26


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "compare",
        help="say what changed between runs",
        description="Say whether runs can be compared, what changed from the first to the others and whether "
        "that is more than noise. The exit code is 1 where a condition of --fail-if holds, and 2 for input "
        "that cannot be used or a condition that cannot be judged.",
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="LOGDIR",
        help="two or more: a logdir (its newest session is read), a session's folder, or LOGDIR:RUN for a "
        "run or a session below it; the first is what the others are compared with",
    )
    parser.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="CONDITION",
        help="exit with 1 if any run after the first meets the condition: 'read_bandwidth<-10%%' (change in "
        "percent of the first run), 'opens>+100' (change) or 'duration>90s' (value); see "
        "docs/reference/compare.md (may be repeated)",
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=1,
        metavar="N",
        help="compare the medians of the newest N sessions of each logdir, and take their spread as noise "
        "(default: 1)",
    )
    parser.add_argument("--strict", action="store_true", help="exit with 2 if the runs are not comparable")
    add_runner(parser, usual="1")
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Compare."""
    check_runner(arguments)
    with runner_of(arguments, processes=1) as runner:
        return _compare(arguments, runner)


def _compare(arguments: argparse.Namespace, runner: Runner) -> int:
    from tfdarshan.comparison.change import compare, judge
    from tfdarshan.comparison.condition import parse_condition
    from tfdarshan.comparison.likeness import NO

    conditions = [parse_condition(text) for text in arguments.fail_if]
    try:
        sides = _sides(arguments.paths, arguments.runs, runner)
        comparisons = [compare(sides[0], side) for side in sides[1:]]
    except SessionDataError as error:
        raise ConfigurationError(str(error)) from error
    except OSError as error:  # 1 would be that a condition holds
        raise ConfigurationError(f"{error.filename} cannot be used: {reason(error)}.") from error
    failures = judge(conditions, comparisons)
    if arguments.json:
        print_json(_plain(sides, comparisons, failures))
    else:
        _print(sides, comparisons, failures)
    differ = arguments.strict and any(comparison.comparable == NO for comparison in comparisons)
    if differ:
        print("tfdarshan: the runs are not comparable, and --strict was given.", file=sys.stderr)
    if differ or any(failure.holds is None for failure in failures):
        return WRONG_USE
    return HOLDS if failures else 0


def _sides(paths: Sequence[str], runs: int, runner: Runner) -> list[Side]:
    from tfdarshan.comparison.measured_run import Side
    from tfdarshan.reports.views.view_source import Source
    from tfdarshan.session import open_newest

    if not 2 <= len(paths) <= MOST_RUNS:
        raise ConfigurationError(
            f"compare needs two to {MOST_RUNS} logdirs or sessions, not {len(paths)}: name the baseline "
            "first, and then what to compare with it."
        )
    check_least("--runs", runs, 1)
    opened = [open_newest(path, runs) for path in paths]
    labels = _labels(paths, [sessions[-1].path.name for sessions in opened])
    return [
        Side(label, [Source(session, runner=runner) for session in sessions])
        for label, sessions in zip(labels, opened, strict=True)
    ]


def _labels(paths: Sequence[str], sessions: Sequence[str]) -> list[str]:
    """Name runs by what was typed, else by their sessions; by where they stand if one is given twice."""
    typed = [path.rpartition(":")[2].rstrip("/").rpartition("/")[2] for path in paths]
    for names in (typed, list(sessions)):
        if all(names) and len(set(names)) == len(names):
            return names
    return [f"run {place}" for place in range(1, len(paths) + 1)]


def _print(sides: Sequence[Side], comparisons: Sequence[Comparison], failures: Sequence[Failure]) -> None:
    from tfdarshan.reports.text.comparison_text import render, render_failures, render_side
    from tfdarshan.terminal.paint import paint_for

    width = paint_for(sys.stdout).width
    for side in sides:
        sys.stdout.write(render_side(side, width))
    for comparison in comparisons:
        sys.stdout.write("\n" + render(comparison, width))
    if failures:
        sys.stdout.write("\n" + render_failures(failures, sides))


def _plain(
    sides: Sequence[Side], comparisons: Sequence[Comparison], failures: Sequence[Failure]
) -> dict[str, Any]:
    return {
        "runs": [
            {
                "label": side.label,
                "sessions": [run.whole.path for run in side.runs],
                "overlapping_sessions": side.overlapping,
            }
            for side in sides
        ],
        "comparisons": [_plain_comparison(comparison) for comparison in comparisons],
        "failures": [
            {"condition": failure.condition, "run": failure.run, "holds": failure.holds}
            | _plain_change(failure.change)
            for failure in failures
        ],
    }


def _plain_comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "first": comparison.first,
        "second": comparison.second,
        "comparable": comparison.comparable,
        "checks": comparison.checks,
        "changes": [_plain_change(change) for change in comparison.changes],
        "files": [dataclasses.asdict(file) | {"path": exact_name(file.path)} for file in comparison.files],
        "ranks": None if comparison.ranks is None else dataclasses.asdict(comparison.ranks),
    }


def _plain_change(change: Change) -> dict[str, Any]:
    return {
        "metric": change.metric.name,
        "unit": change.metric.unit,
        "before": change.before,
        "after": change.after,
        "change": change.ratio,
        "noise": change.noise,
        "outcome": change.outcome,
    }
