"""Kills apply and undo by SIGKILL at random moments, and looks at what is left each time.

`python -m tests.integration.staging.crash_rounds FOLDER KILLS SEED` prints what it found as JSON. It forks
for each round, from a process without threads, so a round takes hardly longer than the work that is cut off.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.integration.staging.tree import differing, make_files, plan_of, snapshot
from tfdarshan.staging import apply
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.plan_file import Plan
from tfdarshan.staging.undo import undo_plan
from tfdarshan.staging.verify import verify_plan

FILES = 60
OPTIONS = ApplyOptions(threads=2, mirror=True)


class Rounds:
    """A data set, a fast folder in which somebody else has files, and what went wrong so far."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.slow, self.fast = folder / "slow", folder / "fast"
        make_files(self.slow, FILES, seed)
        (self.fast / "x").mkdir(parents=True)
        (self.fast / "x" / "theirs").write_bytes(b"theirs")
        self.originals, self.before = snapshot(self.slow), snapshot(self.fast)
        plan = plan_of(self.slow, self.fast)
        self.plan = Plan(plan.slow_root, plan.fast_root, plan.files[::2] + plan.files[1::4])
        self.choice = random.Random(seed)
        self.wrong: list[str] = []
        self.killed = {"apply": 0, "undo": 0}
        self.midway = {"apply": 0, "undo": 0}

    def check(self, when: str) -> None:
        """Look for changed originals, parts of files under their names, and lost files of others."""
        if snapshot(self.slow) != self.originals:
            self.wrong.append(f"{when}: an original was changed")
        if parts := [name for name in differing(self.slow, self.fast) if name != "x/theirs"]:
            self.wrong.append(f"{when}: not whole: {parts}")
        if (self.fast / "x" / "theirs").read_bytes() != b"theirs":
            self.wrong.append(f"{when}: somebody else's file was changed")

    def kill_within(self, name: str, work: Callable[[], object], longest_s: float) -> None:
        """Start the work and kill it after a random part of `longest_s`."""
        child = os.fork()
        if child == 0:
            work()
            os._exit(0)
        time.sleep(self.choice.uniform(0, longest_s))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            self.killed[name] += 1
        elif status:
            self.wrong.append(f"{name} failed with status {status}")

    def staged(self) -> int:
        """Count what is below the fast folder."""
        return len(snapshot(self.fast)) - len(self.before)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that the work takes in a child, as it will be killed in."""
    begin = time.monotonic()
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    os.waitpid(child, 0)
    return time.monotonic() - begin


def main(folder: Path, kills: int, seed: int) -> dict[str, object]:
    """Run rounds until so many applies and so many undos were killed."""
    apply.BATCH_FILES = 4
    state = Rounds(folder, seed)
    apply_it = lambda: apply_plan(state.plan, OPTIONS)  # noqa: E731
    undo_it = lambda: undo_plan(state.plan)  # noqa: E731
    apply_s, undo_s = timed(apply_it), timed(undo_it)
    if snapshot(state.fast) != state.before:
        state.wrong.append("an undo that nobody disturbed left something")
    everything = number = 0
    while min(state.killed.values()) < kills and not state.wrong:
        number += 1
        # Some applies begin where a killed one ended, some where a killed undo ended.
        state.kill_within("apply", apply_it, apply_s)
        state.check(f"apply {number}")
        state.midway["apply"] += 0 < state.staged() < max(everything, FILES)
        if number % 3 == 0:
            result = apply_it()
            everything = state.staged()
            if result.problems or verify_plan(state.plan).good != len(state.plan.files):
                state.wrong.append(f"apply {number}: the next run did not finish: {result}")
        before_undo = state.staged()
        state.kill_within("undo", undo_it, undo_s)
        state.check(f"undo {number}")
        state.midway["undo"] += 0 < state.staged() < before_undo
        if number % 3 == 1:
            undo_it()
            if snapshot(state.fast) != state.before:
                state.wrong.append(f"undo {number}: the next run left {sorted(snapshot(state.fast))}")
    apply_it()
    undo_it()
    if snapshot(state.fast) != state.before:
        state.wrong.append("the last undo left something")
    return {"killed": state.killed, "midway": state.midway, "wrong": state.wrong}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
