"""Reads a trace that carries a session, and parses its bytes with protobuf alone; prints the seconds."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.unit.traces.made_up_trace import MadeUpTrace, put_trace
from tfdarshan.sessions.traces import xplane_messages
from tfdarshan.sessions.traces.xspace import Space
from tfdarshan.sessions.traces.xspace_session import XspaceReader


def main() -> None:
    """Measure in the folder of the first argument, with as many calls as the second says."""
    folder, calls = Path(sys.argv[1]), int(sys.argv[2])
    path = put_trace(folder, MadeUpTrace(calls=calls).content())

    started = time.perf_counter()
    message = xplane_messages.Space.FromString(path.read_bytes())
    parsed = [xplane_messages.Plane.FromString(plane) for plane in message.planes]
    parsed_s = time.perf_counter() - started
    assert len(parsed) == 2

    started = time.perf_counter()
    (batch,) = XspaceReader(Space(path)).event_batches(calls)
    read_s = time.perf_counter() - started
    assert len(batch.start_ns) == calls
    print(json.dumps({"read_s": read_s, "parsed_s": parsed_s}))


if __name__ == "__main__":
    main()
