"""`tfdarshan whatif`: what a step would take on other storage, or with other threads."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import (
    add_json,
    add_session,
    check_least,
    folder_of,
    overlap_of,
    overlap_text,
    print_json,
    session_of,
)
from tfdarshan.commands.workers import USUAL, add_runner, check_runner, runner_of_calls
from tfdarshan.terminal.paint import paint_for

if TYPE_CHECKING:
    from tfdarshan.findings.measures import Measures
    from tfdarshan.session import Session


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "whatif",
        help="estimate a step on other storage, or with more reads at a time",
        description="Estimate a training step if storage had another bandwidth or latency, if more threads "
        "read, or if the input were on another device. Without an option, estimate faster storage and "
        "more readers.",
    )
    add_session(parser)
    parser.add_argument(
        "--bandwidth",
        metavar="FACTOR",
        default="1x",
        help="change of the bandwidth, such as 2x: twice the bandwidth",
    )
    parser.add_argument(
        "--latency",
        metavar="FACTOR",
        default="1x",
        help="change of the latency, such as 0.5x: half the latency",
    )
    parser.add_argument("--threads", metavar="N", type=int, help="number of reads at a time")
    parser.add_argument(
        "--fast",
        metavar="DIR",
        help="measure the device of DIR, and estimate the step time with all input on that device",
    )
    add_runner(parser, usual=USUAL)
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Print the answer."""
    from tfdarshan.findings.measurement import measure_leading
    from tfdarshan.findings.plain import plain_gain
    from tfdarshan.findings.whatif import StorageChange, parse_factor, what_if
    from tfdarshan.reports.text.whatif_text import whatif_text
    from tfdarshan.staging.probe import probe_tier

    bandwidth = parse_factor(arguments.bandwidth, "--bandwidth")
    latency = parse_factor(arguments.latency, "--latency")
    if arguments.threads is not None:
        check_least("--threads", arguments.threads, 1)
    folder = folder_of("--fast", arguments.fast) if arguments.fast else None
    check_runner(arguments)
    session = session_of(arguments)
    with runner_of_calls(arguments, session) as runner:
        measures = measure_leading(session, runner=runner)
    if (bandwidth, latency, arguments.threads, folder) == (1.0, 1.0, None, None):
        return _questions(measures, session, as_json=arguments.json)
    fast = None
    if folder is not None:
        readers = arguments.threads or max(1, round(measures.model.readers))
        fast = probe_tier(folder, readers)
    change = StorageChange(bandwidth=bandwidth, latency=latency, threads=arguments.threads, fast=fast)
    found = what_if(measures, change)
    if arguments.json:
        print_json(dataclasses.asdict(found) | {"gain": plain_gain(found.gain)} | overlap_of(session))
    else:
        sys.stdout.write(overlap_text(session) + whatif_text(found, paint_for(sys.stdout).width))
    return 0


def _questions(measures: Measures, session: Session, *, as_json: bool) -> int:
    """Print the questions worth asking, each as it is to be typed, with its answer."""
    from tfdarshan.findings.plain import plain_gain
    from tfdarshan.findings.whatif import questions_of
    from tfdarshan.reports.text.whatif_text import questions_text

    asked = questions_of(measures)
    if as_json:
        plain = [{"options": one.options, "gain": plain_gain(one.answer.gain)} for one in asked]
        print_json({"questions": plain} | overlap_of(session))
    else:
        width, span = paint_for(sys.stdout).width, measures.summary.trace_span
        sys.stdout.write(overlap_text(session) + questions_text(asked, str(session.path), span, width))
    return 0
