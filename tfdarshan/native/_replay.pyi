"""What csrc/offline/replay/replay.h declares. Written by tools/core_stubs.py (make stubs)."""

from typing import Any, Literal, overload

from typing_extensions import Self

class Struct:
    """A struct, or a pointer to one: cffi reaches fields through both."""

    def __getitem__(self, index: int) -> Self: ...

class tfd_replay_table(Struct):
    first: Any
    by_row: int
    by_sample: int


class tfd_replay_job(Struct):
    batches: int
    samples: int
    rests: int
    in_turns: int
    first_task: Any
    weight: Any
    limit_s: tfd_replay_table
    wait_s: tfd_replay_table
    transfer_s: tfd_replay_table
    seek_s: tfd_replay_table
    work_s: tfd_replay_table
    behind_s: tfd_replay_table
    late_s: tfd_replay_table
    compute_s: tfd_replay_table
    write_s: tfd_replay_table
    stall_s: tfd_replay_table
    hand_s: tfd_replay_table
    beside_s: tfd_replay_table
    burst_s: Any
    wait_serial: Any
    transfer_serial: Any
    work_serial: Any
    behind_serial: Any
    readers: Any
    calls_ahead: Any
    batches_ahead: Any
    in_order: Any
    free_s: Any
    used_s: Any
    end_s: Any
    open: Any
    rests_s: Any
    ask_s: Any
    got_s: Any
    called_s: Any


class FFI:
    NULL: Any
    @overload
    def new(self, cdecl: Literal["struct tfd_replay_table *"], init: Any = ...) -> tfd_replay_table: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_replay_job *"], init: Any = ...) -> tfd_replay_job: ...
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
    TFD_REPLAY_SERVERS: int
    def tfd_replay_run(self, job: tfd_replay_job, /) -> None: ...

ffi: FFI
lib: Lib
