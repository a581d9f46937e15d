"""What csrc/lmdb/lmdb.h declares. Written by tools/core_stubs.py (make stubs)."""

from typing import Any, Literal, overload

from typing_extensions import Self

class Struct:
    """A struct, or a pointer to one: cffi reaches fields through both."""

    def __getitem__(self, index: int) -> Self: ...

class tfd_lmdb_error(Struct):
    kind: int
    number: int
    text: Any


class tfd_lmdb_facts(Struct):
    file_bytes: int
    page_bytes: int
    map_bytes: int
    last_page: int
    transaction: int
    entries: int
    branch_pages: int
    leaf_pages: int
    overflow_pages: int
    depth: int
    flags: int


class tfd_lmdb_record(Struct):
    offset: int
    key: int
    size: int
    key_size: int
    flags: int


class tfd_lmdb(Struct):
    pass

class FFI:
    NULL: Any
    @overload
    def new(self, cdecl: Literal["struct tfd_lmdb_error *"], init: Any = ...) -> tfd_lmdb_error: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_lmdb_facts *"], init: Any = ...) -> tfd_lmdb_facts: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_lmdb_record *"], init: Any = ...) -> tfd_lmdb_record: ...
    @overload
    def new(self, cdecl: Literal["struct tfd_lmdb *"], init: Any = ...) -> tfd_lmdb: ...
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
    TFD_LMDB_DAMAGED: int
    TFD_LMDB_OTHER: int
    TFD_LMDB_SYSTEM: int
    TFD_LMDB_MISSING: int
    TFD_LMDB_FOREIGN: int
    TFD_LMDB_IN_PAGES: int
    TFD_LMDB_SUB_DATABASE: int
    def tfd_lmdb_open(self, path: Any, direct: int, error: tfd_lmdb_error, /) -> tfd_lmdb: ...
    def tfd_lmdb_close(self, file: tfd_lmdb, /) -> None: ...
    def tfd_lmdb_reads_direct(self, file: tfd_lmdb, /) -> int: ...
    def tfd_lmdb_index(self, file: tfd_lmdb, name: Any, name_size: int, threads: int, error: tfd_lmdb_error, /) -> int: ...
    def tfd_lmdb_facts_of(self, file: tfd_lmdb, facts: tfd_lmdb_facts, /) -> None: ...
    def tfd_lmdb_count(self, file: tfd_lmdb, /) -> int: ...
    def tfd_lmdb_records(self, file: tfd_lmdb, /) -> tfd_lmdb_record: ...
    def tfd_lmdb_keys(self, file: tfd_lmdb, size: Any, /) -> Any: ...
    def tfd_lmdb_newest(self, file: tfd_lmdb, transaction: Any, error: tfd_lmdb_error, /) -> int: ...
    def tfd_lmdb_read(self, file: tfd_lmdb, numbers: Any, places: Any, count: int, to: Any, room: int, threads: int, cached: int, error: tfd_lmdb_error, /) -> int: ...

ffi: FFI
lib: Lib
