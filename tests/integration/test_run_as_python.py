"""Under `tfdarshan run` a program finds what plain Python gives it, and ends as it does there."""

import json
import os
import py_compile
import subprocess
import sys
import zipapp

import pytest

import tfdarshan
from tfdarshan.commands import main

ENTRY_POINT = "import sys; from tfdarshan.commands import main; sys.exit(main())"

# What it finds first, before it imports or defines anything.
PROBE = '''found = dict(globals())
import json, re, sys, warnings
def shown(value):
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))
def end(how):
    warnings.warn("old", DeprecationWarning)
    if how == "error": return 1 / 0
    if how == "interrupt": raise KeyboardInterrupt
    sys.exit({"text": "no luck", "code": 7}.get(how))
with open(f"found.{sys.argv[1]}.json", "w") as file:
    json.dump({
        "names": list(found),
        **{f"__main__.{name}": shown(value) for name, value in found.items()},
        "argv": sys.argv[:1] + sys.argv[2:],
        "path": sys.path,
        "flags": shown(sys.flags),
        "warnoptions": sys.warnoptions,
        "is __main__": sys.modules["__main__"].__dict__ is globals(),
        "left on stdin": sys.stdin.read(),
        "excepthook": shown(sys.excepthook),
        "code": shown(end.__code__.co_filename),
    }, file)
open(f"data.{sys.argv[1]}", "wb").write(bytes(4321))
end(sys.argv[2])
'''  # fmt: skip


@pytest.fixture
def programs(tmp_path):
    """Lay the probe out in every form that Python runs."""
    for name in ("job.py", "inside/job.py", "package/part.py", "package/__main__.py", "folder/__main__.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PROBE)
    (tmp_path / "package" / "__init__.py").write_text("import sys\nseen = list(sys.argv)\n")
    (tmp_path / "link.py").symlink_to("inside/job.py")
    zipapp.create_archive(tmp_path / "folder", tmp_path / "app.pyz", interpreter="/usr/bin/env python3")
    zipapp.create_archive(tmp_path / "folder", tmp_path / "plain.zip", compressed=True)
    py_compile.compile(str(tmp_path / "job.py"), str(tmp_path / "job.pyc"), doraise=True)
    (tmp_path / "compiled").write_bytes((tmp_path / "job.pyc").read_bytes())
    return tmp_path


WAYS = {
    "script": ("job.py",),
    "script here": ("./job.py",),
    "script in a folder": ("inside/job.py",),
    "link to a script": ("link.py",),
    "absolute script": ("{}/job.py",),
    "module": ("-m", "job"),
    "package": ("-m", "package"),
    "module of a package": ("-m", "package.part"),
    "folder": ("folder",),
    "folder with a slash": ("./folder/",),
    "zipapp": ("app.pyz",),
    "absolute zip file": ("{}/plain.zip",),
    "compiled": ("job.pyc",),
    "compiled without a suffix": ("compiled",),
    "code": ("-c", PROBE),
    "standard input": ("-",),
}


def run_both(folder, words, end="", *, options=(), **environment):
    """Run the same program under plain Python and under `tfdarshan run`; return both, as they ended."""
    words = [word.replace("{}", str(folder)) if len(word) < 20 else word for word in words]
    ours = (*options, "-c", ENTRY_POINT, "run", "--no-trace")
    return [
        start(
            folder,
            [*python, *words, name, end, "--epochs", "2", "-m", "x"],
            PROBE if words == ["-"] else "to the program\n",
            **environment,
        )
        for name, python in (("plain", options), ("ours", ours))
    ]


def start(folder, arguments, stdin="", **environment):
    """Run Python in a folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def found_by(folder, name):
    return json.loads((folder / f"found.{name}.json").read_text())


def own_stderr(done):
    """What the program and Python said: without the line that says where the session is."""
    lines = done.stderr.splitlines()
    return [line for line in lines if not line.startswith("tfdarshan: the session is in ")]


@pytest.mark.parametrize(
    ("way", "end"),
    [(way, "error") for way in WAYS]
    + [(way, end) for way in ("script", "code") for end in ("", "interrupt", "text", "code")]
    + [("module", "interrupt"), ("zipapp", "text")],
)
def test_a_program_finds_what_python_gives_it_and_ends_as_under_python(programs, way, end):
    # WHEN
    plain, ours = run_both(programs, WAYS[way], end)

    # THEN what it found is Python's, and so are the traceback, the warning and the code
    assert found_by(programs, "ours") == found_by(programs, "plain")
    assert bool(plain.returncode) == bool(end)
    assert (ours.returncode, own_stderr(ours)) == (plain.returncode, own_stderr(plain))
    # AND it was recorded
    assert "the session is in" in ours.stderr
    files = tfdarshan.open_session(programs / "logs").files
    written = files.loc[files["path"] == str(programs / "data.ours"), "POSIX_BYTES_WRITTEN"]
    assert written.tolist() == [4321]


@pytest.mark.parametrize(
    ("way", "options", "safe_path"),
    [(way, (), "1") for way in ("script", "compiled", "folder", "zipapp", "code", "standard input")]
    + [("folder", ("-I",), ""), ("script", ("-I", "-O", "-B"), "")]
    + [("code", ("-W", "error::DeprecationWarning"), "")],
)
def test_pythons_options_mean_what_they_mean(programs, way, options, safe_path):
    # WHEN
    plain, ours = run_both(programs, WAYS[way], options=options, PYTHONSAFEPATH=safe_path)

    # THEN
    assert (ours.returncode, own_stderr(ours)) == (plain.returncode, own_stderr(plain))
    assert found_by(programs, "ours") == found_by(programs, "plain")


@pytest.mark.parametrize("way", ["script", "code", "standard input"])
def test_source_that_is_no_python_fails_as_under_python(tmp_path, way):
    # GIVEN
    source = "def work(:\n"
    (tmp_path / "job.py").write_text(source)
    words = {"script": ("job.py",), "code": ("-c", source), "standard input": ("-",)}[way]

    # WHEN
    plain, ours = (start(tmp_path, [*python, *words], source) for python in ((), ("-c", ENTRY_POINT, "run")))

    # THEN
    assert (ours.returncode, ours.stderr) == (plain.returncode, plain.stderr)
    assert not (tmp_path / "logs").exists()


def test_multiprocessing_starts_a_zip_files_workers(tmp_path):
    # GIVEN a zip file whose workers import its __main__ again
    source = tmp_path / "source"
    source.mkdir()
    (source / "squares.py").write_text("def square(x): return x * x\n")
    (source / "__main__.py").write_text(
        "import multiprocessing\nfrom squares import square\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool: print(pool.map(square, [2, 3]))\n"
    )
    zipapp.create_archive(source, tmp_path / "app.pyz")

    # WHEN
    done = start(tmp_path, ["-c", ENTRY_POINT, "run", "app.pyz"])

    # THEN
    assert (done.returncode, done.stdout) == (0, "[4, 9]\n"), done.stderr


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("folder", None, "folder has no __main__.py: name the script to run."),
        ("job.pyc", b"print()", "the script job.pyc cannot be read: bad magic number in '__main__'"),
    ],
)
def test_what_cannot_run_is_one_sentence(tmp_path, capsys, monkeypatch, name, content, sentence):
    # GIVEN
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir() if content is None else (tmp_path / name).write_bytes(content)

    # WHEN
    code = main(["run", name])

    # THEN
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith(f"tfdarshan: {sentence}")


def test_no_package_is_imported_before_the_program(tmp_path):
    # GIVEN a program that sets what a package reads when it is imported, as OPENBLAS_NUM_THREADS
    (tmp_path / "job.py").write_text(
        "import json, sys\n"
        "packages = {'numpy', 'pyarrow', 'pandas', 'plotly', 'matplotlib', 'tensorflow'}\n"
        "packages |= {'google.protobuf', 'jinja2', 'msgspec', 'tqdm'}\n"
        "json.dump(sorted(packages & set(sys.modules)), open('found.json', 'w'))\n"
    )

    # WHEN
    ran = subprocess.run(
        [sys.executable, "-c", ENTRY_POINT, "run", "--logdir", "logs", "job.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    # THEN it is the first to import it
    assert ran.returncode == 0, ran.stderr
    assert json.loads((tmp_path / "found.json").read_text()) == []
