"""`%%tfdarshan` in a small stand-in for IPython's shell, and in IPython where there is one."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

import tfdarshan
from tfdarshan.errors import TfdarshanError


class Events:
    """Of cells; they are triggered as IPython does it."""

    def __init__(self):
        self.called: dict[str, list] = {"pre_run_cell": [], "post_run_cell": []}

    def register(self, event, function):
        self.called[event].append(function)

    def unregister(self, event, function):
        self.called[event].remove(function)

    def trigger(self, event, of):
        for function in list(self.called[event]):
            function(of)


class StandIn:
    """What the magic asks of `get_ipython()`, and cells that end with an expression."""

    def __init__(self):
        self.events, self.magics, self.input_transformers_cleanup = Events(), {}, []
        self.input_transformer_manager = self
        self.shown: list[dict] = []
        self.display_pub = SimpleNamespace(publish=self.shown.append)
        self.names = {"get_ipython": lambda: self, "Path": Path}

    def find_line_magic(self, name):
        return self.magics.get(name)

    def register_magic_function(self, function, kind, name):
        assert kind == "line"
        self.magics[name] = function

    def run_line_magic(self, name, line):
        self.magics[name](line)

    def transform_cell(self, cell):
        lines = cell.splitlines(keepends=True)
        for transform in self.input_transformers_cleanup:
            lines = transform(lines)
        return "".join(lines)

    def run_cell(self, cell):
        """Return the value of the last expression, or raise what the cell does."""
        tree = ast.parse(self.transform_cell(cell))
        self.events.trigger("pre_run_cell", cell)
        try:
            last = ast.Expression(tree.body.pop().value)
            exec(compile(tree, "cell", "exec"), self.names)
            return eval(compile(last, "cell", "eval"), self.names)
        finally:
            self.events.trigger("post_run_cell", cell)


@pytest.fixture
def shell():
    made = StandIn()
    tfdarshan.load_ipython_extension(made)
    return made


@pytest.fixture
def logs(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"1" * 7777)
    return tmp_path / "logs"


def read(tmp_path):
    return f"Path({str(tmp_path / 'a.bin')!r}).read_bytes()"


def test_a_cell_is_recorded_and_its_result_is_its_own(shell, logs, tmp_path):
    # WHEN
    result = shell.run_cell(f"%%tfdarshan {logs} --no-trace\nread = {read(tmp_path)}\nlen(read)")

    # THEN the session has the call and the option, and is shown once
    assert result == 7777
    session = tfdarshan.open_session(logs)
    assert session.files["POSIX_BYTES_READ"].sum() == 7777
    assert session.meta[0]["options"]["trace"] is False
    assert [set(shown) for shown in shell.shown] == [{"text/plain", "text/html"}]
    assert shell.shown[0] == {"text/plain": session.summary(), "text/html": session._repr_html_()}


def test_other_cells_are_not_recorded(shell, logs):
    assert shell.run_cell(f"%%tfdarshan {logs}\n1") == 1

    assert shell.run_cell("2") == 2
    assert shell.run_cell("'%%tfdarshan'") == "%%tfdarshan"
    assert len(tfdarshan.find_sessions(logs)) == len(shell.shown) == 1


def test_lines_keep_their_numbers(shell):
    cell = shell.transform_cell("%%tfdarshan logs --probe\n\n5\n")

    assert cell == "get_ipython().run_line_magic('tfdarshan', 'logs --probe')\n\n5\n"


def test_an_error_of_the_cell_is_its_own_and_ends_the_session(shell, logs):
    with pytest.raises(ZeroDivisionError) as raised:
        shell.run_cell(f"%%tfdarshan {logs}\n\n1 / 0")

    # The line of the cell, and no frame of tfdarshan.
    assert [(entry.path, entry.lineno + 1) for entry in raised.traceback[-1:]] == [("cell", 3)]
    assert len(tfdarshan.find_sessions(logs)) == len(shell.shown) == 1


def test_the_session_lasts_until_the_cell_ends_that_began_it(shell, logs, tmp_path):
    # GIVEN a cell that runs another before it reads, as %%capture does
    cell = f"%%tfdarshan {logs}\nget_ipython().run_cell('1')\nlen({read(tmp_path)})"

    # WHEN
    assert shell.run_cell(cell) == 7777

    # THEN
    assert tfdarshan.open_session(logs).files["POSIX_BYTES_READ"].sum() == 7777
    assert len(shell.shown) == 1


def test_a_cell_magic_may_follow(shell, logs):
    # GIVEN another magic that is written in the second line
    shell.input_transformers_cleanup.append(
        lambda lines: ["0\n" if one == "%%other\n" else one for one in lines]
    )

    # WHEN / THEN
    assert shell.run_cell(f"%%tfdarshan {logs}\n%%other\n5") == 5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{logs} --no-such 1", "%%tfdarshan takes LOGDIR and the session options of `tfdarshan run`:"),
        ("{logs} --memory-cap-mb 1", "memory_cap_mb must be a whole number"),
        ("'{logs}", "No closing quotation"),
    ],
)
def test_a_wrong_line_ends_in_one_sentence(shell, logs, line, said):
    with pytest.raises(TfdarshanError) as raised:
        shell.run_cell(f"%%tfdarshan {line.format(logs=logs)}\nran = 1\nran")

    (shown,) = raised.value._render_traceback_()
    assert said.lower() in shown.lower()
    assert "\n" not in shown
    assert "ran" not in shell.names
    assert shell.events.called == {"pre_run_cell": [], "post_run_cell": []}


def test_a_cell_in_a_session_ends_in_one_sentence(shell, logs):
    # GIVEN
    with tfdarshan.profile(logs) as profile:
        # WHEN
        with pytest.raises(TfdarshanError, match="a session already records this process") as raised:
            shell.run_cell(f"%%tfdarshan {logs}\nran = 1\nran")

        # THEN the cell does not run, and the session goes on
        assert len(raised.value._render_traceback_()) == 1
        assert "ran" not in shell.names
    assert tfdarshan.find_sessions(logs) == [profile.path]


def test_loading_again_adds_nothing(shell):
    tfdarshan.load_ipython_extension(shell)

    assert len(shell.input_transformers_cleanup) == 1


def test_a_session_that_cannot_be_read_ends_in_a_sentence(shell, logs, monkeypatch, capsys):
    # GIVEN
    def refuse(*_arguments, **_options):
        raise TfdarshanError("no table can be read.")

    monkeypatch.setattr("tfdarshan.recording.profiler.Profile.summary", refuse)

    # WHEN / THEN
    assert shell.run_cell(f"%%tfdarshan {logs}\n6") == 6
    assert capsys.readouterr().err == "tfdarshan: no table can be read.\n"
    assert shell.shown == []


def test_ipython_runs_the_cell_as_without_it(logs, capsys):
    # GIVEN
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    quiet = pytest.importorskip("traitlets.config").Config({"HistoryManager": {"enabled": False}})
    shell = interactive.InteractiveShell(config=quiet)
    shell.run_cell("%load_ext tfdarshan")

    # WHEN
    value = shell.run_cell(f"%%tfdarshan {logs}\n\nimport asyncio\nawait asyncio.sleep(0)\n5", silent=False)
    shown = capsys.readouterr().out
    timed = shell.run_cell(f"%%tfdarshan {logs}\n%%time\n6")
    failed = shell.run_cell(f"%%tfdarshan {logs}\n1 / 0")
    refused = shell.run_cell(f"%%tfdarshan {logs} --no-such\nran = 1")
    typed = shell.input_transformer_manager.check_complete("%%tfdarshan logs")

    # THEN
    assert (value.success, value.result, timed.result) == (True, 5, 6)
    assert "]: 5\n" in shown
    assert f"Session   {tfdarshan.find_sessions(logs)[0].name}" in shown
    assert isinstance(failed.error_in_exec, ZeroDivisionError)
    frames = [
        str(entry.path) for entry in pytest.ExceptionInfo.from_exception(failed.error_in_exec).traceback
    ]
    assert not [path for path in frames if "tfdarshan" in path]
    assert isinstance(refused.error_in_exec, TfdarshanError)
    assert "ran" not in shell.user_ns
    assert typed[0] == "incomplete"
    assert len(tfdarshan.find_sessions(logs)) == 3
