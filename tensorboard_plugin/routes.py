"""What each route answers: arguments in, plain data out. `http_api.md` documents them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any

from tfdarshan.errors import ConfigurationError, TfdarshanError
from tfdarshan.file_name import shell_word
from tfdarshan.reports.figures.over_time import MEASURES
from tfdarshan.reports.figures.theme import CONFIG, templates
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.banner import banner
from tfdarshan.reports.views.comparison_view import compare_view
from tfdarshan.reports.views.empty_views import empty_views
from tfdarshan.reports.views.files_view import MOST_ROWS, FileQuery, file_page, files_table, files_view
from tfdarshan.reports.views.overlap_view import overlap_banner
from tfdarshan.reports.views.overview_view import bandwidth_panels, beginning_panels
from tfdarshan.reports.views.panel import Panel, Text, as_json
from tfdarshan.reports.views.process_choice import process_choices
from tfdarshan.reports.views.staging_view import TIERS, StagingQuery, staging_view
from tfdarshan.reports.views.steps_view import PAGE_ROWS, StepQuery, steps_table, steps_view
from tfdarshan.reports.views.timeline_view import Window, groupings, timeline_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.assumed_tier import LOCAL
from tfdarshan.units import human_bytes, human_seconds, plural

from .findings_of import FindingsOf
from .live import recorded_so_far
from .logdirs import Logdir
from .session_list import SessionList
from .session_store import MOST_CALLS_KEPT, Listed, SessionStore

Arguments = Mapping[str, str]
Answer = dict[str, Any]
LONGEST_TEXT = 4_096
FILE_ROWS = 50
# Of a long session or of more processes the overview comes in parts, each with all that came before it.
MOST_PROCESSES = 16
BEGINNING, BANDWIDTH, ALL = "beginning", "bandwidth", "all"
PARTS: dict[str, Callable[[Source], list[Panel]]] = {BEGINNING: beginning_panels, BANDWIDTH: bandwidth_panels}
HOW_TO = "import tfdarshan\n\nwith tfdarshan.profile({logdir!r}):\n    model.fit(dataset)"


class Routes:
    """The routes by name; each takes a request's arguments.

    Args:
        logdirs: TensorBoard's logdirs.
    """

    def __init__(self, logdirs: Sequence[Logdir]) -> None:
        self.store = SessionStore(logdirs)
        self._list = SessionList(self.store)
        self._findings = FindingsOf(self._list.keep)
        self.by_name: dict[str, Callable[[Arguments], Answer]] = {
            "/page": self.page,
            "/sessions": self.sessions,
            "/beginning": self.beginning,
            "/verdicts": self.verdicts,
            "/view": self.view,
            "/findings": self.findings,
            "/files": self.files,
            "/steps": self.steps,
            "/file": self.file,
            "/compare": self.compare,
        }

    def page(self, _arguments: Arguments) -> Answer:
        """Return what the page is drawn with."""
        views = [{"name": name, "title": title} for name, (title, _) in VIEWS.items()]
        return {
            "config": CONFIG,
            "templates": templates(),
            "views": [*views, {"name": "compare", "title": "Compare"}],
            "measures": MEASURES,
            "tiers": TIERS,
        }

    def sessions(self, _arguments: Arguments) -> Answer:
        """List the sessions, and say how to record one."""
        listed = [
            {"id": found.id, "run": found.run, "name": found.name, "state": found.state}
            for found in self.store.sessions()
        ]
        logdir = str(self.store.logdirs[0].path) if self.store.logdirs else "logs"
        return {
            "sessions": listed,
            "refused": self.store.refused,
            "how_to": HOW_TO.format(logdir=logdir),
        }

    def verdicts(self, arguments: Arguments) -> Answer:
        """List the sessions with their verdicts; `look` looks at some that have none first."""
        return self._list.answer(look=_text(arguments, "look", "") == "1")

    def beginning(self, arguments: Arguments) -> Answer:
        """Return the first part of an overview, of the first session unless one is named.

        The page asks for it together with all else, before it knows the sessions. What cannot be shown it
        asks for again as a view, and is told why.
        """
        listed = self.store.sessions()
        session = arguments.get("session") or (listed[0].id if listed else "")
        try:
            wanted = {**arguments, "session": session, "view": "overview", "part": BEGINNING}
            return {"session": session, "view": self.view(wanted) if session else None}
        except TfdarshanError:
            return {"session": session, "view": None}

    def view(self, arguments: Arguments) -> Answer:
        """Return a view's panels, or the state of a session that is not complete."""
        name = _text(arguments, "view", "overview")
        if name not in VIEWS:
            raise ConfigurationError(f"view must be one of {', '.join(VIEWS)}, not {name!r}.")
        listed = self.store.find(_text(arguments, "session"))
        if listed.state == "recording":
            return {"state": "recording", "processes": [], "panels": as_json(_recording(listed.path))}
        if listed.state == "interrupted":
            return {"state": "interrupted", "processes": [], "panels": as_json(_interrupted(listed.path))}
        source, lock, part = self._part(listed, name, arguments)
        with lock:
            if name == "timeline":
                panels = timeline_view(source, _window(arguments, groupings(source.processes)[0]))
            elif name == "staging":
                panels = staging_view(source, _staging_query(arguments))
            elif name == "files":
                panels = files_view(source, _file_query(arguments))
            elif name == "steps":
                panels = steps_view(source, _step_query(arguments))
            elif part != ALL:
                panels = PARTS[part](source)
            else:
                panels = source.cached(f"_view_{name}", lambda: VIEWS[name][1](source))
        return {
            "state": "complete",
            **({"more": _after(part)} if part != ALL else {}),
            **({"empty": empty_views(source)} if name == "overview" and part == ALL else {}),
            **({"verdict": as_json(self._list.verdict(listed.path))} if part == BEGINNING else {}),
            "processes": source.cached(
                "_choices", lambda: process_choices(source.whole.processes, source.named)
            ),
            "groupings": groupings(source.processes),
            "banner": as_json([*overlap_banner(self.store.beside(listed)), *banner(source)]),
            "panels": as_json(panels),
        }

    def findings(self, arguments: Arguments) -> Answer:
        """Return the verdict and the findings; nothing of a session that is not complete."""
        listed = self.store.find(_text(arguments, "session"))
        return {"panels": self._findings.panels(listed) if listed.state == "complete" else []}

    def files(self, arguments: Arguments) -> Answer:
        """Return a page of files."""
        source, lock = self._source(arguments)
        with lock:
            table, matching = files_table(source, _file_query(arguments))
            return {"panels": as_json([table]), "matching": matching}

    def steps(self, arguments: Arguments) -> Answer:
        """Return a page of steps."""
        source, lock = self._source(arguments)
        with lock:
            table = steps_table(source, _step_query(arguments))
            return {"panels": as_json([table]), "matching": len(source.steps)}

    def file(self, arguments: Arguments) -> Answer:
        """Return one file's page."""
        path = _text(arguments, "path")
        source, lock = self._source(arguments)
        with lock:
            return {
                "banner": as_json(banner(source)),
                "panels": as_json(file_page(source, path)),
            }

    def compare(self, arguments: Arguments) -> Answer:
        """Return two sessions side by side; the first is the nearest of the second's command if not named."""
        other = _text(arguments, "other")
        name = arguments.get("session") or self._list.nearest(self.store.find(other))
        first, lock = self._source({**arguments, "session": name})
        second, other_lock = self.store.source(other, None)
        # Locks are always taken in the same order.
        locks = sorted({id(held): held for held in (lock, other_lock)}.items())
        try:
            for _, held in locks:
                held.acquire()
            return {
                "session": name,
                "banner": as_json(banner(first, second)),
                "panels": as_json(compare_view(first, second)),
            }
        finally:
            for _, held in locks:
                held.release()

    def _part(self, listed: Listed, name: str, arguments: Arguments) -> tuple[Source, RLock, str]:
        """Return the session and the part of the view to answer with; a beginning waits for no table."""
        wanted, process = _part(arguments) if name == "overview" else ALL, arguments.get("process") or None
        if wanted == BEGINNING:
            source, lock = self.store.described(listed.id, process)
            if _takes_long(source):
                return source, lock, BEGINNING
        source, lock = self.store.source(listed.id, process)
        return source, lock, wanted if _takes_long(source) else ALL

    def _source(self, arguments: Arguments) -> Any:
        return self.store.source(_text(arguments, "session"), arguments.get("process") or None)


def _takes_long(source: Source) -> bool:
    """Return whether the overview is not known yet and has to be added up from many calls or processes."""
    many = source.calls > MOST_CALLS_KEPT or len(source.processes) > MOST_PROCESSES
    return "_view_overview" not in source.__dict__ and many


def _part(arguments: Arguments) -> str:
    """Return the part of the overview that is asked for; all of it is answered if that takes no longer."""
    found = _text(arguments, "part", ALL)
    if found not in (*PARTS, ALL):
        raise ConfigurationError(f"part must be one of {', '.join((*PARTS, ALL))}, not {found!r}.")
    return found


def _after(part: str) -> str:
    order = [*PARTS, ALL]
    return order[order.index(part) + 1]


def _recording(path: Path) -> list[Panel]:
    found = recorded_so_far(path)
    lines = [f"This session is recording now; its recording takes {human_bytes(found.spool_bytes)} so far."]
    if found.calls is not None and found.files is not None and found.io_s is not None:
        lines.append(
            f"So far {plural(found.calls, 'call')} on {plural(found.files, 'file')}, "
            f"{human_seconds(found.io_s)} in I/O, in {human_seconds(found.duration_s or 0)}."
        )
    return [Text([*lines, "This page asks again every few seconds."], "Recording now")]


def _interrupted(path: Path) -> list[Panel]:
    lines = ["The process that recorded this session ended without writing it. What it recorded can be read:"]
    return [Text(lines, "Interrupted session", code=f"tfdarshan recover {shell_word(path)}", tone="warning")]


def _window(arguments: Arguments, by: str) -> Window:
    window = None
    if arguments.get("start_ns") or arguments.get("end_ns"):
        window = _number(arguments, "start_ns", 0), _number(arguments, "end_ns", 0)
    return Window(_text(arguments, "by", by), _text(arguments, "measure", "bandwidth"), window)


def _staging_query(arguments: Arguments) -> StagingQuery:
    room = _number(arguments, "capacity", 0)
    return StagingQuery(_text(arguments, "tier", LOCAL), room or None)


def _file_query(arguments: Arguments) -> FileQuery:
    return FileQuery(
        search=_text(arguments, "search", ""),
        sort=_text(arguments, "sort", "time_s"),
        descending=_descending(arguments),
        offset=_number(arguments, "offset", 0),
        limit=_number(arguments, "limit", FILE_ROWS, most=MOST_ROWS),
    )


def _step_query(arguments: Arguments) -> StepQuery:
    return StepQuery(
        sort=_text(arguments, "sort", "time"),
        descending=_descending(arguments),
        offset=_number(arguments, "offset", 0),
        limit=_number(arguments, "limit", PAGE_ROWS, most=MOST_ROWS),
    )


def _descending(arguments: Arguments) -> bool:
    return _text(arguments, "order", "descending") != "ascending"


def _text(arguments: Arguments, name: str, otherwise: str | None = None) -> str:
    value = arguments.get(name, otherwise)
    if value is None:
        raise ConfigurationError(f"the argument {name} is missing.")
    if len(value) > LONGEST_TEXT or "\0" in value:
        raise ConfigurationError(f"the argument {name} is no text of up to {LONGEST_TEXT} characters.")
    return value


def _number(arguments: Arguments, name: str, otherwise: int, *, most: int = (1 << 62)) -> int:
    text = arguments.get(name)
    if text is None or text == "":
        return otherwise
    if not (text.isascii() and text.isdecimal()) or len(text) > 19 or int(text) > most:
        raise ConfigurationError(f"{name} must be a whole number from 0 to {most}, not {text[:40]!r}.")
    return int(text)
