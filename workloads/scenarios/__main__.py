"""Runs the scenarios; `make findings` fills the tables of docs/project/validation.md."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from .all_scenarios import SCENARIOS
from .gains_table import as_plain, as_text, fill_page


def main() -> int:
    """Run them; 1 where one is not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m tfdarshan.workloads.scenarios", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenarios (default: all)")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small sizes, gains not judged, one run each; more where it is not as it must be",
    )
    parser.add_argument("--repeats", type=int, default=3, help="runs before and after, in turn (default: 3)")
    parser.add_argument("--page", type=Path, help="fill the table of this page")
    parser.add_argument("--work-dir", type=Path, help="keep data and sessions here (default: none are kept)")
    parser.add_argument("--json", type=Path, help="write the outcomes here")
    arguments = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from .before_after import run_quickly, run_scenario

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    chosen = [one for one in SCENARIOS if not arguments.names or one.name in arguments.names]
    unknown = set(arguments.names) - {one.name for one in SCENARIOS}
    if unknown:
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(one.name for one in SCENARIOS)}")  # fmt: skip
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="tfdarshan-scenarios-") as scratch:
        folder = arguments.work_dir or Path(scratch)
        for scenario in chosen:
            outcome = (
                run_quickly(scenario, folder.absolute(), say)
                if arguments.quick
                else run_scenario(
                    scenario, folder.absolute(), quick=False, repeats=arguments.repeats, say=say
                )
            )
            outcomes.append(outcome)
            print(as_text([outcome]), flush=True)
            if arguments.page:
                fill_page(arguments.page, outcomes)
    if arguments.json:
        arguments.json.write_text(json.dumps([as_plain(outcome) for outcome in outcomes], indent=1) + "\n")
    return int(any(outcome.problems for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
