"""Starts TensorBoard in a process of its own, and asks it for its tabs."""

from __future__ import annotations

import subprocess
import sys
import tempfile

from tfdarshan.doctor.pip_command import needed, reinstalling
from tfdarshan.durable.user_folders import temporary_folder
from tfdarshan.errors import TfdarshanError

OURS = "tfdarshan"
# Prints the names of the plugins that a TensorBoard lists.
START = """
import json, sys, urllib.request
from tensorboard import default, program
board = program.TensorBoard(default.get_plugins())
board.configure(["tensorboard", "--logdir", sys.argv[1], "--port", "0", "--load_fast", "false"])
address = board.launch().rstrip("/")
local = urllib.request.build_opener(urllib.request.ProxyHandler({}))
with local.open(f"{address}/data/plugins_listing", timeout=60) as answer:
    print("plugins:", *json.load(answer))
"""
LONGEST_S = 300


def listed_plugins() -> list[str]:
    """Return the names of the plugins that TensorBoard lists once it is started.

    Raises:
        TfdarshanError: It does not start.
    """
    with tempfile.TemporaryDirectory(prefix="tfdarshan-doctor-", dir=temporary_folder()) as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-c", START, folder],
                capture_output=True, text=True, timeout=LONGEST_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise TfdarshanError(f"did not start in {LONGEST_S} s: try `tensorboard --logdir .`.") from error
    for line in done.stdout.splitlines():
        name, _, plugins = line.partition(":")
        if name == "plugins":
            return plugins.split()
    raise TfdarshanError(f"cannot start: {_why(done.stderr)}")


def _why(said: str) -> str:
    """Return the last line of a traceback, and what to do."""
    last = (said.strip().splitlines() or ["it ended"])[-1].rstrip(".")
    return f"{last}. Run `{needed(last) or reinstalling('tensorboard')}`."
