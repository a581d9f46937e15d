"""`tfdarshan mcp`: asked by the protocol's own client, it says what the verbs print with --json."""

import json
import os
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

import anyio
from mcp import Client, StdioServerParameters

from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.golden.golden_file import assert_golden
from tfdarshan.commands import main, mcp_tools
from tfdarshan.sessions.analysis_cache_file import KEEP_NOTHING, AnalysisCache

SLOW, OTHER = "many small files", "one reader"
STAMP = "2024_01_01_00_00_00"


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """Two runs below a logdir, and a session that is not in it."""
    folder = tmp_path_factory.mktemp("mcp")
    for run in (SLOW, OTHER):
        sketched(folder / "logs" / run.replace(" ", "-"), SKETCHES[run])
    sketched(folder / "elsewhere", SKETCHES[OTHER])
    return folder / "logs"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Keep verdicts in a folder of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def slow(logdir):
    return logdir / SLOW.replace(" ", "-") / "plugins" / "tfdarshan" / STAMP


def talk(server, *calls):
    """Return what each call of a tool gives."""

    async def ask_all():
        async with Client(server) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return anyio.run(ask_all)


def started(logdir):
    """Return how the client starts the command."""
    words = ["-m", "tfdarshan", "mcp", str(logdir)]
    return StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))


def printed(capsys, *words):
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_answers_are_those_of_the_verbs(logdir, slow, capsys):
    # GIVEN what verbs print
    findings, whatif = printed(capsys, "findings", slow), printed(capsys, "whatif", slow, "--threads", 16)
    steps = printed(capsys, "steps", slow, "--limit", 3)
    of_steps = printed(capsys, "files", slow, "--steps", "2-3", "--sort", "bytes_read", "--limit", 5)
    other = slow.parents[3] / OTHER.replace(" ", "-")
    compared = printed(capsys, "compare", slow, other / "plugins" / "tfdarshan" / STAMP)
    listed = printed(capsys, "list", logdir)
    first, second = (f"{run.replace(' ', '-')}/{STAMP}" for run in (SLOW, OTHER))

    # WHEN the client asks the command
    answers = talk(
        started(logdir),
        ("findings", {"session": first}),
        ("verdict", {"session": first}),
        ("whatif", {"session": first, "threads": 16}),
        ("steps", {"session": first, "limit": 3}),
        ("files", {"session": first, "steps": "2-3", "sort": "bytes_read", "limit": 5}),
        ("compare", {"before": first, "after": second}),
        ("sessions", {"limit": 1}),
    )

    # THEN
    assert [answer.is_error for answer in answers] == [False] * len(answers)
    said = [answer.structured_content for answer in answers]
    assert said[0] == findings
    assert said[1]["verdict"] == findings["verdict"]
    assert said[2] == whatif
    assert said[3] == steps
    assert [row["path"] for row in said[4]["files"]] == [row["path"] for row in of_steps["files"]]
    for row, whole in zip(said[4]["files"], of_steps["files"], strict=True):
        assert row == {name: value for name, value in whole.items() if value not in (0, None)}
    assert said[5] == compared
    assert said[6]["sessions"] == [{"name": first} | listed["sessions"][0]]
    assert (said[6]["matching"], len(listed["sessions"])) == (2, 2)


def test_the_newest_session_is_meant_where_none_is_named(tmp_path, capsys):
    # GIVEN a session, and one of another run that began later
    newest = sketched(tmp_path / "a", SKETCHES[SLOW])
    sketched(tmp_path / "b", SKETCHES[OTHER])
    (meta,) = newest.path.glob("*.meta.json")
    content = json.loads(meta.read_text())
    meta.write_text(json.dumps(content | {"origin_realtime_ns": content["origin_realtime_ns"] + 10**9}))

    # WHEN
    (answer,) = talk(mcp_tools.server_of(tmp_path), ("verdict", {}))

    # THEN
    assert answer.structured_content["verdict"] == printed(capsys, "findings", newest.path)["verdict"]


def test_nothing_outside_of_the_logdir_is_read(logdir, tmp_path):
    # GIVEN a run that is a link out of the logdir
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "run").symlink_to(logdir.parent / "elsewhere")

    # WHEN
    names = ["../elsewhere", str(logdir.parent / "elsewhere"), "--help", f"../elsewhere/{STAMP}"]
    refused = talk(mcp_tools.server_of(logdir), *(("verdict", {"session": name}) for name in names))
    (linked,) = talk(mcp_tools.server_of(tmp_path / "logs"), ("verdict", {}))

    # THEN
    assert all(answer.is_error for answer in refused)
    assert all("the logdir has no session '" in answer.content[0].text for answer in refused)
    assert "has a link out of the logdir, which is not followed." in linked.content[0].text


def test_each_session_is_named_and_asked_for_by_its_name(tmp_path):
    # GIVEN one whose name is not UTF-8, and one that was interrupted
    sketched(tmp_path / os.fsdecode(b"caf\xe9"), SKETCHES[OTHER])
    interrupted = tmp_path / "killed" / "plugins" / "tfdarshan" / STAMP
    interrupted.mkdir(parents=True)
    (interrupted / "recording.json").write_text("{}")
    server = mcp_tools.server_of(tmp_path)

    # WHEN
    (listed,) = talk(server, ("sessions", {}))
    names = {row["state"]: row["name"] for row in listed.structured_content["sessions"]}
    whole, unfinished = talk(
        server, *(("verdict", {"session": names[one]}) for one in ("complete", "interrupted"))
    )

    # THEN what has no verdict has not that of another session
    assert not whole.is_error
    assert unfinished.is_error
    assert f"the session killed/{STAMP} is interrupted" in unfinished.content[0].text


@pytest.mark.parametrize("kind", ["itself", "FIFO"])
def test_what_is_no_file_is_refused_in_words(tmp_path, kind):
    # GIVEN
    session = sketched(tmp_path, SKETCHES[OTHER])
    (path,) = session.path.glob("*.events.parquet")
    path.unlink()
    if kind == "itself":
        path.symlink_to(path)
    else:
        os.mkfifo(path)

    # WHEN
    (answer,) = talk(mcp_tools.server_of(tmp_path), ("verdict", {}))

    # THEN
    assert answer.is_error
    assert path.name in answer.content[0].text


def test_tools_change_nothing(logdir):
    # GIVEN
    def state():
        return {str(path): path.stat().st_mtime_ns for path in sorted(logdir.rglob("*"))}

    before = state()

    # WHEN
    async def list_and_ask():
        async with Client(mcp_tools.server_of(logdir)) as client:
            tools = (await client.list_tools()).tools
            for tool in tools:
                arguments = {"before": ""} if tool.name == "compare" else {}
                assert not (await client.call_tool(tool.name, arguments)).is_error
            return tools

    tools = anyio.run(list_and_ask)

    # THEN
    assert [tool.name for tool in tools] == [
        "sessions", "verdict", "findings", "files", "steps", "compare", "whatif"
    ]  # fmt: skip
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert state() == before


def test_what_was_added_up_is_not_kept_if_nothing_is_to_be(tmp_path, monkeypatch):
    # GIVEN a session as large as those of which sums are kept
    session = sketched(tmp_path, SKETCHES[OTHER])
    monkeypatch.setattr("tfdarshan.sessions.analysis_cache_file.LEAST_CALLS", 1)

    def keep():
        kept = AnalysisCache(session.path, session.processes, {})
        kept.put("a", 1)
        kept.save()
        return (session.path / "partials.kept").exists()

    # THEN
    with monkeypatch.context() as patch:
        patch.setenv(KEEP_NOTHING, "1")
        assert not keep()
    assert keep()


def test_answers_are_bounded(logdir, monkeypatch):
    # WHEN
    (rows,) = talk(mcp_tools.server_of(logdir), ("files", {"limit": 51}))
    monkeypatch.setattr(mcp_tools, "MOST_BYTES", 1_000)
    (long,) = talk(mcp_tools.server_of(logdir), ("findings", {}))

    # THEN
    assert rows.is_error
    assert "less than or equal to 50" in rows.content[0].text
    assert long.is_error
    assert "bytes, and 1,000 is the most: ask for fewer rows" in long.content[0].text


def test_a_question_that_has_no_answer_says_why(logdir, slow):
    # WHEN
    (steps,) = talk(mcp_tools.server_of(slow.parents[2]), ("files", {"steps": "900-901"}))
    (column,) = talk(mcp_tools.server_of(logdir), ("files", {"sort": "nonsense"}))

    # THEN
    assert steps.is_error
    assert "the session has no step from 900 to 901: it has steps 0 to 12." in steps.content[0].text
    assert "there is no column nonsense" in column.content[0].text


def test_a_logdir_without_sessions_says_so(tmp_path):
    # WHEN
    (answer,) = talk(mcp_tools.server_of(tmp_path), ("verdict", {}))

    # THEN
    assert answer.is_error
    assert "the logdir has no session '': it has no finished session." in answer.content[0].text


def test_the_tools_are_described(logdir, capsys, request):
    # WHEN
    said = printed(capsys, "mcp", logdir)

    # THEN in words that stand in a golden file
    assert all(tool["description"] and tool["arguments"]["type"] == "object" for tool in said["tools"])
    lines = [mcp_tools.INSTRUCTIONS]
    for tool in said["tools"]:
        lines.append(f"\n{tool['name']}: {tool['description']}")
        for name, about in tool["arguments"]["properties"].items():
            lines.append(f"  {name}: {about['description']} (default: {about.get('default')!r})")
    assert_golden("mcp_tools.txt", "\n".join(lines) + "\n", request.config)


def test_who_types_it_is_told_what_it_waits_for(logdir, capsys, monkeypatch):
    # GIVEN a terminal
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("tfdarshan.commands.mcp_tools.MCPServer.run", lambda _server, _how: None)

    # WHEN
    assert main(["mcp", str(logdir)]) == 0

    # THEN
    assert capsys.readouterr().err == (
        "tfdarshan: waiting for an assistant on standard input: give `tfdarshan mcp LOGDIR` to it as the "
        "command of an MCP server. Ctrl-C ends this.\n"
    )


def test_without_its_package_it_says_what_to_install(logdir, capsys, monkeypatch):
    # GIVEN
    monkeypatch.delitem(sys.modules, "tfdarshan.commands.mcp_tools")
    monkeypatch.setitem(sys.modules, "mcp.server", None)

    # THEN
    assert main(["mcp", str(logdir)]) == 2
    assert capsys.readouterr().err == (
        "tfdarshan: mcp needs the package mcp, 2.3 or newer: run `pip install 'tfdarshan[mcp]'`.\n"
    )


def test_a_logdir_that_there_is_not(tmp_path, capsys):
    # THEN
    assert main(["mcp", str(tmp_path / "none")]) == 1
    assert "there is no logdir" in capsys.readouterr().err
