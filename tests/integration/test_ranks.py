"""One session for a distributed job: real processes with what launchers put into the environment."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tfdarshan
from tfdarshan.commands import main
from tfdarshan.sessions.session_directory import MARKER

FILES = 24
READ_BYTES = 1_000

# Reads every WORLD-th file by raw descriptors, and writes down what it read: an account that is not ours.
RANK = """
import json, os, sys, tfdarshan
data, logdir, account, rank, world, *words = sys.argv[1:]
def read(names):
    for name in names:
        path = os.path.join(data, name)
        file = os.open(path, os.O_RDONLY)
        moved = 0
        while block := os.read(file, 1000):
            moved += len(block)
        os.close(file)
        told[path] = told.get(path, 0) + moved
told = {}
names = sorted(os.listdir(data))
for session in range(2 if "twice" in words else 1):
    with tfdarshan.profile(logdir, exclude=[account]) as profile:
        read(names[int(rank)::int(world)])
        if "wait" in words:
            print("ready", flush=True)
            sys.stdin.read()
with open(os.path.join(account, rank + ".json"), "w") as file:
    json.dump(told, file)
print(profile.path)
"""


def torchrun(rank, world, run="5f0c2f2e-0a54-4b43-8a2b-0c1d6a9b0e11", restarts=0):
    return {
        "TORCHELASTIC_RUN_ID": run, "TORCHELASTIC_RESTART_COUNT": str(restarts), "RANK": str(rank),
        "WORLD_SIZE": str(world), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(world),
        "MASTER_ADDR": "localhost", "MASTER_PORT": "29400",
    }  # fmt: skip


def slurm(rank, world):
    return {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "3", "SLURM_PROCID": str(rank), "SLURM_NTASKS": str(world),
            "SLURM_STEP_NUM_TASKS": str(world), "SLURM_LOCALID": str(rank)}  # fmt: skip


def mpi(rank, world):
    return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(world), "PMIX_NAMESPACE": "ns@1"}


@pytest.fixture
def job(tmp_path):
    """Start ranks of a job that reads 24 files of known sizes; return the processes."""
    data, account = tmp_path / "data", tmp_path / "account"
    data.mkdir()
    account.mkdir()
    for number in range(FILES):
        (data / f"{number:02}.bin").write_bytes(bytes(1_357 * (number + 1)))
    started = []

    def start(ranks, world, launcher, *words):
        processes = []
        for rank in ranks:
            command = [
                sys.executable,
                "-c",
                RANK,
                str(data),
                "logs",
                str(account),
                str(rank),
                str(world),
                *words,
            ]
            variables = os.environ | (launcher(rank, world) if launcher else {})
            processes.append(
                subprocess.Popen(
                    command,
                    cwd=tmp_path,
                    env=variables,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
        started.extend(processes)
        return processes

    yield start
    for process in started:
        process.kill()
        process.communicate()


def finish(processes):
    """Wait for ranks, and return the directories that they wrote to."""
    said = [process.communicate(timeout=120)[0].splitlines()[-1] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return [Path(line) for line in said]


def accounts(tmp_path):
    """Add up what the ranks say that they read of each file."""
    whole: dict[str, int] = {}
    for path in (tmp_path / "account").iterdir():
        for name, moved in json.loads(path.read_text()).items():
            whole[name] = whole.get(name, 0) + moved
    return whole


def sessions(tmp_path):
    return sorted((tmp_path / "logs/plugins/tfdarshan").iterdir())


@pytest.mark.parametrize("launcher", [torchrun, slurm, mpi])
def test_four_ranks_are_one_session(job, tmp_path, launcher):
    # WHEN
    finish(job(range(4), 4, launcher))

    # THEN
    (directory,) = sessions(tmp_path)
    session = tfdarshan.open_session(tmp_path / "logs")
    assert session.path == directory
    assert ([rank.rank for rank in session.joint.ranks], session.problems) == ([0, 1, 2, 3], [])
    files = session.files[session.files["path"].str.endswith(".bin")]
    counted = files.groupby("path")["POSIX_BYTES_READ"].sum()
    assert counted.to_dict() == accounts(tmp_path)
    reads = sum(size // READ_BYTES + (size % READ_BYTES > 0) + 1 for size in counted)
    assert (len(counted), files["POSIX_OPENS"].sum(), files["POSIX_READS"].sum()) == (FILES, FILES, reads)
    events = session.events
    assert events["start_ns"].is_monotonic_increasing
    assert events["start_ns"].min() >= 0
    assert (events["operation"].astype(str) == "read").sum() == reads


def test_times_of_ranks_on_one_host_are_on_one_clock(job, tmp_path):
    # GIVEN rank 0 reads, and rank 1 begins only when rank 0 has ended
    finish(job([0], 2, slurm))
    finish(job([1], 2, slurm))

    # WHEN
    session = tfdarshan.open_session(tmp_path / "logs")

    # THEN
    ended = {}
    for process in session.processes:
        began, length = process.meta["start_ns"], process.meta["duration_ns"]
        ended[process.meta["job"]["rank"]] = (began, began + length)
    assert ended[0][0] == 0
    assert ended[0][1] < ended[1][0]
    wall_ns = [
        p.meta["start_realtime_ns"] for p in sorted(session.processes, key=lambda p: p.meta["job"]["rank"])
    ]
    assert abs((ended[1][0] - ended[0][0]) - (wall_ns[1] - wall_ns[0])) < 1_000_000_000


def test_a_missing_rank_is_named_and_comes_late(job, tmp_path, capsys):
    # GIVEN
    finish(job([0, 1, 3], 4, torchrun))

    # WHEN
    code = main(["summary", str(tmp_path / "logs")])
    main(["list", "--json", str(tmp_path / "logs")])
    said, listed = capsys.readouterr().out.split("\n{\n", 1)

    # THEN
    assert code == 0
    assert "rank 2 of 4 has not written" in said
    (entry,) = json.loads("{\n" + listed)["sessions"]
    assert (entry["ranks"], entry["missing_ranks"], entry["processes"]) == (3, [2], 3)

    # WHEN
    finish(job([2], 4, torchrun))

    # THEN
    session = tfdarshan.open_session(tmp_path / "logs")
    assert (session.joint.missing, session.problems) == ((), [])
    files = session.files[session.files["path"].str.endswith(".bin")]
    assert files.groupby("path")["POSIX_BYTES_READ"].sum().to_dict() == accounts(tmp_path)


def test_a_killed_rank_is_recovered_alone(job, tmp_path, capsys):
    # GIVEN rank 1 is killed while it records, after it has read its files
    (victim,) = job([1], 2, slurm, "wait")
    assert victim.stdout.readline() == "ready\n"
    finish(job([0], 2, slurm))
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert tfdarshan.open_session(tmp_path / "logs").joint.missing == (1,)

    # WHEN
    code = main(["recover", str(tmp_path / "logs")])

    # THEN
    session = tfdarshan.open_session(tmp_path / "logs")
    assert capsys.readouterr().out.endswith(f"see it with: tfdarshan summary {session.path}\n")
    assert (code, session.joint.missing, len(sessions(tmp_path))) == (0, (), 1)
    assert not list((tmp_path / "logs").rglob(MARKER))
    said = session.summary(verbose=True)
    assert "Rank 1 ended without stopping the session: this is what it had" in said
    # ... and the kernel's figures of the other count
    assert "No figure counts 1 process: it was killed" in said
    read = session.files[session.files["path"].str.endswith(".bin")].groupby("path")["POSIX_BYTES_READ"].sum()
    assert read.to_dict() == {
        str(tmp_path / "data" / f"{number:02}.bin"): 1_357 * (number + 1) for number in range(FILES)
    }


def test_ranks_of_a_host_share_the_memory_cap(job, tmp_path):
    # GIVEN
    def four_here(rank, world):
        return torchrun(rank, world) | {"TFDARSHAN_SPOOL_DIR": str(tmp_path)}

    # WHEN
    (rank,) = job([1], 4, four_here, "wait")
    assert rank.stdout.readline() == "ready\n"

    # THEN its spool may grow to a quarter of a GiB
    (spool,) = tmp_path.rglob("*.spool")
    assert spool.stat().st_size <= 256 << 20
    finish([rank])
    (meta,) = tfdarshan.open_session(tmp_path / "logs").meta
    assert (meta["job"]["local_size"], meta["options"].get("memory_cap_mb", 1024)) == (4, 1024)
    assert "memory_cap_mb" not in str(meta["bounds"])


def test_a_killed_rank_is_recovered_into_another_logdir(job, tmp_path, capsys):
    # GIVEN
    (victim,) = job([1], 2, slurm, "wait")
    assert victim.stdout.readline() == "ready\n"
    victim.send_signal(signal.SIGKILL)
    victim.wait()

    # WHEN
    code = main(["recover", str(tmp_path / "logs"), "--to", str(tmp_path / "other")])

    # THEN
    capsys.readouterr()
    session = tfdarshan.open_session(tmp_path / "other")
    assert (code, [rank.rank for rank in session.joint.ranks], session.joint.missing) == (0, [1], (0,))


def test_each_session_and_each_restart_is_one_of_its_own(job, tmp_path):
    # GIVEN
    def again(rank, world):
        return torchrun(rank, world, restarts=1)

    # WHEN
    finish(job(range(2), 2, torchrun, "twice"))
    finish(job(range(2), 2, again))

    # THEN
    names = [path.name.partition("-0c1d6a9b0e11")[2] for path in sessions(tmp_path)]
    assert names == ["-1", "-2", "-r1-1"]
    for path in sessions(tmp_path):
        assert len(tfdarshan.open_session(path).joint.ranks) == 2
    assert tfdarshan.open_session(tmp_path / "logs").path.name.endswith("-r1-1")


def test_a_second_run_of_the_same_name_is_another_session(job, tmp_path):
    # GIVEN
    def named(rank, _world):
        return {"TFDARSHAN_JOB": "nightly", "TFDARSHAN_RANK": str(rank), "TFDARSHAN_WORLD_SIZE": "2"}

    # WHEN
    for _ in range(2):
        finish(job(range(2), 2, named))

    # THEN
    assert [path.name for path in sessions(tmp_path)] == ["named-nightly-1", "named-nightly-1_2"]
    assert all(len(tfdarshan.open_session(path).joint.ranks) == 2 for path in sessions(tmp_path))


def test_a_lone_process_is_as_before(job, tmp_path):
    # WHEN
    (path,) = finish(job([0], 1, None))

    # THEN
    (directory,) = sessions(tmp_path)
    session = tfdarshan.open_session(tmp_path / "logs")
    assert (directory.name, session.joint) == (path.name, None)
    assert "job" not in session.meta[0]
    assert {name.name.split(".", 2)[2] for name in directory.iterdir()} == {
        "files.parquet", "events.parquet", "overview.parquet", "meta.json"
    }  # fmt: skip


def test_a_rank_looked_at_alone_is_a_session(job, tmp_path):
    # WHEN
    paths = finish(job(range(2), 2, mpi))

    # THEN
    assert [path.name for path in paths] == ["rank-00000", "rank-00001"]
    session = tfdarshan.open_session(paths[1])
    assert (session.joint, len(session.processes)) == (None, 1)
    assert session.files["path"].str.endswith(".bin").sum() == FILES // 2


def test_every_verb_reads_a_joint_session(job, tmp_path, capsys):
    # GIVEN
    finish(job(range(2), 3, slurm))
    out = str(tmp_path / "out")
    verbs = (
        ["findings"], ["files"], ["summary", "-v"], ["summary", "--json"], ["list"],
        ["export", "--csv", f"{out}.csv"], ["export", "--parquet", f"{out}.parquet"],
        ["export", "--trace", f"{out}.json"], ["report", "-o", f"{out}.html"],
    )  # fmt: skip

    # WHEN
    codes = [main([*verb, str(tmp_path / "logs")]) for verb in verbs]

    # THEN
    assert (codes, capsys.readouterr().err) == ([0] * len(verbs), "")


def test_ranks_are_recorded_without_touching_their_code(job, tmp_path):
    # GIVEN a script that knows nothing of tfdarshan
    job(range(0), 2, torchrun)
    script = tmp_path / "train.py"
    script.write_text("import sys\nopen(sys.argv[1], 'rb').read()\n")

    # WHEN
    started = []
    for rank in range(2):
        command = [sys.executable, "-m", "tfdarshan", "run", "--logdir", "logs", "--json", "--job", "by hand"]
        command += [str(script), str(tmp_path / "data" / f"{rank:02}.bin")]
        variables = os.environ | torchrun(rank, 2)
        started.append(
            subprocess.Popen(command, cwd=tmp_path, env=variables, stderr=subprocess.PIPE, text=True)
        )
    said = [process.communicate(timeout=120)[1] for process in started]

    # THEN
    assert [process.returncode for process in started] == [0, 0], said
    session = tfdarshan.open_session(tmp_path / "logs")
    assert session.path.name.startswith("named-by-hand-")
    assert [Path(json.loads(line)["session"]).parent.name for line in said] == [session.path.name] * 2
    files = session.files[session.files["path"].str.endswith(".bin")]
    assert files.groupby("path")["POSIX_BYTES_READ"].sum().tolist() == [1_357, 2 * 1_357]


def test_the_recipe_for_plain_variables_works_as_printed(tmp_path):
    # GIVEN
    page = (Path(__file__).parents[2] / "docs" / "reference" / "clusters.md").read_text(encoding="utf-8")
    (recipe,) = [block for block in page.split("```\n")[1::2] if "for rank in" in block]
    (tmp_path / "train.py").write_text(
        "import os\nopen(f'{os.environ[\"TFDARSHAN_RANK\"]}.bin', 'rb').read()\n"
    )
    for rank in range(4):
        (tmp_path / f"{rank}.bin").write_bytes(bytes(1_357 * (rank + 1)))

    # WHEN
    recipe = recipe.replace("/shared/logs", "logs").replace("python ", f"{sys.executable} ")
    subprocess.run(["bash", "-ec", recipe], cwd=tmp_path, capture_output=True, check=True, timeout=300)

    # THEN
    session = tfdarshan.open_session(tmp_path / "logs")
    assert (session.path.name, session.joint.missing, len(session.joint.ranks)) == ("named-nightly-1", (), 4)
    files = session.files[session.files["path"].str.endswith(".bin")].sort_values("path")
    assert files["POSIX_BYTES_READ"].tolist() == [1_357 * (rank + 1) for rank in range(4)]


def test_a_job_without_a_rank_is_a_lone_process_and_says_so(job, tmp_path):
    # WHEN
    code = "import tfdarshan\nwith tfdarshan.profile('logs', job='x'): open('data/00.bin').read()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    )

    # THEN
    assert "set TFDARSHAN_RANK and TFDARSHAN_WORLD_SIZE" in done.stderr
    assert tfdarshan.open_session(tmp_path / "logs").joint is None


def test_two_joint_sessions_are_compared_and_staged(job, tmp_path, capsys):
    # GIVEN
    finish(job(range(2), 2, slurm, "twice"))
    one, two = map(str, sessions(tmp_path))

    # WHEN / THEN
    assert main(["compare", one, two]) == 0
    assert "bytes read" in capsys.readouterr().out
    assert main(["advise", "--logdir", one, "--fast", str(tmp_path), "--capacity", "1G"]) == 0
    assert capsys.readouterr().err == ""
