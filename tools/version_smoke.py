"""Checks one environment: counts, every verb, TensorFlow's plane, Keras and the tab's routes.

Run it with the Python of an environment that tfdarshan is installed in. It prints what failed, a line each,
and ends with 1; if `tfdarshan doctor` names a pip command, that is the last line, after `mend: `.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
import urllib.error
import urllib.parse
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Known I/O: each file is read whole twice, a call for each part and one that meets its end.
SIZES = tuple(100_000 + 1_000 * number for number in range(12))
PART = 30_000
TRUTH = {
    "files": len(SIZES),
    "POSIX_OPENS": 2 * len(SIZES),
    "POSIX_READS": sum(2 * (-(-size // PART) + 1) for size in SIZES),
    "POSIX_BYTES_READ": 2 * sum(SIZES),
}
JOB = f"""
import os, pathlib, tfdarshan
for path in sorted(pathlib.Path("data").iterdir()) * 2:
    with tfdarshan.step():
        handle = os.open(path, os.O_RDONLY)
        while os.read(handle, {PART}):
            pass
        os.close(handle)
"""
# Prints the batches that Keras' callback saw.
TENSORFLOW_JOB = """
import pathlib, sys, tfdarshan
import numpy as np
import tensorflow as tf
import tfdarshan.keras
if "trace" in sys.argv:
    tfdarshan.enable()
    tf.profiler.experimental.start("trace")
    paths = sorted(str(path) for path in pathlib.Path("data").iterdir())
    for content in tf.data.Dataset.from_tensor_slices(paths).map(tf.io.read_file):
        len(content.numpy())
    tf.profiler.experimental.stop()
    tfdarshan.disable()
model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
model.compile("sgd", "mse")
callback = tfdarshan.keras.IOCallback("keras", batches=(2, 4), tf_profiler=False)
model.fit(np.zeros((20, 3)), np.zeros((20, 2)), batch_size=4, verbose=0, callbacks=[callback])
print(len(callback.session.steps))
"""
IO_PLANE = "/device:CUSTOM:I/O"
# By verb: what is typed, and the exit codes that are right. Words in braces are files and folders.
VERBS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "run": ((0,), ("run --logdir {logs} {job}", "run --logdir {logs} {job}")),
    # Is tried first.
    "doctor": ((0,), ()),
    "recover": ((0,), ("recover {logs}",)),
    "rebuild": ((0,), ("rebuild {logs}",)),
    "list": ((0,), ("list {logs}", "list --all --json {logs}")),
    "summary": ((0,), ("summary {logs}", "summary -v {logs}", "summary --json {logs}")),
    "findings": ((0,), ("findings {logs}",)),
    "whatif": ((0,), ("whatif {logs} --fast {fast}",)),
    "files": ((0,), ("files {logs}", "files --json --limit 0 {logs}")),
    "steps": ((0,), ("steps {logs}", "steps --json {logs}")),
    # 2 without the SDK; nothing is asked of it.
    "mcp": ((0, 2), ("mcp {logs}",)),
    # 2: there is no such port; else it would wait for browsers.
    "view": ((2,), ("view {logs} --port 65536",)),
    "fleet": ((0,), ("fleet {logs} --catalogue {out}/catalogue",)),
    "compare": ((0,), ("compare {first} {second}",)),
    "report": ((0,), ("report {logs} -o {out}/report.html",)),
    "export": ((0,), tuple(f"export --{kind} {{out}}/{kind} {{logs}}" for kind in
                           ("darshan", "trace", "parquet", "csv"))),
    # 2 without PyDarshan.
    "import": ((0, 2), ("import {out}/darshan --logdir {out}/imported",)),
    "advise": ((0,), ("advise --logdir {logs} --fast {fast} --epochs 9 --all -o {out}/plan",)),
    "stage": ((0,), ("stage apply {out}/plan", "stage verify {out}/plan")),
    # 1: there is no burst buffer, and no database.
    "burst": ((1,), ("burst status {out}",)),
    "lmdb": ((1,), ("lmdb info {out}",)),
    # 1: what was just written is in the page cache.
    "probe": ((0, 1), ("probe {data} --seconds 1",)),
    "workload": ((0,), ("workload list",)),
}  # fmt: skip
COMMAND = re.compile(r"`(pip install [^`]+)`")


def main() -> int:
    """Run all checks, and print what failed."""
    with tempfile.TemporaryDirectory(prefix="tfdarshan-versions-") as name:
        os.chdir(name)
        os.environ["XDG_CACHE_HOME"] = f"{name}/cache"
        for folder in ("data", "out", "fast"):
            Path(folder).mkdir()
        for number, size in enumerate(SIZES):
            Path("data", f"{number:02}").write_bytes(bytes(size))
        Path("job.py").write_text(JOB)
        said = io.StringIO()
        if typed("doctor", said) != 0:
            return wrong_packages(said.getvalue())
        failed = [line for check in CHECKS for line in failures(check)]
        if "Warning: " in said.getvalue():
            failed.append(f"doctor: {said.getvalue()}")
    print("\n".join(failed or ["ok"]))
    return int(bool(failed))


def wrong_packages(doctor: str) -> int:
    """Print what the doctor found, and the command that it names; say if a verb ends in a traceback."""
    lines = [line for line in doctor.splitlines() if line.startswith("FAILED")]
    print("\n".join(lines))
    commands = COMMAND.findall(" ".join(lines))
    if any(line.split()[1] == "packages" for line in lines):
        for verb in ("run --logdir {logs} {job}", "list {logs}", "summary {logs}", "recover {logs}"):
            said = io.StringIO()
            if typed(verb, said) not in (0, 1) or len(said.getvalue().splitlines()) > 1:
                print(f"{verb}: {said.getvalue()}")
                return 1
    if commands:
        print(f"mend: {commands[0]}")
    return 1


def failures(check: Callable[[], Iterator[str]]) -> Iterator[str]:
    """Yield what a check finds wrong, an exception among it."""
    try:
        yield from check()
    except Exception:
        yield f"{check.__name__}: {traceback.format_exc()}"


def words() -> dict[str, str]:
    """Return what stands for the words in braces."""
    sessions = sorted(Path("logs/plugins/tfdarshan").glob("*"))
    places = {"logs": "logs", "job": "job.py", "out": "out", "fast": "fast", "data": "data"}
    return places | ({"first": str(sessions[0]), "second": str(sessions[-1])} if sessions else {})


def typed(line: str, said: io.StringIO) -> int:
    """Run a verb in this process, in one of its own if it runs or serves something; return its exit code."""
    from tfdarshan.commands import main as tfdarshan

    given = [word.format_map(words()) for word in line.split()]
    if given[0] in ("run", "mcp"):
        command = [sys.executable, "-m", "tfdarshan", *given]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        said.write(done.stdout + done.stderr)
        return done.returncode
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("error", ResourceWarning)
        try:
            return tfdarshan(given)
        except SystemExit as end:
            return int(end.code or 0)
        except Exception:
            said.write(traceback.format_exc())
            return -1


def verbs() -> Iterator[str]:
    """Yield the verbs that end with another code than they should, or with a traceback."""
    from tfdarshan.commands import COMMANDS

    if set(COMMANDS) != set(VERBS):
        yield f"verbs that are not tried: {sorted(set(COMMANDS) ^ set(VERBS))}"
    for codes, commands in VERBS.values():
        for command in commands:
            said = io.StringIO()
            code = typed(command, said)
            if code not in codes or "Traceback" in said.getvalue() or "Warning:" in said.getvalue():
                yield f"{command}: exit code {code}\n{said.getvalue()}"


def counts() -> Iterator[str]:
    """Yield the counts of each session that are not what the job did."""
    import tfdarshan

    for session in Path("logs/plugins/tfdarshan").iterdir():
        files = tfdarshan.open_session(session).files
        files = files[files["path"].str.startswith(f"{Path('data').resolve()}/")]
        found = {name: len(files) if name == "files" else int(files[name].sum()) for name in TRUTH}
        if found != TRUTH:
            yield f"counted {found} instead of {TRUTH}"


def tensorflow() -> Iterator[str]:
    """Yield how TensorFlow's plane differs from the session, and how many batches Keras did not show."""
    if importlib.util.find_spec("tensorflow") is None:
        return
    yield from keras("0", "trace")
    yield from plane()
    if importlib.util.find_spec("tf_keras") is not None:
        yield from keras("1", "alone")


def keras(legacy: str, what: str) -> Iterator[str]:
    """Yield what a TensorFlow job with Keras' callback did not do."""
    done = subprocess.run(
        [sys.executable, "-c", TENSORFLOW_JOB, what], capture_output=True, text=True, check=False,
        env={**os.environ, "TF_USE_LEGACY_KERAS": legacy, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    if done.returncode or done.stdout.split()[-1:] != ["3"]:
        said = f"{done.stdout}{done.stderr}"
        yield f"the TensorFlow job (legacy Keras {legacy}) ended with {done.returncode}\n{said}"


def plane() -> Iterator[str]:
    """Yield the numbers of calls if TensorFlow's trace has others than the session and the files."""
    import tfdarshan

    session = tfdarshan.open_session("trace")
    part = session.meta[0]["tensorflow"]
    events = session.events[session.events["pid"] == session.meta[0]["pid"]]
    within = events[(events["start_ns"] >= part["start_ns"]) & (events["start_ns"] < part["end_ns"])]
    (trace,) = Path("trace").rglob("*.xplane.pb")
    drawn = io_events(trace)
    if not len(within) == drawn > 0:
        yield f"TensorFlow's plane has {drawn} calls, the session {len(within)}"
    files = session.files
    read = files[files["path"].str.startswith(f"{Path('data').resolve()}/")]
    found = (len(read), int(read["POSIX_OPENS"].sum()), int(read["POSIX_BYTES_READ"].sum()))
    if found != (len(SIZES), len(SIZES), sum(SIZES)):
        yield f"TensorFlow's files, opens and bytes are {found}"


def io_events(trace: Path) -> int:
    """Return the number of calls in the I/O plane, read with the classes that TensorFlow has for it."""
    package: Any = importlib.util.find_spec("tensorflow")
    path = Path(package.submodule_search_locations[0]) / "tsl" / "profiler" / "protobuf" / "xplane_pb2.py"
    spec: Any = importlib.util.spec_from_file_location("xplane_pb2", path)
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    space = module.XSpace.FromString(trace.read_bytes())
    lines = [line for plane in space.planes if plane.name == IO_PLANE for line in plane.lines]
    return sum(len(line.events) for line in lines if line.name.startswith("I/O thread"))


def routes() -> Iterator[str]:
    """Yield the routes of the tab that a TensorBoard does not answer with 200."""
    if importlib.util.find_spec("tensorboard") is None:
        return
    from tensorboard import default, program

    from tfdarshan.reports.views import VIEWS

    board = program.TensorBoard(default.get_plugins())
    board.configure(["tensorboard", "--logdir", "logs", "--port", "0", "--load_fast", "false"])
    address = f"{board.launch().rstrip('/')}/data/plugin/tfdarshan/"
    sessions = [entry["id"] for entry in json.loads(answer(f"{address}sessions")[1])["sessions"]]
    asked = {"session": sessions[0], "other": sessions[-1], "path": str(Path("data/00").resolve())}
    for route in all_routes():
        for view in VIEWS if route == "view" else ("overview",):
            query = urllib.parse.urlencode({**asked, "view": view})
            code, _ = answer(f"{address}{route}?{query}")
            if code != 200:
                yield f"the tab's route {route} of {view} answers {code}"


def all_routes() -> list[str]:
    """Return the names of the tab's routes."""
    from types import SimpleNamespace

    from tfdarshan.tensorboard_plugin.plugin import TfdarshanPlugin

    apps = TfdarshanPlugin(SimpleNamespace(logdir="logs")).get_plugin_apps()
    return [route.lstrip("/") for route in apps]


def answer(url: str) -> tuple[int, bytes]:
    """Return status and content of what a TensorBoard on this machine answers."""
    local = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with local.open(url, timeout=120) as found:
            return found.status, found.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


CHECKS = (verbs, counts, tensorflow, routes)

if __name__ == "__main__":
    sys.exit(main())
