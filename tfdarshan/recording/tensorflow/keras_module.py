"""Which Keras a job uses: `tf.keras` is the package keras, or tf_keras."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

KERAS, LEGACY = "keras", "tf_keras"
# TensorFlow's own variable, and what it takes for yes.
USE_LEGACY, YES = "TF_USE_LEGACY_KERAS", ("1", "true", "True")


def callback_class() -> Any:
    """Return the base class of the callbacks of the Keras that the job uses.

    Raises:
        ModuleNotFoundError: The package is not installed.
    """
    package = keras_package()
    try:
        return importlib.import_module(f"{package}.callbacks").Callback
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        said = f"tfdarshan.keras needs the package {package}: run `pip install {package}`."
        raise ModuleNotFoundError(said, name=package) from None


def keras_package() -> str:
    """Return the name of the package: what TensorFlow is told to use, else what the job has loaded."""
    legacy_alone = LEGACY in sys.modules and KERAS not in sys.modules
    return LEGACY if os.environ.get(USE_LEGACY) in YES or legacy_alone else KERAS
