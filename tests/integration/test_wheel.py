"""A wheel made from the source distribution: one name in site-packages, and all that is needed."""

import os
import subprocess
import sys
import venv
import zipfile

import pytest

from tests.integration.copied_sources import copy_sources


def run(*command, cwd, **environment):
    done = subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **environment
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the source distribution and, from nothing but that, the wheel."""
    folder = tmp_path_factory.mktemp("build")
    copy_sources(folder / "tree")
    # Compiled in a third of the time: no test of the wheel asks how fast it is.
    build = folder / "tree" / "csrc" / "build_core.py"
    build.write_text(build.read_text(encoding="utf-8").replace('"-O2"', '"-O0"'), encoding="utf-8")
    code = "import setuptools.build_meta as backend, sys; backend.build_sdist(sys.argv[1])"
    run(sys.executable, "-c", code, folder / "sdist", cwd=folder / "tree")
    (sdist,) = (folder / "sdist").iterdir()
    said = run(sys.executable, "-m", "pip", "wheel", "--verbose", "--no-deps", "--no-build-isolation",
               "--wheel-dir", folder / "wheel", sdist, cwd=folder)  # fmt: skip
    (folder / "said").write_text(said, encoding="utf-8")
    (made,) = (folder / "wheel").iterdir()
    return made


@pytest.mark.long
def test_one_wheel_is_for_this_python_and_all_later_ones(wheel):
    assert "-cp310-abi3-linux_" in wheel.name


def test_it_brings_one_name_and_all_that_the_tab_needs(wheel):
    # WHEN
    names = zipfile.ZipFile(wheel).namelist()

    # THEN
    # ... but for what a starting interpreter runs, which looks for it beside the package
    assert {name.split("/")[0].split("-")[0] for name in names} == {"tfdarshan", "tfdarshan_join.pth"}
    for needed in ("native/_core.abi3.so", "native/_probe.abi3.so", "native/_lmdb.abi3.so",
                   "native/_aggregate.abi3.so", "native/_replay.abi3.so", "native/_core.pyi",
                   "native/_replay.pyi", "py.typed", "native/libtfdarshan_programs.so",
                   "native/libtfdarshan_waiting.so", "native/libtfdarshan_tf_data.so",
                   "reports/page/style.css", "tensorboard_plugin/static/index.js",
                   "tensorboard_plugin/http_api.md", "workloads/catalogue.py",
                   "workloads/fuse/device.c", "workloads/fuse/device.h"):  # fmt: skip
        assert f"tfdarshan/{needed}" in names


@pytest.mark.parametrize("bench", ["laboratory", "scenarios"])
def test_the_test_bench_stays_in_the_repository(wheel, bench):
    names = zipfile.ZipFile(wheel).namelist()

    assert [name for name in names if f"workloads/{bench}" in name] == []


def test_without_a_compiler_one_sentence_says_what_to_install(tmp_path):
    # GIVEN
    copy_sources(tmp_path / "tree")
    code = "import setuptools.build_meta as backend, sys; backend.build_wheel(sys.argv[1])"

    # WHEN
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "wheel"],
        cwd=tmp_path / "tree", env={**os.environ, "CC": "no-such-compiler"}, capture_output=True, text=True,
    )  # fmt: skip

    # THEN nothing was built before
    assert done.returncode == 1
    assert done.stderr == (
        "tfdarshan cannot be built without no-such-compiler. "
        "Run `apt-get install gcc libc6-dev python3-dev`, or install what your system calls these.\n"
    )
    assert done.stdout.splitlines() == ["running bdist_wheel", "running build"]


def test_a_free_threaded_python_is_refused_in_one_sentence(tmp_path):
    # GIVEN an interpreter that says that it has no lock
    copy_sources(tmp_path / "tree")
    code = (
        "import sysconfig, sys, setuptools.build_meta as backend\n"
        "known = sysconfig.get_config_var\n"
        "sysconfig.get_config_var = lambda name: 1 if name == 'Py_GIL_DISABLED' else known(name)\n"
        "backend.build_wheel(sys.argv[1])"
    )

    # WHEN
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "wheel"],
        cwd=tmp_path / "tree", capture_output=True, text=True,
    )  # fmt: skip

    # THEN
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "tfdarshan cannot be built for a free-threaded Python. "
        "Use a build of Python that has the global interpreter lock, such as python3.14 for python3.14t.\n"
    )


def test_packages_are_built_without_a_warning_of_setuptools(wheel):
    said = (wheel.parent.parent / "said").read_text(encoding="utf-8")

    assert "creating" in said
    assert [line for line in said.splitlines() if "Warning: " in line] == []


def test_it_works_where_only_the_wheel_is(wheel, tmp_path):
    # GIVEN
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n"
        "import tfdarshan.native._core as core, tfdarshan.workloads.catalogue as catalogue\n"
        "from tfdarshan.commands import main\n"
        "assert all('/site/tfdarshan/' in module.__file__ for module in (core, catalogue))\n"
        "sys.exit(main(['workload', 'list']))\n"
    )

    # WHEN / THEN
    assert "malware" in run(sys.executable, "-c", program, cwd=tmp_path)


def test_uninstalling_it_leaves_nothing(wheel, tmp_path):
    # GIVEN
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True, with_pip=False)
    before = {path.relative_to(environment) for path in environment.rglob("*")}
    pip = [sys.executable, "-m", "pip", "--python", environment / "bin" / "python"]
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    (packages,) = environment.glob("lib/python3*/site-packages")
    assert (packages / "tfdarshan_join.pth").exists()

    # WHEN
    run(*pip, "uninstall", "--yes", "tfdarshan", cwd=tmp_path)

    # THEN
    assert {path.relative_to(environment) for path in environment.rglob("*")} <= before
