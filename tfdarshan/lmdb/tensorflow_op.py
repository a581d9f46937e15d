"""The op that reads records into tensors, in a library that TensorFlow loads."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfdarshan.native import lmdb_file
from tfdarshan.notice import say

LIBRARY = Path(lmdb_file.__file__).with_name("libtfdarshan_tf_data.so")
OPS = ("tfdarshan_lmdb_flat", "tfdarshan_lmdb_strings")


@cache
def ops() -> Any | None:
    """Return what has both ops; None, said once, where this TensorFlow takes none."""
    try:
        loaded = tf.load_op_library(str(LIBRARY))
        if all(hasattr(loaded, name) for name in OPS) and _is_connected():
            return loaded
        why = f"TensorFlow {tf.__version__} lacks functions of the C API that it needs"
    except (tf.errors.OpError, OSError, RuntimeError) as error:
        why = str(error).splitlines()[0]
    say(f"batches reach TensorFlow through Python: {LIBRARY.name} cannot be used ({why}).")
    return None


def _is_connected() -> bool:
    library = ctypes.CDLL(str(LIBRARY))
    return not int(library.tfd_lmdb_op_connect(ctypes.c_void_p(lmdb_file.functions_address())))
