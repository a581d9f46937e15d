"""Compiles each C file once, on all processors, for every library that is linked from it.

setup.py puts `Objects` in the place of its compiler's `compile`. An object is compiled again if its source, a
header that it includes, the compiler or the command changed. It stays in build/objects/, which a later build
starts from. ccache is used if it is installed.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock

FOLDER = Path("build") / "objects"


class Objects:
    """The objects of one compiler. Several libraries may be built at a time."""

    def __init__(self, compiler):
        self._compiler = compiler
        self._compile = compiler.compile
        self._pool = ThreadPoolExecutor(processors())
        self._lock = Lock()
        self._wanted: dict[str, Future] = {}
        if shutil.which("ccache"):
            compiler.set_executable("compiler_so", ["ccache", *compiler.compiler_so])

    def compile(self, sources, *, extra_postargs=None, **options) -> list[str]:
        """Return the object of each source, in the order of the sources.

        Raises:
            CompileError: A source cannot be compiled.
        """
        options.pop("output_dir", None)
        arguments = [*(extra_postargs or ()), "-MMD"]
        folder = str(FOLDER / self._key(arguments, options))
        names = self._compiler.object_filenames([str(source) for source in sources], output_dir=folder)
        with self._lock:
            for source, name in zip(sources, names, strict=True):
                if name not in self._wanted:
                    self._wanted[name] = self._pool.submit(
                        self._make, name, str(source), output_dir=folder, extra_postargs=arguments, **options
                    )
        for name in names:
            self._wanted[name].result()
        return names

    def _make(self, name: str, source: str, **options) -> None:
        if stale(Path(name)):
            self._compile([source], **options)

    def _key(self, arguments, options) -> str:
        """Return a name for the command that differs also if only the compiler was upgraded."""
        program = shutil.which(self._compiler.compiler_so[0])
        version = Path(program).resolve().stat().st_mtime_ns if program else None
        command = (self._compiler.compiler_so, arguments, sorted(options.items(), key=str), version)
        return hashlib.sha256(repr(command).encode()).hexdigest()[:12]


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def stale(made: Path) -> bool:
    """Return True if an object is older than something it was made from, or if that is not known."""
    try:
        made_ns = made.stat().st_mtime_ns
        return any(path.stat().st_mtime_ns > made_ns for path in made_from(made.with_suffix(".d")))
    except OSError:
        return True


def made_from(rule: Path) -> Iterable[Path]:
    """Return the files that a rule, written by the compiler beside the object, names: source and headers."""
    _target, _colon, names = rule.read_text(encoding="utf-8").replace("\\\n", " ").partition(": ")
    return [Path(name.replace("\0", " ")) for name in names.replace("\\ ", "\0").split()]
