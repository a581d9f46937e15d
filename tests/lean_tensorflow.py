"""What jobs get that start TensorFlow and use nothing of Keras: importing that is a third of their start."""

from __future__ import annotations

# TensorFlow then looks for Keras 2, and only when something of Keras is used.
WITHOUT_KERAS = {"TF_USE_LEGACY_KERAS": "1"}
WITH_KERAS = {"TF_USE_LEGACY_KERAS": "0"}
