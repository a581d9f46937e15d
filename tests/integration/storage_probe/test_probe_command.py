"""`tfdarshan probe` without storage of its own: wrong use, and folders that have nothing to measure."""

import json
import os
import subprocess
import sys

import pytest

import tfdarshan
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.commands import main
from tfdarshan.recording import probe_process
from tfdarshan.storage_probe import folder_probe, session_probes
from tfdarshan.storage_probe.probe_result import probe_of_dict


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "probe needs one of two: a folder, or --logdir L"),
        (["FOLDER", "--logdir", "FOLDER"], 2, "probe needs one of two: a folder, or --logdir L"),
        (["FOLDER", "--seconds", "0"], 2, "a probe takes up to 3,600 s, and more than 0, not 0."),
        (["FOLDER", "--seconds", "nan"], 2, "a probe takes up to 3,600 s"),
        (["FOLDER", "--bytes", "5k"], 2, "a probe reads 1 MB at least, not 5,000 B."),
        (["FOLDER", "--bytes", "much"], 2, "'much' is not a size"),
        (["FOLDER/none"], 1, "FOLDER/none cannot be probed: No such file or directory; name a folder"),
        (["FOLDER"], 1, "the storage under FOLDER was not measured: there is no file with content."),
        (["--logdir", "FOLDER"], 1, "there is no session in FOLDER"),
    ],
)
def test_wrong_use_is_one_line(capsys, monkeypatch, tmp_path, arguments, code, said):
    # A temporary folder may be in memory, which is another sentence.
    monkeypatch.setattr(folder_probe, "IN_MEMORY", ())

    assert main(["probe", *(word.replace("FOLDER", str(tmp_path)) for word in arguments)]) == code
    errors = capsys.readouterr().err
    assert errors.startswith(f"tfdarshan: {said.replace('FOLDER', str(tmp_path))}")
    assert errors.count("\n") == 1


def test_memory_is_no_storage(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(folder_probe, "mount_of", lambda path: ("/dev/shm", "tmpfs"))

    assert main(["probe", str(tmp_path)]) == 1
    assert f"{tmp_path} is on tmpfs, which is memory" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read(capsys, tmp_path):
    tmp_path.chmod(0)
    try:
        assert main(["probe", str(tmp_path)]) == 1
    finally:
        tmp_path.chmod(0o700)
    assert "cannot be probed: Permission denied" in capsys.readouterr().err


def test_a_session_on_emulated_storage_is_not_probed(capsys, tmp_path):
    # GIVEN a session whose times are those of a model
    (tmp_path / "file").write_bytes(bytes(100_000))
    with tfdarshan.profile(tmp_path / "logs", as_if="hdd", include=[str(tmp_path / "file")]):
        (tmp_path / "file").read_bytes()

    assert main(["probe", "--logdir", str(tmp_path / "logs")]) == 2
    assert "was emulated (as_if)" in capsys.readouterr().err


def test_probe_and_as_if_are_refused_together(tmp_path):
    with pytest.raises(tfdarshan.ConfigurationError, match="probe measures the storage that there is"):
        tfdarshan.profile(tmp_path, as_if="hdd", probe=True)


def test_a_session_without_input(capsys, tmp_path):
    session = training(tmp_path, [(0, 1, 1, "write", 0, 10)], epochs_of_steps(3, 10, 1))

    assert main(["probe", "--logdir", str(session.path)]) == 2
    assert "read no input: name a folder to probe instead" in capsys.readouterr().err


def test_a_probe_that_fails_is_one_warning_and_the_session_is_written(tmp_path):
    # GIVEN a job whose only file vanishes before the session ends
    program = (
        "import os, tfdarshan\n"
        "open('data', 'wb').write(bytes(100_000))\n"
        "with tfdarshan.profile('logs', probe=True, include=[os.path.abspath('data')]):\n"
        "    open('data', 'rb').read()\n"
        "    os.unlink('data')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    # THEN
    assert done.stderr.count("the storage was not probed") == 1
    assert "to try again: tfdarshan probe --logdir" in done.stderr
    assert "Traceback" not in done.stderr
    session = tfdarshan.open_session(tmp_path / "logs")
    assert "probes" not in session.meta[0]
    assert session.files["POSIX_BYTES_READ"].sum() == 100_000


LEVEL = {"readers": 1, "call_s": 0.1, "calls_per_s": 10, "bytes_per_s": 1}
PROBE = {
    "folder": "/data", "mount_point": "/", "fs_type": "ext4", "host": "here", "at_ns": 1, "seconds": 1,
    "bytes_read": 1, "files": 1, "unreadable": 0, "direct": True, "idle": True, "seed": 1,
    "small": {"size": 4096, "levels": [LEVEL]},
}  # fmt: skip


@pytest.mark.parametrize("there", [True, False])
def test_what_of_the_input_is_there_is_measured_and_the_rest_is_said(capsys, monkeypatch, tmp_path, there):
    # GIVEN a session that read from two mounts: one is gone, and of the other nothing may be left, either
    session = training(tmp_path, [(0, 1, 1, "pread", 0, 10)], epochs_of_steps(3, 10, 1))
    probe = probe_of_dict(PROBE | ({} if there else {"note": "there is no file with content"}))
    found = [probe], ["/share/set cannot be probed: No such file or directory."]
    monkeypatch.setattr(session_probes, "probe_session", lambda *_: found)

    # WHEN
    code = main(["probe", "--logdir", str(session.path)])

    # THEN
    said = capsys.readouterr()
    assert code == (0 if there else 1)
    assert said.err.startswith("tfdarshan: /share/set cannot be probed: No such file or directory.")
    assert ("/data" in said.out) == there
    kept = tfdarshan.open_session(session.path).meta[0].get("probes", [])
    assert [one["folder"] for one in kept] == (["/data"] if there else [])


def test_what_is_kept_is_checked_when_it_is_read(tmp_path):
    # GIVEN a session of which somebody wrote that storage serves 200 % of a call one at a time
    session = training(tmp_path, [(0, 1, 1, "pread", 0, 10)], epochs_of_steps(3, 10, 1))
    (path,) = session.path.glob("*.meta.json")
    probe = PROBE | {"small": {"size": 4096, "levels": [LEVEL], "share": 2.0}}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"probes": [probe]}))

    # THEN
    with pytest.raises(tfdarshan.SessionDataError, match="probes"):
        tfdarshan.open_session(session.path)


def test_a_probe_that_hangs_is_left_alone(monkeypatch, tmp_path):
    # GIVEN a Python that does not end
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(probe_process, "LONGEST_S", 0.2)

    with pytest.warns(RuntimeWarning, match="not probed: it did not end within 0 s: the mount hangs"):
        probe_process.probe_storage_of(tmp_path)
