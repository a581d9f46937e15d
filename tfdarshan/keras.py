"""`tfdarshan.keras.IOCallback`: records epochs or batches of a Keras training, and marks its steps.

Importing this module imports Keras: the package keras, or tf_keras if TF_USE_LEGACY_KERAS is 1.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tfdarshan.errors import ConfigurationError, TfdarshanError
from tfdarshan.frameworks.batch_log import KERAS_BATCHES
from tfdarshan.notice import warn
from tfdarshan.recording.keyword_options import documents_options, option_values, says_wrong_arguments
from tfdarshan.recording.profiler import Profile
from tfdarshan.recording.steps import begin_step, end_step
from tfdarshan.recording.tensorflow.keras_module import callback_class


@documents_options()
class IOCallback(callback_class()):  # type: ignore[misc]
    """Records the I/O of a part of `fit()`, or of all of it.

    A session that cannot be started is said in a warning: the training goes on.

    Args:
        logdir: Local folder; sessions go to `<logdir>/plugins/tfdarshan/`.
        batches: First and last batch to record, or one, counted from 1 over all epochs as TensorBoard's
            callback counts them.
        epochs: First and last epoch to record, counted from 1, or one epoch.
        {options}

    Attributes:
        session: What was recorded last, a `tfdarshan.Profile`; None before.

    Raises:
        ConfigurationError: An argument cannot be used, or there is no such argument.
    """

    @says_wrong_arguments
    def __init__(
        self,
        logdir: str | os.PathLike[str],
        *,
        batches: int | tuple[int, int] | None = None,
        epochs: int | tuple[int, int] | None = None,
        engine: str = "auto",
        darshan_library: str | os.PathLike[str] | None = None,
        darshan_files: int = 1_000_000,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        default_excludes: bool = True,
        memory_cap_mb: int = 1024,
        trace: bool = True,
        trace_memory_mb: int | None = None,
        spool_dir: str | os.PathLike[str] | None = None,
        follow_children: bool = True,
        programs: bool = False,
        mapped: bool | str = False,
        as_if: str | None = None,
        as_if_paths: Sequence[str] = (),
        tf_profiler: bool | str = "auto",
        tf_profiler_max_s: int = 60,
        probe: bool = False,
        job: str | None = None,
    ) -> None:
        options = option_values(locals())
        super().__init__()
        if batches is not None and epochs is not None:
            raise ConfigurationError("IOCallback takes batches or epochs, not both: leave one out.")
        self._batches, self._epochs = _range("batches", batches), _range("epochs", epochs)
        self._recorder = Profile(logdir, **options)
        self._recorder.started_by = "keras"
        self._batch = self._epoch = 0
        self._asked = self._recording = False
        self.session: Profile | None = None

    def on_train_begin(self, logs: Any = None) -> None:  # noqa: ARG002
        """Start where all of the training is recorded."""
        self._stop()  # of a training that an exception ended, such as Ctrl-C, Keras says no end
        self._batch, self._asked = 0, False
        if self._batches is None and self._epochs is None:
            self._start()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002
        """Start with the first epoch, and end with the last one when the next begins.

        So what other callbacks do at its end, such as a checkpoint, belongs to it wherever they are listed.
        """
        self._epoch = epoch + 1
        if self._epochs is None:
            return
        if self._epoch > self._epochs[1]:
            self._stop()
        elif self._epoch >= self._epochs[0] and not self._asked:  # a resumed training begins anywhere
            self._start()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
        """Start with the first batch, and begin a step."""
        self._batch += 1
        if self._batches is not None and self._batch == self._batches[0]:
            self._start()
        if self._recording:
            begin_step(self._batch, KERAS_BATCHES, self._epoch)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
        """End a step, and the session with the last batch."""
        if self._recording:
            end_step()
        if self._batches is not None and self._batch == self._batches[1]:
            self._stop()

    def on_train_end(self, logs: Any = None) -> None:  # noqa: ARG002
        """End with the training at the latest."""
        self._stop()
        chosen, name = (self._batches, "batches") if self._epochs is None else (self._epochs, "epochs")
        if chosen is not None and not self._asked:
            warn(
                f"the training had none of the {name} {chosen[0]:,} to {chosen[1]:,}, so IOCallback recorded "
                "nothing. Choose others."
            )

    def _start(self) -> None:
        self._asked = True
        try:
            self._recorder.start()
            self._recording = True
        except TfdarshanError as error:
            warn(f"IOCallback records nothing: {error}")

    def _stop(self) -> None:
        if self._recording:
            self._recording = False
            self._recorder.stop()
            self.session = self._recorder


def _range(name: str, value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    first, last = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value, value)
    whole = all(isinstance(number, int) and not isinstance(number, bool) for number in (first, last))
    if not whole or not 1 <= first <= last:
        raise ConfigurationError(
            f"{name} must be a number from 1 on, or the first and the last such as (10, 20), not {value!r}."
        )
    return first, last
