"""`tfdarshan view`, asked by a client of HTTP: the tab's pages for whoever has the token."""

import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse
from contextlib import contextmanager, suppress

import pytest

pytest.importorskip("werkzeug")

from tests.made_up_session import image_job, write_session
from tfdarshan.commands import main
from tfdarshan.tensorboard_plugin import standalone
from tfdarshan.tensorboard_plugin.logdirs import Logdir
from tfdarshan.tensorboard_plugin.standalone import MOST_CONNECTIONS

STAMP = "2024_01_01_00_00_00"
SESSION = f"run/{STAMP}"
NO_TENSORBOARD = (
    "import sys; sys.modules['tensorboard'] = None; from tfdarshan.commands import main; sys.exit(main())"
)


@contextmanager
def viewing(logdir, *options, program=("-m", "tfdarshan"), **environment):
    """Run the command; yield its process and the address that it prints first."""
    process = subprocess.Popen(
        [sys.executable, *program, "view", str(logdir), "--json", *options],
        env={**os.environ, "XDG_CACHE_HOME": f"{logdir.parent}/cache", **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        said = "".join(iter(process.stdout.readline, "}\n")) + "}"
        yield process, json.loads(said)["address"]
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view") / "logs"
    write_session(folder / "run", image_job(50, 2, 3), stamp=STAMP)
    return folder


@pytest.fixture(scope="module")
def address(logdir):
    """The address of a server in a process that cannot import TensorBoard."""
    with viewing(logdir, program=("-c", NO_TENSORBOARD)) as (_, address):
        yield address


def ask(address, page="", method="GET", **headers):
    """Return the response to a request, and its content."""
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        connection.request(method, f"{parts.path}{page}", headers=headers)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def test_the_tabs_pages_are_answered_without_tensorboard(address):
    for page, kind, part in (
        ("", "text/html", b"alone.js"),
        ("alone.js", "text/javascript", b"render"),
        ("index.js", "text/javascript", b"render"),
        ("style.css", "text/css", b"body"),
    ):
        response, content = ask(address, page)
        assert (response.status, response.headers.get_content_type()) == (200, kind)
        assert part in content
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert response.headers["Cache-Control"] == ("no-cache, must-revalidate" if page else None)
        assert response.headers["Content-Security-Policy"] == (
            "default-src 'self'; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
        )

    # and the routes, compressed if the client takes that
    response, content = ask(address, "sessions", **{"Accept-Encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
    (listed,) = json.loads(gzip.decompress(content))["sessions"]
    assert (listed["id"], listed["state"]) == (SESSION, "complete")
    query = urllib.parse.urlencode({"session": SESSION, "view": "overview"})
    assert json.loads(ask(address, f"view?{query}")[1])["panels"]


def test_nothing_is_answered_without_the_token(address):
    # GIVEN addresses of the same server with another token, a part of it, or none
    parts = urllib.parse.urlsplit(address)
    token = parts.path.strip("/")
    server = f"http://{parts.netloc}"

    # THEN
    for path in (
        "/",
        "/sessions",
        "/index.js",
        f"/{token[:-1]}/",
        f"/{token}x/sessions",
        "/%C3%BC/",
        "//",
        "",
    ):
        response, content = ask(f"{server}{path}")
        assert (path, response.status) == (path, 403)
        assert content.decode() == "Open the address that `tfdarshan view` printed.\n"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", "localhost@evil", "[::1]",
     "", "localhost, evil", "\xff", "x" * 5_000],
)  # fmt: skip
def test_a_name_that_another_site_leads_here_is_refused(address, host):
    assert ask(address, "sessions", Host=host)[0].status == 403


def test_a_page_of_another_site_reads_nothing(address):
    response, _ = ask(address, "sessions", Origin="http://evil.example")

    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert response.headers["Access-Control-Allow-Origin"] is None


@pytest.mark.parametrize(
    "path",
    ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc", "..%252f..%252f", "/etc/passwd",
     "%00", "index.js%00", "index.js/", "..;/index.js", "%ff%fe", "static/index.js", "x" * 20_000],
)  # fmt: skip
def test_no_path_leads_out_of_the_pages(address, path):
    response, content = ask(address, path)

    assert (response.status, content.decode()) == (404, "There is no such page.\n")


def test_slow_clients_stop_nobody(logdir, address):
    # GIVEN clients of which some send a part of a request, and some read no answer
    parts = urllib.parse.urlsplit(address)
    begun = f"GET {parts.path}plotly.js HTTP/1.1\r\nHost: localhost\r\n"
    clients = [socket.create_connection((parts.hostname, parts.port)) for _ in range(20)]
    for place, client in enumerate(clients):
        client.sendall((begun if place % 2 else f"{begun}\r\n").encode())

    # WHEN / THEN
    try:
        assert ask(address, "sessions")[0].status == 200
        query = urllib.parse.urlencode({"session": SESSION, "view": "files"})
        assert ask(address, f"view?{query}")[0].status == 200
    finally:
        for client in clients:
            client.close()


def test_a_body_that_never_comes_is_not_waited_for(address):
    parts = urllib.parse.urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as client:
        head = f"POST {parts.path}sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {1 << 50}\r\n\r\n"
        client.sendall(head.encode())
        assert b" 405 " in client.recv(100)


@pytest.mark.parametrize("host", ["localhost", "localhost:7000", "127.0.0.1:7000", "LOCALHOST:7000"])
def test_a_forwarded_port_is_answered(address, host):
    assert ask(address, "sessions", Host=host)[0].status == 200


def test_only_pages_that_there_are_can_be_read(address):
    assert [ask(address, page)[0].status for page in ("none", "../plugin.py", "static/index.js", "/")] == [
        404
    ] * 4
    assert [ask(address, "sessions", method)[0].status for method in ("POST", "PUT", "DELETE")] == [405] * 3
    assert ask(address, "none")[1].decode() == "There is no such page.\n"
    assert ask(address, "sessions", "POST")[1].decode() == "Only GET is answered.\n"
    assert ask(address, "plotly.js")[0].headers["Cache-Control"] == "private, max-age=3600"
    assert ask(address, "sessions", "HEAD")[1] == b""


def test_it_listens_on_the_loopback_interface_alone(address):
    port = urllib.parse.urlsplit(address).port
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table][1:]
    # Source: proc(5): local address and port in hexadecimal, and the state, of which 0A is listening.
    listening = [row[1] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "0A"]

    assert listening == [f"0100007F:{port:04X}"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_quietly(logdir, number):
    with viewing(logdir) as (process, address):
        assert ask(address)[0].status == 200

        # WHEN
        process.send_signal(number)
        said = process.communicate(timeout=60)

    # THEN requests were not logged either
    assert (process.returncode, said) == (0, ("", ""))


def test_each_server_has_a_token_of_its_own(logdir, address):
    with viewing(logdir) as (_, other):
        assert urllib.parse.urlsplit(other).path != urllib.parse.urlsplit(address).path


def test_the_address_is_printed_with_the_command_that_forwards_it(logdir):
    # GIVEN a login over ssh
    process = subprocess.Popen(
        [sys.executable, "-m", "tfdarshan", "view", str(logdir)],
        env=os.environ | {"SSH_CONNECTION": "10.0.0.1 5000 10.0.0.2 22"}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    said = [process.stdout.readline() for _ in range(3)]
    process.terminate()
    process.communicate(timeout=60)

    # THEN
    port = urllib.parse.urlsplit(said[1].strip()).port
    assert said[0] == "Open this address in a browser. Ctrl-C ends the server.\n"
    assert said[2].startswith("On your own machine, first run: ssh -N -L ")
    assert f"ssh -N -L {port}:localhost:{port} {os.uname().nodename}\n" in said[2]


def test_a_port_that_is_taken_is_one_sentence(logdir, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code = main(["view", str(logdir), "--port", str(port)])

    assert code == 2
    assert capsys.readouterr().err == (
        f"tfdarshan: --port {port} cannot be used: Address already in use. "
        "Leave --port out, and a free one is taken.\n"
    )


def answers(address):
    """Yield what a hundred requests get; a client that is refused before it asked may get nothing."""
    for _ in range(100):
        with suppress(OSError):
            yield ask(address)


def test_clients_that_say_nothing_take_a_bounded_number_of_threads(logdir):
    # GIVEN more connections than the server answers at a time
    with viewing(logdir) as (process, address):
        place = urllib.parse.urlsplit(address)
        silent = [socket.create_connection((place.hostname, place.port)) for _ in range(MOST_CONNECTIONS)]

        # WHEN
        response, content = next(answers(address))
        threads = len(os.listdir(f"/proc/{process.pid}/task"))
        for one in silent:
            one.close()

        # THEN the next one is refused in a sentence, and answered once the others are gone
        assert response.status == 503
        assert content.startswith(b"Too many connections are open: close some pages")
        assert threads < 2 * MOST_CONNECTIONS
        assert 200 in (response.status for response, _ in answers(address))


def test_a_client_that_is_slow_is_left(logdir, monkeypatch):
    # GIVEN a server that waits a moment for a request, where it is seconds by default
    assert 0 < standalone._Quiet.timeout <= 60
    monkeypatch.setattr(standalone._Quiet, "timeout", 0.2)
    server, _ = standalone.listen(Logdir(logdir), 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    # WHEN a client begins one, THEN the connection ends
    with socket.create_connection(server.server_address, timeout=20) as client:
        client.send(b"GET / HTTP/1.1\r\n")
        assert client.recv(1) == b""
    server.shutdown()
    server.server_close()
