"""Runs programs that use a large library without importing it for each one: in forks of a process that has.

Importing it takes seconds of a processor, many times what most drawn jobs compute. The process that has it
imported creates no runtime and no tensor; what it forks runs one program as `python` would, and ends as an
interpreter ends. The program's own import then takes no time.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tfdarshan.errors import StorageError

READY_WITHIN_S = 300.0


@dataclass(frozen=True)
class Finished:
    """A program that ended: its exit code, negative for a signal, and what it said.

    `cpu_s` are its processor seconds if this process's own children do not count them.
    """

    code: int
    out: str
    err: str
    cpu_s: float = 0.0


class WarmPython:
    """The client: one program at a time."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        self._server = server

    def run(self, words: Sequence[str], folder: Path, limit_s: float) -> Finished:
        """Run what `python WORDS` would, in a folder, where its output is left as well.

        Raises:
            subprocess.TimeoutExpired: It took longer than the limit, and was killed with all that it started.
            StorageError: The process to fork is gone.
        """
        self._tell({"words": list(words), "folder": str(folder)})
        pid = int(self._hear(READY_WITHIN_S) or 0)
        ended = None
        try:
            ended = self._hear(limit_s)
        finally:
            if ended is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
        if ended is None:
            self._hear(READY_WITHIN_S)
            raise subprocess.TimeoutExpired(list(words), limit_s)
        out, err = (
            (folder / name).read_text(encoding="utf-8", errors="replace") for name in ("stdout", "stderr")
        )
        code, cpu_s = ended.split()
        return Finished(int(code), out, err, float(cpu_s))

    def _tell(self, request: Mapping[str, Any]) -> None:
        assert self._server.stdin is not None
        try:
            self._server.stdin.write(json.dumps(request) + "\n")
            self._server.stdin.flush()
        except OSError as error:
            raise StorageError("the process that programs are forked from has ended.") from error

    def _hear(self, limit_s: float) -> str | None:
        return _line_within(self._server.stdout, limit_s)


def _line_within(stream: IO[str] | None, limit_s: float) -> str | None:
    """Return the next line, None if there is none in time."""
    assert stream is not None
    if not select.select([stream], [], [], limit_s)[0]:
        return None
    line = stream.readline()
    if not line:
        raise StorageError("the process that programs are forked from has ended.")
    return line.strip()


@contextlib.contextmanager
def warm_python(library: str, environment: Mapping[str, str]) -> Iterator[WarmPython]:
    """Yield one that has a library imported, for programs of that environment; it ends with the block.

    Raises:
        StorageError: The library cannot be imported.
    """
    server = subprocess.Popen(
        [sys.executable, "-m", __name__, library],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(environment),
        text=True,
        bufsize=1,
    )
    try:
        if _line_within(server.stdout, READY_WITHIN_S) != "ready":
            raise StorageError(f"{library} was not imported within {READY_WITHIN_S:.0f} s.")
        yield WarmPython(server)
    finally:
        server.kill()
        server.communicate()


def _serve(library: str, requests: IO[str], answers: IO[str]) -> dict[str, Any] | None:
    """Fork for each request; return it in the fork, and None in the server when there are no more."""
    importlib.import_module(library)
    gc.collect()
    gc.freeze()
    print("ready", file=answers, flush=True)
    for line in iter(requests.readline, ""):
        pid = os.fork()
        if not pid:
            os.setsid()
            return dict(json.loads(line))
        print(pid, file=answers, flush=True)
        _, status, used = os.wait4(pid, 0)
        cpu_s = used.ru_utime + used.ru_stime
        print(os.waitstatus_to_exitcode(status), cpu_s, file=answers, flush=True)
    return None


def _run(words: Sequence[str], folder: Path) -> None:
    """Run them as `python` would, with output into files of that folder."""
    os.chdir(folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, opened in ((0, os.open(os.devnull, os.O_RDONLY)), (1, os.open("stdout", flags, 0o644)),
                           (2, os.open("stderr", flags, 0o644))):  # fmt: skip
        os.dup2(opened, number)
        os.close(opened)
    from tfdarshan.recording.script import load_module, load_script

    program = load_module(words[1], words[2:]) if words[0] == "-m" else load_script(words[0], words[1:])
    program.run()


def main() -> None:
    """Serve; in a fork, run one program and end with it."""
    # Requests and answers keep descriptors of their own: programs get 0, 1 and 2.
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = _serve(sys.argv[1], requests, answers)
    if request is not None:
        requests.close()
        answers.close()
        _run(request["words"], Path(request["folder"]))


if __name__ == "__main__":
    main()
