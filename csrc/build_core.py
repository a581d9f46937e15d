"""Describes the C extension modules to cffi; setup.py names them as cffi_modules.

Every path is relative to the folder of setup.py, where cffi runs this file. Set TFDARSHAN_WERROR=1 to turn
compiler warnings into errors, as the Makefile does: an install by a user must not fail for what a newer
compiler warns about.
"""

import os
import re
from pathlib import Path

from cffi import FFI

CSRC = Path("csrc")

COMPILE_ARGS = [
    "-std=c11",
    "-O2",
    "-g",
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
    "-Wall",
    "-Wextra",
    # The C file that cffi writes has these.
    "-Wno-unused-parameter",
    "-Wno-missing-field-initializers",
    "-Wno-cast-function-type",
]
if os.environ.get("TFDARSHAN_WERROR") == "1":
    COMPILE_ARGS.append("-Werror")


def declarations(header: Path) -> str:
    """Return the header's text without preprocessor lines and comments, as cffi's parser needs it."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"\\\n", " ", text)
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def dependencies() -> list[str]:
    """Return the files after whose change each extension is built again."""
    return sorted(str(path) for path in [*CSRC.rglob("*.h"), CSRC / "build_core.py"])


def extension(name: str, header: str, sources: list[Path]) -> FFI:
    """Return the builder of extension module `name`, whose interface is csrc/`header`."""
    ffi = FFI()
    ffi.cdef(declarations(CSRC / header))
    ffi.set_source(
        name,
        f'#include <stddef.h>\n#include <stdint.h>\n#include "{header}"\n',
        sources=sorted(str(source) for source in sources),
        depends=dependencies(),
        include_dirs=[str(CSRC)],
        libraries=["dl", "pthread"],
        extra_compile_args=COMPILE_ARGS,
    )
    return ffi


def core_sources() -> list[Path]:
    """Return the C files of the core: all but those of other extensions and of the other libraries alone."""
    joins = [CSRC / "joining/interpreter.c", CSRC / "joining/take_over.c"]
    return [*sources_without("batches", "joining", "offline", "probe"), *joins]


def program_library_sources() -> list[Path]:
    """Return what a program without Python needs to be recorded: it reads no spools and has no plug-in."""
    return [
        *sources_without("batches", "joining", "offline", "probe", "reader", "tensorflow"),
        CSRC / "joining/preload.c",
    ]


# What a starting interpreter needs to wait for a session. How long: docs/project/benchmarks.md.
WAITING_LIBRARY_SOURCES = (
    "base/backoff.c",
    "base/kernel_io.c",
    "base/process_identity.c",
    "hooks/elf_image.c",
    "hooks/late_attach.c",
    "hooks/protected_range.c",
    "hooks/reading_library.c",
    "job/job_page.c",
    "job/missed_opens.c",
    "job/session_name.c",
    "joining/late_join.c",
)
# Fewer pages to map and to protect: half of the time that loading it takes.
WAITING_LIBRARY_LINK_ARGS = ["-Wl,-z,noseparate-code", "-Wl,-z,norelro"]


def sources_without(*folders: str) -> list[Path]:
    """Return the C files that lie in none of these folders."""
    left_out = {CSRC / folder for folder in folders}
    return [source for source in CSRC.rglob("*.c") if left_out.isdisjoint(source.parents)]


def sources_of(folder: str) -> list[Path]:
    """Return the C files of a folder."""
    return list((CSRC / folder).glob("*.c"))


core = extension("tfdarshan.native._core", "tfdarshan.h", core_sources())
probe = extension("tfdarshan.native._probe", "probe/probe.h", sources_of("probe"))
aggregate = extension(
    "tfdarshan.native._aggregate", "offline/aggregate/aggregate.h", sources_of("offline/aggregate")
)
lmdb = extension("tfdarshan.native._lmdb", "offline/lmdb/lmdb.h", sources_of("offline/lmdb"))
replay = extension("tfdarshan.native._replay", "offline/replay/replay.h", sources_of("offline/replay"))
