"""A job that starts processes in every way, while sessions come and go or without any.

Prints a JSON object: `starts` has for each what it returned, printed, and had of environment and
descriptors, and when it began and ended; `sessions` when each was recording, and what it has of each file.
Run by a test.
"""

import concurrent.futures
import importlib
import json
import multiprocessing
import os
import random
import subprocess
import sys
import time

OPENS = 5
# Of a file of its own; then what the process has, as its last word.
WORK = """
import json, os, sys
for _ in range(5):
    with open(sys.argv[1], "rb", buffering=0) as file:
        assert len(file.read(1000)) == 100
links = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if int(fd) > 2
         and os.path.exists(f"/proc/self/fd/{fd}")}
print(json.dumps([sorted(os.environ), sorted(links.values()), sys.flags.isolated]))
print("said", file=sys.stderr)
sys.exit(int(sys.argv[2]))
"""


def work(path):
    """What a process does that runs no program: gives the names in its environment."""
    for _ in range(OPENS):
        with open(path, "rb", buffering=0) as file:
            assert len(file.read(1000)) == 100
    return sorted(os.environ)


def by_subprocess(path, code, **more):
    ran = subprocess.run(
        [sys.executable, *more.pop("flags", []), "-c", WORK, path, str(code)],
        capture_output=True,
        text=True,
        check=False,
        **more,
    )
    return ran.returncode, ran.stdout, ran.stderr


def by_exec(path, code, environment):
    """Fork, and run a program in the child; what it says comes through pipes."""
    out, into = os.pipe()
    if not (pid := os.fork()):
        os.dup2(into, 1)
        os.dup2(into, 2)
        os.execve(sys.executable, [sys.executable, "-c", WORK, path, str(code)], environment)
    os.close(into)
    with open(out) as file:
        said = file.read()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said, ""


def by_fork(path, code):
    out, into = os.pipe()
    if not (pid := os.fork()):
        os.write(into, json.dumps(work(path)).encode())
        os._exit(code)
    os.close(into)
    with open(out) as file:
        said = file.read()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said, ""


def by_pool(path, code, way):
    with multiprocessing.get_context(way).Pool(1) as pool:
        names = pool.apply(work, [path])
        pool.close()
        pool.join()
    return 0, json.dumps(names), ""


WAYS = {
    "subprocess": by_subprocess,
    "subprocess, an empty environment": lambda path, code: by_subprocess(path, code, env={}),
    "subprocess, a copy": lambda path, code: by_subprocess(path, code, env=dict(os.environ)),
    "subprocess, isolated": lambda path, code: by_subprocess(path, code, flags=["-I"]),
    "fork and execve": lambda path, code: by_exec(path, code, os.environ),
    "fork and execve, an empty environment": lambda path, code: by_exec(path, code, {}),
    "fork": by_fork,
    "Pool, spawn": lambda path, code: by_pool(path, code, "spawn"),
    "Pool, forkserver": lambda path, code: by_pool(path, code, "forkserver"),
}


def start(folder, number):
    way = list(WAYS)[number % len(WAYS)]
    path = f"{folder}/{number}"
    began = time.monotonic()
    code, out, errors = WAYS[way](path, number % 7)
    return {"way": way, "path": path, "result": [code, out, errors], "time": [began, time.monotonic()]}


def record(dice):
    """Record for a random while; return when that was, and opens and bytes of each file."""
    import tfdarshan

    session = tfdarshan.profile("logs").start()
    began = time.monotonic()
    time.sleep(dice.uniform(0, 3))
    ended = time.monotonic()
    session.stop()
    written = tfdarshan.open_session("logs")
    files = written.files[written.files.path.str.contains("/storm/")].groupby("path")
    counts = {path: [int(rows.POSIX_OPENS.sum()), int(rows.POSIX_BYTES_READ.sum())] for path, rows in files}
    return {"time": [began, ended], "files": counts, "problems": list(written.problems)}


def main():
    folder, count, with_sessions = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "sessions"
    dice, sessions = random.Random(1), []
    # While it is imported it puts OPENBLAS_MAIN_FREE into the environment: not when programs start.
    importlib.import_module("pyarrow")
    if with_sessions:
        import tfdarshan  # noqa: F401  (names the job before anything starts)
    before = sorted(os.listdir("/proc/self/fd"))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        starts = [pool.submit(start, folder, number) for number in range(count)]
        while with_sessions and not all(one.done() for one in starts):
            sessions.append(record(dice))
    told = {
        "starts": [one.result() for one in starts],
        "sessions": sessions,
        "environment": sorted(os.environ),
        "descriptors": [before, sorted(os.listdir("/proc/self/fd"))],
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
