"""Asks the tab's routes as the page does, and prints how long each took as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from werkzeug.test import Client

from tests.perf.peak_memory import peak_mib
from tfdarshan.tensorboard_plugin.plugin import TfdarshanPlugin

FIRST = "beginning of the overview"


def main() -> None:
    """Ask everything twice, in the page's order: the files' view is there before one can search in it."""
    plugin = TfdarshanPlugin(SimpleNamespace(logdir=sys.argv[1]))
    apps = plugin.get_plugin_apps()

    def ask(route: str, **arguments: object) -> Any:
        response = Client(apps[route]).get(route, query_string=arguments)
        assert response.status_code == 200, response.data
        return json.loads(response.data)

    ask("/page")
    session = ask("/sessions")["sessions"][0]["id"]
    before_mib = _resident_mib()
    end_ns = _duration_ns(plugin, session)
    questions = {
        FIRST: lambda: ask("/view", session=session, view="overview", part="beginning"),
        "its bandwidth": lambda: ask("/view", session=session, view="overview", part="bandwidth"),
        "overview": lambda: ask("/view", session=session, view="overview"),
        "timeline": lambda: ask("/view", session=session, view="timeline"),
        "zoom to 1 %": lambda: ask(
            "/view",
            session=session,
            view="timeline",
            start_ns=end_ns // 2,
            end_ns=end_ns // 2 + end_ns // 100,
        ),
        "files": lambda: ask("/view", session=session, view="files"),
        "file search, sort and page": lambda: ask(
            "/files", session=session, search="class-07", sort="size_bytes"
        ),
    }
    times = [{name: _timed(question) for name, question in questions.items()} for _ in range(2)]
    for found in times:
        found["overview"] += found[FIRST] + found["its bandwidth"]
    growth = {"growth_mib": _resident_mib() - before_mib, "peak_growth_mib": peak_mib() - before_mib}
    print(json.dumps({"first_s": times[0], "again_s": times[1]} | growth))


def _duration_ns(plugin: TfdarshanPlugin, session: str) -> int:
    metas = plugin._routes.store.find(session).path.rglob("*.meta.json")
    return max(int(json.loads(meta.read_text())["duration_ns"]) for meta in metas)


def _timed(question: Any) -> float:
    before = time.perf_counter()
    question()
    return time.perf_counter() - before


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / (1 << 20)


if __name__ == "__main__":
    main()
