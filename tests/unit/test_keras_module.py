"""Which Keras `IOCallback` belongs to, and what is said without one."""

import os
import subprocess
import sys
from types import ModuleType

import pytest

from tfdarshan.recording.tensorflow.keras_module import KERAS, LEGACY, USE_LEGACY, keras_package


@pytest.mark.parametrize(
    ("variable", "loaded", "used"),
    [
        (None, (), KERAS),
        ("0", (KERAS, LEGACY), KERAS),
        ("1", (KERAS,), LEGACY),
        ("true", (), LEGACY),
        (None, (LEGACY,), LEGACY),
    ],
)
def test_the_keras_of_the_job_is_told_by_tensorflows_variable_or_what_is_loaded(
    variable, loaded, used, monkeypatch
):
    for package in (KERAS, LEGACY):
        monkeypatch.delitem(sys.modules, package, raising=False)
        if package in loaded:
            monkeypatch.setitem(sys.modules, package, ModuleType(package))
    monkeypatch.delenv(USE_LEGACY, raising=False)
    if variable is not None:
        monkeypatch.setenv(USE_LEGACY, variable)

    assert keras_package() == used


def imported(folder, code, **environment):
    """Run code that finds, beside tfdarshan, the packages of a folder first."""
    found = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    variables = {**os.environ, "PYTHONPATH": found, **environment}
    return subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True)


def test_a_callback_for_legacy_keras_is_one_of_its_callbacks(tmp_path):
    # GIVEN a tf_keras, which takes no callbacks but its own
    (tmp_path / LEGACY).mkdir()
    (tmp_path / LEGACY / "__init__.py").touch()
    (tmp_path / LEGACY / "callbacks.py").write_text("class Callback:\n    pass\n")
    code = (
        "import sys, tfdarshan.keras, tf_keras.callbacks\n"
        "assert issubclass(tfdarshan.keras.IOCallback, tf_keras.callbacks.Callback)\n"
        "assert 'keras' not in sys.modules\n"
    )

    # WHEN / THEN
    done = imported(tmp_path, code, TF_USE_LEGACY_KERAS="1")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("package", "variable"), [(KERAS, "0"), (LEGACY, "1")])
def test_without_keras_one_sentence_says_what_to_install(package, variable, tmp_path):
    # GIVEN a Python that finds none
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name in ('keras', 'tf_keras'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )

    # WHEN
    done = imported(tmp_path, "import tfdarshan.keras", TF_USE_LEGACY_KERAS=variable)

    # THEN
    assert done.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: tfdarshan.keras needs the package {package}: run `pip install {package}`."
    )
    assert "During handling" not in done.stderr
