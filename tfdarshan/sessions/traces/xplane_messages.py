"""The messages of xplane.proto as classes, with any version of protobuf from 3.20.3 on.

They are in a pool of their own: TensorFlow's descriptors are in protobuf's. Importing this imports protobuf,
so it is done where a trace is read: never before a profiled program, nor in the callbacks of its TensorFlow.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pool, message_factory

from tfdarshan.sessions.traces.xplane_descriptor import DESCRIPTOR

_POOL = descriptor_pool.DescriptorPool()
_POOL.AddSerializedFile(DESCRIPTOR)


def _message(name: str) -> Any:
    descriptor = _POOL.FindMessageTypeByName(f"tfdarshan.xplane.{name}")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(_POOL).GetPrototype(descriptor)  # before 4.22


Space, PlaneName, Plane = _message("Space"), _message("PlaneName"), _message("Plane")
