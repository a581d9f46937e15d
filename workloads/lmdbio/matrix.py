"""Every arm with 1 to 8 readers, as threads and as processes, on one tier; the paper's axis by a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tfdarshan.analysis.files.mapped_reads import mapped_reads
from tfdarshan.units import plural

from ..cache_clearing import drop_from_cache
from ..experiment import Experiment
from ..result import SCALE, SHAPE, Arm, Result
from .arm import ARMS, DM, LMDB, OURS, ArmKind
from .caffe_records import CIFAR10, IMAGENET, CaffeDatabase, RecordKind, make_database
from .model_rows import add_model_rows
from .reader_team import TEAMS, Reading, Team, read_all

WAKE_UP_READERS = (1, 4, 16)
# Whose readers wait in page faults; of LMM it is one.
FAULTING = (LMDB.name, DM.name)
KINDS = (CIFAR10, IMAGENET)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is read, by how many."""

    records: dict[str, int]
    readers: tuple[int, ...] = (1, 2, 4, 8)
    wake_up_readers: tuple[int, ...] = WAKE_UP_READERS


# The published ones: all of CIFAR-10, and 1 GB of ImageNet's records.
PUBLISHED = Scale(records={CIFAR10.name: 50_000, IMAGENET.name: 5_000})
QUICK = Scale(records={CIFAR10.name: 1_024, IMAGENET.name: 96})


@dataclass(frozen=True)
class Run:
    """One cell of the matrix."""

    database: CaffeDatabase
    kind: ArmKind
    team: Team
    readers: int

    @property
    def name(self) -> str:
        """What its arm is called."""
        return f"{self.database.kind.name}: {self.kind.name}, {self.readers} {self.team}"


def run(experiment: Experiment) -> Result:
    """Read both databases by every arm; then simulate the paper's machine."""
    result = experiment.new_result()
    scale = experiment.scaled(quick=QUICK, published=PUBLISHED)
    if experiment.place.usable:
        _read_databases(experiment, result, scale)
    add_model_rows(result, experiment.say)
    return result


def _read_databases(experiment: Experiment, result: Result, scale: Scale) -> None:
    databases = [_database(experiment, kind, scale) for kind in KINDS if kind.name in scale.records]
    megabytes = sum(database.size_bytes for database in databases) / 1e6
    result.settings |= {"files": len(databases), "megabytes": round(megabytes, 1)}
    experiment.say_cache([database.path for database in databases], result)
    for repeat in range(experiment.repeats):
        for cell in _cells(databases, scale):
            _run_once(experiment, result, cell)
        _run_wake_ups(experiment, result, databases[-1], scale)
        experiment.say(f"round {repeat + 1}/{experiment.repeats} done")
    for database in databases:
        _add_rows(result, database, scale)
    _add_wake_up_rows(result, databases[-1], scale)
    result.legend += [f"{kind.name}: {kind.stands}" for kind in ARMS]


def _database(experiment: Experiment, kind: RecordKind, scale: Scale) -> CaffeDatabase:
    place = experiment.place
    count = experiment.files or scale.records[kind.name]
    made = make_database((place.backing or place.directory) / "lmdbio", kind, count, experiment.seed)
    return replace(made, folder=place.shown(made.folder))


def _cells(databases: list[CaffeDatabase], scale: Scale) -> Iterator[Run]:
    for database in databases:
        for team in TEAMS:
            for readers in scale.readers:
                for kind in ARMS:
                    yield Run(database, kind, team, readers)


def _run_once(experiment: Experiment, result: Result, cell: Run) -> None:
    arm = result.arm(cell.name)
    arm.settings |= {"arm": cell.kind.name, "readers": cell.readers, "team": cell.team}
    with experiment.session(arm, [cell.database], mapped=True) as session:
        reading = read_all(cell.kind, cell.database, cell.readers, cell.team)
    _check(result, cell, reading)
    if cell.kind.name in FAULTING:
        waited_s = mapped_reads(session.session.processes).wait_s
        if waited_s is not None:
            arm.add(fault_percent=100 * waited_s / (cell.readers * reading.elapsed_s))
    arm.add(
        elapsed_s=reading.elapsed_s,
        opening_s=reading.opening_s,
        mb_s=reading.content.value_bytes / 1e6 / reading.elapsed_s,
    )


def _check(result: Result, cell: Run, reading: Reading) -> None:
    """Hold what came out against what was put in; what is wrong is under the cell's own name."""
    expected, found = cell.database.content, reading.content
    name = cell.database.kind.name if found == expected else cell.name
    result.check(f"{name}: records", expected.records, found.records)
    result.check(f"{name}: bytes of their values", expected.value_bytes, found.value_bytes)
    result.check(f"{name}: hash of all keys and values", expected.digest, found.digest)


def _run_wake_ups(experiment: Experiment, result: Result, database: CaffeDatabase, scale: Scale) -> None:
    """Count how often readers sleep while each waits for page faults in a part of its own."""
    requests = experiment.place.requests
    if requests is None:
        return
    for readers in scale.wake_up_readers:
        drop_from_cache([database.path])
        before = requests()
        reading = read_all(DM, database, readers, "processes")
        _check(result, Run(database, DM, "processes", readers), reading)
        arm = result.arm(_wake_ups_of(readers))
        arm.add(switches_a_request=reading.switches / max(requests() - before, 1))


def _wake_ups_of(readers: int) -> str:
    return f"wake-ups, {readers} processes"


def _add_rows(result: Result, database: CaffeDatabase, scale: Scale) -> None:
    name, counts = database.kind.name, ", ".join(map(str, scale.readers))
    for kind in ARMS:
        speeds = [f"{team} {_speeds(result, name, kind, team, scale)}" for team in TEAMS]
        result.row(f"{name}: {kind.name}, MB/s by {counts} readers", "-", "; ".join(speeds), SCALE)
    for team in TEAMS:
        _add_gain_row(result, name, team, scale.readers[-1])
        for kind in (LMDB, DM):
            _add_fault_row(result, _arm(result, name, kind, team, scale.readers[-1]))
    index = _arm(result, name, OURS, TEAMS[0], 1 if 1 in scale.readers else scale.readers[0])
    result.row(
        f"{name}: finding all records (in place of PROV)",
        "replays the page allocation",
        f"{1e3 * index.median('opening_s'):.1f} ms",
        SCALE,
        "walks the pages that hold keys; right for any database, which PROV is not",
    )


def _speeds(result: Result, name: str, kind: ArmKind, team: Team, scale: Scale) -> str:
    medians = [_arm(result, name, kind, team, readers).median("mb_s") for readers in scale.readers]
    return " / ".join(f"{median:,.0f}" if median >= 10 else f"{median:.2g}" for median in medians)


def _arm(result: Result, name: str, kind: ArmKind, team: Team, readers: int) -> Arm:
    return result.arm(f"{name}: {kind.name}, {readers} {team}")


def _add_gain_row(result: Result, name: str, team: Team, readers: int) -> None:
    """Compare runs of the same round, which share whatever else the machine was doing."""
    usual = _arm(result, name, LMDB, team, readers)
    for kind in ARMS[1:]:
        arm = _arm(result, name, kind, team, readers)
        pairs = zip(usual.values["elapsed_s"], arm.values["elapsed_s"], strict=True)
        arm.values["gain"] = [before / after for before, after in pairs]
    gains = {kind.name: _arm(result, name, kind, team, readers) for kind in ARMS[1:]}
    best = max(gains, key=lambda which: gains[which].median("gain"))
    result.row(
        f"{name}: best arm by LMDB, {readers} {team}",
        "up to 65x at 9,216 processes, whole application",
        f"{best}: {gains[best].worded('gain', 'x', 1)}",
        SCALE,
        "; ".join(f"{which}: {arm.median('gain'):.2g}x" for which, arm in gains.items()),
    )


def _add_fault_row(result: Result, arm: Arm) -> None:
    known = "fault_percent" in arm.values
    result.row(
        f"{arm.name}: readers' time in page faults",
        "reading is up to 90 % of training" if arm.settings["arm"] == LMDB.name else "-",
        arm.worded("fault_percent", "%", 0) if known else "unknown",
        SCALE,
        "as the session saw them (mapped=True)" if known else "the kernel does not let processes see theirs",
    )


def _add_wake_up_rows(result: Result, database: CaffeDatabase, scale: Scale) -> None:
    for readers in scale.wake_up_readers:
        arm = result.arm(_wake_ups_of(readers))
        if not arm.values:
            result.arms.remove(arm)
            continue
        far_below = readers > 1 and arm.median("switches_a_request") < readers / 2
        result.row(
            f"{database.kind.name}: DM, {plural(readers, 'process', 'processes')}: sleeps a request",
            f"{readers}: a read wakes all",
            arm.worded("switches_a_request", digits=1),
            SHAPE,
            "NOT reproduced" if far_below else "",
        )
