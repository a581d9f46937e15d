"""What `doctor` says of a machine: each sentence where it is true of it, and where it is not."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tfdarshan.doctor import (
    hook_proof,
    other_programs,
    packages,
    pip_command,
    self_check,
    trial_session,
)
from tfdarshan.doctor.hook_proof import Call, Event, Trial
from tfdarshan.doctor.self_check import FILE_BYTES, READ_BYTES, Check, run_checks
from tfdarshan.formats.importing import pydarshan
from tfdarshan.native import _bridge, _extension, package_versions
from tfdarshan.recording.writing import writer

LOAD_BACKEND = pydarshan.load_backend
VERSIONS = {"tensorflow": "2.99.0", "tensorboard": "2.98.0", "darshan": "3.97.0"}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the packages that seem to be installed, which may be changed."""
    there = dict(VERSIONS)

    def version(name: str) -> str:
        if name not in there:
            raise importlib.metadata.PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(pydarshan, "load_backend", lambda: None)
    return there


@pytest.mark.parametrize(
    ("package", "check", "words"),
    [
        ("tensorflow", other_programs.check_tensorflow,
         "not installed: sessions have steps where tfdarshan.step() marks them"),
        ("tensorboard", other_programs.check_tensorboard,
         "not installed: `tfdarshan report` writes what the tab shows as one file"),
        ("darshan", other_programs.check_pydarshan,
         "not installed: `tfdarshan import` needs it (pip install darshan)"),
    ],
)  # fmt: skip
def test_what_is_not_installed_is_said_to_be(package, check, words, installed, monkeypatch):
    monkeypatch.setattr(subprocess, "run", ended(0, "joined\nplugins: tfdarshan\n"))
    there = check()
    del installed[package]

    assert check() == words
    assert words not in there
    assert VERSIONS[package] in there


def ended(code: int, out: str, error: str = "") -> Any:
    """Return what stands for a process that imported TensorFlow."""
    return lambda *_, **__: SimpleNamespace(returncode=code, stdout=out, stderr=error)


def hung(*_: Any, **more: Any) -> None:
    """Stand for an import that does not end."""
    raise subprocess.TimeoutExpired("python", more["timeout"])


# What TensorFlow 2.20 says with the oldest protobuf that it allows.
OLDER = (
    "google.protobuf.runtime_version.VersionError: Detected incompatible Protobuf Gencode/Runtime versions "
    "when loading tensorflow/core/framework.proto: gencode 5.28.3 runtime 5.28.0. Runtime version cannot "
    "be older than the linked gencode version"
)
TENSORFLOW = {
    f"tensorflow 2.99.0 cannot be imported: {OLDER}. Run `pip install 'protobuf>=5.28.3,<6'`.":
        (False, ended(1, "", f"Traceback\n{OLDER}.\n")),
    "tensorflow 2.99.0, whose profiler can be joined": (True, ended(0, "joined\n")),
    "tensorflow 2.99.0: its profiler's plug-in interface is missing or another one, so that it tells no "
    "steps; mark them with tfdarshan.step().": (False, ended(0, "not joined\n")),
    "tensorflow 2.99.0 cannot be imported: ImportError: no numpy.":
        (False, ended(1, "", "Traceback\nImportError: no numpy")),
    "tensorflow 2.99.0 cannot be imported: it ended.": (False, ended(1, "")),
    "tensorflow 2.99.0 cannot be imported: SIGSEGV ended it.":
        (False, ended(-11, "", "To enable the following instructions, rebuild TensorFlow")),
    "tensorflow 2.99.0 was not imported in 300 s: try `import tensorflow`.": (False, hung),
}  # fmt: skip


@pytest.mark.parametrize("words", TENSORFLOW)
def test_tensorflow_is_said_to_be_what_it_is(words, installed, monkeypatch):
    ok, process = TENSORFLOW[words]
    monkeypatch.setattr(subprocess, "run", process)

    assert self_check._tried("TensorFlow", other_programs.check_tensorflow) == Check("TensorFlow", ok, words)


def test_tensorflow_of_another_name_is_installed(installed, monkeypatch):
    # GIVEN TensorFlow as AMD builds it
    installed["tensorflow-rocm"] = installed.pop("tensorflow")
    names = {"tensorflow": ["tensorflow-rocm"], "other": ["other"]}
    monkeypatch.setattr(importlib.metadata, "packages_distributions", lambda: names)
    monkeypatch.setattr(subprocess, "run", ended(0, "joined\n"))

    # WHEN / THEN
    assert other_programs.check_tensorflow() == "tensorflow-rocm 2.99.0, whose profiler can be joined"


@pytest.mark.parametrize(
    ("fails", "words"),
    [(RuntimeError("no libdarshan-util.so"), "PyDarshan does not work here: no libdarshan-util.so."),
     (None, "PyDarshan 3.97.0")],
)  # fmt: skip
def test_pydarshan_is_said_to_work_if_it_does(fails, words, installed, monkeypatch):
    # GIVEN a PyDarshan that pip built without the library that reads logs
    def loaded(_):
        if fails is not None:
            raise fails
        return SimpleNamespace(__version__=installed["darshan"])

    monkeypatch.setattr(pydarshan, "load_backend", LOAD_BACKEND)
    monkeypatch.setattr(importlib, "import_module", loaded)

    # WHEN / THEN
    done = self_check._tried("PyDarshan", other_programs.check_pydarshan)
    assert done == Check("PyDarshan", fails is None, words)


def entry(load: Any) -> Any:
    """Return TensorBoard's entry point of the tab, which is loaded so."""
    return lambda *, group: [SimpleNamespace(name="tfdarshan", load=load)] if load else []


def broken() -> None:
    """Stand for a tab that cannot be imported."""
    raise ImportError("no numpy")


TENSORBOARD = {
    'tensorboard 2.98.0, which shows the tab "I/O"': (True, entry(lambda: None)),
    "tensorboard 2.98.0 does not know the tab: install tfdarshan into the same environment with pip.":
        (False, entry(None)),
    "tensorboard 2.98.0 cannot load the tab: ImportError: no numpy.": (False, entry(broken)),
}  # fmt: skip


@pytest.mark.parametrize("words", TENSORBOARD)
def test_tensorboard_is_said_to_show_the_tab_if_it_does(words, installed, monkeypatch):
    ok, entries = TENSORBOARD[words]
    monkeypatch.setattr(importlib.metadata, "entry_points", entries)

    monkeypatch.setattr(other_programs, "listed_plugins", lambda: ["scalars", "tfdarshan"])

    assert self_check._tried("tab", other_programs.check_tensorboard) == Check("tab", ok, words)


AGAIN = "pip install --force-reinstall --no-deps tensorboard==2.98.0"
LACKS = "Traceback\nModuleNotFoundError: No module named 'pkg_resources'\n"
STARTED = {
    "tensorboard 2.98.0 cannot start: ModuleNotFoundError: No module named 'pkg_resources'. "
    "Run `pip install 'setuptools<81'`.": ended(1, "", LACKS),
    "tensorboard 2.98.0 cannot start: ImportError: no werkzeug. "
    f"Run `{AGAIN}`.": ended(1, "", "Traceback\nImportError: no werkzeug\n"),
    f"tensorboard 2.98.0 cannot start: it ended. Run `{AGAIN}`.": ended(-9, ""),
    f"tensorboard 2.98.0 cannot start: {OLDER}. "
    "Run `pip install 'protobuf>=5.28.3,<6'`.": ended(1, "", f"Traceback\n{OLDER}.\n"),
    "tensorboard 2.98.0 did not start in 300 s: try `tensorboard --logdir .`.": hung,
    "tensorboard 2.98.0 starts without the tab: run `tensorboard --logdir .` to see why.":
        ended(0, "plugins: scalars graphs\n"),
}  # fmt: skip


@pytest.mark.parametrize("words", STARTED)
def test_a_tensorboard_that_does_not_start_is_said_to(words, installed, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", entry(lambda: None))
    monkeypatch.setattr(subprocess, "run", STARTED[words])
    monkeypatch.setattr(pip_command, "installed_version", VERSIONS.get)

    assert self_check._tried("tab", other_programs.check_tensorboard) == Check("tab", False, words)


def test_packages_are_named_with_their_versions():
    assert self_check._tried("packages", packages.loaded_packages) == Check(
        "packages", True, f"NumPy {np.__version__}, pandas {pd.__version__}, pyarrow {pa.__version__}"
    )


def test_without_the_packages_that_read_sessions_the_command_is_named(monkeypatch):
    monkeypatch.setattr(packages, "has_view", lambda: False)

    assert self_check._tried("packages", packages.loaded_packages) == Check(
        "packages", True,
        f"NumPy {np.__version__}, pyarrow {pa.__version__}; "
        "to read sessions, run `pip install 'tfdarshan[view]'`",
    )  # fmt: skip


def test_packages_that_do_not_work_together_end_what_needs_them(monkeypatch):
    # GIVEN what pip resolves for TensorFlow 2.17
    there = {"numpy": "1.26.4", "pyarrow": "26.0.1"}
    monkeypatch.setattr(trial_session, "profile", None)
    monkeypatch.setattr(package_versions, "installed_version", there.get)
    monkeypatch.setattr(self_check, "OTHER_PROGRAMS", (("TensorBoard", lambda: "is there"),))

    # WHEN
    checks = run_checks("auto")

    # THEN nothing was recorded
    assert [(check.name, check.ok) for check in checks] == [
        ("platform", True), ("packages", False), ("TensorBoard", True),
    ]  # fmt: skip
    assert checks[1].finding == (
        "pyarrow 26.0.1 needs NumPy 2, but NumPy 1.26.4 is installed: run `pip install 'pyarrow<26'`."
    )


def test_a_package_that_does_not_load_is_named_with_its_reason(monkeypatch):
    # GIVEN
    def refuse(package):
        raise ImportError("libarrow.so.2600: no such file.")

    monkeypatch.setattr(packages, "import_module", refuse)

    # THEN
    assert self_check._tried("packages", packages.loaded_packages) == Check(
        "packages", False,
        "numpy cannot be loaded (libarrow.so.2600: no such file): "
        f"run `pip install --force-reinstall --no-deps numpy=={np.__version__}`.",
    )  # fmt: skip


def test_a_session_that_is_not_written_leaves_nothing_and_advises_nothing(tmp_path, monkeypatch):
    # GIVEN a machine where nothing is written
    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "write_session", refuse)
    monkeypatch.setattr(trial_session, "choose_folder", lambda _: tmp_path)

    # WHEN
    found = self_check._tried("known calls", self_check._check_known_calls)

    # THEN
    assert not found.ok
    assert found.finding.endswith(" was not written: No space left on device.")
    assert "recover" not in found.finding
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def checks() -> dict[str, Check]:
    """Return what the checks find here; without the other programs, which are tested above."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(self_check, "OTHER_PROGRAMS", ())
        return {check.name: check for check in run_checks("auto")}


def test_what_is_tried_here_is_told_with_its_figures(checks):
    hooks = _bridge.hooks()
    here = sum(hook.available for hook in hooks)

    assert all(check.ok for check in checks.values())
    assert checks["hooks"].finding == f"{here} of {len(hooks)} hooked functions exist in this C library"
    assert checks["detached"].finding == "every slot holds its own value again"
    # No libdarshan is known to these tests, so that the two are not compared.
    assert checks["libdarshan"].finding == "none was found: the builtin engine counts"
    assert "two counters" not in checks
    patched, counters = checks["known calls"].finding.split(" slots patched, ")
    assert int(patched.replace(",", "")) > len(hooks)
    assert counters == "8 counters as expected"
    library = Path(_extension.program_library()).name
    assert checks["programs"].finding == f"{library} sees what {shutil.which('cat')} reads"


@pytest.mark.parametrize("here", [0, 1])
def test_hooks_that_no_library_has_are_a_failure(here, monkeypatch):
    hooks = [dataclasses.replace(hook, available=place < here) for place, hook in enumerate(_bridge.hooks())]
    monkeypatch.setattr(_bridge, "hooks", lambda: hooks)

    found = self_check._tried("hooks", self_check._check_hooks)

    assert found.ok == bool(here)
    words = "none of the hooked functions exists in this C library: please report this machine."
    assert (found.finding == words) != bool(here)


@pytest.mark.parametrize("left", [0, 1, 3])
def test_slots_that_are_left_patched_are_counted(left, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(_bridge, "slots_holding_wrappers", lambda: left)
        found = self_check._tried("detached", self_check._check_detached)

    words = {
        1: "1 slot still patched after the session: please report this machine.",
        3: "3 slots still patched after the session: please report this machine.",
    }
    assert found == Check("detached", not left, words.get(left, "every slot holds its own value again"))


class Recorded:
    """Stands for a recording, and its session, of the known file, in which so many bytes were seen."""

    def __init__(self, folder: Path, seen: int, unseen: list[dict[str, str]]) -> None:
        self.path = folder
        self.row = {"path": str(folder / "known"), "POSIX_BYTES_READ": seen}
        self.meta: Any = [{"programs": {"unseen": unseen}, "attach": {"start": {"slots_patched": 7}}}]
        self.processes = [self]

    def table(self, _name: str, columns: list[str]) -> pa.Table:
        return pa.Table.from_pylist([{column: self.row.get(column, 0) for column in columns}])

    def __enter__(self) -> Recorded:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def recorded(monkeypatch):
    """Have the next recordings see so many bytes of the known file, and these programs not at all."""

    def see(seen: int, unseen: list[dict[str, str]]) -> None:
        made: list[Recorded] = []

        def record(logs: Path, **_: object) -> Recorded:
            made.append(Recorded(logs.parent, seen, unseen))
            return made[-1]

        monkeypatch.setattr(trial_session, "profile", record)
        monkeypatch.setattr(trial_session, "SessionData", SimpleNamespace(open=lambda _: made[-1]))

    return see


MISCOUNTED = (
    f"of {FILE_BYTES:,} bytes that /bin/cat read 1,000 were seen: record without programs=True, and please "
    "report this machine."
)
STATIC = [{"program": "/bin/cat", "why": "statically linked"}]


@pytest.mark.parametrize(
    ("cat", "seen", "unseen", "words"),
    [
        (None, 0, [], "LIBRARY is there; without cat it is not tried"),
        ("/bin/cat", 0, STATIC, "LIBRARY is there, and /bin/cat does not take it: statically linked"),
        ("/bin/cat", FILE_BYTES, [], "LIBRARY sees what /bin/cat reads"),
        ("/bin/cat", 1000, [], MISCOUNTED),
    ],
)  # fmt: skip
def test_a_program_is_said_to_be_seen_if_it_is(cat, seen, unseen, words, recorded, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: cat)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)
    recorded(seen, unseen)

    found = self_check._tried("programs", self_check._check_programs)

    assert found.finding == words.replace("LIBRARY", Path(_extension.program_library()).name)
    assert found.ok == (seen == FILE_BYTES or not seen)


def test_a_path_that_the_loader_cannot_be_told_is_no_failure(monkeypatch):
    # GIVEN an installation in a folder whose name has a space: only programs=True needs another
    monkeypatch.setattr(_extension, "extension_path", lambda: "/home/a user/native/_core.abi3.so")

    found = self_check._tried("programs", self_check._check_programs)

    assert found == Check(
        "programs", True,
        "not seen: /home/a user/native holds a space, : ; or $, which the dynamic loader takes for something "
        "else. To record programs without Python, install tfdarshan into another folder",
    )  # fmt: skip


@pytest.mark.parametrize("found", [0, 1000, FILE_BYTES])
def test_a_started_python_is_said_to_be_seen_if_it_is(found, monkeypatch):
    monkeypatch.setattr(self_check, "_read_by", lambda _: (found, None))

    check = self_check._tried("started Python", self_check._check_started_python)

    unseen = (
        f"not seen: {self_check.JOIN_FILE} is not where {sys.executable} looks at its start; forks are seen. "
        "Install tfdarshan into that interpreter's environment, or record with programs=True"
    )
    torn = f"of {FILE_BYTES:,} bytes that a started Python read {found:,} were seen: please report it."
    assert check.ok == (found != 1000)
    assert (check.finding == unseen) == (found == 0)
    assert (check.finding == torn) == (found == 1000)


def test_counters_that_are_wrong_are_told_with_both_figures(recorded):
    # GIVEN a recording that saw one byte too few, and nothing else
    recorded(FILE_BYTES - 1, [])

    found = self_check._tried("known calls", self_check._check_known_calls)

    assert not found.ok
    reads = -(-FILE_BYTES // READ_BYTES) + 1
    assert found.finding.startswith("known calls were miscounted: POSIX_OPENS 0 instead of 1, ")
    assert f"POSIX_READS 0 instead of {reads}" in found.finding
    assert f"POSIX_BYTES_READ {FILE_BYTES - 1} instead of {FILE_BYTES}" in found.finding
    assert found.finding.endswith("; please report this machine.")


READ = Event("pread", 0, 0, 10, "/a")
WENT = Trial(Call(True, 0, ()), slots=1, slots_patched=9, slots_restored=9, slots_left=0, events=(READ,))
PROBLEMS = {
    "": WENT,
    "no slot was patched": dataclasses.replace(WENT, slots=0),
    "the call failed while attached (Input/output error)":
        dataclasses.replace(WENT, call=Call(False, 5, ())),
    "errno is 4 after the call instead of 0": dataclasses.replace(WENT, call=Call(True, 4, ())),
    "1 slot still patched after the session": dataclasses.replace(WENT, slots_left=1),
    "recorded nothing instead of pread of 10 bytes at 0 in /a": dataclasses.replace(WENT, events=()),
    "recorded pread of 9 bytes at 0 in /a instead of pread of 10 bytes at 0 in /a":
        dataclasses.replace(WENT, events=(dataclasses.replace(READ, length=9),)),
    "recorded pread failed with errno 5 of 10 bytes at 0 in /a instead of pread of 10 bytes at 0 in /a":
        dataclasses.replace(WENT, events=(dataclasses.replace(READ, error=5),)),
}  # fmt: skip


@pytest.mark.parametrize("words", PROBLEMS)
def test_a_hooks_problem_is_what_became_of_its_call(words):
    assert hook_proof._problem(PROBLEMS[words], Call(True, 0, ()), [READ]) == words


@pytest.mark.parametrize(
    ("probe", "linked", "alone", "state", "why"),
    [
        (None, True, 0, "FAILED", "no call is known that would prove it"),
        (0, False, 0, "not in this libc", ""),
        (0, True, 38, "untried", f"fails here without us as well ({os.strerror(38)})"),
        (0, True, 0, "ok", ""),
    ],
)
def test_a_hook_that_cannot_be_tried_is_said_to_be(probe, linked, alone, state, why, tmp_path, monkeypatch):
    # GIVEN a machine that has the function or not, on which its call alone works or not
    lib = SimpleNamespace(tfd_probe_linked=lambda _: linked)
    monkeypatch.setattr(_extension, "probe", lambda: SimpleNamespace(lib=lib))
    monkeypatch.setattr(hook_proof, "_call_detached", lambda *_: Call(not alone, alone, ()))
    monkeypatch.setattr(hook_proof, "_try", lambda *_: WENT)
    monkeypatch.setattr(hook_proof, "_expected", lambda *_: [READ])

    proof = hook_proof._proof(0, _bridge.hooks()[0], probe, tmp_path)

    assert (proof.state, proof.finding) == (state, why)


@pytest.mark.parametrize(("left", "agree"), [(0, True), (2, False)])
def test_two_counters_that_differ_are_a_failure(left, agree, monkeypatch):
    verify = {"counters": 65, "files": 1, "differences": [], "unexplained_rows": left}
    engine = {"name": "darshan", "version": "3.4.7", "library": "/lib/libdarshan.so", "source": "argument"}
    meta = {"engine": engine, "verify": verify, "bounds": []}
    monkeypatch.setattr(self_check, "_darshan_session", lambda *_: meta)

    library, both = self_check._check_darshan("darshan", None)

    assert library == Check("libdarshan", True, "3.4.7, /lib/libdarshan.so (argument)")
    assert both.ok == agree
    assert both.finding.endswith("; please report this libdarshan.") != agree


def test_a_trial_that_says_nothing_was_not_written() -> None:
    assert trial_session._why([]) == "the session was not written"
    assert trial_session._why(["tfdarshan: x was not written: full. What was recorded stays"]) == (
        "x was not written: full"
    )
