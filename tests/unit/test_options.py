import fnmatch
import os
import sysconfig

import pytest

import tfdarshan
from tfdarshan.errors import ConfigurationError
from tfdarshan.options import Options, default_exclude_patterns, make_options


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"memory_cap": 5}, "there is no option memory_cap: did you mean memory_cap_mb?"),
        ({"zebra": 5}, "there is no option zebra: the options are engine,"),
        ({"engine": "dxt"}, "engine must be 'auto', 'darshan' or 'builtin', not 'dxt'."),
        ({"engine": 3}, "engine must be 'auto', 'darshan' or 'builtin', not 3."),
        ({"darshan_files": 5}, "darshan_files must be a whole number from 1,024 to 100,000,000, not 5."),
        ({"darshan_library": 7}, "darshan_library must be a path, or None, not 7."),
        (
            {"include": "*.jpg"},
            "include must be a list of path patterns, not '*.jpg': write include=['...'].",
        ),
        ({"exclude": [""]}, "exclude holds ''"),
        ({"exclude": [b"x"]}, "exclude holds b'x'"),
        ({"memory_cap_mb": 8}, "memory_cap_mb must be a whole number of MiB from 16 to 1,048,576, not 8."),
        (
            {"memory_cap_mb": 64.5},
            "must be a whole number of MiB from 16 to 1,048,576, not 64.5.",
        ),
        (
            {"memory_cap_mb": True},
            "must be a whole number of MiB from 16 to 1,048,576, not True.",
        ),
        (
            {"memory_cap_mb": 128, "trace_memory_mb": 384},
            "trace_memory_mb (384) is part of memory_cap_mb (128)",
        ),
        (
            {"trace_memory_mb": 0},
            "must be a whole number of MiB from 1 to memory_cap_mb, or None, not 0.",
        ),
        ({"mapped": 1}, "mapped must be True, False or 'auto', not 1."),
        (
            {"tf_profiler_max_s": 0},
            "must be a whole number of seconds from 1 to 86,400, not 0.",
        ),
        ({"job": " "}, "job must be a name, or None, not ' '."),
        ({"trace": "yes"}, "trace must be True or False, not 'yes'."),
        ({"follow_children": 1}, "follow_children must be True or False, not 1."),
        ({"spool_dir": 7}, "spool_dir must be a path, or None, not 7."),
    ],
)
def test_wrong_option_is_one_clear_sentence(values, sentence):
    # WHEN
    with pytest.raises(ConfigurationError) as error:
        make_options(values)

    # THEN
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_small_cap_without_trace_is_allowed():
    assert make_options({"memory_cap_mb": 16, "trace": False}).memory_cap_mb == 16


def test_options_survive_the_marker():
    # GIVEN
    options = make_options({"include": ["/data/"], "spool_dir": "/tmp/x", "trace": False})

    # WHEN
    again = make_options(options.as_dict())

    # THEN
    assert again == options


def test_pattern_ending_in_slash_means_everything_below():
    options = Options(include=["/data/"], exclude=["*/cache/"])

    assert options.include_patterns() == ("/data/*",)
    assert options.exclude_patterns()[0] == "*/cache/*"


@pytest.mark.parametrize(
    ("path", "excluded"),
    [
        (f"{sysconfig.get_path('stdlib')}/json/__init__.py", True),
        (f"{sysconfig.get_path('purelib')}/numpy/__init__.py", True),
        ("/data/libfoo.so", True),
        ("/data/libfoo.so.1.2", True),
        ("/data/__pycache__/x.pyc", True),
        ("/proc/self/io", True),
        ("/sys/devices", True),
        ("/dev/null", True),
        ("/dev/snd/timer", True),
        ("/dev/shmem", True),
        ("/dev/shm", False),
        ("/dev/shm/data.bin", False),
        ("/data/train.jpg", False),
        ("/data/solution.txt", False),
    ],
)
def test_default_excludes(path, excluded):
    assert any(fnmatch.fnmatchcase(path, pattern) for pattern in default_exclude_patterns()) == excluded


def test_default_excludes_can_be_dropped():
    assert Options(default_excludes=False, exclude=["/a/*"]).exclude_patterns() == ("/a/*",)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("data/", "{here}/data/"),
        ("./data/*.jpg", "{here}/data/*.jpg"),
        ("../x", "{above}/x"),
        ("model.bin", "{here}/model.bin"),
        ("*.jpg", "*.jpg"),
        ("/data/", "/data/"),
    ],
)
def test_patterns_that_begin_with_a_name_are_below_the_working_directory(tmp_path, monkeypatch, given, meant):
    # GIVEN a folder whose name has a shell's characters
    here = tmp_path / "a[1]"
    here.mkdir()
    monkeypatch.chdir(here)
    escaped = str(here).replace("[", "[[]")

    # WHEN
    (found,) = Options(exclude=[given]).exclude

    # THEN
    assert found == meant.format(here=escaped, above=tmp_path)
    assert given != "data/" or fnmatch.fnmatchcase(
        f"{here}/data/7.jpg", Options(exclude=[given]).exclude_patterns()[0]
    )


@pytest.mark.parametrize("given", ["data", "./data", "{here}/data", "data/", "../here/data"])
def test_the_name_of_a_folder_stands_for_everything_in_it(tmp_path, monkeypatch, given):
    # GIVEN
    here = tmp_path / "here"
    (here / "data").mkdir(parents=True)
    monkeypatch.chdir(here)

    # WHEN
    options = Options(exclude=[given.format(here=here)], as_if="lustre", as_if_paths=["data"])

    # THEN
    assert options.exclude == options.as_if_paths == (f"{here}/data/",)
    assert options.exclude_patterns()[0] == options.as_if_patterns()[0] == f"{here}/data/*"
    # ... and a pattern stays one, as does a name that no folder has
    assert Options(exclude=["dat?"]).exclude == (f"{here}/dat?",)
    assert Options(exclude=["datum"]).exclude == (f"{here}/datum",)


def test_a_pattern_below_a_folder_that_is_gone_is_refused(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigurationError, match="write it from / on"):
        Options(include=["data/"])


@pytest.mark.parametrize(
    ("given", "matched"),
    [
        ("/data/../scratch/", "/scratch/*"),
        ("/data//set/./*.jpg", "/data/set/*.jpg"),
        ("//data/", "/data/*"),
        ("/", "/*"),
        ("*/../x", "*/../x"),
    ],
)
def test_an_absolute_pattern_is_matched_as_paths_are(given, matched):
    options = make_options({"exclude": [given], "as_if": "hdd", "as_if_paths": [given]})
    assert options.exclude_patterns()[0] == matched
    assert options.as_if_patterns() == (matched,)


@pytest.mark.parametrize("spelled", ["{here}/{name}/file", "{here}/a/../{name}/file", "../{name}/file"])
def test_a_pattern_with_dots_matches_the_files_that_it_names(tmp_path, monkeypatch, spelled):
    # GIVEN
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"1")
    monkeypatch.chdir(tmp_path / "a")

    # WHEN
    with tfdarshan.profile(tmp_path / "logs", exclude=[f"{tmp_path}/a/../b/"]) as session:
        for name in ("a", "b"):
            with open(spelled.format(here=tmp_path, name=name), "rb") as file:
                file.read()

    # THEN
    assert [os.path.normpath(path) for path in session.files["path"]] == [str(tmp_path / "a" / "file")]
