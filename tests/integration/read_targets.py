"""Files that functions read, and the functions: what tests mutate, and who must raise no error but ours."""

import dataclasses
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.made_up_session import image_job, write_session
from tests.mutations import mutate_bytes, mutate_json
from tests.unit.checkpoint.made_up_tiers import Tiers
from tfdarshan import TfdarshanError, open_session
from tfdarshan.analysis.time.latency import latency_by_windows
from tfdarshan.checkpoint.burst_status import burst_status
from tfdarshan.checkpoint.ledger import Ledger
from tfdarshan.checkpoint.ownership import _owner
from tfdarshan.checkpoint.retention import Retention, next_state
from tfdarshan.checkpoint.state_file import read_state
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.recording.recover import recover_session
from tfdarshan.sessions.gathered_processes import LIST
from tfdarshan.sessions.overlap import overlapping
from tfdarshan.sessions.session_directory import MARKER, Marker, write_marker
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.check import _promise
from tfdarshan.staging.journal import FILE, FOLDER, LINK, ROOT, Journal, Record
from tfdarshan.staging.plan_file import Plan, PlannedFile, read_plan, write_plan
from tfdarshan.staging.plan_shape import Promise
from tfdarshan.staging.undo import undo_plan
from tfdarshan.staging.verify import verify_plan

MOMENT = 1_700_000_000_000_000_000
PROMISE = Promise(10.0, 5.0, 4.0, 6.0, 4.0, 100.0, 30.0, 3.0, 10.0, 1.0, 12.0)
MORE = {
    "steps": {"rows": [[n, MOMENT + n, MOMENT + n + 1, -1, "", 10, 0] for n in range(4)], "left_out": 0},
    "machine": {"cpus": 2.0, "memory_bytes": 1 << 34, "cpu_s": 0.5},
    "children": {"recorded": 1, "silent": 0, "unreadable": ["a spool"]},
    "other": {"pipe": {"reads": 1, "bytes_read": 2, "writes": 3, "bytes_written": 4, "other_calls": 5}},
    "failures": [{"operation": "open", "error": 2, "name": "ENOENT", "calls": 3}],
    "options": {"trace": True, "memory_cap_mb": 1024, "trace_memory_mb": None, "as_if": None},
    "bounds": ["a bound was reached"],
    "verify": {"counters": 3, "files": 3, "rows": 3, "agreeing_rows": 2, "unexplained_rows": 1,
               "differences": [{"kind": "mmap", "meaning": "a reason", "rows": 1}]},
    "kernel": {"valid": True, "counted": "own", "rchar": 10**6, "wchar": 0,
               "read_bytes": 4096, "write_bytes": 0},
}  # fmt: skip
IMPORTED = {
    "options": {"as_if": "hdd", "as_if_paths": ["/data/"]},
    "emulation": {"model": {"name": "hdd", "about": ""}, "paths": ["/data/"],
                  "delayed_calls": 3, "delayed_ns": 4},
    "time": dict.fromkeys(("io_ns", "read_ns", "write_ns", "meta_ns", "thread_ns")),
    "darshan": {"rank": 0, "ranks": [0, 1], "pids": [100, 101], "hosts": {"a": [0], "b": [1]},
                "records": {"2": 7}, "uid": 0, "job": 1, "processes": 2, "metadata": {"lib_ver": "3.4"},
                "not_known": ["threads"]},
}  # fmt: skip


@dataclasses.dataclass
class Target:
    """A right file, where it is, and what reads it."""

    path: Path
    mutate: Callable[[bytes, random.Random], bytes]
    read: Callable[[], object]

    def try_one(self, dice, right):
        self.try_content(self.mutate(right, dice))

    def try_content(self, wrong):
        self.path.write_bytes(wrong)
        sentence = "None."
        try:
            self.read()
        except TfdarshanError as error:
            sentence = str(error)
        except BaseException as error:
            raise AssertionError(f"{type(error).__name__} of {wrong[:20_000]!r}") from error
        assert sentence.endswith("."), wrong
        assert "\n" not in sentence, wrong

    def try_many(self, seed, count):
        right = self.path.read_bytes()
        self.read()
        for number in range(count):
            self.try_one(random.Random(f"{seed} {number}"), right)


def mutate_lines(content, dice):
    lines = content.splitlines(keepends=True)
    place = dice.randrange(len(lines))
    lines[place] = mutate_json(lines[place], dice) + b"\n"
    return b"".join(lines)


def plan_target(folder):
    (folder / "slow").mkdir()
    (folder / "fast").mkdir()
    files = tuple(PlannedFile(name, 5, 7) for name in ("a", "b/c", "d\udcff"))
    path = folder / "plan.json"
    write_plan(
        Plan(str(folder / "slow"), str(folder / "fast"), files, promise=dataclasses.asdict(PROMISE)), path
    )

    def read():
        plan = read_plan(path)
        verify_plan(plan)
        apply_plan(plan, ApplyOptions(dry_run=True))
        undo_plan(plan, dry_run=True)
        _promise(plan)

    return Target(path, mutate_json, read)


def journal_target(folder):
    path = folder / "fast" / ".tfdarshan-stage" / "journal"
    path.parent.mkdir(parents=True)
    (folder / "slow").mkdir()
    (folder / "fast" / "a").write_bytes(bytes(5))
    plan = Plan(str(folder / "slow"), str(folder / "fast"), (PlannedFile("a", 5, 7),))
    journal = Journal(path)
    journal.add([Record(FOLDER, ROOT, plan.id), Record(FILE, "a", plan.id, 1, 5, 7, 7, "0f", "blake2b")])
    journal.add([Record(LINK, "b/c", plan.id, target=str(folder / "slow" / "b"))])
    journal.close()

    def read():
        verify_plan(plan)
        apply_plan(plan, ApplyOptions(dry_run=True))
        undo_plan(plan, dry_run=True)

    return Target(path, mutate_lines, read)


def tiers_with_all(folder):
    """Make tiers of which the slow one has two checkpoints and the fast one a third."""
    tiers = Tiers(folder)
    ledger = Ledger(tiers.fast.folder, tiers.slow.folder)
    for number in (1, 2):
        tiers.publish(tiers.seal(number))
        ledger.record("saved", str(number), step=number, saved_at=float(number), blocked_s=0.5, size_bytes=10)
        ledger.record("slow_durable", str(number), target=f"ckpt-{number}", slow_durable_at=9.0, tries=1)
    tiers.seal(3)
    tiers.close()
    return folder / "fast", folder / "slow"


def state_target(folder):
    _, slow = tiers_with_all(folder)

    def read():
        state = read_state(slow)
        if state is not None:
            next_state(state, "ckpt-4", 5.0, Retention(max_to_keep=1))[0].text()
        burst_status(slow)

    return Target(slow / "checkpoint", mutate_bytes, read)


def tier_target(tier, name, mutate=mutate_json):
    def make(folder):
        tiers_with_all(folder)
        (path,) = (folder / tier / ".tfdarshan-burst").rglob(name)

        def read():
            burst_status(folder / tier, verify=True)
            _owner(folder / tier / ".tfdarshan-burst" / "lock")
            reopened = Tiers.__new__(Tiers)
            try:
                Tiers.__init__(reopened, folder)
            finally:
                reopened.close()
            if tier == "slow":
                shutil.rmtree(folder / "slow" / ".tfdarshan-burst" / "incoming")

        return Target(path, mutate, read)

    return make


def marker_target(folder):
    directory = folder / "logs" / "plugins" / "tfdarshan" / "2024_01_01_00_00_00"
    directory.mkdir(parents=True)
    write_marker(
        directory,
        Marker(directory.name, str(folder / "spool"), "node", 7, 8, "boot", "pid:[1]", MOMENT, {}, [], {}),
    )

    def read():
        try:
            recover_session(directory, force=True)
        except TfdarshanError as error:
            if "is not here" not in str(error):
                raise

    return Target(directory / MARKER, mutate_json, read)


def session_of(folder, more):
    jobs = [image_job(3, 2, 2), dataclasses.replace(image_job(3, 2, 2, seed=1), pid=101)]
    directory = write_session(folder / "logs", *jobs).path
    path = directory / "made-up.100.meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | more))
    return directory, path


def read_all(directory):
    """Read a session as every view of it does; return it."""
    session = open_session(directory)
    overlapping(directory, [])
    for read in (
        lambda: session.files,
        lambda: session.events,
        lambda: session.steps,
        lambda: diagnose(session),
    ):
        read()
    session.summary()
    latency_by_windows(session.processes)
    return session


def meta_target(more):
    def make(folder):
        directory, path = session_of(folder, more)
        return Target(path, mutate_json, lambda: read_all(directory))

    return make


def gathered_target(folder):
    gathered = [dataclasses.replace(image_job(3, 2, 2, seed=seed), pid=100 + seed) for seed in (1, 2)]
    directory = write_session(folder / "logs", image_job(3, 2, 2), gathered=gathered).path
    return Target(directory / LIST, mutate_lines, lambda: read_all(directory))


def table_target(table):
    def make(folder):
        directory, _ = session_of(folder, {})
        (path,) = directory.glob(f"*.100.{table}.parquet")
        return Target(path, mutate_bytes, lambda: read_all(directory))

    return make


# What reads the file, and how often it is tried in a few seconds.
TARGETS = {
    "plan": (plan_target, 150),
    "journal": (journal_target, 150),
    "state": (state_target, 150),
    "fast manifest": (tier_target("fast", "manifest.json"), 60),
    "slow manifest": (tier_target("slow", "ckpt-2.json"), 60),
    "fast identity": (tier_target("fast", "tier.json"), 30),
    "pairing": (tier_target("fast", "slow.json"), 30),
    "slow identity": (tier_target("slow", "tier.json"), 30),
    "ledger": (tier_target("slow", "ledger.jsonl", mutate_lines), 30),
    "marker": (marker_target, 150),
    "metadata": (meta_target(MORE), 40),
    "imported metadata": (meta_target(IMPORTED), 40),
    "gathered metadata": (gathered_target, 40),
    "files": (table_target("files"), 15),
    "events": (table_target("events"), 10),
    "overview": (table_target("overview"), 4),
}
