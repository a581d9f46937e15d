"""The tools of `tfdarshan mcp`: each asks a verb, in a process of its own, for what it prints with --json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from tfdarshan.native.versions import VERSION
from tfdarshan.sessions.analysis_cache_file import KEEP_NOTHING
from tfdarshan.sessions.catalogue import COMPLETE, list_sessions
from tfdarshan.sessions.find import began
from tfdarshan.sessions.session_directory import leads_below

# Bytes of an answer as JSON: an assistant reads all of it.
MOST_BYTES = 200_000
INSTRUCTIONS = (
    "Sessions are recorded runs of training jobs: their file I/O, and what training waited for. Ask for the "
    "verdict first: it says how much is lost, why, and which change gives what speedup. Speedups are "
    "estimates with a range. Names that end in _s are seconds, in _ns nanoseconds; sizes are bytes."
)
READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

Answer = dict[str, Any]
Named = Annotated[str, Field(description="a session's name as `sessions` lists it; empty for the newest")]
Rows = Annotated[int, Field(ge=1, le=50, description="rows to list")]
Factor = Annotated[float, Field(gt=0, description="1 leaves it, 2 doubles it, 0.5 halves it")]


def server_of(logdir: Path) -> MCPServer:
    """Return a server of the tools on one logdir."""
    server = MCPServer("tfdarshan", instructions=INSTRUCTIONS, version=VERSION, log_level="WARNING")
    tools = Tools(logdir)
    for tool in (
        tools.sessions, tools.verdict, tools.findings, tools.files, tools.steps, tools.compare, tools.whatif
    ):  # fmt: skip
        server.add_tool(tool, annotations=READ_ONLY)
    return server


def described(server: MCPServer) -> list[Answer]:
    """Return name, description and arguments of each tool."""
    tools = anyio.run(server.list_tools)
    return [
        {"name": tool.name, "description": tool.description, "arguments": tool.input_schema} for tool in tools
    ]


class Tools:
    """Questions about the sessions of one logdir.

    Args:
        logdir: Nothing outside of it is read.
    """

    def __init__(self, logdir: Path) -> None:
        self._logdir = logdir.resolve()
        # One question at a time: a large session takes memory, and the machine may be the job's own.
        self._turn = anyio.Lock()

    async def sessions(self, limit: Rows = 20) -> Answer:
        """List the recorded sessions, those that lose most time first, each with its verdict."""
        found = await self._ask("list", str(self._logdir))
        names = {_encodable(str(one.path)): _encodable(one.name) for one in list_sessions(self._logdir)}
        listed = [{"name": names.get(one["path"], "")} | one for one in found["sessions"][:limit]]
        return _bounded(found | {"sessions": listed, "matching": len(found["sessions"])})

    async def verdict(self, session: Named = "") -> Answer:
        """Say how much time a session loses to its input, why, and what to change for what speedup."""
        found = await self._ask("findings", self._path(session))
        return _bounded({name: found[name] for name in ("verdict", "step", "step_split_s", "trace_span")})

    async def findings(self, session: Named = "") -> Answer:
        """List all causes of lost time, with evidence, the lines to change and the speedup to expect."""
        return _bounded(await self._ask("findings", self._path(session)))

    async def files(
        self,
        session: Named = "",
        pattern: Annotated[str, Field(description="only paths that match, such as *.jpg")] = "",
        sort: Annotated[
            str, Field(description="time_s, reads, writes, bytes_read, bytes_written or path")
        ] = "time_s",
        limit: Rows = 10,
        steps: Annotated[
            str, Field(description="only calls that began in these steps, such as 100-200")
        ] = "",
        epoch: Annotated[int, Field(ge=0, description="only calls of this epoch, from 1 on; 0 for all")] = 0,
    ) -> Answer:
        """List a session's files, the slowest first. Figures that are 0 or unknown are left out."""
        given = {"filter": pattern, "sort": sort, "limit": limit, "steps": steps, "epoch": epoch}
        found = await self._ask("files", self._path(session), *_options(given))
        return _bounded(found | {"files": [_without_zeros(row) for row in found["files"]]})

    async def steps(
        self,
        session: Named = "",
        sort: Annotated[
            str, Field(description="duration_ns, input_wait_ns, io_ns, bytes_read, or step for their order")
        ] = "duration_ns",
        limit: Rows = 20,
    ) -> Answer:
        """List a session's training steps, the longest first: time, input wait and I/O of each."""
        given = {"sort": sort, "limit": limit}
        return _bounded(await self._ask("steps", self._path(session), *_options(given)))

    async def compare(self, before: Named, after: Named = "") -> Answer:
        """Say what changed from one session to another, and whether that is more than noise."""
        return _bounded(await self._ask("compare", self._path(before), self._path(after)))

    async def whatif(
        self,
        session: Named = "",
        threads: Annotated[int, Field(ge=0, description="reads at a time; 0 leaves it")] = 0,
        bandwidth: Factor = 1.0,
        latency: Factor = 1.0,
    ) -> Answer:
        """Estimate a step on other storage or with more reads at a time; without a change, usual ones."""
        given = {"threads": threads, "bandwidth": f"{bandwidth:g}", "latency": f"{latency:g}"}
        return _bounded(await self._ask("whatif", self._path(session), *_options(given)))

    async def _ask(self, verb: str, *words: str) -> Answer:
        """Return what a verb prints as JSON.

        Raises:
            ToolError: It cannot answer; what it says.
        """
        command = [sys.executable, "-m", "tfdarshan", verb, *words, "--json"]
        async with self._turn:
            # In the root folder: `-m` looks for modules in the working directory, which may be anybody's.
            done = await anyio.run_process(
                command,
                stdin=subprocess.DEVNULL,
                check=False,
                cwd="/",
                env={**os.environ, KEEP_NOTHING: "1"},
            )
        if done.returncode:
            said = done.stderr.decode(errors="backslashreplace").strip().splitlines()
            raise ToolError(said[-1].removeprefix("tfdarshan: ") if said else f"{verb} ended without a word.")
        answer: Answer = _encodable(json.loads(done.stdout))
        return answer

    def _path(self, name: str) -> str:
        """Return where a session is that the logdir lists; its newest one for "".

        Raises:
            ToolError: There is none of this name, it is not complete, or it leads out of the logdir.
        """
        listed = list_sessions(self._logdir)
        complete = [one for one in listed if one.state == COMPLETE]
        named = [one for one in complete if name in ("", _encodable(one.name))]
        if not named:
            names = ", ".join(_encodable(one.name) for one in complete[:10])
            there = f"it has {names}" if complete else "it has no finished session"
            state = next((one.state for one in listed if name == _encodable(one.name)), "")
            if state:
                raise ToolError(f"the session {name} is {state}: only complete ones can be asked about.")
            raise ToolError(f"the logdir has no session {name!r}: {there}.")
        path = max((one.path for one in named), key=began)
        links = [one for one in (path, *path.rglob("*")) if not leads_below(one, self._logdir)]
        if links:
            raise ToolError(f"the session {path.name} has a link out of the logdir, which is not followed.")
        return str(path)


def _options(given: dict[str, Any]) -> Sequence[str]:
    """Return options as they are typed, without those that are not given."""
    return [f"--{name}={value}" for name, value in given.items() if value not in ("", 0)]


def _without_zeros(row: Answer) -> Answer:
    return {name: value for name, value in row.items() if value not in (0, None)}


def _bounded(answer: Answer) -> Answer:
    """Return an answer as it is.

    Raises:
        ToolError: It is longer than an assistant should read.
    """
    size = len(json.dumps(answer))
    if size > MOST_BYTES:
        raise ToolError(
            f"the answer has {size:,} bytes, and {MOST_BYTES:,} is the most: ask for fewer rows, or for "
            "files that match a pattern."
        )
    return answer


def _encodable(value: Any) -> Any:
    """Return JSON's values with escapes for bytes of names that are not UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_encodable(one) for one in value]
    if isinstance(value, dict):
        return {_encodable(name): _encodable(one) for name, one in value.items()}
    return value
