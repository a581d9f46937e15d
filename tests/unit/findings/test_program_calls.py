"""What an interpreter's start and imports ask for is left out of findings, counted, and said."""

import dataclasses

import pyarrow as pa
import pytest

from tests.made_up_session import job_of, write_session
from tests.unit.findings.made_up_imports import ENV, MODULE, OWN, imports
from tests.unit.findings.made_up_training import training
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.files.input_files import input_files, program_files
from tfdarshan.analysis.files.program_calls import ProgramCalls
from tfdarshan.analysis.files.session_files import load_files_and_totals
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.plain import plain_diagnosis
from tfdarshan.reports.text.brief_text import brief_text
from tfdarshan.reports.text.findings_text import findings_text
from tfdarshan.reports.text.summary_text import render
from tfdarshan.reports.views.findings_view import findings_panels

PROGRAMS = [
    f"{ENV}/lib/python3.12/site-packages/torch/__init__.py",
    f"{ENV}/lib/python3.12/site-packages/torch/version.json",
    f"{ENV}/lib/python3.12/site-packages",
    f"{ENV}/lib/python3.12",
    f"{ENV}/lib64/python3.13t/encodings",
    f"{ENV}/lib/pypy3.10/os.py",
    "/opt/py/lib/python3/dist-packages/numpy",
    f"{ENV}/bin/python",
    f"{ENV}/bin/python3.12",
    f"{ENV}/pyvenv.cfg",
    "/home/me/job/__pycache__/model.cpython-312.pyc",
    "/home/me/job/model.py",
    "/opt/cuda/libcudart.so.12.1",
    "/opt/cuda/libcudart.so",
    "/usr/share/zoneinfo/UTC",
    "/etc/passwd",
    "/home/me/.keras/keras.json",
    "/home/me/.cache/matplotlib/fontlist-v390.json",
    "/nfs/me/settings/fontlist-v3.11.0.json",
    "/nfs/me/.config/app/state",
    "/data/.dvc/lock.yaml",
]
DATA = [
    "/data/python/shard-0001",
    "/data/lib/python/1.txt",
    "/data/site-packages-of-2024/a.bin",
    "/data/a.so.tar",
    "/data/bin/python-code.parquet",
    "/data/model.pth",
    "/home/me/job",
    "/data/pyvenv.cfg.txt",
    "/home/me/.keras/datasets/mnist.npz",
    "/home/me/.keras/mnist.npz",
    "/home/me/.cache/hub/labels.json",
    "/data/labels.json",
    "(no file)",
]


def test_programs_are_known_by_their_names():
    found = program_files(pa.array([*PROGRAMS, *DATA]))
    assert dict(zip([*PROGRAMS, *DATA], found.tolist(), strict=True)) == {
        **dict.fromkeys(PROGRAMS, True),
        **dict.fromkeys(DATA, False),
    }


def test_what_is_left_out_is_counted_over_all_processes(tmp_path):
    # GIVEN a job of two processes that each import modules from two folders
    session = write_session(tmp_path, imports(100, 40), imports(101, 60))
    expected = ProgramCalls(opens=4, stats=202, reads=4, bytes_read=160, asked=212)

    # THEN the two ways of reading the tables agree, and no folder of data and no missing file is among them
    assert summarize(session).coverage.programs == expected
    assert load_files_and_totals(session.processes, 0)[1].programs == expected
    diagnosis = diagnose(session)
    assert diagnosis.left_out == expected
    assert plain_diagnosis(diagnosis)["left_out"] == dataclasses.asdict(expected)


def test_the_folder_of_a_module_is_known_whoever_imports_it(tmp_path):
    # GIVEN a process that asks for a folder, of which another one imports a module later
    asks = job_of([(0, 1, 100, "stat", 0, 0, 0)], ["/home/me/job"], [-1])
    loads = job_of([(5, 6, 101, "open", 0, 0, 0)], [OWN], [30], pid=101)
    assert summarize(write_session(tmp_path, asks, loads)).coverage.programs.stats == 1
    assert summarize(write_session(tmp_path / "alone", asks)).coverage.programs.stats == 0


def test_what_is_left_out_is_no_input(tmp_path):
    session = write_session(tmp_path, imports(100, 40))
    table = load_files(session.processes)
    chosen = [path for path, wanted in zip(table.rows["path"], input_files(table), strict=True) if wanted]
    assert chosen == ["(no file)", "/data/a"]


def test_every_reader_is_told_in_a_sentence(tmp_path):
    session = write_session(tmp_path, imports(100, 40))
    words = "2 opens, 81 stats and 2 reads (80 B) of modules, libraries and system files"
    diagnosis, data = diagnose(session), summarize(session)
    sentence = f"Findings leave out {words}, such as imports make."

    def flat(text):
        return " ".join(text.split())

    assert sentence in flat(findings_text(diagnosis))
    assert sentence in flat(render(data))
    assert f"Left out of findings: {words}" in flat(brief_text(data, diagnosis))
    assert sentence in str(findings_panels(diagnosis))
    assert "of it modules, libraries, system 80 B" in flat(render(data))


def test_few_of_them_need_no_words(tmp_path):
    session = write_session(tmp_path, imports(100, 0, data_reads=200))
    diagnosis = diagnose(session)
    assert diagnosis.left_out.made
    for text in (findings_text(diagnosis), brief_text(summarize(session), diagnosis)):
        assert "of modules" not in text


@pytest.mark.parametrize(("asked", "storm"), [("/data/a", True), (MODULE, False)])
def test_only_a_storm_on_data_is_a_finding(tmp_path, asked, storm):
    # GIVEN steps that wait for a reader that asks for one file 150 times before it reads
    calls = []
    for at in range(0, 2000, 100):
        calls += [(at + ask * 0.3, at + ask * 0.3 + 0.29, 9, "stat", 1, 0) for ask in range(150)]
        calls += [(at + 46, at + 47, 9, "open", 0, 0), (at + 47, at + 49, 9, "pread", 0, 100)]
    steps = [(at, at + 100, 50) for at in range(0, 2000, 100)]
    session = training(tmp_path, calls, steps, paths=["/data/b", asked], sizes=[100, 50])

    diagnosis = diagnose(session)

    assert ("stat_storm" in {finding.name for finding in diagnosis.findings}) == storm
    assert diagnosis.left_out.stats == (0 if storm else 3000)
