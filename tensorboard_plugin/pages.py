"""The tab's pages: HTTP around `routes`, and the files the page is made of. TensorBoard is not needed."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from werkzeug import wrappers

from tfdarshan.errors import ConfigurationError, SessionDataError, TfdarshanError
from tfdarshan.file_name import printable
from tfdarshan.reports.page import PageError, plotly_js, static_file

from .routes import Arguments, Routes
from .session_store import UnknownSession

LOGGER = logging.getLogger(__name__)
STATIC = Path(__file__).parent / "static"
OWN_FILES = ("alone.js", "index.js", "app.js", "picker.js", "plotly_loader.js")
SHARED_FILES = ("panels.js", "style.css")
KINDS = {".js": "text/javascript", ".css": "text/css"}
# How long a browser keeps plotly.js without asking again.
PLOTLY_KEPT_S = 3600
# Level of gzip for answers, which are made anew at each request.
QUICK = 3
HINTS = {
    400: "The page's link may be wrong; open the tab again.",
    404: "The session may have been removed; reload the list of sessions.",
    422: "Other sessions can still be looked at.",
    500: "Please report this with what the server printed.",
}


def pages(routes: Routes) -> dict[str, Any]:
    """Return a WSGI application for each path of the tab, such as "/sessions"."""
    apps: dict[str, Any] = {route: _application(answer) for route, answer in routes.by_name.items()}
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
        except Exception as error:  # Whatever happens, the page gets a sentence and the server goes on.
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
        return _respond(request, content, KINDS[Path(name).suffix])

    return serve


def _plotly_application() -> Any:
    @wrappers.Request.application  # type: ignore[untyped-decorator]
    def serve(request: wrappers.Request) -> wrappers.Response:
        try:
            content, packed = plotly_js(), _packed_plotly()
        except PageError as error:
            return _failure(request, 404, error)
        return _respond(request, content, KINDS[".js"], packed=packed, keep_s=PLOTLY_KEPT_S)

    return serve


@lru_cache(maxsize=1)
def _packed_plotly() -> bytes:
    return gzip.compress(plotly_js(), 6, mtime=0)


def _json(request: wrappers.Request, value: dict[str, Any], code: int = 200) -> wrappers.Response:
    content = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    return _respond(request, content, "application/json", code)


def _failure(request: wrappers.Request, code: int, error: Exception) -> wrappers.Response:
    message = str(error) if code < 500 else f"{type(error).__name__} while answering {request.path}"
    return _json(request, {"error": {"message": printable(message), "hint": HINTS[code]}}, code)


def _respond(
    request: wrappers.Request,
    content: bytes,
    kind: str,
    code: int = 200,
    *,
    packed: bytes | None = None,
    keep_s: int = 0,
) -> wrappers.Response:
    """Return a response, compressed if the browser takes that; `packed` is the content compressed before."""
    response = wrappers.Response(content, code, content_type=f"{kind}; charset=utf-8")
    if "gzip" in request.accept_encodings:
        response.set_data(gzip.compress(content, QUICK, mtime=0) if packed is None else packed)
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = (
        f"private, max-age={keep_s}" if keep_s else "no-cache, must-revalidate"
    )
    return response
