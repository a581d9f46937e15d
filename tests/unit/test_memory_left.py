"""What the kernel's files say is left of a process's memory, in trees as systems have them."""

import resource

import pytest

from tfdarshan.native.memory_left import UNLIMITED, memory_left

MIB = 1 << 20
V1_MOUNT = "35 31 0:32 {root} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
V2_MOUNT = "29 23 0:26 {root} /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
OTHER_MOUNTS = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
)
NO_LIMIT_V1 = "9223372036854771712\n"


@pytest.fixture
def tree(tmp_path):
    """Make what the kernel shows: groups by their folder, each with its files; return the root."""

    def make(cgroup, mountinfo, groups):
        process = tmp_path / "proc/self"
        process.mkdir(parents=True)
        (process / "cgroup").write_text(cgroup)
        (process / "mountinfo").write_text(mountinfo)
        for folder, files in groups.items():
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (tmp_path / folder / name).write_text(text)
        return str(tmp_path)

    yield make
    memory_left()


def v1(limit, usage, cache=0):
    stat = (
        f"cache 1\nactive_file 7\ntotal_inactive_file {cache - cache // 3}\ntotal_active_file {cache // 3}\n"
    )
    return {
        "memory.limit_in_bytes": f"{limit}\n", "memory.usage_in_bytes": f"{usage}\n", "memory.stat": stat
    }  # fmt: skip


def v2(limit, usage, cache=0, high="max"):
    stat = f"anon 1\nfile 99\ninactive_file {cache - cache // 3}\nactive_file {cache // 3}\nunevictable 0\n"
    return {
        "memory.max": f"{limit}\n", "memory.high": f"{high}\n",
        "memory.current": f"{usage}\n", "memory.stat": stat,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("cgroup", "mount", "groups", "left"),
    [
        pytest.param(
            "9:name=systemd:/\n4:memory:/slurm/uid_0/job_1/step_0/task_0\n0::/\n",
            OTHER_MOUNTS + V1_MOUNT.format(root="/"),
            {
                "sys/fs/cgroup/memory/slurm/uid_0/job_1": v1(400 * MIB, 300 * MIB),
                "sys/fs/cgroup/memory/slurm/uid_0/job_1/step_0/task_0": v1(NO_LIMIT_V1.strip(), 9),
            },
            100 * MIB,
            id="Slurm, version 1: the job's group has the limit",
        ),
        pytest.param(
            "4:cpu,memory:/docker/abc\n",
            V1_MOUNT.format(root="/docker/abc"),
            {"sys/fs/cgroup/memory": v1(400 * MIB, 390 * MIB, 90 * MIB)},
            100 * MIB,
            id="Docker, version 1: the mount is the group, and page cache is left",
        ),
        pytest.param(
            "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n",
            V2_MOUNT.format(root="/"),
            {
                "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7": v2(500 * MIB, 100 * MIB),
                "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0": v2(
                    "max", 100 * MIB, high=300 * MIB
                ),
                "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0": v2("max", 1),
            },
            200 * MIB,
            id="Slurm, version 2: the step is slowed down before the job is full",
        ),
        pytest.param(
            "0::/\n",
            V2_MOUNT.format(root="/kubepods.slice/pod1/c1"),
            {"sys/fs/cgroup": v2(700 * MIB, 650 * MIB, 600 * MIB)},
            650 * MIB,
            id="Kubernetes, version 2, a namespace of its own",
        ),
        pytest.param(
            "0::/../../other\n",
            V2_MOUNT.format(root="/"),
            {"sys/fs/cgroup": v2(700 * MIB, 800 * MIB)},
            0,
            id="a group outside of what is mounted, and more used than allowed",
        ),
        pytest.param("0::/user.slice\n", V2_MOUNT.format(root="/"), {}, UNLIMITED, id="no files"),
        pytest.param("", "", {}, UNLIMITED, id="no groups"),
        pytest.param(
            "0::/a\n",
            V2_MOUNT.format(root="/"),
            {"sys/fs/cgroup/a": {"memory.max": "no number\n"}},
            UNLIMITED,
            id="damaged",
        ),
    ],
)
def test_what_control_groups_leave(tree, cgroup, mount, groups, left):
    # GIVEN
    root = tree(cgroup, mount, groups)

    # WHEN / THEN
    assert memory_left(root).cgroup == left


# The names of Linux 6.1, in its order. Source: cgroup-v2.rst.
STAT_V2 = (
    "anon file kernel kernel_stack pagetables sec_pagetables percpu sock vmalloc shmem zswap zswapped "
    "file_mapped file_dirty file_writeback swapcached anon_thp file_thp shmem_thp inactive_anon active_anon "
    "inactive_file active_file unevictable slab_reclaimable slab_unreclaimable slab workingset_refault_anon "
    "workingset_refault_file workingset_activate_anon workingset_activate_file workingset_restore_anon "
    "workingset_restore_file workingset_nodereclaim pgscan pgsteal pgscan_kswapd pgscan_direct pgfault "
    "pgmajfault pgrefill pgactivate pgdeactivate pglazyfree pglazyfreed zswpin zswpout thp_fault_alloc"
).split()


def whole_v2(limit, usage, cache=0, high="max"):
    """All files of a group of version 2 that concern memory, as Linux 6.1 has them; numbers in MiB."""
    bytes_of = {"inactive_file": cache, "active_file": 0, "file": cache + 9, "shmem": 9}
    stat = "".join(f"{name} {bytes_of.get(name, 5) * MIB}\n" for name in STAT_V2)
    limits = {"max": limit, "high": high, "low": 1, "min": 1, "swap.max": "max", "swap.high": "max"}
    limits |= {"zswap.max": "max", "current": usage, "peak": 10_000, "swap.current": 300, "zswap.current": 0}
    files = {
        f"memory.{name}": f"{value if value == 'max' else value * MIB}\n" for name, value in limits.items()
    }
    events = "".join(f"{name} 7\n" for name in ("low", "high", "max", "oom", "oom_kill", "oom_group_kill"))
    return files | {"memory.stat": stat, "memory.events": events, "memory.oom.group": "1\n"}


@pytest.mark.parametrize(
    ("groups", "left_mb"),
    [
        ({"": ("max", 5_000), "a": ("max", 900), "a/b": ("max", 500), "a/b/c": ("max", 90)}, None),
        ({"": ("max", 5_000), "a": (1_000, 900), "a/b": ("max", 500), "a/b/c": ("max", 90)}, 100),
        ({"a": (1_000, 900, 300), "a/b": (800, 500), "a/b/c": (350, 90)}, 260),
        ({"a": (1_000, 900, 300), "a/b": (800, 500, 0, 560), "a/b/c": (350, 90)}, 60),
        ({"a": (1_000, 900), "a/b": (800, 500, 0, 400), "a/b/c": ("max", 90)}, 0),
        ({"a": (1_000, 900), "a/b": ("max", 500), "a/b/c": (0, 0)}, 0),
    ],
    ids=[
        "no limit",
        "outermost",
        "innermost",
        "slowed down between",
        "slowed down already",
        "nothing allowed",
    ],
)
def test_nested_groups_of_version_2_with_all_that_the_kernel_shows(tree, groups, left_mb):
    # GIVEN a process in a/b/c; the outermost group of a machine has no file of a limit
    files = {f"sys/fs/cgroup/{name}": whole_v2(*about) for name, about in groups.items()}
    for name in ("memory.max", "memory.high", "memory.current"):
        files.get("sys/fs/cgroup/", {}).pop(name, None)
    hybrid = "41 31 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    root = tree("0::/a/b/c\n", OTHER_MOUNTS + V2_MOUNT.format(root="/") + hybrid, files)

    # THEN neither swap, nor what is protected or was used once, counts
    assert memory_left(root).cgroup == (UNLIMITED if left_mb is None else left_mb * MIB)


def test_what_the_address_space_leaves():
    # GIVEN
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 500 * MIB, before[1]))

    # WHEN
    try:
        left = memory_left().address_space
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)

    # THEN
    assert 400 * MIB < left <= 500 * MIB
    assert memory_left().address_space == UNLIMITED or before[0] != resource.RLIM_INFINITY
