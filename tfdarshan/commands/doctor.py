"""`tfdarshan doctor`: does it work here?"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import add_json, print_json, say
from tfdarshan.options import ENGINES
from tfdarshan.terminal.columns import Columns

if TYPE_CHECKING:
    from tfdarshan.doctor.hook_proof import HookProof
    from tfdarshan.doctor.self_check import Check

CHECKS = Columns(-8, -22, " ", 0)


def add_parser(verbs: Any) -> None:
    """Adds the verb."""
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
    """Runs the checks; the exit code is 1 if one fails."""
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
        for line in (*map(_line, checks), *_hook_lines(proofs, every=arguments.verbose)):
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


def _line(check: Check) -> str:
    return CHECKS.row("ok" if check.ok else "FAILED", check.name, check.finding)


def _hook_lines(proofs: list[HookProof], *, every: bool) -> list[str]:
    """Gives a line on all hooks and those that failed, or a table of every one."""
    from tfdarshan.doctor.hook_proof import FAILED, MISSING, OK, UNTRIED

    if not proofs:
        return []
    columns = Columns(-max(len(proof.hook) for proof in proofs), "  ", 5, "  ", 0)
    counts = Counter(proof.state for proof in proofs)
    said = ", ".join(f"{counts[state]} {state}" for state in (OK, MISSING, UNTRIED, FAILED) if counts[state])
    if not every:
        failed = [CHECKS.row("FAILED", proof.hook, _said(proof)) for proof in proofs if proof.state == FAILED]
        proved = f"{len(proofs)}, each with a call of its own: {said} (-v lists them)"
        return [CHECKS.row("FAILED" if failed else "ok", "hooks proved", proved), *failed]
    rows = [columns.row(proof.hook, proof.slots or "-", _said(proof)) for proof in proofs]
    return ["", columns.row("hook", "slots", "proof"), *rows, "", f"{len(proofs)} hooks: {said}"]


def _said(proof: HookProof) -> str:
    return f"{proof.state}: {proof.finding}" if proof.finding else proof.state
