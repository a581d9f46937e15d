"""Builds csrc/, and puts beside the package what a starting interpreter runs: else see pyproject.toml."""

import os
import runpy
import shlex
import shutil
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

# The interpreter looks for it where packages are installed, not in one of them.
JOIN = "tfdarshan_join.pth"
CORE = runpy.run_path("csrc/build_core.py")
OBJECTS = runpy.run_path("csrc/build_objects.py")
PROGRAMS = "tfdarshan.native.libtfdarshan_programs"
WAITING = "tfdarshan.native.libtfdarshan_waiting"
TF_DATA = "tfdarshan.native.libtfdarshan_tf_data"
LIBRARIES = (PROGRAMS, WAITING, TF_DATA)


def need_lock():
    """Raise SystemExit if this Python has no global interpreter lock, and so no limited API."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise SystemExit(
            "tfdarshan cannot be built for a free-threaded Python. "
            "Use a build of Python that has the global interpreter lock, such as python3.14 for python3.14t."
        )


def need_compiler():
    """Raise SystemExit if the core cannot be compiled; before pip has hundreds of lines to show."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "gcc")[0]
    header = Path(sysconfig.get_path("include"), "Python.h")
    missing = [
        name for name, there in ((compiler, shutil.which(compiler)), (header, header.exists())) if not there
    ]
    if missing:
        raise SystemExit(
            f"tfdarshan cannot be built without {missing[0]}. "
            "Run `apt-get install gcc libc6-dev python3-dev`, or install what your system calls these."
        )


class Build(build):
    """Begins with what building needs."""

    def run(self):
        need_compiler()
        super().run()


class BuildPy(build_py):
    """Also builds what a process runs that joins a session."""

    def run(self):
        super().run()
        folder = self._purelib_of_editable_wheel() if self.editable_mode else Path(self.build_lib)
        self.mkpath(str(folder))
        self.copy_file(str(Path("csrc/joining") / JOIN), str(folder / JOIN))

    def _purelib_of_editable_wheel(self):
        """Return the folder of an editable wheel whose files are installed beside the packages."""
        return Path(self.get_finalized_command("install").install_data).parent / "purelib"

    def get_outputs(self, include_bytecode=1):
        return [*super().get_outputs(include_bytecode), str(Path(self.build_lib) / JOIN)]


class BuildExt(build_ext):
    """Also builds libraries that are not extensions: they have names of their own."""

    def finalize_options(self):
        super().finalize_options()
        # Kept between builds, also where pip names a folder that it removes.
        self.build_temp = str(OBJECTS["FOLDER"])
        self.parallel = OBJECTS["processors"]()

    def build_extensions(self):
        self.compiler.compile = OBJECTS["Objects"](self.compiler).compile
        super().build_extensions()

    def run(self):
        need_compiler()
        super().run()

    def get_ext_filename(self, fullname):
        if fullname in LIBRARIES or f"tfdarshan.native.{fullname}" in LIBRARIES:
            return str(Path(*fullname.split(".")).with_suffix(".so"))
        return super().get_ext_filename(fullname)

    def get_export_symbols(self, ext):
        return ext.export_symbols if ext.name in LIBRARIES else super().get_export_symbols(ext)


program_library = Extension(
    PROGRAMS,
    sources=sorted(str(source) for source in CORE["program_library_sources"]()),
    depends=CORE["dependencies"](),
    include_dirs=["csrc"],
    libraries=["dl", "pthread"],
    extra_compile_args=CORE["COMPILE_ARGS"],
    extra_link_args=["-Wl,-z,defs"],
)

waiting_library = Extension(
    WAITING,
    sources=[f"csrc/{source}" for source in CORE["WAITING_LIBRARY_SOURCES"]],
    depends=CORE["dependencies"](),
    include_dirs=["csrc"],
    libraries=["dl", "pthread"],
    extra_compile_args=CORE["COMPILE_ARGS"],
    extra_link_args=CORE["WAITING_LIBRARY_LINK_ARGS"],
)

# Stands in for methods of Python's classes: see csrc/batches/.
batches = Extension(
    "tfdarshan.native._batches",
    sources=["csrc/batches/batch_log.c", "csrc/batches/hook.c"],
    depends=CORE["dependencies"](),
    include_dirs=["csrc"],
    extra_compile_args=CORE["COMPILE_ARGS"],
    py_limited_api=True,
)

# TensorFlow loads it: see csrc/offline/tf_data/.
tf_data_library = Extension(
    TF_DATA,
    sources=sorted(f"csrc/offline/tf_data/{name}.c" for name in ("lmdb_op", "tf_c_api")),
    depends=CORE["dependencies"](),
    include_dirs=["csrc"],
    libraries=["dl"],
    extra_compile_args=CORE["COMPILE_ARGS"],
    extra_link_args=["-Wl,-z,defs"],
)

need_lock()
setup(
    cffi_modules=[f"csrc/build_core.py:{name}" for name in ("core", "probe", "aggregate", "lmdb", "replay")],
    ext_modules=[program_library, waiting_library, tf_data_library, batches],
    cmdclass={"build": Build, "build_ext": BuildExt, "build_py": BuildPy},
    # The extensions use the limited API: one wheel for this Python and all later ones.
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
