"""Files that users name, written on durable_file: outputs and Darshan logs."""

import os

import pytest

from tfdarshan.durable.output_file import output_file
from tfdarshan.errors import StorageError
from tfdarshan.formats.export.log_file import log_file


def write_output(path, content):
    with output_file(path, force=True) as file:
        content(file.write)


def write_log(path, content):
    with log_file(path) as log:
        content(log.add_job)


WRITERS = pytest.mark.parametrize("write", [write_output, write_log])


@WRITERS
def test_two_who_export_to_one_name_do_not_destroy_each_other(tmp_path, write):
    # GIVEN what one alone writes
    write(tmp_path / "alone", lambda add: add(b"first" * 1_000))

    def first(add):
        add(b"first" * 1_000)
        write(tmp_path / "out", lambda add: add(b"second" * 5_000))

    # WHEN another writes all of it meanwhile
    write(tmp_path / "out", first)

    # THEN
    assert (tmp_path / "out").read_bytes() == (tmp_path / "alone").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["alone", "out"]


@WRITERS
def test_it_has_its_name_once_it_is_durable(tmp_path, write, monkeypatch):
    # GIVEN
    named = []
    monkeypatch.setattr(os, "fsync", lambda _handle: named.append((tmp_path / "out").exists()))

    # WHEN
    write(tmp_path / "out", lambda add: add(b"content"))

    # THEN
    assert named == [False]
    assert (tmp_path / "out").stat().st_size > 0


@WRITERS
def test_a_failure_is_one_sentence_and_leaves_nothing(tmp_path, write):
    # GIVEN
    def fail(add):
        add(b"half")
        raise OSError(28, "No space left on device")

    # WHEN / THEN
    with pytest.raises(StorageError, match=r"out cannot be written: No space left on device[;.]"):
        write(tmp_path / "out", fail)
    with pytest.raises(StorageError, match=r"out cannot be written: No such file or directory[;.]"):
        write(tmp_path / "missing" / "out", lambda add: add(b""))
    assert os.listdir(tmp_path) == []


@WRITERS
def test_an_output_keeps_the_sentence_of_what_it_is_made_of(tmp_path, write):
    def fail(add):
        raise StorageError("the session is gone.")

    with pytest.raises(StorageError, match=r"^the session is gone\.$"):
        write(tmp_path / "out", fail)
    assert os.listdir(tmp_path) == []


@WRITERS
def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path, write):
    # GIVEN a link such as /dev/stdout, of a command whose output goes to a file
    (tmp_path / "out").write_bytes(b"before")
    (tmp_path / "stdout").symlink_to(tmp_path / "out")

    # WHEN
    write(tmp_path / "stdout", lambda add: add(b"content"))

    # THEN
    assert (tmp_path / "stdout").readlink() == tmp_path / "out"
    assert (tmp_path / "out").read_bytes() != b"before"
    assert sorted(os.listdir(tmp_path)) == ["out", "stdout"]


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_file_is_refused_and_no_force_is_asked_for(tmp_path, force):
    # GIVEN a link to a pipe, as /dev/stdout is of a command whose output is piped
    read, written = os.pipe()
    (tmp_path / "stdout").symlink_to(f"/proc/self/fd/{written}")

    # WHEN / THEN
    said = "stdout cannot be written: it is a device, a pipe or a socket, not a file; name another file"
    with pytest.raises(StorageError, match=said), output_file(tmp_path / "stdout", force=force):
        pass
    assert (tmp_path / "stdout").is_symlink()
    os.close(read)
    os.close(written)
