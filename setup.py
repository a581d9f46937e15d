"""Builds csrc/, and puts beside the package what a starting interpreter runs: else see pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

# The interpreter looks for them where packages are installed, not in one of them.
JOIN = ("tfdarshan_join.pth", "tfdarshan_join.py")


class BuildPy(build_py):
    """Also builds the two files of a process that joins a session."""

    def run(self):
        super().run()
        if not self.editable_mode:
            for name in JOIN:
                self.copy_file(str(Path("csrc/python") / name), str(Path(self.build_lib) / name))

    def get_outputs(self, include_bytecode=1):
        return [*super().get_outputs(include_bytecode), *(str(Path(self.build_lib) / name) for name in JOIN)]


setup(
    cffi_modules=["csrc/build_core.py:core", "csrc/build_core.py:probe"],
    cmdclass={"build_py": BuildPy},
)
