"""`tfdarshan doctor`: does it work here?"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import add_json, print_json, say
from tfdarshan.file_name import printable
from tfdarshan.options import ENGINES
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout, fact_lines
from tfdarshan.terminal.paint import paint_for

if TYPE_CHECKING:
    from tfdarshan.doctor.hook_proof import HookProof
    from tfdarshan.doctor.self_check import Check

STATE, NAME = 8, 23


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "doctor",
        help="check that tfdarshan works here",
        description="Check the platform, attach to this process, make known calls and compare the counts; "
        "where there is a libdarshan, count them with it too and compare the two; see whether TensorFlow, "
        "TensorBoard and PyDarshan can be used; then prove every hook with one call of its own.",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="list every hook")
    add_json(parser)
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="darshan: also try libdarshan and compare it with the builtin engine, and fail without one; "
        "auto: the same where there is one; builtin: do not look for it (default: auto)",
    )
    parser.add_argument(
        "--darshan-library",
        metavar="PATH",
        help="path of libdarshan.so, which then has to work (default: TFDARSHAN_DARSHAN_LIBRARY, the "
        "process, the dynamic loader)",
    )
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Run the checks; the exit code is 1 if one fails."""
    from tfdarshan.doctor.hook_proof import FAILED, prove_hooks
    from tfdarshan.doctor.self_check import run_checks

    # A library that is named is to be used.
    named = arguments.darshan_library is not None and arguments.engine == "auto"
    checks = run_checks("darshan" if named else arguments.engine, arguments.darshan_library)
    proofs = prove_hooks() if all(check.ok for check in checks) else []
    ok = all(check.ok for check in checks) and all(proof.state != FAILED for proof in proofs)
    if arguments.json:
        print_json({"ok": ok, "checks": checks, "hooks": proofs})
    else:
        # In a pipe, each check is a line.
        every, width = arguments.verbose, paint_for(sys.stdout).width if sys.stdout.isatty() else sys.maxsize
        lines = _check_lines(checks, proofs, every=every, width=width)
        for line in (*lines, *(_every_hook(proofs, width) if proofs and every else ())):
            say(line)
        say("")
        say(_conclusion(checks, proofs))
    return 0 if ok else 1


def _conclusion(checks: list[Check], proofs: list[HookProof]) -> str:
    from tfdarshan.doctor.hook_proof import FAILED

    failed = [check.name for check in checks if not check.ok]
    failed += [f"hook {proof.hook}" for proof in proofs if proof.state == FAILED]
    if not failed:
        return "tfdarshan works here."
    lines = "line" if len(failed) == 1 else "lines"
    return f"tfdarshan does not work here: {', '.join(failed[:5])}. What to do stands in the {lines} FAILED."


def _check_lines(checks: list[Check], proofs: list[HookProof], *, every: bool, width: int) -> list[str]:
    """Return what each check found; unless every hook is listed, what came of all, and which failed."""
    from tfdarshan.doctor.hook_proof import FAILED

    rows = [(check.ok, check.name, check.finding) for check in checks]
    if proofs and not every:
        failed = [(False, proof.hook, _said(proof)) for proof in proofs if proof.state == FAILED]
        proved = f"{len(proofs)}, each with a call of its own: {_counted(proofs)} (-v lists them)"
        rows += [(not failed, "hooks proved", proved), *failed]
    facts = [(f"{'ok' if good else 'FAILED':<{STATE}}{name}", printable(found)) for good, name, found in rows]
    return fact_lines(facts, width, STATE + NAME)


def _every_hook(proofs: list[HookProof], width: int) -> list[str]:
    """Return a table of hooks."""
    table = [
        ("hook", "slots", "proof"),
        *((proof.hook, str(proof.slots or "-"), _said(proof)) for proof in proofs),
    ]
    columns = Columns(-max(len(proof.hook) for proof in proofs), "  ", 5, "  ", 0)
    rows = Layout(columns, table, width).all_lines(table)
    return ["", *rows, "", f"{len(proofs)} hooks: {_counted(proofs)}"]


def _counted(proofs: list[HookProof]) -> str:
    from tfdarshan.doctor.hook_proof import FAILED, MISSING, OK, UNTRIED

    counts = Counter(proof.state for proof in proofs)
    return ", ".join(f"{counts[state]} {state}" for state in (OK, MISSING, UNTRIED, FAILED) if counts[state])


def _said(proof: HookProof) -> str:
    return f"{proof.state}: {proof.finding}" if proof.finding else proof.state
