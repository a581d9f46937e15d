"""Asking another host for its clock: how exact it is, and that nobody waits for who does not answer."""

import errno
import os
import socket
from dataclasses import replace

import pytest

from tfdarshan.recording import clock_exchange
from tfdarshan.recording.asked_clock import DRIFT_PPM, Asked, keep, kept, summed
from tfdarshan.recording.clock_exchange import (
    ClockExchange,
    ask,
    begin_exchange,
    best_of,
    look_up,
    publish,
)
from tfdarshan.recording.clock_service import REST_S, OfferedClock, _Answering, own_addresses
from tfdarshan.recording.job_identity import JobIdentity
from tfdarshan.sessions import session_directory

SECOND_NS = 10**9
TWO_HOSTS = JobIdentity("named", "x", 1, world_size=4, local_size=2)


@pytest.fixture(autouse=True)
def loopback(monkeypatch):
    monkeypatch.setenv("TFDARSHAN_CLOCK_ADDRESS", "127.0.0.1")


@pytest.fixture
def offered():
    clock = OfferedClock()
    clock.answer()
    return clock.service


def test_the_quickest_of_many_answers_counts():
    # GIVEN answers that take 1,000 ns each way, and one that takes 30 there and 10 back
    now = [0]

    def question():
        there, back = (30, 10) if now[0] > 50_000 and now[0] < 53_000 else (1_000, 1_000)
        now[0] += there
        answer = now[0] + 7 * SECOND_NS
        now[0] += back
        return answer

    # THEN the error is half of its time, and it is within it
    found = best_of(question, lambda: now[0])
    assert found.error_ns == 20
    assert found.offset_ns == 7 * SECOND_NS + 10


def test_a_slow_network_is_not_asked_for_long():
    now, asked = [0], []

    def question():
        now[0] += SECOND_NS // 10
        asked.append(1)
        return 0

    best_of(question, lambda: now[0])
    assert len(asked) == 3


def test_what_was_answered_before_the_connection_broke_counts():
    answers = iter([5])

    def question():
        for answer in answers:
            return answer
        raise ConnectionResetError

    assert best_of(question, lambda: 0).offset_ns == 5
    with pytest.raises(ConnectionResetError):
        best_of(question, lambda: 0)


def test_drift_is_within_the_error():
    # GIVEN clocks that were 100 ns apart at 1 s, and 5,100 ns at 11 s
    asked = [Asked(SECOND_NS, 100, 10), Asked(11 * SECOND_NS, 5_100, 30)]

    # THEN what was seen between is, and what may be before and after
    found = summed("r", asked, 0, 13 * SECOND_NS)
    seen_ns, unseen_ns = (5_130 - 90) // 2, 3 * SECOND_NS * DRIFT_PPM // 1_000_000
    assert found == {"reference": "r", "offset_ns": 2_610, "error_ns": seen_ns + unseen_ns}
    # ... of one answer the whole time is not seen
    alone = summed("r", asked[:1], 0, 13 * SECOND_NS)
    assert alone["error_ns"] == 10 + 13 * SECOND_NS * DRIFT_PPM // 1_000_000
    assert summed("r", [], 0, 1) is None


def test_this_hosts_clock_is_its_own(offered):
    found = ask(offered)
    assert abs(found.offset_ns) <= found.error_ns
    # ... also for who comes next
    assert abs(ask(offered).offset_ns) <= SECOND_NS


def test_who_does_not_say_the_word_learns_nothing(offered):
    with pytest.raises(OSError, match="answers by none"):
        ask(replace(offered, token="00" * 16))
    ask(offered)


def test_of_two_that_offer_one_answers(tmp_path):
    # WHEN
    path = tmp_path / "clock.json"
    assert (publish(path), publish(path)) == (True, False)

    # THEN
    _, service = look_up(path)
    ask(service)
    assert [found.name for found in tmp_path.iterdir()] == ["clock.json"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_hosts_that_hide_their_boot_ask_each_other(tmp_path, monkeypatch):
    # GIVEN two hosts whose kernels do not say their boots, as in a sandbox
    monkeypatch.setattr(session_directory, "boot_id", str)
    monkeypatch.setattr(clock_exchange, "boot_id", str)
    exchanges = []
    for host in ("first", "second"):
        monkeypatch.setattr(session_directory, "host_name", lambda host=host: host)
        (tmp_path / host).mkdir()
        exchanges.append(ClockExchange(tmp_path / "clock.json", tmp_path / host))
        exchanges[-1].begin()
        exchanges[-1].thread.join()

    # WHEN
    found = exchanges[-1].end()

    # THEN the second knows the first one's clock by asking, not for the same as its own
    assert found["reference"] == "first"
    assert 0 < found["error_ns"] < SECOND_NS


def test_a_host_that_does_not_answer_keeps_nobody_waiting(tmp_path, monkeypatch):
    # GIVEN a first rank that takes what is said, and never answers
    silent = socket.create_server(("127.0.0.1", 0))
    port = silent.getsockname()[1]
    (tmp_path / "clock.json").write_text(
        f'{{"boot_id": "other", "addresses": ["127.0.0.1"], "port": {port}, "token": "{"00" * 16}"}}'
    )
    exchange = ClockExchange(tmp_path / "clock.json", tmp_path)
    waited = []
    monkeypatch.setattr("threading.Thread.join", lambda thread, timeout=None: waited.append(timeout))

    # WHEN
    exchange.begin()
    found = exchange.end()

    # THEN it waited for no more than a second in all
    assert found is None
    assert 0 < sum(waited) <= 1.0
    silent.close()


def test_a_file_that_says_nothing_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(clock_exchange, "TRYING_S", 0.1)
    (tmp_path / "clock.json").write_text("[]")
    exchange = ClockExchange(tmp_path / "clock.json", tmp_path)
    exchange.begin()
    exchange.thread.join()
    assert exchange.end() is None


@pytest.mark.parametrize(
    ("identity", "switch", "begins"),
    [
        (TWO_HOSTS, "", True),
        (TWO_HOSTS, "0", False),
        (None, "", False),
        (replace(TWO_HOSTS, world_size=2), "", False),
        (replace(TWO_HOSTS, world_size=1, local_size=None), "", False),
        (replace(TWO_HOSTS, world_size=None), "", True),
    ],
)
def test_only_who_may_have_ranks_elsewhere_asks(tmp_path, monkeypatch, identity, switch, begins):
    monkeypatch.setenv("TFDARSHAN_CLOCK", switch)
    exchange = begin_exchange(tmp_path / "rank-00001", tmp_path, identity)
    assert (exchange is not None) is begins
    if exchange is not None:
        exchange.thread.join()
        found = exchange.end()
        assert (found["offset_ns"], found["error_ns"]) == (0, 0)
    assert (tmp_path / "clock.json").exists() is begins


def test_addresses_are_found_without_names(monkeypatch):
    monkeypatch.delenv("TFDARSHAN_CLOCK_ADDRESS")
    monkeypatch.setattr(socket, "getaddrinfo", None)
    assert not any(address.startswith("127.") for address in own_addresses())


def test_a_job_without_descriptors_is_not_asked_without_end(monkeypatch):
    # GIVEN a questioner at the port of a job that has no descriptor to spare
    class Full(socket.socket):
        def accept(self):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    class Enough(Exception):
        pass

    rests = []

    def rest(seconds):
        rests.append(seconds)
        if len(rests) == 3:
            raise Enough

    monkeypatch.setattr("tfdarshan.recording.clock_service.time.sleep", rest)
    with Full() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with socket.create_connection(listening.getsockname()):
            # WHEN it answers, THEN it rests before each look
            with pytest.raises(Enough):
                _Answering(listening, b"").run()
    assert rests == [REST_S] * 3


def test_what_a_killed_rank_had_learnt_is_known_with_the_drift_since(tmp_path):
    # GIVEN a rank that asked once, 2 s after its beginning, and ended 30 s after that
    asked = Asked(2 * SECOND_NS, 7_000, 50)
    keep(tmp_path, "there", [asked], 0)

    # THEN clocks may have drifted for 32 s
    found = kept(tmp_path, "here", 32 * SECOND_NS)
    assert found == {"reference": "there", "offset_ns": 7_000, "error_ns": 50 + 32_000 * DRIFT_PPM}
    # ... and the host that others ask knows its own
    keep(tmp_path, "here", [], 0)
    assert kept(tmp_path, "here", SECOND_NS) == {"reference": "here", "offset_ns": 0, "error_ns": 0}


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"reference": "a", "begin_ns": 1, "asked": [[1]]}'])
def test_what_says_nothing_is_not_known(tmp_path, text):
    if text is not None:
        (tmp_path / "clock.json").write_text(text)
    assert kept(tmp_path, "here", 0) is None
