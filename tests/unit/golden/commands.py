"""What each golden file shows: commands that read sessions, in their order."""

from __future__ import annotations

from tests.unit.golden.sessions import CHOSEN, logdir_name

LOGDIRS = tuple(logdir_name(title) for title in CHOSEN)
SLOW = "many-small-files"

# Commands by golden file. Words are split at spaces; those that name a logdir become its path, and those that
# begin with @ that of a file or folder to write.
COMMANDS: dict[str, tuple[str, ...]] = {
    "summary": tuple(f"summary {logdir}" for logdir in LOGDIRS),
    "summary_verbose": (f"summary -v {SLOW}", "summary -v checkpoints"),
    "findings": tuple(f"findings {logdir}" for logdir in LOGDIRS),
    "whatif": (f"whatif {SLOW}", f"whatif {SLOW} --threads 16", "whatif decoding --latency 0.5x"),
    "files": (f"files {SLOW} --limit 5", f"files {SLOW} --filter *nothing*", "files checkpoints --limit 3"),
    "files_of_steps": (
        f"files {SLOW} --steps 3-4 --limit 5",
        "files a-trace-cut-short --steps 7 --limit 3 --sort bytes_read",
        f"files {SLOW} --epoch 2",
        f"files {SLOW} --steps 100-200",
        "files no-steps --steps 1",
    ),
    "steps": (f"steps {SLOW} --limit 3", "steps one-reader --sort step --limit 2", "steps no-steps"),
    "list": (f"list {SLOW}", "list decoding"),
    "compare": (f"compare {SLOW} one-reader", "compare one-reader one-reader"),
    "export": (
        f"export --csv @tables {SLOW}",
        f"export --trace @trace.json {SLOW}",
        f"export --darshan @log.darshan {SLOW}",
    ),
    "recover": (f"recover {SLOW}", f"rebuild {SLOW}"),
    "help": ("",),
    "errors": (
        f"summary --top -3 {SLOW}",
        "summary /none",
        f"files --limit -1 {SLOW}",
        f"files {SLOW} --sort nonsense",
        f"files {SLOW} --module STDIO",
        f"files {SLOW} --steps 3-2",
        f"steps {SLOW} --sort nonsense",
        f"whatif --threads 0 {SLOW}",
        f"whatif --latency fast {SLOW}",
        f"whatif --fast /none {SLOW}",
        f"whatif --fast /dev/null {SLOW}",
        f"report -o /none/r.html --fast /none {SLOW}",
        f"compare {SLOW}",
        f"compare {SLOW} one-reader --fail-if nonsense>1",
        f"advise --logdir {SLOW}",
        "stage apply /none",
        "burst status /none",
        "lmdb info /none",
        "probe /none",
        "fleet /none --catalogue @catalogue",
        "run",
        "mcp /none",
        "view /none",
        f"view {SLOW} --port 65536",
        "sumary",
    ),
}
