"""The cffi extension module built from csrc/; `_bridge` gives it types."""

from typing import Any

ffi: Any
lib: Any
