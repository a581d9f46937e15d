"""What a job's machine gives it, limits of containers included."""

import json
import os
import time

import pytest

import tfdarshan
from tfdarshan.recording import job_machine
from tfdarshan.recording.job_machine import UsedProcessors, cpu_seconds, machine_block, used_processors
from tfdarshan.sessions.machine_facts import Machine, machine_of


def limits(tmp_path, monkeypatch, *, cpu="", memory="", version=2, group="/", held_in=""):
    """Have this process in a group; what limits it is said there, or in one around it."""
    own = {1: f"4:memory:{group}\n3:cpuset:/elsewhere\n2:cpu,cpuacct:{group}\n0::/\n", 2: f"0::{group}\n"}
    quota, period = ([*cpu.split(), "", ""])[:2]
    files = {
        1: {
            f"cpu{held_in}/cpu.cfs_quota_us": quota,
            f"cpu{held_in}/cpu.cfs_period_us": period,
            f"memory{held_in}/memory.limit_in_bytes": memory,
        },
        2: {f"{held_in[1:]}/cpu.max".lstrip("/"): cpu, f"{held_in[1:]}/memory.max".lstrip("/"): memory},
    }
    (tmp_path / "own").write_text(own[version])
    for name, text in files[version].items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    monkeypatch.setattr(job_machine, "OWN_GROUPS", str(tmp_path / "own"))
    monkeypatch.setattr(job_machine, "GROUPS", str(tmp_path / "groups"))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("group", "held_in"),
    [
        ("/", ""),
        ("/user.slice/job", "/user.slice/job"),
        ("/user.slice/job", "/user.slice"),
        ("/docker/0a1b", ""),  # a container sees its own group as the root
        ("/../other", ""),
    ],
)
def test_the_limits_of_control_groups_count(tmp_path, monkeypatch, version, group, held_in):
    places = {"version": version, "group": group, "held_in": held_in}
    limits(tmp_path, monkeypatch, cpu="50000 100000", memory="1048576", **places)

    block = machine_block(0.0)

    assert (block["cpus"], block["memory_bytes"]) == (0.5, 1 << 20)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("cpu", "memory"),
    [("max 100000", "max"), ("-1 100000", "9223372036854771712"), ("", ""), ("x", "-1"), ("0 0", "")],
)
def test_without_a_limit_it_is_the_machines(tmp_path, monkeypatch, cpu, memory, version):
    limits(tmp_path, monkeypatch, cpu=cpu, memory=memory, version=version)

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
    assert machine_of({}) == Machine(None, None, None, None)


def test_ranks_of_a_host_have_a_part_of_its_memory_each():
    meta = {"machine": {"memory_bytes": 512}}

    assert machine_of(meta).rank_bytes == 512
    assert machine_of(meta | {"job": {"local_size": 8}}).rank_bytes == 64
    assert machine_of({}).rank_bytes is None


STAT = """cpu  900 900 900 900 900 900 900 900 0 0
cpu0 100 20 30 4000 500 6 7 8 90 0
cpu1 200 0 0 0 0 0 0 0 0 0
cpu2 1000000 0 0 0 0 0 0 0 0 0
intr 1 2 3
"""


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (STAT, 3.71),  # cpu0: 100 + 20 + 30 + 6 + 7 + 8, cpu1: 200 ticks of 10 ms
        (STAT.replace("cpu1 ", "cpu7 "), None),
        ("cpu0 1 2\ncpu1 1 2\n", None),
        ("cpu0 a b c d e f g h\ncpu1 a b c d e f g h\n", None),
        ("", None),
    ],
)
def test_all_programs_time_is_that_of_the_processors_that_the_job_may_use(
    tmp_path, monkeypatch, text, seconds
):
    path = tmp_path / "stat"
    path.write_text(text)
    monkeypatch.setattr(job_machine, "PROCESSOR_TIMES", str(path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(os, "sysconf", lambda name: 100)

    assert used_processors().all_s == (None if seconds is None else pytest.approx(seconds))


def test_what_others_took_is_all_but_the_jobs_own():
    before = UsedProcessors(100.0, 5.0, 1000.0)

    assert UsedProcessors(110.0, 8.0, 1015.0).by_others(before) == pytest.approx(1.2)
    # a job's own last hundredths may be missing in what the kernel counts
    assert UsedProcessors(110.0, 8.0, 1002.9).by_others(before) == 0.0
    assert UsedProcessors(100.09, 5.0, 1000.1).by_others(before) is None
    assert UsedProcessors(110.0, 8.0, None).by_others(before) is None
    assert UsedProcessors(110.0, 8.0, 1015.0).by_others(UsedProcessors(100.0, 5.0, None)) is None


def test_what_a_quota_leaves_is_the_others(tmp_path, monkeypatch):
    # GIVEN 8 processors, of which the job may use as much as 2
    limits(tmp_path, monkeypatch, cpu="200000 100000\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))

    assert "others_cpus" not in machine_block(0.0)
    assert [machine_block(0.0, busy)["others_cpus"] for busy in (0.0, 5.0, 7.5)] == [0.0, 0.0, 1.5]


def test_a_session_says_what_others_took_and_has_no_call_of_asking(tmp_path):
    # GIVEN a session that computes on one processor
    with tfdarshan.profile(tmp_path) as session:
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            pass

    # THEN
    machine = session.meta[0]["machine"]
    assert 0 <= machine["others_cpus"] <= machine["cpus"]
    assert not session.files["path"].str.contains("/proc/stat").any()


def busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


@pytest.mark.parametrize("marked", [False, True])
def test_what_comes_before_the_first_step_is_none_of_the_training_s(tmp_path, marked):
    # GIVEN a session that computes for 0.4 s before its steps, and for 0.1 s in these
    with tfdarshan.profile(tmp_path) as session:
        busy(0.4)
        for _ in range(2):
            if marked:
                tfdarshan.step()
            busy(0.05)

    # THEN that is told apart where steps are marked
    block, machine = session.meta[0]["machine"], machine_of(session.meta[0])
    lasted_s = session.meta[0]["duration_ns"] / 1e9
    assert block["cpu_s"] >= 0.5
    assert machine.cpu_s == pytest.approx(block["cpu_s"] - block.get("start_cpu_s", 0.0))
    assert machine.span_s == pytest.approx(lasted_s - block.get("start_s", 0.0))
    assert (block["cpu_s"] - machine.cpu_s >= 0.4) is marked
    assert (lasted_s - machine.span_s >= 0.39) is marked


USES_CHILDREN = """
import json, subprocess, sys
from dataclasses import asdict
from tfdarshan.recording.job_machine import used_processors

work = "import time\\nwhile time.process_time() < 0.5: pass\\n"
inner = f"import sys\\n{work}print('done', flush=True)\\nsys.stdin.read()\\n"
code = f"import subprocess, sys\\n{work}subprocess.run([sys.executable, '-c', {inner!r}])\\n"
used = [used_processors()]
with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
    child.stdout.readline()
    used.append(used_processors())
    child.communicate()
used.append(used_processors())
print(json.dumps([asdict(one) for one in used]))
"""


def test_children_that_still_run_are_no_other_programs(run_python):
    # GIVEN a program whose child took half a second of a processor, and whose child's child did

    # WHEN it asks before they began, while both run, and once they have been waited for
    before, running, ended = json.loads(run_python("-c", USES_CHILDREN).stdout)

    # THEN their time is its own, once; the kernel counts what runs in ticks of 10 ms
    assert before["running_s"] == ended["running_s"] == 0
    assert running["running_s"] >= 0.9
    assert running["own_s"] - before["own_s"] >= 0.9
    assert ended["own_s"] >= running["own_s"] - 0.05
