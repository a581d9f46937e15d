import io
import sys

import pytest

from tfdarshan.recording.writing.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    now_s = 100.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def watched(monkeypatch):
    """Gives a function that makes stderr a terminal: in a fixture pytest would still replace it."""

    def watch():
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        return terminal

    return watch


def test_nothing_is_said_in_a_pipe(capsys):
    with Progress("files") as progress:
        progress(3, 3)
    assert capsys.readouterr() == ("", "")


def test_bar_grows_and_is_cleared(watched):
    # WHEN
    terminal, clock = watched(), Clock()
    with Progress("files", clock=clock) as progress:
        progress(500, 2_000)
        clock.now_s += 0.01
        progress(600, 2_000)
        clock.now_s += 1
        progress(2_000, 2_000)

    # THEN what comes within a tenth of a second is left out
    drawn = terminal.getvalue().split("\r")
    assert drawn == [
        "",
        "files [#######.......................] 500/2,000",
        f"files [{'#' * 30}] 2,000/2,000",
        "\033[K",
    ]


def test_short_work_is_not_mentioned(watched):
    # WHEN the work ends before a bar is due
    terminal, clock = watched(), Clock()
    with Progress("files", after_s=1.0, clock=clock) as progress:
        count = progress.counter(10)
        clock.now_s += 0.9
        count(4)
    # THEN
    assert terminal.getvalue() == ""

    # WHEN it goes on longer
    with Progress("files", after_s=1.0, clock=clock) as progress:
        count = progress.counter(10)
        count(4)
        clock.now_s += 1.1
        count(5)
    # THEN
    assert "] 9/10" in terminal.getvalue()
    assert "] 4/10" not in terminal.getvalue()


def test_bar_is_cleared_when_the_work_fails(watched):
    terminal = watched()

    def work():
        with Progress("files") as progress:
            progress(1, 2)
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        work()
    assert terminal.getvalue().endswith("\r\033[K")


@pytest.mark.parametrize("stream", [None, "closed"])
def test_program_without_stderr_is_left_alone(monkeypatch, stream):
    if stream == "closed":
        stream = Terminal()
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("files") as progress:
        progress(1, 2)
