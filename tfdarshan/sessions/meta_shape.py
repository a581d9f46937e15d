"""What a process's metadata and the marker of a recording must hold, field by field.

docs/reference/session-format.md says what the fields are. Those with a default here may be missing: older
sessions, and sessions made of logs, lack some. None stands for what is not known.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from tfdarshan.sessions.checked_json import (
    LARGEST,
    Amount,
    Count,
    Integer,
    Number,
    Offset,
    ProcessId,
    Span,
)

# Nanoseconds since the epoch, of dates up to the year 2116.
Instant = Annotated[int, Meta(ge=0, le=1 << 62)]
# Of 64 bits without a sign, for which msgspec knows no upper bound.
Record = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Positive = Annotated[float, Meta(gt=0, le=LARGEST)]
# Of a path, so that it is in the folder where it is looked for.
HostName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\A[^/\0]*\Z")]


class EngineShape(Struct, frozen=True):
    """What counted."""

    name: str = ""
    version: str | None = ""
    source: str | None = ""
    library: str | None = ""


class OptionsShape(Struct, frozen=True):
    """Those of the session's options that are read."""

    as_if: str | None = None
    as_if_paths: list[str] = []
    trace: bool = True
    memory_cap_mb: Count | None = None
    trace_memory_mb: Count | None = None


class CountsShape(Struct, frozen=True):
    """How much was recorded, and what bounds dropped."""

    files: Count
    events: Count
    segments: Count
    events_dropped: Count | None = 0
    files_over_cap: Count = 0
    spool_bytes: Count = 0
    spool_full: Count = 0
    damaged: Count = 0


class TimeShape(Struct, frozen=True):
    """Time in calls."""

    io_ns: Count | None
    read_ns: Count | None
    write_ns: Count | None
    meta_ns: Count | None
    thread_ns: Count | None
    first_event_ns: Offset | None = None
    last_event_ns: Offset | None = None
    first_dropped_ns: Offset | None = None


class KernelShape(Struct, frozen=True):
    """What the kernel charged."""

    valid: bool
    rchar: Count = 0
    wchar: Count = 0
    read_bytes: Count = 0
    write_bytes: Count = 0
    counted: str = ""
    syscr: Count = 0
    syscw: Count = 0


class RoleShape(Struct, frozen=True):
    """What a process is in its session."""

    kind: Literal["main", "worker", "helper", "program"]
    number: Count = 0
    name: str = ""


class TrafficShape(Struct, frozen=True):
    """Calls and bytes on what is no recorded file."""

    bytes_read: Count
    bytes_written: Count
    reads: Count = 0
    writes: Count = 0
    other_calls: Count = 0


class ThreadShape(Struct, frozen=True):
    """A thread."""

    tid: Integer
    name: str
    events: Count = 0
    events_dropped: Count = 0


class FailureShape(Struct, frozen=True):
    """Failed calls of one operation and errno."""

    operation: str
    error: Integer
    name: str
    calls: Count


class MountShape(Struct, frozen=True):
    """A mount point."""

    point: str
    fs_type: str
    source: str = ""
    block_size: Count = 0


class OperationShape(Struct, frozen=True):
    """A kind of call that the tables name."""

    name: str
    module: str
    io_class: Literal["read", "write", "meta"]


class TableShape(Struct, frozen=True):
    """A table's file; in a file of many processes, its rows from `first` on."""

    file: str
    rows: Count = 0
    first: Count | None = None


class OverviewShape(Struct, frozen=True):
    """The overview's file, and its bins."""

    file: str
    bin_ns: Span
    rows: Count = 0
    bins: Count = 0
    start_ns: Offset = 0


class TablesShape(Struct, frozen=True):
    """The tables that every process has, but for the overview."""

    files: TableShape
    events: TableShape
    thinned: TableShape | None = None
    untraced: TableShape | None = None
    overview: OverviewShape | None = None
    layers: TableShape | None = None
    faults: TableShape | None = None
    batches: TableShape | None = None
    steps: TableShape | None = None


class TensorflowShape(Struct, frozen=True):
    """The trace of TensorFlow's profiler; without fields if there is none."""

    trace: Annotated[str, Meta(pattern=r"\A[^/\0][^\0]*\Z")]
    start_ns: Offset
    end_ns: Offset | None = None
    events: Count = 0
    left_out: Count = 0


class StepShape(Struct, frozen=True, array_like=True):
    """A training step in the metadata of a session of an earlier version."""

    number: Integer
    start_ns: Instant
    end_ns: Instant
    input_wait_ns: Offset
    source: str
    rchar: Integer = -1
    read_bytes: Integer = -1
    epoch: Integer = -1


class StepsShape(Struct, frozen=True):
    """All of them that were kept."""

    rows: list[StepShape] = []
    left_out: Count = 0


class LoaderShape(Struct, frozen=True):
    """A loader of batches: what it was given, and what became of it."""

    framework: str
    dataset: str = ""
    samples: Count | None = None
    batch_size: Count | None = None
    batched: bool = True
    drop_last: bool = False
    shuffled: bool = False
    iterable: bool = False
    workers: Count = 0
    prefetch_factor: Count = 0
    persistent: bool = False
    pinned: bool = False
    in_order: bool = True
    start_method: str = ""
    given: list[str] = []
    trainer: list[str] = []
    installed: bool = False
    runs_jax: bool = False
    threads: Count | None = None
    buffer: Count = 0
    buffer_batches: Count = 0
    buffer_batch: Count = 1
    batch_bytes: Count = 0
    small_bytes: Count = 0
    training: bool = False
    passes: Count = 0
    batches: Count = 0
    working: Count = 0
    starts: Count = 0
    start_ns: Span = 0
    wait_ns: Span = 0


class LoadersShape(Struct, frozen=True):
    """The loaders that the job took batches from, the first that was used first."""

    found: list[LoaderShape] = []


class StageShape(Struct, frozen=True):
    """A stage of a tf.data pipeline: the method of tf.data.Dataset, or the source, and its arguments."""

    name: str
    calls: Integer | None = None
    size: Integer | None = None
    deterministic: bool | None = None
    does: list[str] = []
    compression: str = ""
    function: str = ""
    file: str = ""
    line: Count = 0


class PipelineShape(Struct, frozen=True):
    """A tf.data pipeline that the job iterated."""

    stages: list[StageShape]
    pool_threads: Count | None = None
    tuned: bool = True
    datasets: Count = 0
    iterators: Count = 0
    passes_realtime_ns: list[Instant] = []


class PipelinesShape(Struct, frozen=True):
    """All of them that were kept."""

    found: list[PipelineShape] = []
    left_out: Count = 0


class ChildrenShape(Struct, frozen=True):
    """What became of the children."""

    recorded: Count = 0
    silent: Count = 0
    unreadable: list[str] = []
    joined: Count = 0
    gathered: Count = 0
    silent_io: dict[str, Integer] = {}


class ProgramsShape(Struct, frozen=True):
    """What became of the programs that the job started."""

    not_recorded: dict[str, Count] = {}
    not_waited_for: Count = 0
    list_full: bool = False


class MachineShape(Struct, frozen=True):
    """What the job may use of the machine, and the processor time and accelerators it took."""

    cpus: Annotated[float, Meta(gt=0, le=1 << 32)] | None = None
    memory_bytes: Count | None = None
    cpu_s: Number | None = None
    others_cpus: Amount | None = None
    start_s: Amount | None = None
    start_cpu_s: Amount | None = None
    accelerators: list[str] = []


class LevelShape(Struct, frozen=True):
    """What so many readers got of storage."""

    readers: Annotated[int, Meta(ge=1, le=1 << 20)]
    call_s: Positive
    calls_per_s: Positive
    bytes_per_s: Amount


class ScalingShape(Struct, frozen=True):
    """How reads of one size go with the number of readers."""

    size: Positive
    levels: Annotated[list[LevelShape], Meta(min_length=1)]
    share: Share | None = None
    low: Share = 0.0
    high: Share = 1.0


class PlacesShape(Struct, frozen=True):
    """Whether slowness goes with files or with times."""

    files: Count = 0
    slow_files: list[tuple[str, Amount]] = []
    moments: Count = 0
    slow_share: Share = 0.0
    slow_times: Amount = 1.0


class ProbeShape(Struct, frozen=True):
    """What a probe of the storage under a folder found."""

    folder: str
    mount_point: str
    fs_type: str
    host: HostName
    at_ns: Instant
    seconds: Amount
    bytes_read: Count
    files: Count
    unreadable: Count
    direct: bool
    idle: bool
    seed: Integer
    cached_share: Share | None = None
    open_s: Amount | None = None
    base_s: Amount | None = None
    s_per_byte: Amount | None = None
    small: ScalingShape | None = None
    large: ScalingShape | None = None
    places: PlacesShape | None = None
    note: str = ""


class ModelShape(Struct, frozen=True):
    """A storage model."""

    name: str
    about: str = ""


class EmulationShape(Struct, frozen=True):
    """Emulated storage."""

    model: ModelShape
    paths: list[str]
    delayed_calls: Count = 0
    delayed_ns: Count = 0


class DifferenceShape(Struct, frozen=True):
    """A kind of difference between two counters."""

    kind: str
    meaning: str
    rows: Count


class VerifyShape(Struct, frozen=True):
    """How libdarshan's counters compare with the builtin ones."""

    counters: Count
    files: Count
    differences: list[DifferenceShape]
    unexplained_rows: Count = 0
    inexact_rows: Count = 0


class LogShape(Struct, frozen=True):
    """What only the metadata of a session made of a Darshan log has."""

    ranks: list[Integer]
    pids: list[Integer]
    rank: Integer = 0
    hosts: dict[str, list[Integer]] = {}
    records: dict[str, Record] = {}
    uid: Integer = 0
    job: Integer = 0
    processes: Count = 1
    modules: list[str] = []
    not_known: list[str] = []


class SchemaShape(Struct, frozen=True):
    """What tells whether the rest can be read."""

    schema_version: Count


class PeerClockShape(Struct, frozen=True):
    """What CLOCK_MONOTONIC of a host that was asked is ahead of this host's."""

    reference: str
    offset_ns: Integer
    error_ns: Count


class ClockShape(Struct, frozen=True):
    """The clocks of a rank's host, and how far off the file server's is."""

    boot_id: str = ""
    realtime_ns: Instant = 0
    monotonic_ns: Instant = 0
    error_ns: Count = 0
    server_offset_ns: Integer | None = None
    server_error_ns: Count | None = None
    peer: PeerClockShape | None = None


class JobShape(Struct, frozen=True):
    """Which rank of which job a process belongs to."""

    launcher: str
    job: str
    rank: Annotated[int, Meta(ge=0, lt=1 << 31)]
    clock: ClockShape
    world_size: Annotated[int, Meta(ge=0, lt=1 << 31)] | None = None
    local_rank: Integer | None = None
    round: str = "0"
    unique: bool = True
    local_size: Count | None = None
    number: Count = 1


class MappingShape(Struct, frozen=True):
    """How reads through mapped files were watched."""

    watch: str
    files: Count = 0
    error: Integer = 0
    faults: Count = 0
    samples_lost: Count = 0
    samples_unpaired: Count = 0
    mappings_lost: Count = 0
    mappings_left_out: Count = 0
    faults_kept: Count = 0
    faults_left_out: Count = 0
    formats: dict[str, str] = {}
    settled: Count = 1
    watched_ns: Count = 0
    sampled_ns: Count = 0
    minor_faults: Count = 0
    major_faults: Count = 0
    sampled_faults: Count = 0
    cost_ns: Count = 0
    looks: Count = 0
    blocked_ns: Count = 0
    blocked_busy_ns: Count = 0


class ReportShape(Struct, frozen=True):
    """What attaching or detaching took, and what recording adds to a call."""

    elapsed_ns: Count = 0
    transfer_cost_ns: Count = 0
    open_cost_ns: Count = 0


class AttachShape(Struct, frozen=True):
    """How the session's owner was attached and detached."""

    start: ReportShape | None = None
    stop: ReportShape | None = None


class ThinnedShape(Struct, frozen=True):
    """Of the table of thinned calls."""

    resolution_ns: Count = 0


class FoldingShape(Struct, frozen=True):
    """Who folded calls into counters while the process recorded."""

    thread_ns: Count = 0
    by_callers: Count = 0


class MetaShape(Struct, frozen=True):
    """The metadata of one process."""

    schema_version: Count
    owner: bool
    host: HostName
    pid: ProcessId
    start_ns: Offset
    duration_ns: Span
    counts: CountsShape
    time: TimeShape
    kernel: KernelShape
    tables: TablesShape
    session: str = ""
    parent_pid: ProcessId = 0
    joined: bool = False
    process_start: Count = 0
    role: RoleShape | None = None
    command: str = ""
    stopped: bool = True
    origin_realtime_ns: Instant | None = None
    start_realtime_ns: Instant | None = None
    engine: EngineShape | None = None
    versions: dict[str, str] = {}
    started_by: str = ""
    options: OptionsShape | None = None
    other: dict[str, TrafficShape] = {}
    threads: list[ThreadShape] = []
    failures: list[FailureShape] = []
    mounts: list[MountShape] = []
    operations: list[OperationShape] = []
    bounds: list[str] = []
    session_notes: list[str] = []
    copies: str = ""
    children: ChildrenShape | None = None
    programs: ProgramsShape | None = None
    tensorflow: TensorflowShape | None = None
    steps: StepsShape | None = None
    pipelines: PipelinesShape | None = None
    loaders: LoadersShape | None = None
    machine: MachineShape | None = None
    mapping: MappingShape | None = None
    folding: FoldingShape | None = None
    attach: AttachShape | None = None
    thinned: ThinnedShape | None = None
    probes: list[ProbeShape] = []
    emulation: EmulationShape | None = None
    verify: VerifyShape | None = None
    darshan: LogShape | None = None
    job: JobShape | None = None


class RecordingShape(Struct, frozen=True):
    """The marker; `session_directory.Recording` says what the fields are."""

    session: Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\A(?!\.\.?\Z)[^/\0]*\Z")]
    spool_directory: Annotated[str, Meta(pattern=r"\A[^\0]*\Z")]
    host: HostName
    pid: ProcessId
    process_start: Count
    boot_id: str
    pid_namespace: str
    start_realtime_ns: Instant
    options: dict[str, Any]
    notes: list[str]
    versions: dict[str, str]
    started_by: str = ""
    copies: str = ""
    job: JobShape | None = None


class ListedCountsShape(Struct, frozen=True):
    """Of the counts, how long it takes to look at a session."""

    segments: Count = 0


class ListedLogShape(Struct, frozen=True):
    """Of an imported log, how many processes the job had."""

    processes: Count = 1


class ListingShape(Struct, frozen=True):
    """What a list of sessions says of one, of its owner's metadata."""

    owner: bool
    host: HostName
    pid: ProcessId
    duration_ns: Span
    origin_realtime_ns: Instant | None = None
    command: str = ""
    counts: ListedCountsShape = ListedCountsShape()
    children: ChildrenShape | None = None
    emulation: EmulationShape | None = None
    darshan: ListedLogShape | None = None
    job: JobShape | None = None


class OwnerShape(Struct, frozen=True):
    """What is read of metadata to see whether two sessions overlap."""

    owner: bool
    host: HostName
    pid: ProcessId
    origin_realtime_ns: Instant
    duration_ns: Span


class GatheredShape(Struct, frozen=True):
    """A line of the metadata of gathered processes: entries of many, or one process and what has its rest."""

    shared: dict[str, Any] | None = None
    of: Count | None = None
