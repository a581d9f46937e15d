"""Verbs that are tried on damaged sessions and logs."""

from __future__ import annotations

from tfdarshan.commands import main

VERBS = (
    "summary LOGS",
    "findings LOGS",
    "files LOGS",
    "whatif LOGS --threads 4",
    "report LOGS -o OUT/report.html",
    "export LOGS --trace OUT/trace.json",
    "export LOGS --parquet OUT/parquet",
    "export LOGS --csv OUT/csv",
    "export LOGS --darshan OUT/log.darshan",
    "compare LOGS LOGS",
    "advise --logdir LOGS --fast OUT/fast --epochs 5 -o OUT/plan.json",
)


def run_verb(capfd, line, **places):
    """Run a verb; return its exit code and the lines of its stderr."""
    words = line.split()
    for name, path in places.items():
        words = [word.replace(name, str(path)) for word in words]
    capfd.readouterr()
    code: object
    try:
        code = main(words)
    except SystemExit as ended:
        code = ended.code
    return code, capfd.readouterr().err.splitlines()
