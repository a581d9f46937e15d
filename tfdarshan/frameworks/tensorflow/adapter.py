"""What TensorFlow tells of a job.

Its profiler's sessions, which start recordings, are followed by `tfdarshan.recording.tensorflow`; steps and
waits are read from its trace by `tfdarshan.sessions.traces`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfdarshan.frameworks.adapter import Adapter
from tfdarshan.frameworks.tensorflow import input_pipelines
from tfdarshan.frameworks.tensorflow.checkpoint_words import SAVES
from tfdarshan.frameworks.words import Saves


class TensorFlow(Adapter):
    """TensorFlow, whose tf.data pipelines are noted."""

    name: ClassVar[str] = "tensorflow"
    saves: ClassVar[tuple[Saves, ...]] = (SAVES,)

    def begin(self) -> None:
        """Note pipelines, from TensorFlow's import on."""
        input_pipelines.begin_log()

    def end(self) -> dict[str, Any]:
        """Stop that, and return the metadata's block of pipelines."""
        return input_pipelines.end_log()


ADAPTER = TensorFlow()
