"""Accelerators that a process computes on, by the device files that it has open."""

from __future__ import annotations

import os

import pytest

import tfdarshan
from tfdarshan.recording import open_accelerators as module
from tfdarshan.recording.job_machine import machine_block
from tfdarshan.recording.open_accelerators import open_accelerators
from tfdarshan.sessions.machine_facts import machine_of


def descriptors(tmp_path, monkeypatch, *targets):
    """Have the process's descriptors be links to some paths, as the kernel names them."""
    for number, target in enumerate(targets):
        (tmp_path / str(number)).symlink_to(target)
    monkeypatch.setattr(module, "DESCRIPTORS", str(tmp_path))


@pytest.mark.parametrize(
    ("targets", "found"),
    [
        (("/dev/null", "pipe:[12]", "/data/nvidia-uvm", "/dev/nvidiactl", "/dev/nvidia0"), []),
        (("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm", "/dev/nvidia-uvm"), ["/dev/nvidia-uvm"]),
        (("/dev/kfd", "/dev/dri/renderD128"), ["/dev/dri/renderD128", "/dev/kfd"]),
        (("/dev/accel0",), ["/dev/accel0"]),
        (("/dev/vfio/0", "/dev/vfio/vfio"), ["/dev/vfio/0", "/dev/vfio/vfio"]),
    ],
    ids=["a monitor of GPUs", "CUDA", "ROCm", "a TPU", "a TPU by VFIO"],
)
def test_device_files_that_compute_are_told_from_others(tmp_path, monkeypatch, targets, found):
    descriptors(tmp_path, monkeypatch, *targets)

    assert open_accelerators() == found


def test_where_nobody_names_descriptors_none_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "DESCRIPTORS", str(tmp_path / "missing"))

    assert open_accelerators() == []
    assert "accelerators" not in machine_block(0.0)


def test_a_session_says_what_its_job_computed_on(tmp_path, monkeypatch):
    # GIVEN descriptors of a job that uses CUDA, which asks nothing of a framework
    links = tmp_path / "links"
    links.mkdir()
    descriptors(links, monkeypatch, "/dev/nvidia-uvm")

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        (tmp_path / "input").write_bytes(os.urandom(1000))

    # THEN
    assert session.meta[0]["machine"]["accelerators"] == ["/dev/nvidia-uvm"]
    assert machine_of(session.meta[0]).accelerators == ("/dev/nvidia-uvm",)
    assert machine_of({"machine": {"cpus": 2}}).accelerators == ()
    assert not session.files["path"].str.contains("links").any()
