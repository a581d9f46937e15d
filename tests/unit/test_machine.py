"""What a job's machine gives it, limits of containers included."""

import os
import time

import pytest

from tfdarshan.recording import job_machine
from tfdarshan.recording.job_machine import Machine, cpu_seconds, machine_block, machine_of


def limits(tmp_path, monkeypatch, cpu="", memory=""):
    for name, text in (("CPU_LIMITS", cpu), ("MEMORY_LIMITS", memory)):
        path = tmp_path / name
        path.write_text(text)
        monkeypatch.setattr(job_machine, name, (str(tmp_path / "missing"), str(path)))


def test_a_containers_limits_count(tmp_path, monkeypatch):
    limits(tmp_path, monkeypatch, cpu="50000 100000\n", memory="1048576\n")

    block = machine_block(0.0)

    assert (block["cpus"], block["memory_bytes"]) == (0.5, 1 << 20)


@pytest.mark.parametrize(("cpu", "memory"), [("max 100000", "max"), ("", ""), ("x", "-1"), ("0 0", "")])
def test_without_a_limit_it_is_the_machines(tmp_path, monkeypatch, cpu, memory):
    limits(tmp_path, monkeypatch, cpu=cpu, memory=memory)

    block = machine_block(0.0)

    assert block["cpus"] == len(os.sched_getaffinity(0))
    assert block["memory_bytes"] == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_processor_time_is_that_of_the_process():
    before = cpu_seconds()
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass

    assert 0.19 < cpu_seconds() - before < 5


def test_sessions_of_older_versions_say_nothing():
    assert machine_of({}) == Machine(None, None, None)
