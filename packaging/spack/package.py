"""Spack's recipe. Spack looks for the source distribution in the folder that it is run in."""

import os

from spack.package import *  # noqa: F403
from spack_repo.builtin.build_systems.python import PythonPackage


class PyTfdarshan(PythonPackage):
    """Darshan-style file I/O profiling of training jobs, from one line of Python."""

    manual_download = True
    url = f"file://{os.getcwd()}/tfdarshan-0.1.0.tar.gz"
    license("MIT")

    # `spack checksum` adds the sha256 of a release.
    version("0.1.0")

    variant("view", default=True, description="Read and draw sessions, besides recording them")
    variant("darshan", default=False, description="Count with Darshan's own library, too")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    depends_on("c", type="build")
    depends_on("python@3.10:3.14", type=("build", "link", "run"))
    depends_on("py-setuptools@77:", type="build")
    depends_on("py-cffi@1.16:", type=("build", "run"))
    depends_on("py-msgspec@0.19:", type="run")
    depends_on("py-numpy@1.24.4:", type="run")
    depends_on("py-pyarrow@14.0.2:+parquet", type="run")
    depends_on("py-shtab@1.7:", type="run")
    depends_on("py-tqdm@4.65:", type="run")
    depends_on("py-xxhash@3.4:", type="run")

    with when("+view"):
        depends_on("py-jinja2@3.1:", type="run")
        depends_on("py-pandas@2.0:", type="run")
        depends_on("py-plotly@6:", type="run")
        depends_on("py-protobuf@3.20.3:", type="run")
        depends_on("py-werkzeug@3.0:", type="run")

    depends_on("darshan-runtime@3.4:~mpi", type="run", when="+darshan")

    def setup_run_environment(self, env):
        """Name Darshan's library to sessions."""
        if self.spec.satisfies("+darshan"):
            libraries = self.spec["darshan-runtime"].prefix.lib
            env.set("TFDARSHAN_DARSHAN_LIBRARY", join_path(libraries, "libdarshan.so"))
