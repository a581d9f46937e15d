import subprocess
import sys

import pytest

from tfdarshan.native._extension import interpreter_problem, platform_problem


@pytest.mark.parametrize(
    ("system", "machine", "c_library", "word"),
    [
        ("darwin", "arm64", "", "this is darwin"),
        ("linux", "riscv64", "glibc 2.36", "this machine is riscv64"),
        ("linux", "x86_64", "", "musl"),
    ],
)
def test_unsupported_platform_is_said(system, machine, c_library, word):
    problem = platform_problem(system, machine, c_library)

    assert problem is not None
    assert word in problem
    assert "Linux with glibc on x86-64 or aarch64" in problem


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_supported_platforms(machine):
    assert platform_problem("linux", machine, "glibc 2.36") is None


@pytest.mark.parametrize(("abi_flags", "fits"), [("", True), ("d", True), ("t", False), ("td", False)])
def test_a_free_threaded_python_is_refused(abi_flags, fits):
    problem = interpreter_problem(abi_flags)

    said = (
        "tfdarshan needs the global interpreter lock, and this is a free-threaded Python: use a build of "
        "Python that has the lock, such as python3.14 for python3.14t."
    )
    assert problem == (None if fits else said)


def test_unsupported_platform_is_raised_at_first_use_and_not_at_import(tmp_path):
    # GIVEN a process that says it runs elsewhere
    program = (
        "import sys, tfdarshan; sys.platform = 'plan9'\n"
        "session = tfdarshan.profile('logs')\n"
        "try: session.start()\n"
        "except tfdarshan.UnsupportedPlatformError as error: print(error)\n"
    )

    # WHEN
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )

    # THEN
    assert done.stdout.startswith("tfdarshan needs Linux with glibc on x86-64 or aarch64, and this is plan9")
    assert not (tmp_path / "logs").exists()


def test_import_loads_nothing():
    # WHEN
    program = (
        "import sys; before = set(sys.modules); import tfdarshan\n"
        "print(sorted(n for n in set(sys.modules) - before if n != '_core' and not n.startswith('_')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    # THEN
    heavy = {
        "numpy",
        "pandas",
        "pyarrow",
        "cffi",
        "tensorflow",
        "tfdarshan.native._core",
        "tfdarshan.recording.profiler",
        "logging",
    }
    assert not heavy & set(eval(done.stdout))
