"""Names that write to a terminal: no verb prints them as they are, and JSON has them exactly."""

import importlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import tfdarshan
from tfdarshan.commands import COMMANDS, main

HARMFUL = {
    "escape": b"\x1b[2J\x1b]0;title\x07",
    "newline": b"one\ntwo",
    "return": b"secret\rpublic",
    "tab": b"a\tb",
    "bell and delete": b"\x07\x7f",
    "C1": "\x9b31m\x85".encode(),
    "bidi": "\u202egpj.\u2066exe\u200f".encode(),
    "line separator": "\u2028x\u2029".encode(),
    "not UTF-8": b"\xff\xfe\x9b31m",
    "like an escape": b"\\xff\\x1b",
    "long": b"\x1b[1m" + b"long" * 60,
}
FOLDER = b"odd\x1b[31m\n\xff\xe2\x80\xae"
NEVER = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]|\t")
BYTES = 60_000


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A folder of such a name with files of such names, read, and the session, whose logdir is in it."""
    folder = tmp_path_factory.mktemp("hostile") / os.fsdecode(FOLDER)
    data = folder / "data"
    data.mkdir(parents=True)
    paths = [data / os.fsdecode(name) for name in HARMFUL.values()]
    for path in paths:
        path.write_bytes(bytes(BYTES))

    def read(path):
        with path.open("rb") as file:
            return len(file.read())

    for _ in range(2):
        with (
            tfdarshan.profile(folder / "logs", as_if="hdd", include=[f"{data}/*"], exclude=["/*"]),
            ThreadPoolExecutor(2) as pool,
        ):
            assert sum(pool.map(read, paths * 3)) == BYTES * 3 * len(paths)
    return folder


def harmless(capfd):
    """Return what was printed, which changes nothing on a terminal."""
    said = capfd.readouterr()
    found = NEVER.search(said.out + said.err)
    assert found is None, ascii((said.out + said.err)[max(found.start() - 80, 0) : found.end() + 20])
    assert b"\x1b" not in (said.out + said.err).encode()
    return said


def lines_of(job):
    """Each verb with arguments that work, and their exit codes."""
    logs, out, fast, plan = job / "logs", job / "out", job / "fast", job / "plan.json"
    return {
        "summary": (["summary", logs], 0),
        "findings": (["findings", logs], 0),
        "whatif": (["whatif", logs, "--threads", "4"], 0),
        "files": (["files", logs, "--limit", "0"], 0),
        "steps": (["steps", logs], 0),
        "files by a pattern": (["files", logs, "--filter", "*\x1b[5m\n*"], 0),
        "report": (["report", logs, "-o", out / "r.html", "--force"], 0),
        "compare": (["compare", logs, logs, "--fail-if", "opens>+100"], 0),
        "export darshan": (["export", "--darshan", out / "a\x1b.darshan", logs, "--force"], 0),
        "export trace": (["export", "--trace", out / "a\x1b.json", logs, "--force"], 0),
        "export csv": (["export", "--csv", out / "csv\n", logs, "--force"], 0),
        "import": (["import", out / "a\x1b.darshan", "--logdir", out / "imported\x1b"], 0),
        "advise": (["advise", "--logdir", logs, "--fast", fast, "-o", plan, "--epochs", "50"], 0),
        "stage apply": (["stage", "apply", plan], 0),
        "stage verify": (["stage", "verify", plan], 0),
        "stage undo": (["stage", "undo", plan], 0),
        "rebuild": (["rebuild", logs], 0),
        "recover": (["recover", logs], 0),
        "burst status": (["burst", "status", job], 1),
        "probe": (["probe", job / "data", "--seconds", "1"], 1),
    }  # fmt: skip


VERBS = list(lines_of(__import__("pathlib").Path()))


def run(words, *more):
    try:
        return main([*map(str, words), *more])
    except SystemExit as ended:  # argparse
        return ended.code


@pytest.mark.parametrize("verb", VERBS)
def test_text_is_harmless(verb, job, capfd):
    if verb == "import":
        importlib.import_module("tests.pydarshan")
    (job / "out").mkdir(exist_ok=True)
    words, code = lines_of(job)[verb]

    found = run(words)

    said = harmless(capfd)
    # What was just written is in the page cache, or in memory, unless the machine had other use for that.
    allowed = {"burst status": (code, 2), "probe": (code, 0)}.get(verb, (code,))
    assert found in allowed, said.err
    assert said.out or said.err


@pytest.mark.parametrize("verb", COMMANDS)
def test_errors_are_harmless(verb, capfd, tmp_path):
    # GIVEN a name of nothing that is there, and an option of such a name
    missing = str(tmp_path / os.fsdecode(FOLDER))
    wrong = {
        "run": ["run", missing, "\x1b"],
        "compare": ["compare", missing, missing],
        "advise": ["advise", "--logdir", missing, "--fast", missing],
        "stage": ["stage", "apply", missing],
        "burst": ["burst", "status", missing],
        "report": ["report", missing, "-o", missing],
        "export": ["export", "--csv", missing, missing],
        "import": ["import", missing, "--logdir", missing],
        "workload": ["workload", "run", missing],
    }.get(verb, [verb, missing])

    # WHEN / THEN
    if verb != "run":
        assert run(wrong) in (0, 1, 2)
        harmless(capfd)
    run([verb, "--\x1b[31m\n", missing])
    harmless(capfd)


def test_a_script_of_such_a_name(job, tmp_path):
    # GIVEN
    script = job / "script\x1b[31m.py"
    script.write_text("open(__file__).read()\n")

    # WHEN
    done = subprocess.run(
        [sys.executable, "-m", "tfdarshan", "run", "--logdir", tmp_path / os.fsdecode(FOLDER), script],
        capture_output=True, check=True,
    )  # fmt: skip

    # THEN
    assert b"the session is in" in done.stderr
    assert NEVER.search((done.stdout + done.stderr).decode()) is None


def read_json(capfd, *words):
    assert main([*map(str, words), "--json"]) == 0
    text = capfd.readouterr().out
    assert text.isascii()
    return json.loads(text)


def exact(names):
    return {os.path.basename(os.fsencode(name)) for name in names}


def test_json_has_names_exactly(job, capfd):
    # GIVEN
    logs, wanted = job / "logs", set(HARMFUL.values())

    # WHEN / THEN os.fsencode() gives each name's bytes
    files = read_json(capfd, "files", logs, "--limit", 0)["files"]
    assert exact(row["path"] for row in files) == wanted
    assert {os.path.dirname(os.fsencode(row["path"])) for row in files} == {os.fsencode(job / "data")}
    summary = read_json(capfd, "summary", logs, "--top", 50)
    assert exact(entry["path"] for entry in summary["slowest_files"]) == wanted
    assert os.fsencode(summary["path"]).startswith(os.fsencode(logs))
    plan = read_json(capfd, "advise", "--logdir", logs, "--fast", job / "fast", "--epochs", 50)["plan"]
    assert exact(file["name"] for file in plan["files"]) <= wanted
    assert len(plan["files"]) > 5


def test_findings_and_comparisons_have_names_exactly(job, capfd):
    findings = read_json(capfd, "findings", job / "logs")["findings"]
    named = [path for entry in findings for path in entry["files"]]
    assert exact(path for path in named if os.path.isfile(path)) == exact(named) & set(HARMFUL.values())
    oldest, newest = tfdarshan.find_sessions(job / "logs")
    changed = read_json(capfd, "compare", oldest, newest)["comparisons"][0]["files"]
    assert changed
    assert exact(file["path"] for file in changed) <= set(HARMFUL.values())


def test_a_trace_has_names_exactly(job, tmp_path):
    assert run(["export", "--trace", tmp_path / "t.json", job / "logs"]) == 0
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    named = {event["args"]["file"] for event in events if "file" in event.get("args", {})}
    assert exact(named) == set(HARMFUL.values())


def test_sizes_of_files_that_are_not_utf8_are_found(job):
    files = tfdarshan.open_session(job / "logs").files
    assert set(files["size_bytes"]) == {BYTES}


def test_a_spool_folder_whose_name_is_not_utf8_takes_calls_and_steps(tmp_path):
    # GIVEN
    spool = tmp_path / os.fsdecode(b"caf\xe9")
    spool.mkdir()

    # WHEN
    with tfdarshan.profile(tmp_path / "logs", spool_dir=spool) as session:
        for _ in range(3):
            with tfdarshan.step():
                (tmp_path / "x.bin").write_bytes(bytes(777))

    # THEN
    assert len(session.steps) == 3
    assert session.files["POSIX_BYTES_WRITTEN"].sum() == 3 * 777
    assert not list(spool.iterdir())
