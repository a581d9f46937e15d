"""Traces that carry a session, made without TensorFlow: the planes that the plug-in writes."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

from tfdarshan.native import _bridge, _extension
from tfdarshan.sessions.traces import xplane_messages

IO_PLANE, SESSION_PLANE = "/device:CUSTOM:I/O", "/tfdarshan"
MICROSECOND_PS = 1_000_000
STATS = {1: "bytes", 2: "offset", 3: "file", 4: "errno"}
FIRST_FILE_STAT = 100
FIRST_FILE = 2


def zigzag(*numbers):
    """Encode numbers as the files table has them."""
    encoded = bytearray()
    for number in numbers:
        value = (number << 1) ^ (number >> 63)
        while value > 0x7F:
            encoded.append(value & 0x7F | 0x80)
            value >>= 7
        encoded.append(value)
    return bytes(encoded)


@dataclass
class MadeUpTrace:
    """A trace of one thread that reads `files` in turn, `calls` times in all: once each if that is 0.

    `parts` are the session plane's values by name.
    """

    files: tuple[bytes, ...] = (b"/data/a.bin", b"/data/b.bin")
    host: bytes = b"elsewhere"
    parts: dict[str, bytes] = field(default_factory=dict)
    calls: int = 0

    def __post_init__(self) -> None:
        ffi = _extension.core().ffi
        info = ffi.new("struct tfd_spool_info *")
        info.pid, info.parent_pid, info.stopped, info.mount_count = 4_000_001, 1, 1, 1
        info.host, info.command = self.host, b"python train.py"
        info.start_realtime_ns, info.duration_ns = 1_700_000_000_000_000_000, 1_000_000_000
        info.threads, info.files, info.file_rows = 1, len(self.files), len(self.files)
        self.calls = self.calls or len(self.files)
        info.events = info.segments = self.calls
        info.first_dropped_ns = -1
        thread = ffi.new("struct tfd_thread_info *")
        thread.tid, thread.name, thread.events = 4_000_001, b"main", self.calls
        kinds = [ffi.sizeof(f"struct tfd_{kind}") for kind in ("spool_info", "thread_info", "failure")]
        counts = [len(list_of()) for list_of in (_bridge.counters, _bridge.f_counters, _bridge.operations)]
        self.parts = {
            "layout": " ".join(map(str, [1, *kinds, *counts])).encode(),
            "info": bytes(ffi.buffer(info)),
            "window": struct.pack("<3q", 0, (1 << 63) - 1, info.start_realtime_ns),
            "threads": bytes(ffi.buffer(thread)),
            "mounts": b"/data\0ext4\0/dev/sda\x004096\0",
            "failures": b"",
            "file numbers": b"".join(
                zigzag(FIRST_FILE + number, 0, 0, 1_000, *[0] * counts[0])
                for number in range(len(self.files))
            ),
            "file floats": bytes(8 * counts[1] * len(self.files)),
            "file paths": b"".join(path + b"\0" for path in self.files),
        } | self.parts

    def io_plane(self):
        """Return the calls as a message."""
        plane = xplane_messages.Plane()
        for number, name in STATS.items():
            plane.stat_metadata[number].name = name.encode()
        plane.event_metadata[1].name = b"pread"
        line = plane.lines.add(id=4_000_001, name=b"I/O thread main", timestamp_ns=0)
        for number in range(self.calls):
            event = line.events.add(
                metadata_id=1, offset_ps=number * 10 * MICROSECOND_PS, duration_ps=5 * MICROSECOND_PS
            )
            event.stats.add(metadata_id=1, int64_value=1_000)
            event.stats.add(metadata_id=2, int64_value=0)
            event.stats.add(metadata_id=3, ref_value=FIRST_FILE_STAT + FIRST_FILE + number % len(self.files))
        return plane

    def session_plane(self):
        """Return the session as a message."""
        plane = xplane_messages.Plane()
        for number, (name, value) in enumerate(self.parts.items(), 1):
            plane.stat_metadata[number].name = name.encode()
            plane.stats.add(metadata_id=number, bytes_value=value)
        return plane

    def content(self) -> bytes:
        """Return the trace's bytes."""
        return space({IO_PLANE: self.io_plane(), SESSION_PLANE: self.session_plane()})


def space(planes) -> bytes:
    """Return a trace's bytes, of planes (messages, or bytes) by name."""
    message = xplane_messages.Space()
    for name, plane in planes.items():
        named = xplane_messages.PlaneName(name=name.encode()).SerializeToString()
        message.planes.append(named + (plane if isinstance(plane, bytes) else plane.SerializeToString()))
    return message.SerializeToString()


def put_trace(logdir: Path, content: bytes, stamp: str = "2026_01_01_00_00_00") -> Path:
    """Write a trace where TensorFlow's profiler does."""
    path = logdir / "plugins" / "profile" / stamp / "elsewhere.xplane.pb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
