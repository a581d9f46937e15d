"""What csrc/tfdarshan.h declares. Written by tools/core_stubs.py (make stubs)."""

from typing import Any, Literal, overload

from typing_extensions import Self

class Struct:
    """A struct, or a pointer to one: cffi reaches fields through both."""

    def __getitem__(self, index: int) -> Self: ...

class tfd_options(Struct):
    spool_directory: Any
    capacity_bytes: int
    trace_limit_bytes: int
    include: Any
    include_count: int
    exclude: Any
    exclude_count: int
    exclude_followed: int
    follow_children: int
    darshan: int
    mapped: int
    program_library: Any


class tfd_attach_report(Struct):
    objects_scanned: int
    relocations_scanned: int
    slots_patched: int
    slots_foreign: int
    slots_refused: int
    objects_pinned: int
    slots_restored: int
    elapsed_ns: int
    transfer_cost_ns: int
    open_cost_ns: int


class tfd_memory_left(Struct):
    cgroup: int
    address_space: int
    lockable: int


class tfd_storage_model(Struct):
    open_ns: int
    read_ns: int
    write_ns: int
    empty_read_ns: int
    stat_ns: int
    sync_ns: int
    concurrency: int
    seek_ns: Any
    read_bytes_per_s: int
    write_bytes_per_s: int


class tfd_emulation_totals(Struct):
    calls: int
    delayed_calls: int
    delayed_ns: int
    modelled_ns: int


class tfd_darshan_options(Struct):
    path: Any
    config_path: Any
    name_bytes: int


class tfd_darshan_info(Struct):
    path: Any
    log_version: Any
    version: Any
    foreign: int
    wrapped: int
    clock_offset_s: float
    nested_calls: int
    records_left: Any


class tfd_staged_file(Struct):
    original: Any
    copy: Any
    size: int
    original_mtime_ns: int
    copy_mtime_ns: int


class tfd_redirect_totals(Struct):
    copies: int
    missing: int
    stale: int
    looked_ahead: int


class tfd_reader(Struct):
    pass

class tfd_spool_info(Struct):
    pid: int
    parent_pid: int
    stopped: int
    mount_count: int
    host: Any
    command: Any
    start_realtime_ns: int
    duration_ns: int
    threads: int
    files: int
    file_rows: int
    events: int
    segments: int
    events_dropped: int
    files_over_cap: int
    spool_bytes: int
    spool_full: int
    damaged: int
    kernel_valid: int
    rchar: int
    wchar: int
    syscr: int
    syscw: int
    read_bytes: int
    write_bytes: int
    earlier_rchar: int
    earlier_wchar: int
    earlier_read_bytes: int
    earlier_write_bytes: int
    own_rchar: int
    own_wchar: int
    uncounted: int
    io_ns: int
    read_ns: int
    write_ns: int
    meta_ns: int
    thread_ns: int
    first_event_ns: int
    last_event_ns: int
    first_dropped_ns: int
    capacity_bytes: int
    trace_limit_bytes: int


class tfd_process_identity(Struct):
    pid: int
    parent_pid: int
    joined: int
    process_start: int
    start_realtime_ns: int
    start_monotonic_ns: int
    arguments: Any


class tfd_thread_info(Struct):
    tid: int
    name: Any
    events: int
    events_dropped: int
    other: Any


class tfd_mount_info(Struct):
    point: Any
    fs_type: Any
    source: Any
    block_size: int


class tfd_failure(Struct):
    operation: int
    error: int
    calls: int


class tfd_mapping_info(Struct):
    files: int
    watch: int
    error: int
    faults: int
    samples_lost: int
    samples_unpaired: int
    mappings_lost: int
    mappings_left_out: int
    faults_kept: int
    faults_left_out: int
    settled: int
    watched_ns: int
    sampled_ns: int
    minor_faults: int
    major_faults: int
    sampled_faults: int
    cost_ns: int
    looks: int
    blocked_ns: int
    blocked_busy_ns: int


class tfd_file_batch(Struct):
    file: Any
    module: Any
    mount: Any
    size_bytes: Any
    counters: Any
    f_counters: Any


class tfd_event_batch(Struct):
    start_ns: Any
    end_ns: Any
    tid: Any
    operation: Any
    flags: Any
    error: Any
    file: Any
    offset: Any
    length: Any


class tfd_thinned_info(Struct):
    calls: int
    resolution_ns: int


class tfd_untraced_batch(Struct):
    start_ns: Any
    end_ns: Any
    calls: Any
    bytes_read: Any
    bytes_written: Any
    busy_ns: Any


class tfd_tf_report(Struct):
    session: int
    joined: int
    recording: int
    start_ns: int
    end_ns: int
    events: int
    left_out: int
    mark: Any


class FFI:
    NULL: Any
    @overload
    def new(self, cdecl: Literal["struct tfd_options *"], init: Any = ...) -> tfd_options: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_attach_report *"], init: Any = ...) -> tfd_attach_report: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_memory_left *"], init: Any = ...) -> tfd_memory_left: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_storage_model *"], init: Any = ...) -> tfd_storage_model: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_emulation_totals *"], init: Any = ...) -> tfd_emulation_totals: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_darshan_options *"], init: Any = ...) -> tfd_darshan_options: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_darshan_info *"], init: Any = ...) -> tfd_darshan_info: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_staged_file *"], init: Any = ...) -> tfd_staged_file: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_redirect_totals *"], init: Any = ...) -> tfd_redirect_totals: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_reader *"], init: Any = ...) -> tfd_reader: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_spool_info *"], init: Any = ...) -> tfd_spool_info: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_process_identity *"], init: Any = ...) -> tfd_process_identity: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_thread_info *"], init: Any = ...) -> tfd_thread_info: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_mount_info *"], init: Any = ...) -> tfd_mount_info: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_failure *"], init: Any = ...) -> tfd_failure: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_mapping_info *"], init: Any = ...) -> tfd_mapping_info: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_file_batch *"], init: Any = ...) -> tfd_file_batch: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_event_batch *"], init: Any = ...) -> tfd_event_batch: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_thinned_info *"], init: Any = ...) -> tfd_thinned_info: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_untraced_batch *"], init: Any = ...) -> tfd_untraced_batch: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_tf_report *"], init: Any = ...) -> tfd_tf_report: ...
    @overload
    def new(self, cdecl: str, init: Any = ...) -> Any: ...
    def buffer(self, cdata: Any, size: int = ...) -> Any: ...
    def from_buffer(self, cdecl: str, source: Any, require_writable: bool = ...) -> Any: ...
    def cast(self, cdecl: str, source: Any) -> Any: ...
    def gc(self, cdata: Any, destructor: Any) -> Any: ...
    def memmove(self, dest: Any, src: Any, n: int) -> None: ...
    def sizeof(self, cdecl: Any) -> int: ...
    def string(self, cdata: Any, maxlen: int = ...) -> bytes: ...
    def typeof(self, cdecl: Any) -> Any: ...
    def unpack(self, cdata: Any, length: int) -> Any: ...

class Lib:
    TFD_MAPPED_ALL: int
    TFD_MAPPED_LARGE: int
    TFD_MAPPED_LARGE_BYTES: int
    TFD_MEMORY_SHARE: int
    TFD_STORAGE_PLACES: int
    TFD_REDIRECTED: int
    TFD_REDIRECTED_HERE_ONLY: int
    TFD_FULL_NOT: int
    TFD_FULL_CAP: int
    TFD_FULL_MEMORY: int
    TFD_BYPASS_IO_URING: int
    TFD_BYPASS_AIO: int
    TFD_BYPASS_CUFILE: int
    TFD_OVERFLOW_NAMES: int
    TFD_UNTRACED_BINS: int
    def tfd_memory_left(self, root: Any, left: tfd_memory_left, /) -> None: ...
    def tfd_folder_is_memory(self, path: Any, /) -> int: ...
    def tfd_session_start(self, options: tfd_options, report: tfd_attach_report, /) -> int: ...
    def tfd_session_stop(self, report: tfd_attach_report, /) -> int: ...
    def tfd_session_join(self, spool_directory: Any, /) -> int: ...
    def tfd_job_wait_for_sessions(self, interpreter: Any, /) -> None: ...
    def tfd_job_take_over(self, interpreter: Any, found: Any, /) -> None: ...
    def tfd_job_meet(self, interpreter: Any, /) -> None: ...
    def tfd_job_begin(self, interpreter: Any, /) -> None: ...
    def tfd_session_active(self) -> int: ...
    def tfd_session_copy(self, source: int, target: int, /) -> int: ...
    def tfd_session_take_over(self, spool_directory: Any, /) -> int: ...
    def tfd_kernel_reads(self, rchar: Any, read_bytes: Any, /) -> None: ...
    def tfd_last_error(self) -> Any: ...
    def tfd_end_by_interrupt(self) -> int: ...
    def tfd_emulate(self, model: tfd_storage_model, paths: Any, path_count: int, /) -> int: ...
    def tfd_emulation_totals(self, totals: tfd_emulation_totals, /) -> None: ...
    def tfd_darshan_adopt(self) -> int: ...
    def tfd_darshan_load(self, options: tfd_darshan_options, /) -> int: ...
    def tfd_darshan_record_opens(self, first: Any, second: Any, /) -> int: ...
    def tfd_darshan_check_trial(self, first: Any, second: Any, /) -> int: ...
    def tfd_darshan_describe(self, info: tfd_darshan_info, /) -> int: ...
    def tfd_darshan_records(self, at_stop: int, module: int, count: Any, /) -> Any: ...
    def tfd_darshan_stop_status(self) -> int: ...
    def tfd_darshan_torn_records(self) -> int: ...
    def tfd_darshan_release_snapshots(self) -> None: ...
    def tfd_darshan_record_name(self, id: int, /) -> Any: ...
    def tfd_redirect_start(self, files: tfd_staged_file, count: int, trusted_ns: int, /) -> int: ...
    def tfd_redirect_look_ahead(self, most: int, for_ns: int, /) -> None: ...
    def tfd_redirect_stop(self) -> None: ...
    def tfd_redirect_totals(self, totals: tfd_redirect_totals, /) -> None: ...
    def tfd_hook_count(self) -> int: ...
    def tfd_hook_name(self, hook: int, /) -> Any: ...
    def tfd_hook_operation(self, hook: int, /) -> Any: ...
    def tfd_hook_available(self, hook: int, /) -> int: ...
    def tfd_hook_slots(self, hook: int, /) -> int: ...
    def tfd_slots_holding_wrappers(self) -> int: ...
    def tfd_spool_identity(self, path: Any, identity: tfd_process_identity, /) -> int: ...
    def tfd_reader_open(self, path: Any, /) -> tfd_reader: ...
    def tfd_reader_close(self, reader: tfd_reader, /) -> None: ...
    def tfd_reader_partly_seen(self, reader: tfd_reader, /) -> int: ...
    def tfd_reader_open_seen(self, whole: tfd_reader, path: Any, /) -> tfd_reader: ...
    def tfd_reader_unseen_operations(self, reader: tfd_reader, file: Any, module: Any, rows: int, operations: Any, /) -> None: ...
    def tfd_reader_info(self, reader: tfd_reader, info: tfd_spool_info, /) -> int: ...
    def tfd_reader_mapping_info(self, reader: tfd_reader, info: tfd_mapping_info, /) -> int: ...
    def tfd_mapping_watch_name(self, watch: int, /) -> Any: ...
    def tfd_reader_thread(self, reader: tfd_reader, index: int, info: tfd_thread_info, /) -> int: ...
    def tfd_reader_joined(self, reader: tfd_reader, /) -> int: ...
    def tfd_reader_other_user_programs(self, reader: tfd_reader, /) -> int: ...
    def tfd_reader_missed_opens(self, reader: tfd_reader, /) -> int: ...
    def tfd_reader_bypasses(self, reader: tfd_reader, /) -> int: ...
    def tfd_reader_folding(self, reader: tfd_reader, thread_ns: Any, by_callers: Any, /) -> None: ...
    def tfd_reader_patterns_met(self, reader: tfd_reader, include: Any, exclude: Any, /) -> None: ...
    def tfd_reader_mount(self, reader: tfd_reader, index: int, info: tfd_mount_info, /) -> int: ...
    def tfd_reader_failures(self, reader: tfd_reader, failures: tfd_failure, capacity: int, /) -> int: ...
    def tfd_counter_count(self) -> int: ...
    def tfd_counter_name(self, index: int, /) -> Any: ...
    def tfd_counter_unit(self, index: int, /) -> Any: ...
    def tfd_counter_meaning(self, index: int, /) -> Any: ...
    def tfd_f_counter_count(self) -> int: ...
    def tfd_f_counter_name(self, index: int, /) -> Any: ...
    def tfd_f_counter_unit(self, index: int, /) -> Any: ...
    def tfd_f_counter_meaning(self, index: int, /) -> Any: ...
    def tfd_reader_files(self, reader: tfd_reader, first: int, rows: int, batch: tfd_file_batch, /) -> int: ...
    def tfd_reader_record_id(self, reader: tfd_reader, file: int, /) -> int: ...
    def tfd_reader_path(self, reader: tfd_reader, file: int, length: Any, /) -> Any: ...
    def tfd_reader_events(self, reader: tfd_reader, first: int, rows: int, batch: tfd_event_batch, /) -> int: ...
    def tfd_reader_thinned_info(self, reader: tfd_reader, info: tfd_thinned_info, /) -> None: ...
    def tfd_reader_thinned(self, reader: tfd_reader, first: int, rows: int, batch: tfd_event_batch, /) -> int: ...
    def tfd_reader_untraced(self, reader: tfd_reader, first: int, rows: int, batch: tfd_untraced_batch, /) -> int: ...
    def tfd_reader_faults(self, reader: tfd_reader, first: int, rows: int, batch: tfd_event_batch, /) -> int: ...
    def tfd_operation_count(self) -> int: ...
    def tfd_operation_name(self, operation: int, /) -> Any: ...
    def tfd_operation_module(self, operation: int, /) -> Any: ...
    def tfd_operation_class(self, operation: int, /) -> Any: ...
    def tfd_other_kind_name(self, kind: int, /) -> Any: ...
    def tfd_tf_registered(self) -> int: ...
    def tfd_tf_enable(self, options: tfd_options, smallest_bytes: int, max_events: int, /) -> int: ...
    def tfd_tf_disable(self) -> None: ...
    def tfd_tf_session_written(self, is_written: int, /) -> None: ...
    def tfd_tf_last_session(self, report: tfd_tf_report, /) -> int: ...
    def tfd_record_id(self, path: Any, length: int, /) -> int: ...

ffi: FFI
lib: Lib
