"""The messages of xplane.proto: as compiled, with every protobuf, and beside TensorFlow's own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.traces.made_up_trace import IO_PLANE, MadeUpTrace
from tfdarshan.sessions.traces.xplane_descriptor import DESCRIPTOR
from tools import compile_proto

ROOT = Path(__file__).parents[3]
# The oldest that TensorFlow 2.16 takes, the last of each major version, and the newest.
VERSIONS = ("3.20.3", "4.25.9", "5.29.6", "6.33.6", "")
# Reads a trace without what else tfdarshan depends on, and prints how the calls' values are spelled.
READ = """
import sys, types
package = types.ModuleType("tfdarshan")
package.__path__ = [sys.argv[1] + "/tfdarshan"]
sys.modules["tfdarshan"] = package
import google.protobuf
from google.protobuf.internal import api_implementation
from pathlib import Path
from tfdarshan.errors import SessionDataError
from tfdarshan.sessions.traces.xspace import Space
space = Space(Path(sys.argv[2]))
plane = space.plane(sys.argv[3])
events = plane.lines[0].events
stats = [(s.WhichOneof("value"), s.int64_value or s.ref_value) for event in events for s in event.stats]
print(space.plane_names(), sorted(plane.stat_names.items()), stats)
for damaged in sys.argv[4:]:
    try:
        Space(Path(damaged)).plane(sys.argv[3])
        print("read")
    except SessionDataError as error:
        print(error)
print(google.protobuf.__version__, api_implementation.Type(), file=sys.stderr)
"""


def read_with(python, trace, damaged=(), **environment):
    done = subprocess.run(
        [python, "-W", "error", "-c", READ, str(ROOT), str(trace), IO_PLANE, *map(str, damaged)],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.split()


@pytest.fixture
def traces(tmp_path):
    """A trace, and damaged ones: cut, not of such messages, and nested without end."""
    content = MadeUpTrace().content()
    nested = b"\x0a\x80\x80\x04" + b"\x0b" * 0x10000  # a plane of groups in groups
    damaged = {"cut": content[:-7], "other": b"not a trace", "nested": nested}
    for name, data in {"whole": content, **damaged}.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path / "whole", [tmp_path / name for name in damaged]


def test_the_compiled_form_is_of_the_proto():
    # GIVEN
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    command = compile_proto.compiler()
    if command is None:
        pytest.skip("neither grpcio-tools nor protoc is installed")

    # WHEN / THEN: else run tools/compile_proto.py
    made = FileDescriptorProto.FromString(compile_proto.compiled(command))
    assert made == FileDescriptorProto.FromString(DESCRIPTOR)


def test_fields_are_those_of_tensorflow():
    # GIVEN
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("needs TensorFlow's wheel")
    from tests.integration.tensorflow.xplane import messages
    from tfdarshan.sessions.traces import xplane_messages

    ours = xplane_messages.Plane.DESCRIPTOR
    theirs = messages().XPlane.DESCRIPTOR
    # Ours has no number for what it reads as bytes: TensorFlow's strings.
    same_on_the_wire = {(ours_type, ours_type) for ours_type in range(1, 19)} | {(12, 9)}

    # WHEN / THEN every field has its number, its type and its name
    met = 0
    for own, other in message_pairs(ours, theirs):
        for field in own.fields:
            counterpart = other.fields_by_number[field.number]
            assert (field.type, counterpart.type) in same_on_the_wire
            assert field.name == counterpart.name
            met += 1
    assert met > 20


def message_pairs(own, other):
    """Yield each message below, with TensorFlow's that has the same place."""
    yield own, other
    for field in own.fields:
        if field.message_type is not None:
            yield from message_pairs(field.message_type, other.fields_by_number[field.number].message_type)


def test_python_s_own_protobuf_reads_the_same(traces):
    # GIVEN protobuf as installed, and in its form without compiled code
    whole, damaged = traces
    compiled, _ = read_with(sys.executable, whole, damaged)

    # WHEN
    plain, (_, kind) = read_with(
        sys.executable, whole, damaged, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python"
    )

    # THEN
    assert kind == "python"
    assert plain == compiled
    assert compiled.count("is damaged, or no trace of TensorFlow's profiler.") == len(damaged)


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
def test_every_protobuf_reads_the_same(traces, tmp_path, version):
    # GIVEN that version alone
    folder = tmp_path / "packages"
    wanted = f"protobuf=={version}" if version else "protobuf"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), wanted]
    if subprocess.run(install, capture_output=True, timeout=300).returncode:
        pytest.skip(f"{wanted} cannot be had here")
    whole, damaged = traces
    expected, _ = read_with(sys.executable, whole, damaged)

    # WHEN / THEN
    for kind in ("default", "python"):
        chosen = {} if kind == "default" else {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": kind}
        said, (used, used_kind) = read_with(sys.executable, whole, damaged, PYTHONPATH=str(folder), **chosen)
        assert used.startswith(version)
        assert used_kind == kind or kind == "default"
        assert said == expected


def test_a_session_is_recorded_and_written_without_protobuf(tmp_path):
    # GIVEN a job: its TensorFlow chooses how protobuf works, and may not have been imported
    job = (
        "import sys, tfdarshan\n"
        "with tfdarshan.profile('logs'):\n"
        "    open('data', 'w').close()\n"
        "print('google.protobuf' in sys.modules)\n"
    )

    # WHEN
    done = subprocess.run(
        [sys.executable, "-c", job], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )

    # THEN
    assert (done.stdout, done.returncode) == ("False\n", 0), done.stderr
