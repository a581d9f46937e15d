import json
import shlex
import signal

import pytest

import tfdarshan
from tfdarshan.commands import main


@pytest.fixture
def script(tmp_path):
    """Write a script and return its path."""

    def write(text, name="job.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    return write


# What pip makes of the entry point, as an argument.
ENTRY_POINT = "import sys; from tfdarshan.commands import main; sys.exit(main())"


def run(run_python, *arguments):
    return run_python("-c", ENTRY_POINT, "run", *arguments)


@pytest.mark.parametrize(
    ("end", "code", "stderr"),
    [
        ("", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(7)", 7, ""),
        ("sys.exit('no luck')", 1, "no luck\n"),
        ("raise SystemExit(True)", 1, ""),
    ],
)
def test_exit_code_is_the_scripts(run_python, script, tmp_path, end, code, stderr):
    # GIVEN
    path = script(f"import sys\nopen('x.bin', 'wb').write(bytes(4567))\n{end}\n")

    # WHEN
    done = run(run_python, path)

    # THEN
    session = tfdarshan.open_session(tmp_path / "logs")
    announced = (
        f"tfdarshan: the session is in {session.path}; see it with: tfdarshan summary {session.path}\n"
    )
    assert (done.returncode, done.stderr) == (code, stderr + announced)
    files = session.files
    assert files.loc[files["path"] == str(tmp_path / "x.bin"), "POSIX_BYTES_WRITTEN"].tolist() == [4567]


def test_script_sees_what_python_would_give_it(run_python, script):
    # GIVEN
    path = script(
        "import sys, json, pickle\n"
        "class Thing: pass\n"
        "pickle.loads(pickle.dumps(Thing()))\n"
        "print(json.dumps([sys.argv, sys.path[0], __name__, __file__, __spec__ is None,\n"
        "                  __package__ is None,\n"
        "                  sys.modules['__main__'].Thing is Thing, sorted(globals())[0], __doc__]))\n"
    )

    # WHEN
    plain = run_python(path, "--epochs", "2", "-m", "x")
    ours = run(run_python, "--logdir", "here", path, "--epochs", "2", "-m", "x")

    # THEN
    assert plain.returncode == ours.returncode == 0
    assert json.loads(ours.stdout) == json.loads(plain.stdout)


def test_module_sees_what_python_would_give_it(run_python, script):
    # GIVEN
    script("", "package/__init__.py")
    program = (
        "import sys, json\n"
        "print(json.dumps([sys.argv, sys.path[0], __name__, __file__, __spec__.name, __package__]))\n"
    )
    script(program, "package/__main__.py")
    script(program, "package/part.py")

    for name in ("package", "package.part"):
        # WHEN
        plain = run_python("-m", name, "--epochs", "2")
        ours = run(run_python, "--no-trace", "-m", name, "--epochs", "2")

        # THEN
        assert plain.returncode == ours.returncode == 0, ours.stderr
        assert json.loads(ours.stdout) == json.loads(plain.stdout)


@pytest.mark.parametrize("mode", ["script", "module"])
def test_traceback_is_pythons_own(run_python, script, mode):
    # GIVEN
    path = script("def work():\n    return 1 / 0\n\nwork()\n")
    arguments = ("-m", "job") if mode == "module" else (path,)

    # WHEN
    plain = run_python(*arguments)
    ours = run(run_python, *arguments)

    # THEN
    assert plain.returncode == ours.returncode == 1
    assert ours.stderr.startswith(plain.stderr)
    assert "tfdarshan/" not in ours.stderr.removesuffix(ours.stderr.splitlines()[-1] + "\n")


def test_syntax_error_is_pythons_own(run_python, script, tmp_path):
    # GIVEN
    path = script("def work(:\n")

    # WHEN
    plain, ours = run_python(path), run(run_python, path)

    # THEN
    assert (ours.returncode, ours.stderr) == (plain.returncode, plain.stderr)
    assert not (tmp_path / "logs").exists()


def test_error_of_ours_in_the_script_is_the_scripts(run_python, script):
    # WHEN
    done = run(run_python, script("import tfdarshan\ntfdarshan.profile('gs://x')\n"))

    # THEN
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "tfdarshan.errors.ConfigurationError: logdir gs://x is remote" in done.stderr


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["foreground", "background"])
def interruptible(request):
    """Yield whether programs can be interrupted: a shell starts those in its background without SIGINT."""
    before = signal.signal(signal.SIGINT, request.param)
    yield request.param is not signal.SIG_IGN
    signal.signal(signal.SIGINT, before)


def test_interrupt_ends_as_in_python(run_python, script, tmp_path, interruptible):
    # WHEN
    path = script(
        "import os, signal, time\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "if signal.getsignal(signal.SIGINT) != signal.SIG_IGN: time.sleep(60)\n"
    )
    plain, ours = run_python(path), run(run_python, path)

    # THEN
    assert (plain.returncode, "KeyboardInterrupt" in plain.stderr) == (
        (-signal.SIGINT, True) if interruptible else (0, False)
    )
    assert ours.returncode == plain.returncode
    assert ours.stderr.startswith(plain.stderr)
    assert tfdarshan.open_session(tmp_path / "logs").path.exists()


def test_io_of_exit_functions_and_threads_is_recorded(run_python, script, tmp_path):
    # GIVEN
    path = script(
        "import atexit, threading, time\n"
        "atexit.register(lambda: open('exit.bin', 'wb').write(bytes(11)))\n"
        "def late():\n    time.sleep(0.3)\n    open('late.bin', 'wb').write(bytes(22))\n"
        "threading.Thread(target=late).start()\n"
    )

    # WHEN
    done = run(run_python, path)

    # THEN
    assert done.returncode == 0
    paths = set(tfdarshan.open_session(tmp_path / "logs").files["path"])
    assert {str(tmp_path / "exit.bin"), str(tmp_path / "late.bin")} <= paths


def test_inner_profile_joins_the_session(run_python, script, tmp_path):
    # GIVEN
    path = script(
        "import tfdarshan\n"
        "with tfdarshan.profile('inner') as session:\n"
        "    open('x.bin', 'wb').write(bytes(99))\n"
        "print(session.summary())\n"
    )

    # WHEN
    done = run(run_python, path)

    # THEN
    assert done.returncode == 0, done.stderr
    assert "profile('" in done.stderr
    assert "joins its session" in done.stderr
    assert "still recording" in done.stdout
    assert not (tmp_path / "inner").exists()
    assert str(tmp_path / "x.bin") in set(tfdarshan.open_session(tmp_path / "logs").files["path"])


JOINED = """
import json, os, sys, tfdarshan
with tfdarshan.profile("inner") as session:
    for number in range(3):
        with tfdarshan.step():
            open("x.bin", "ab").write(bytes(33))
print(session.summary())
print(session._repr_html_())
tables = {name: getattr(session, name) for name in ("files", "events", "steps")}
mine = tables["files"][tables["files"]["path"].astype(str).str.endswith("x.bin")]
with open("found.json", "w") as file:
    json.dump({"bytes": [int(n) for n in mine.get("POSIX_BYTES_WRITTEN", ())],
               "rows": {name: len(table) for name, table in tables.items()},
               "columns": {name: list(table) for name, table in tables.items()}}, file)
"""


def test_a_joined_session_gives_what_there_is_so_far(run_python, script, tmp_path, spool_folder):
    # WHEN
    done = run(run_python, script(JOINED))

    # THEN
    session = tfdarshan.open_session(tmp_path / "logs")
    assert done.returncode == 0, done.stderr
    later = f"See all of it after the job with: tfdarshan summary {session.path}"
    assert f"still recording: this is what it has so far.\n{later}" in done.stdout
    assert "ended without stopping" not in done.stdout
    assert "<table" in done.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["bytes"] == [99]
    assert found["rows"]["steps"] == len(session.steps) == 3
    assert 6 < found["rows"]["events"] < len(session.events)
    # AND reading it is not part of the session, and leaves nothing
    assert not session.files["path"].str.contains("so-far").any()
    assert not session.files["path"].str.endswith(".spool").any()
    assert list(spool_folder.iterdir()) == []


def test_a_joined_session_that_cannot_be_read_yet_says_what_to_do(run_python, script, tmp_path):
    # GIVEN a job in which nothing may be read meanwhile
    path = script(
        "import tfdarshan.recording.live_snapshot\ntfdarshan.recording.live_snapshot.MOST_BYTES = 0\n"
        + JOINED
    )

    # WHEN
    done = run(run_python, path)

    # THEN
    session = tfdarshan.open_session(tmp_path / "logs")
    assert done.returncode == 0, done.stderr
    assert f"after the job with: tfdarshan summary {session.path}" in done.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    assert set(found["rows"].values()) == {0}
    whole = {name: list(getattr(session, name)) for name in ("files", "events", "steps")}
    assert found["columns"] == whole


def test_spawned_and_forked_workers_work(run_python, script):
    # GIVEN
    path = script(
        "import multiprocessing as mp\n"
        "def square(x): return x * x\n"
        "if __name__ == '__main__':\n"
        "    for way in ('fork', 'spawn', 'forkserver'):\n"
        "        with mp.get_context(way).Pool(2) as pool: print(pool.map(square, [2, 3]))\n"
    )

    # WHEN
    done = run(run_python, path)

    # THEN
    assert done.stdout == "[4, 9]\n" * 3, done.stderr
    assert done.stderr.count("the session is in") == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "run needs a script, or -m and a module"),
        (["missing.py"], "the script missing.py cannot be read: No such file or directory; name a"),
        (["-m", "no_such_module"], "there is no module no_such_module"),
        (["--engine", "ldms", "x.py"], "engine must be"),
        (["--memory-cap-mb", "3", "x.py"], "memory_cap_mb must be a whole number of MiB from 16 to"),
        (["--logdir", "gs://b", "x.py"], "logdir gs://b is remote"),
    ],
)
def test_wrong_use_is_one_line_and_code_2(run_python, script, arguments, sentence):
    # GIVEN
    script("", "x.py")

    # WHEN
    done = run(run_python, *arguments)

    # THEN
    assert done.returncode == 2
    assert done.stderr.startswith(f"tfdarshan: {sentence}")
    assert done.stderr.count("\n") == 1


def test_a_refused_choice_names_those_that_there_are(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", "--tf-profiler", "False", "x.py"])
    assert ended.value.code == 2
    refusal = capsys.readouterr().err.splitlines()[-1]
    assert "invalid choice: 'False'" in refusal
    assert all(word in refusal for word in ("auto", "yes", "no"))


@pytest.mark.parametrize(
    ("flag", "word", "means"),
    [("tf-profiler", "no", False), ("mapped", "yes", True), ("mapped", "auto", "auto")],
)
def test_a_choice_means_what_it_means_in_python(run_python, script, tmp_path, flag, word, means):
    done = run(run_python, f"--{flag}", word, script(""))

    assert done.returncode == 0
    assert tfdarshan.open_session(tmp_path / "logs").meta[0]["options"][flag.replace("-", "_")] == means


@pytest.mark.parametrize("option", ["trace_memory_mb", "memory_cap_mb", "tf_profiler_max_s"])
def test_a_number_is_one_whatever_its_default(run_python, script, tmp_path, option):
    done = run(run_python, f"--{option.replace('_', '-')}", "100", script(""))

    assert done.returncode == 0, done.stderr
    assert tfdarshan.open_session(tmp_path / "logs").meta[0]["options"][option] == 100


def test_json_says_where_the_session_is(run_python, script, tmp_path):
    done = run(run_python, "--json", script("print('output')"))

    assert done.stdout == "output\n"
    assert json.loads(done.stderr)["session"] == str(tfdarshan.open_session(tmp_path / "logs").path)


def test_help_names_every_option(capsys):
    # WHEN
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])

    # THEN
    said = capsys.readouterr().out
    assert ended.value.code == 0
    for option in (
        "--logdir",
        "--include PATTERN",
        "--memory-cap-mb MIB",
        "--trace",
        "--no-trace",
        "--spool-dir DIR",
    ):
        assert option in said
    assert said.startswith("usage: tfdarshan run ")


def test_the_command_of_a_session_is_one_that_a_shell_takes_apart_again(run_python, script, tmp_path):
    # GIVEN words with blanks, quotes and signs of a shell, and more than a session has room for
    words = [script("", "my job.py"), "--tag", "a;b", "it's", "", "é", "*", "end"]

    # WHEN
    run(run_python, *words)
    for extra in range(5):
        run(run_python, "--logdir", f"cut{extra}", *words, "x" * extra, *["long"] * 300)

    # THEN
    command = tfdarshan.open_session(tmp_path / "logs").meta[0]["command"]
    assert shlex.split(command)[-len(words) :] == words
    for extra in range(5):
        cut = shlex.split(tfdarshan.open_session(tmp_path / f"cut{extra}").meta[0]["command"])
        assert (cut.index(words[0]) > 0, cut[-3], cut[-1]) == (True, "long", "...")
