import errno
import io
import subprocess
import sys

import pytest

from tfdarshan.terminal.progress import Progress, counter


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    now_s = 100.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def watched(monkeypatch):
    """Return a function that makes stderr a terminal: in a fixture pytest would still replace it."""

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
    assert drawn[1].startswith("files  25%|#########")
    assert drawn[2].startswith("files 100%|####################")
    assert len(drawn[1]) == len(drawn[2]) == 80
    assert "| 500/2,000 [" in drawn[1]
    assert "| 2,000/2,000 [" in drawn[2]
    assert [line.strip() for line in drawn[3:]] == ["", ""]


def test_short_work_is_not_mentioned(watched):
    # WHEN the work ends before a bar is due
    terminal, clock = watched(), Clock()
    with Progress("files", after_s=1.0, clock=clock) as progress:
        count = counter(progress, 10)
        clock.now_s += 0.9
        count(4)
    # THEN
    assert terminal.getvalue() == ""

    # WHEN it goes on longer
    with Progress("files", after_s=1.0, clock=clock) as progress:
        count = counter(progress, 10)
        count(4)
        clock.now_s += 1.1
        count(5)
    # THEN
    assert "| 9/10 [" in terminal.getvalue()
    assert "[00:00" not in terminal.getvalue()
    assert "| 4/10" not in terminal.getvalue()


def test_bar_is_cleared_when_the_work_fails(watched):
    terminal = watched()

    def work():
        with Progress("files") as progress:
            progress(1, 2)
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        work()
    assert terminal.getvalue().endswith("\r")
    assert not terminal.getvalue().split("\r")[-2].strip()


@pytest.mark.parametrize("stream", [None, "closed"])
def test_program_without_stderr_is_left_alone(monkeypatch, stream):
    if stream == "closed":
        stream = Terminal()
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("files") as progress:
        progress(1, 2)


def test_stderr_that_is_closed_meanwhile_fails_nothing(watched):
    # GIVEN a bar that was drawn
    terminal, clock = watched(), Clock()
    with Progress("files", clock=clock) as progress:
        progress(1, 4)

        # WHEN / THEN the work goes on
        terminal.close()
        clock.now_s += 1
        progress(2, 4)


def test_what_fails_in_drawing_fails_nothing_else(watched, monkeypatch):
    # GIVEN a terminal that takes nothing
    terminal, clock = watched(), Clock()
    tries = []

    def refuse(text):
        tries.append(text)
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(terminal, "write", refuse)

    # WHEN
    with Progress("files", clock=clock) as progress:
        progress(1, 4)
        clock.now_s += 1
        progress(2, 4)

    # THEN nothing is tried again
    assert len(tries) == 1


@pytest.mark.parametrize(("shown", "imported"), [("True", True), ("False", False)])
def test_a_bar_brings_no_library_unless_drawn_and_never_a_thread(shown, imported):
    # GIVEN a process of its own, whose stderr is a terminal or not
    code = (
        "import sys, threading\n"
        "from tfdarshan.terminal.progress import Progress\n"
        f"sys.stderr.isatty = lambda: {shown}\n"
        "with Progress('files', after_s=1000) as progress: progress(1, 2)\n"
        "early = 'tqdm' in sys.modules\n"
        "with Progress('files') as progress: progress(1, 2)\n"
        "from multiprocessing import resource_tracker as tracker\n"
        "print(early, 'tqdm' in sys.modules, threading.active_count(), tracker._resource_tracker._pid)"
    )

    # WHEN
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    # THEN
    assert ran.stdout.split() == ["False", str(imported), "1", "None"]
