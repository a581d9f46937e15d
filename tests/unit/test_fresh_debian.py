"""tools/fresh_debian.py: what it refuses and takes over from this machine, and that nothing is left."""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "fresh_debian.py"
LOOP = 'truncate -s 1M "$root/disk"; losetup --find "$root/disk" || true'
WAIT = f'{LOOP}; touch "$marker"; sleep 1000'


@pytest.fixture(scope="module")
def fresh_debian():
    spec = importlib.util.spec_from_file_location("fresh_debian", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def refusal(fresh_debian, capsys, monkeypatch):
    """Run it with arguments that it refuses; return the one line it says."""
    # What signals do in the tests' own process stays as it is.
    monkeypatch.setattr(fresh_debian.signal, "signal", lambda *_: None)

    def run(*arguments):
        assert fresh_debian.main(list(arguments)) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("tfdarshan: ")
        assert said.err.count("\n") == 1
        return said.err

    return run


def test_a_user_who_is_not_root_is_refused(refusal, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 1000)

    assert "need root" in refusal()


def test_what_is_missing_is_named(refusal, monkeypatch, tmp_path):
    # GIVEN root, and a machine that has git and nothing else
    monkeypatch.setattr(os, "getuid", lambda: 0)
    (tmp_path / "git").write_text("#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    # WHEN / THEN
    said = refusal()
    assert "need mmdebstrap, unshare, mount" in said
    assert "git" not in said


def test_the_commands_are_those_of_the_readme(fresh_debian):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.partition("On Debian with `python3`, `gcc` and `make`:")[2].split("```")[1]
    assert fresh_debian.COMMAND.split(" && ") == [
        line.partition("#")[0].strip() for line in block.split("\n")[1:3]
    ]
    assert set(fresh_debian.PACKAGES) == {"python3", "gcc", "make", "ca-certificates"}


def test_mirrors_of_this_machine_serve_other_suites(fresh_debian):
    # GIVEN the indexes of a machine with mirrors of its own, and of others than Debian
    indexes = (
        "http://mirror.example/debian/ bookworm main\n"
        "http://mirror.example/debian/ bookworm contrib\n"
        "http://mirror.example/debian/ bookworm-updates main\n"
        "http://mirror.example/debian/ bookworm-backports main\n"
        "https://sec.example/ bookworm-security main\n"
        "https://tools.example/ nodistro main\n"
        "https://other.example/ bookworm stable\n"
    )

    # WHEN / THEN
    assert fresh_debian.mirrors("bookworm", "trixie", indexes) == [
        "deb http://mirror.example/debian/ trixie main",
        "deb http://mirror.example/debian/ trixie-updates main",
        "deb https://sec.example/ trixie-security main",
    ]


def test_a_machine_without_mirrors_is_refused(fresh_debian):
    with pytest.raises(fresh_debian.RefusedError, match=r"no mirror of Debian.*--mirror, for trixie"):
        fresh_debian.mirrors("", "trixie", "https://mirror.example/ubuntu noble main\n")


def test_a_named_mirror_takes_their_place(fresh_debian):
    assert fresh_debian.source_lines("trixie", ["http://mirror.example/debian"]) == [
        "deb http://mirror.example/debian trixie main"
    ]


def test_only_the_network_is_kept_of_the_environment(fresh_debian):
    # GIVEN
    environment = {
        "HTTPS_PROXY": "http://proxy.example:3128",
        "no_proxy": "localhost",
        "PIP_INDEX_URL": "https://index.example/simple",
        "PIP_CONFIG_FILE": "/home/user/pip.conf",
        "PYTHONPATH": "/home/user/lib",
        "VIRTUAL_ENV": "/home/user/venv",
        "LANG": "de_DE.UTF-8",
        "PATH": "/home/user/bin:/usr/bin",
        "MAKEFLAGS": "-j8",
    }

    # WHEN / THEN
    assert fresh_debian.kept_environment(environment) == {
        "HTTPS_PROXY": "http://proxy.example:3128",
        "no_proxy": "localhost",
        "PIP_INDEX_URL": "https://index.example/simple",
        "HOME": "/root",
        "PATH": fresh_debian.SEARCH_PATH,
    }


def test_folders_that_pip_is_configured_with_are_there(fresh_debian, tmp_path):
    # GIVEN an index and wheels on this machine, in a file and in a variable, and an index elsewhere
    index, wheels = tmp_path / "index" / "simple", tmp_path / "wheels"
    index.mkdir(parents=True)
    wheels.mkdir()
    file = tmp_path / "pip.conf"
    file.write_text(f"[global]\nextra-index-url = https://index.example/simple\n    file://{index}\n")
    environment = {
        "PIP_FIND_LINKS": f"{wheels} /nowhere",
        "PIP_CACHE_DIR": str(tmp_path),
        "FIND_LINKS": str(tmp_path),
        "SSL_CERT_FILE": str(file),
    }

    # WHEN
    paths = fresh_debian.local_paths(fresh_debian.pip_values([file], environment))

    # THEN an index comes with what lies beside it, and certificates come along
    assert paths == [tmp_path / "index", file, wheels]


@pytest.fixture
def made_by(tmp_path):
    """Start a run on a machine whose mmdebstrap does as told; return the process and where roots are made."""
    if (
        os.getuid()
        or subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode
    ):
        pytest.skip("namespaces need root")
    programs, roots = tmp_path / "bin", tmp_path / "roots"
    programs.mkdir()
    roots.mkdir()

    def start(body, *options):
        mmdebstrap = programs / "mmdebstrap"
        mmdebstrap.write_text(
            '#!/bin/sh\nset -e\nfor root in "$@"; do case "$root" in /*) break ;; esac; done\n'
            f'marker={tmp_path}/started\nmkdir -p "$root/mounted"\n'
            f'mount -t tmpfs tmpfs "$root/mounted"\necho > "$root/mounted/file"\n{body}\n'
        )
        mmdebstrap.chmod(0o755)
        for name in ("apt-get", "apt-config", "git"):
            (programs / name).write_text("#!/bin/sh\n")
            (programs / name).chmod(0o755)
        return subprocess.Popen(
            [sys.executable, SCRIPT, "--suite=trixie", "--mirror=http://mirror.example/debian", *options],
            env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(roots)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    machine: Any = start
    machine.roots, machine.marker = roots, tmp_path / "started"
    return machine


def loop_devices():
    return subprocess.run(["losetup", "--all"], capture_output=True, text=True).stdout


def running(word):
    """Return the command lines of this machine that contain a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_bytes().decode(errors="replace"))
    return [line for line in found if word in line]


def assert_nothing_is_left(roots):
    assert list(roots.iterdir()) == []
    assert str(roots) not in Path("/proc/self/mountinfo").read_text()


def test_a_root_that_cannot_be_made_leaves_nothing(made_by):
    # WHEN
    run = made_by("echo no such suite >&2; exit 25")
    said = run.communicate(timeout=60)[1]

    # THEN
    assert run.returncode == 1
    assert "no such suite" in said
    assert "trixie: failed with exit code 1" in said
    assert_nothing_is_left(made_by.roots)


@pytest.mark.parametrize(
    ("options", "included"),
    [
        ([], "--include=python3,gcc,make,ca-certificates"),
        (["--package", "python3", "--package", "python3-venv"], "--include=python3,python3-venv"),
    ],
)
def test_a_root_has_the_packages_that_are_named(made_by, options, included):
    run = made_by('echo "$@" >&2; exit 25', *options)

    assert included in run.communicate(timeout=60)[1].split()


def test_a_folder_of_this_machine_can_be_read_at_its_place(fresh_debian, tmp_path):
    # GIVEN
    wheels, root = tmp_path / "wheels", tmp_path / "root"
    wheels.mkdir()

    # WHEN
    options = fresh_debian.parse(["--bind", str(wheels)])

    # THEN the root gets a place for it, and says that it is to be mounted there
    assert fresh_debian.bound(root, options.bind) == [wheels]
    assert (root / str(wheels).lstrip("/")).is_dir()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_leaves_nothing(made_by, number):
    # GIVEN a run that is making its root, with something mounted in it, and a loop device
    run = made_by(WAIT)
    while not made_by.marker.exists():
        assert run.poll() is None, run.communicate()

    # WHEN
    run.send_signal(number)
    run.communicate(timeout=60)

    # THEN
    assert run.returncode == 128 + number
    assert_nothing_is_left(made_by.roots)
    assert not running(str(made_by.roots))
    # The kernel lets go of a loop device when the last one that looks at it has closed it.
    until_s = time.monotonic() + 60
    while str(made_by.roots) in loop_devices() and time.monotonic() < until_s:
        time.sleep(0.05)
    assert str(made_by.roots) not in loop_devices()
