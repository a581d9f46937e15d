"""What csrc/offline/aggregate/aggregate.h declares. Written by tools/core_stubs.py (make stubs)."""

from typing import Any, Literal, overload

from typing_extensions import Self

class Struct:
    """A struct, or a pointer to one: cffi reaches fields through both."""

    def __getitem__(self, index: int) -> Self: ...

class tfd_calls(Struct):
    start_ns: Any
    end_ns: Any
    length: Any
    io_class: Any
    count: int


class tfd_bins(Struct):
    start_ns: int
    bin_ns: int
    count: int


class tfd_input_calls(Struct):
    start_ns: Any
    end_ns: Any
    length: Any
    file: Any
    thread: Any
    kind: Any
    count: int


class tfd_stretches(Struct):
    start_ns: Any
    end_ns: Any
    before_ns: Any
    count: int
    place: int


class tfd_input_times(Struct):
    by_kind: Any
    by_thread: Any
    waits: tfd_stretches
    rests: tfd_stretches
    waiting: tfd_stretches
    union_ns: int
    reached_ns: int
    in_waits_ns: int
    in_rests_ns: int
    loop_in_waits_ns: int


class tfd_passes(Struct):
    size_bytes: Any
    call_s: float
    byte_s: float
    many_slow: int
    ahead_bytes: int
    first: Any
    held: Any
    used: int
    free: int
    stored_ns: Any
    stored_bytes: Any


class tfd_depths(Struct):
    lasted_ns: Any
    bytes: Any
    end_ns: Any
    rate: Any
    running: int
    now_ns: int
    moving: float


class tfd_read_order(Struct):
    slot: Any
    ends: Any
    lengths: Any
    sums: Any


class FFI:
    NULL: Any
    @overload
    def new(self, cdecl: Literal["struct tfd_calls *"], init: Any = ...) -> tfd_calls: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_bins *"], init: Any = ...) -> tfd_bins: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_input_calls *"], init: Any = ...) -> tfd_input_calls: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_stretches *"], init: Any = ...) -> tfd_stretches: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_input_times *"], init: Any = ...) -> tfd_input_times: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_passes *"], init: Any = ...) -> tfd_passes: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_depths *"], init: Any = ...) -> tfd_depths: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_read_order *"], init: Any = ...) -> tfd_read_order: ...
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
    TFD_BIN_SUMS: int
    TFD_BIN_CALLS: int
    TFD_BIN_BYTES: int
    TFD_BIN_BYTE_PARTS: int
    TFD_BIN_BUSY_NS: int
    TFD_SIZES: int
    TFD_DURATION_SUMS: int
    TFD_DURATION_CELLS: int
    TFD_OPENS: int
    TFD_CLOSES: int
    TFD_STATS: int
    TFD_SEEKS: int
    TFD_READS: int
    TFD_EMPTY_READS: int
    TFD_WRITES: int
    TFD_SYNCS: int
    TFD_OTHERS: int
    TFD_FSTATS: int
    TFD_CALL_KINDS: int
    TFD_KIND_SUMS: int
    TFD_FILE_COSTS: int
    TFD_PASS_NUMBERS: int
    TFD_DEEPEST: int
    TFD_SIDE_BY_SIDE: int
    TFD_READ_ORDER_SUMS: int
    def tfd_spread_calls(self, calls: tfd_calls, group: Any, bins: tfd_bins, sums: Any, /) -> None: ...
    def tfd_add_durations(self, calls: tfd_calls, operation: Any, error: Any, sums: Any, cells: Any, /) -> None: ...
    def tfd_choose_input(self, kind_of_operation: Any, is_input: Any, operation: Any, file: Any, length: Any, error: Any, count: int, places: Any, kinds: Any, /) -> int: ...
    def tfd_choose_stored(self, calls: tfd_input_calls, call_s: float, byte_s: float, places: Any, /) -> int: ...
    def tfd_add_input_times(self, sums: tfd_input_times, calls: tfd_input_calls, loop: int, /) -> None: ...
    def tfd_add_file_costs(self, calls: tfd_input_calls, costs: Any, /) -> None: ...
    def tfd_add_passes(self, passes: tfd_passes, calls: tfd_input_calls, /) -> None: ...
    def tfd_end_passes(self, passes: tfd_passes, files: int, /) -> None: ...
    def tfd_add_depths(self, sums: tfd_depths, calls: tfd_input_calls, /) -> None: ...
    def tfd_end_depths(self, sums: tfd_depths, /) -> None: ...
    def tfd_add_read_order(self, order: tfd_read_order, calls: tfd_input_calls, offset: Any, /) -> None: ...

ffi: FFI
lib: Lib
