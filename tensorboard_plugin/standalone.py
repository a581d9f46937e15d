"""The tab without TensorBoard: the same pages below a secret path, for browsers of this machine alone."""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from werkzeug import wrappers
from werkzeug.serving import BaseWSGIServer, ThreadedWSGIServer, WSGIRequestHandler

from tfdarshan.errors import ConfigurationError

from .logdirs import Logdir
from .pages import pages
from .routes import Routes

LOOPBACK = "127.0.0.1"
# Names in a browser's address that are this machine's own, also through a forwarded port.
OWN_NAMES = ("127.0.0.1", "localhost")
METHODS = ("GET", "HEAD")
TOKEN_BYTES = 16
LAST_PORT = 65_535
# Connections at a time. A browser has up to 6 to a server.
MOST_CONNECTIONS = 64
# Seconds that a client may take for the next part of its request, or to take one of the answer.
SLOWEST_S = 30
# Seconds that a client which is refused may take to ask.
REFUSED_S = 0.05
BUSY = (
    b"HTTP/1.0 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
    b"Too many connections are open: close some pages of this session, and load this one again.\n"
)
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>tfdarshan</title>
<body></body>
<script type="module" src="alone.js"></script>
</html>
"""
# plotly sets styles, and draws pictures that are in the page; the token must not reach another site.
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; frame-ancestors 'none'; form-action 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


class Standalone:
    """A WSGI application that answers below `/<token>/` and refuses all else with status 403.

    Args:
        logdir: The folder whose sessions are shown.
        token: The first part of each path.
    """

    def __init__(self, logdir: Logdir, token: str) -> None:
        self._token = token.encode()
        self._pages = pages(Routes([logdir])) | {"/": wrappers.Response(PAGE, mimetype="text/html")}

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request."""

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            return start_response(status, [*headers, *HEADERS.items()], *more)

        request = wrappers.Request(environ)
        token, _, page = request.path.lstrip("/").partition("/")
        below = environ | {"SCRIPT_NAME": f"/{token}", "PATH_INFO": f"/{page}"}
        answered: Iterable[bytes] = self._application(request, token, page)(below, start)
        return answered

    def _application(self, request: wrappers.Request, token: str, page: str) -> Any:
        """Return the page's application, or a sentence that refuses."""
        if not self._is_allowed(request, token):
            return wrappers.Response("Open the address that `tfdarshan view` printed.\n", 403)
        if request.method not in METHODS:
            return wrappers.Response("Only GET is answered.\n", 405)
        return self._pages.get(f"/{page}", wrappers.Response("There is no such page.\n", 404))

    def _is_allowed(self, request: wrappers.Request, token: str) -> bool:
        """Return whether the token is right, and the address one of this machine's.

        A page of another site can have its name lead to this machine, but its name stays in the header Host.
        """
        name = request.host.partition(":")[0].lower()
        return name in OWN_NAMES and hmac.compare_digest(token.encode(), self._token)


class _Quiet(WSGIRequestHandler):  # type: ignore[misc]
    """Writes no line for each request: its path has the token."""

    timeout = SLOWEST_S

    def log(self, _type: str, _message: str, *_args: Any) -> None:
        """Write nothing."""


class _Bounded(ThreadedWSGIServer):  # type: ignore[misc]
    """Has a thread for each connection, and so many at most: clients that say nothing take no more."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(*arguments, **options)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, or refuse in a sentence."""
        if not self._free.acquire(blocking=False):
            request.settimeout(REFUSED_S)
            with suppress(OSError):
                request.recv(1 << 16)  # a connection that is closed with bytes to read loses what was sent
            with suppress(OSError):
                request.send(BUSY)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room for another one."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


def listen(logdir: Logdir, port: int) -> tuple[BaseWSGIServer, str]:
    """Return a server that listens on the loopback interface, and the address that it answers.

    Args:
        logdir: The folder whose sessions are shown.
        port: Where it listens, 0 for a free port.

    Raises:
        ConfigurationError: The port cannot be used.
    """
    if not 0 <= port <= LAST_PORT:
        raise ConfigurationError(f"--port must be from 0 to {LAST_PORT}, not {port}.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    try:
        bound = socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise ConfigurationError(
            f"--port {port} cannot be used: {os.strerror(error.errno or 0)}. "
            "Leave --port out, and a free one is taken."
        ) from error
    with bound:
        # The server ends the process if it cannot bind a port itself; it copies the descriptor.
        server = _Bounded(LOOPBACK, port, Standalone(logdir, token), _Quiet, fd=bound.fileno())
    return server, f"http://{LOOPBACK}:{server.server_address[1]}/{token}/"
