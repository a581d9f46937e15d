"""The cffi extension module of csrc/probe*.c; `_bridge` loads it."""

from typing import Any

ffi: Any
lib: Any
