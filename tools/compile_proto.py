"""Compiles tfdarshan/sessions/traces/xplane.proto into xplane_descriptor.py beside it.

It needs grpcio-tools, or a protoc in PATH.

What protoc makes for Python is not used: it runs with few versions of protobuf beside its own, and a job's
TensorFlow says which version there is. The descriptor in it is read by all.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

PROTO = Path(__file__).parent.parent / "tfdarshan" / "sessions" / "traces" / "xplane.proto"
MODULE = '''"""The messages of xplane.proto, compiled: a serialized FileDescriptorProto.

Written by tools/compile_proto.py.
"""

from base64 import b64decode

DESCRIPTOR = b64decode(
{lines}
)
'''


def compiler() -> list[str] | None:
    """Return the command of a protoc; None if this machine has none."""
    if importlib.util.find_spec("grpc_tools"):
        return [sys.executable, "-m", "grpc_tools.protoc"]
    return ["protoc"] if shutil.which("protoc") else None


def compiled(command: list[str], proto: Path = PROTO) -> bytes:
    """Return a .proto's serialized FileDescriptorProto."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "descriptors"
        subprocess.run(
            [*command, f"-I{proto.parent}", f"--descriptor_set_out={made}", str(proto)], check=True
        )
        (file,) = FileDescriptorSet.FromString(made.read_bytes()).file
    return bytes(file.SerializeToString(deterministic=True))


def main() -> None:
    """Write the module."""
    from base64 import b64encode

    command = compiler()
    if command is None:
        sys.exit("there is no protoc: pip install grpcio-tools")
    text = b64encode(compiled(command)).decode()
    lines = "\n".join(f'    "{line}"' for line in textwrap.wrap(text, 100))
    PROTO.with_name("xplane_descriptor.py").write_text(MODULE.format(lines=lines))


if __name__ == "__main__":
    main()
