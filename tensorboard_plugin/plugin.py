"""The TensorBoard plugin: HTTP around `routes`, and the files the page is made of."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin
from werkzeug import wrappers

from tfdarshan.errors import ConfigurationError, SessionDataError, TfdarshanError
from tfdarshan.reports.page import PageError, plotly_js, static_file

from .logdirs import logdirs_of
from .routes import Arguments, Routes
from .session_store import UnknownSession
from .tab_names import NAME, TAB

LOGGER = logging.getLogger(__name__)
STATIC = Path(__file__).parent / "static"
OWN_FILES = ("index.js", "app.js", "picker.js", "plotly_loader.js")
SHARED_FILES = ("panels.js", "style.css")
KINDS = {".js": "text/javascript", ".css": "text/css"}
HINTS = {
    400: "The page's link may be wrong; open the tab again.",
    404: "The session may have been removed; reload the list of sessions.",
    422: "Other sessions can still be looked at.",
    500: "Please report this with TensorBoard's log.",
}


class TfdarshanPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """Serves the tab. Below the logdir it reads, and keeps what it worked out of large sessions."""

    plugin_name = NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        self._routes = Routes(logdirs_of(context))

    def is_active(self) -> bool:
        """Return whether there are sessions; asked at every listing of plugins."""
        return bool(self._routes.store.sessions())

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """Name the tab and its script."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name=TAB)

    def get_plugin_apps(self) -> dict[str, Any]:
        """Return the routes."""
        apps: dict[str, Any] = {route: _application(answer) for route, answer in self._routes.by_name.items()}
        for name in (*OWN_FILES, *SHARED_FILES):
            apps[f"/{name}"] = _file_application(name)
        return apps | {"/plotly.js": _plotly_application()}


def _application(answer: Callable[[Arguments], dict[str, Any]]) -> Any:
    @wrappers.Request.application  # type: ignore[untyped-decorator]
    def serve(request: wrappers.Request) -> wrappers.Response:
        try:
            return _json(request, answer(request.args.to_dict()))
        except (ConfigurationError, PageError) as error:
            return _failure(request, 400, error)
        except UnknownSession as error:
            return _failure(request, 404, error)
        except (SessionDataError, TfdarshanError) as error:
            return _failure(request, 422, error)
        except Exception as error:  # Whatever happens, the page gets a sentence and TensorBoard goes on.
            LOGGER.exception("tfdarshan: %s", request.path)
            return _failure(request, 500, error)
        finally:
            _release_unused()

    return serve


def _release_unused() -> None:
    """Give back what Arrow read tables with; it would keep as much as the largest request needed."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def _file_application(name: str) -> Any:
    @wrappers.Request.application  # type: ignore[untyped-decorator]
    def serve(request: wrappers.Request) -> wrappers.Response:
        content = (STATIC / name).read_bytes() if name in OWN_FILES else static_file(name)
        return http_util.Respond(request, content, KINDS[Path(name).suffix])

    return serve


def _plotly_application() -> Any:
    @wrappers.Request.application  # type: ignore[untyped-decorator]
    def serve(request: wrappers.Request) -> wrappers.Response:
        try:
            packed = _packed_plotly()
        except PageError as error:
            return _failure(request, 404, error)
        return http_util.Respond(request, packed, "text/javascript", content_encoding="gzip", expires=3600)

    return serve


@lru_cache(maxsize=1)
def _packed_plotly() -> bytes:
    return gzip.compress(plotly_js(), 6, mtime=0)


def _json(request: wrappers.Request, value: dict[str, Any], code: int = 200) -> wrappers.Response:
    return http_util.Respond(
        request, json.dumps(value, allow_nan=False, separators=(",", ":")), "application/json", code
    )


def _failure(request: wrappers.Request, code: int, error: Exception) -> wrappers.Response:
    message = str(error) if code < 500 else f"{type(error).__name__} while answering {request.path}"
    return _json(request, {"error": {"message": message, "hint": HINTS[code]}}, code)
