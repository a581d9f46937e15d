"""One rank of a job with a planted cause: `planted_rank LOGDIR PLAN`, in lockstep with who reads its output.

PLAN has a list of sessions, each with `as_if`, `as_if_paths` and `steps`: the files that each step reads.
After each step the rank writes a line, and goes on when it gets one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import tfdarshan


def keep_step() -> None:
    """Tell that this rank is ready, and wait until all are."""
    sys.stdout.write(".\n")
    sys.stdout.flush()
    if not sys.stdin.readline():
        raise SystemExit("whoever kept step is gone")


def main() -> None:
    """Record each session."""
    for session in json.loads(Path(sys.argv[2]).read_bytes()):
        with tfdarshan.profile(sys.argv[1], as_if=session["as_if"], as_if_paths=session["as_if_paths"]):
            keep_step()
            for files in session["steps"]:
                with tfdarshan.step() as step:
                    with step.input_wait():
                        for name in files:
                            Path(name).read_bytes()
                    keep_step()
        keep_step()


if __name__ == "__main__":
    main()
