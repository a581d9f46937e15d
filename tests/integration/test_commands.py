import importlib.metadata
import json
import os
import re
import subprocess
import sys
import time
import venv
from pathlib import Path

import numpy as np
import pytest

import tfdarshan
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.commands import COMMANDS, GROUPS, main
from tfdarshan.doctor import hook_proof, other_programs, self_check
from tfdarshan.doctor.hook_proof import OK, HookProof
from tfdarshan.errors import TfdarshanError
from tfdarshan.native import _bridge
from tfdarshan.terminal.paint import WIDTH


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """A session of known I/O: 30 files of 10,000 bytes read whole, one of 5,000 written."""
    folder = tmp_path_factory.mktemp("commands")
    for number in range(30):
        (folder / f"{number:02}.bin").write_bytes(bytes(10_000))
    with tfdarshan.profile(folder / "logs", spool_dir=folder):
        for number in range(30):
            handle = os.open(folder / f"{number:02}.bin", os.O_RDONLY)
            while os.read(handle, 4_000):
                pass
            os.close(handle)
        handle = os.open(folder / "out.txt", os.O_CREAT | os.O_WRONLY)
        os.write(handle, bytes(5_000))
        os.close(handle)
    return folder / "logs"


def output(capsys, *arguments):
    code = main([*map(str, arguments)])
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    return said.out


def test_summary_text(capsys, monkeypatch, logdir):
    # WHEN the logdir is named from beside it: its path, which is printed whole, may be of any length
    monkeypatch.chdir(logdir.parent)
    text = output(capsys, "summary", "-v", logdir.name)

    # THEN
    lines = text.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert all(line == line.rstrip() for line in lines)
    words = " ".join(text.split())
    for part in (
        "opens 31 0",
        "reads 120 0",
        "of them zero-length 30",
        "writes 1 0",
        "bytes read 300,000 0 300.0 kB in all",
        "bytes written 5,000 0 5.0 kB in all",
        "0 B 30 25.0 % ####",
        "1 - 10 KiB 90 75.0 %",
        "reads with data 90, 66.7 % sequential, 66.7 % consecutive",
        "engine builtin",
        "in the tables 300.0 kB (300,000 B)",
    ):
        assert part in words


def test_a_descriptor_gained_from_another_one_opens_nothing(capsys, tmp_path):
    # GIVEN one open, a dup of it, and NumPy's fdopen of a dup
    data = tmp_path / "array.bin"
    data.write_bytes(bytes(80))
    with tfdarshan.profile(tmp_path / "logs", include=[str(data)]) as session, open(data, "rb") as stream:
        os.close(os.dup(stream.fileno()))
        assert len(np.fromfile(stream)) == 10
    row = session.files[session.files["path"] == str(data)]
    assert (row["POSIX_OPENS"].sum(), row["STDIO_OPENS"].sum()) == (3, 1)
    # THEN the summary, the table of files, a budget and the pages all say that the file was opened once
    summary = json.loads(output(capsys, "summary", tmp_path / "logs", "--json"))
    assert summary["posix"]["opens"] + summary["stdio"]["opens"] == 1
    listed = output(capsys, "files", tmp_path / "logs").splitlines()[1:]
    assert sum(int(line.split()[2]) for line in listed) == 1
    processes = tfdarshan.open_session(tmp_path / "logs").processes
    assert load_files(processes).rows.set_index("path").loc[str(data), "opens"] == 1


def test_summary_json_has_the_same_figures(capsys, logdir):
    data = json.loads(output(capsys, "summary", logdir, "--json"))

    assert (data["posix"]["opens"], data["posix"]["reads"], data["posix"]["zero_length_reads"]) == (
        31,
        120,
        30,
    )
    assert (data["posix"]["bytes_read"], data["files"]) == (300_000, 31)
    assert data["pattern"]["reads_with_data"] == 90
    assert data["pattern"]["sequential_reads"] == 60
    assert [bucket["reads"] for bucket in data["sizes"] if bucket["reads"]] == [30, 90]
    assert sum(bucket["writes"] for bucket in data["sizes"]) == 1
    clock = data["wall_clock"]
    assert 0 < clock["io_s"] <= clock["thread_s"] * 1.0001
    assert clock["io_s"] < clock["duration_s"]
    assert len(data["most_read_files"]) == 5
    assert data["coverage"]["read"]["in_tables"] == 300_000


def test_files_text(capsys, logdir):
    lines = output(capsys, "files", logdir, "--limit", 3, "--sort", "path", "--filter", "*.bin").splitlines()

    assert [line.split()[-1].rsplit("/")[-1] for line in lines[1:4]] == ["00.bin", "01.bin", "02.bin"]
    assert lines[4] == "27 more rows: see --limit"


def test_files_json_has_every_counter(capsys, logdir):
    data = json.loads(output(capsys, "files", logdir, "--json", "--sort", "bytes_written", "--limit", 1))

    (row,) = data["files"]
    assert data["matching"] == 31
    assert row["path"].endswith("out.txt")
    assert (row["POSIX_BYTES_WRITTEN"], row["POSIX_WRITES"], row["STDIO_READS"]) == (5_000, 1, 0)


def test_files_by_module(capsys, logdir):
    assert len(output(capsys, "files", logdir, "--module", "STDIO").splitlines()) == 1


def test_broken_pipe_is_quiet(logdir):
    # WHEN the reader goes away at once
    program = f"{sys.executable} -m tfdarshan files {logdir} --json | true"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {program}"], capture_output=True, text=True, check=False
    )

    # THEN
    assert done.stderr == ""


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_verb_has_help_and_json(capsys, verb):
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])

    assert ended.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_every_verb_stands_in_one_group_of_the_help(capsys):
    # WHEN tfdarshan is typed alone
    assert main([]) == 0
    text = capsys.readouterr().out

    # THEN
    for verb in COMMANDS:
        assert len(re.findall(rf"^  {verb} ", text, re.MULTILINE)) == 1
    assert [title for title in GROUPS if f"\n{title}:\n" in text] == [*GROUPS]
    assert max(map(len, text.splitlines())) <= WIDTH


def test_names_may_stand_on_both_sides_of_options(capsys, logdir, tmp_path):
    # WHEN
    compared = main(["compare", str(logdir), "--fail-if", "opens>+1", str(logdir)])
    lost = ["whatif", "--storage-bandwidth", "2x", str(logdir), "--catalogue", str(tmp_path / "jobs")]

    # THEN
    assert (compared, main(["fleet", *lost])) == (0, 0)
    assert "of 1 job may gain" in capsys.readouterr().out

    # THEN what follows -- is a name, whatever it begins with
    assert main(["summary", "--json", "--", "--top"]) == 1
    assert "there is no logdir --top" in capsys.readouterr().err

    # THEN what is no option, or too much, is wrong use as ever
    for words in (["files", str(logdir), "--bogus"], ["files", str(logdir), "--json", "more"], ["compare"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
    assert "unrecognized arguments: more" in capsys.readouterr().err


def test_a_column_that_there_is_none_of_names_those_there_are(capsys, tmp_path):
    # GIVEN
    (tmp_path / "data").write_bytes(bytes(100))
    with tfdarshan.profile(tmp_path / "logs") as session:
        for _ in tfdarshan.steps(range(2)):
            (tmp_path / "data").read_bytes()

    # WHEN
    words = ["files", str(session.path), "--sort"]
    assert main([*words, "POSIX_OPENS"]) == 0
    assert main([*words, "bogus"]) == 2
    of_all = capsys.readouterr().err
    assert main([*words, "POSIX_OPENS", "--steps", "1"]) == 2
    of_steps = capsys.readouterr().err

    # THEN each of them can be sorted by
    assert "or a counter such as POSIX_OPENS." in of_all
    named = of_steps.partition("sort by ")[2].rstrip(".\n").split(", ")
    assert {"path", "time_s", "opens", "bytes_read"} <= set(named)
    assert [main([*words, name, "--steps", "1"]) for name in named] == [0] * len(named)


@pytest.mark.parametrize("words", [["files"], ["files", "--steps", "0-1"], ["steps"]], ids=" ".join)
def test_each_column_that_is_shown_can_be_sorted_by(tmp_path, capsys, words):
    # GIVEN a session in which each figure of the second step, and of its file, is the larger one
    with tfdarshan.profile(tmp_path / "logs") as session:
        for number in tfdarshan.steps([[1], [2]]):
            time.sleep(0.01 * number[0])
            path = tmp_path / f"{number[0]}.bin"
            for _ in range(number[0]):
                path.write_bytes(bytes(10_000 * number[0]))
                assert len(path.read_bytes()) == 10_000 * number[0]

    # WHEN
    words = [*words, str(session.path), "--limit", "1"]
    assert main(words) == 0
    shown = capsys.readouterr().out.splitlines()
    (head,) = (line for line in shown if re.search(r"\btime  +", line))
    heads = re.split("  +", head.strip().replace("module path", "module  path"))
    assert len(heads) == 9

    # THEN
    for column in heads:
        assert main([*words, "--sort", column]) == 0, column
        listed = capsys.readouterr().out
        if words[0] == "files" and column in ("opens", "reads", "of 0 B", "read", "writes", "written"):
            assert f"{tmp_path}/2.bin" in listed


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("summry", "there is no verb 'summry': did you mean summary?"),
        ("xyzzy", "there is no verb 'xyzzy': `tfdarshan --help` lists them."),
        ("a\x1bb", "there is no verb 'a\\\\x1bb': `tfdarshan --help` lists them."),
    ],
)
def test_a_verb_that_was_mistyped(capsys, typed, said):
    with pytest.raises(SystemExit) as ended:
        main([typed])

    assert ended.value.code == 2
    assert capsys.readouterr().err == f"tfdarshan: {said}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_shells_complete_verbs_and_options(capsys, shell):
    with pytest.raises(SystemExit) as ended:
        main(["--print-completion", shell])
    script = capsys.readouterr().out

    assert ended.value.code == 0
    assert all(verb in script for verb in COMMANDS)
    assert "memory-cap-mb" in script


def test_bash_completes_a_verb():
    script = subprocess.run(
        [sys.executable, "-m", "tfdarshan", "--print-completion", "bash"],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    ask = 'COMP_WORDS=(tfdarshan summ); COMP_CWORD=1; _shtab_tfdarshan; echo "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split() == ["summary"], done.stderr


def test_no_locale_makes_a_traceback(tmp_path):
    # GIVEN a name beyond the locale's characters
    file = tmp_path / "\u00fcber\u2192.bin"
    file.write_bytes(bytes(1000))
    with tfdarshan.profile(tmp_path / "logs", include=[f"{tmp_path}/*"]):
        file.read_bytes()
    old_style = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}

    verbs = ["summary", "summary -v", "findings", "files", "list"]
    each = (
        "import sys; from tfdarshan.commands import main\n"
        "for verb in sys.argv[2:]: print(main([*verb.split(), sys.argv[1]]), end='|\\n')"
    )

    # WHEN one process runs a verb after the other
    done = subprocess.run(
        [sys.executable, "-c", each, str(tmp_path / "logs"), *verbs],
        env={**os.environ, **old_style}, capture_output=True, check=False, timeout=120,
    )  # fmt: skip

    # THEN
    *said, rest = done.stdout.split(b"0|\n")
    assert (done.returncode, done.stderr, rest) == (0, b"", b"")
    names = [rb"\xfcber\u2192.bin" in text for text in said]
    assert dict(zip(verbs, names, strict=True)) == {verb: verb[0] == "s" or verb == "files" for verb in verbs}


@pytest.fixture
def no_other_programs(monkeypatch):
    """Leave out what starts TensorFlow and TensorBoard."""
    monkeypatch.setattr(self_check, "OTHER_PROGRAMS", ())


@pytest.mark.usefixtures("no_other_programs")
def test_doctor_lists_every_hook_on_demand(capsys, monkeypatch):
    # GIVEN what came of each hook: tests/native/python_hooks tries them
    hooks = [hook.name for hook in _bridge.hooks()]
    monkeypatch.setattr(hook_proof, "prove_hooks", lambda: [HookProof(hook, "", 777, OK) for hook in hooks])
    assert main(["doctor", "-v", "--engine", "builtin"]) == 0
    said = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [hook for hook in hooks if [hook, "777", "ok"] not in said] == []
    assert len(hooks) > 80


def test_doctor_says_where_started_python_does_not_join(tmp_path):
    # GIVEN an interpreter that finds tfdarshan by PYTHONPATH alone
    venv.create(tmp_path / "bare", symlinks=True, with_pip=False)
    packages = [path for path in sys.path if path.endswith("site-packages")]
    found = os.pathsep.join([str(Path(__file__).parents[2]), *packages])

    # WHEN
    check = "from tfdarshan.doctor import self_check; print(self_check._check_started_python())"
    said = subprocess.run(
        [tmp_path / "bare" / "bin" / "python", "-c", check],
        env={**os.environ, "PYTHONPATH": found},
        capture_output=True,
        text=True,
        timeout=200,
    )

    # THEN
    assert said.stdout.startswith("not seen: tfdarshan_join.pth is not where ")
    assert (said.returncode, said.stderr) == (0, "")


def test_doctor_says_that_tensorflow_cannot_be_imported(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda _name: "2.99")
    monkeypatch.setattr(other_programs, "LOAD_PLUGIN", "raise ImportError('no such symbol')")

    with pytest.raises(
        TfdarshanError, match=r"tensorflow 2\.99 cannot be imported: ImportError: no such symbol"
    ):
        other_programs.check_tensorflow()


@pytest.mark.usefixtures("no_other_programs")
def test_doctor_fails_where_a_named_library_is_none(capsys, tmp_path):
    assert main(["doctor", "--darshan-library", str(tmp_path / "libdarshan.so")]) == 1
    (line,) = (line for line in capsys.readouterr().out.splitlines() if " libdarshan  " in line)
    assert line.startswith("FAILED")
    assert str(tmp_path / "libdarshan.so") in line


@pytest.mark.usefixtures("no_other_programs")
def test_doctor_says_what_is_wrong(capsys, monkeypatch):
    # GIVEN calls that do not do what is expected of them
    monkeypatch.setattr(self_check, "known_calls", lambda folder: {"POSIX_READS": 3})

    # WHEN
    code = main(["doctor", "--json"])

    # THEN
    report = json.loads(capsys.readouterr().out)
    assert (code, report["ok"]) == (1, False)
    (failed,) = (check for check in report["checks"] if not check["ok"])
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "tfdarshan does not work here: known calls. What to do stands in the line FAILED." in said
    assert "POSIX_READS 0 instead of 3" in failed["finding"]
