"""The workloads, by name. Nothing heavy is imported before one of them runs."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdarshan.errors import ConfigurationError

if TYPE_CHECKING:
    from .experiment import Experiment
    from .result import Result

TF_DARSHAN = "arXiv 2008.04395"
CHARACTERIZING = "arXiv 1810.03035"
ALIBABA_PAI = "arXiv 1910.05930"
LOTUS = "Lotus, IISWC 2024"
MINATO = "arXiv 2509.10712"
LMDBIO = "ACM TOPC 2019, doi 10.1145/3331526"


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One entry: `module.run(experiment)` runs it."""

    name: str
    module: str
    paper: str
    about: str
    reads: bool = True  # needs a tier to read from
    maps: bool = False  # reads by page faults, which no emulation slows
    packages: tuple[str, ...] = ("pillow", "tensorflow")  # that it does not run without
    extras: tuple[str, ...] = ("workloads",)  # which bring them

    def run(self, experiment: Experiment) -> Result:
        """Run it.

        Raises:
            ConfigurationError: Settings are given, and the workload has none.
        """
        module = importlib.import_module(f".{self.module}", __package__)
        if experiment.settings and not hasattr(module, "QUICK"):
            raise ConfigurationError(f"{self.name} has no settings: leave out --set.")
        result: Result = module.run(experiment)
        return result


WORKLOADS = (
    Workload(
        name="stream",
        module="stream",
        paper=TF_DARSHAN,
        about="read both data sets and compute nothing; held against the device's own counters",
    ),
    Workload(
        name="imagenet",
        module="imagenet",
        paper=TF_DARSHAN,
        about="AlexNet with SGD on ImageNet-like JPEG files, few and many reading threads",
    ),
    Workload(
        name="malware",
        module="malware",
        paper=TF_DARSHAN,
        about="a CNN of two layers on hex dumps made grey images, 1 and 16 reading threads",
    ),
    Workload(
        name="microbench",
        module="microbench",
        paper=CHARACTERIZING,
        about="JPEG files with 1, 2, 4 and 8 threads, with and without decoding",
    ),
    Workload(
        name="alexnet",
        module="alexnet",
        paper=CHARACTERIZING,
        about="AlexNet on Caltech-101-like files, prefetch off and on, both sides of the crossover",
    ),
    Workload(
        name="checkpoint",
        module="checkpoint",
        paper=CHARACTERIZING,
        about="AlexNet with Adam, checkpointed every 20 of 100 steps",
        reads=False,
    ),
    Workload(
        name="torch_imagenet",
        module="pytorch.torch_imagenet",
        paper=TF_DARSHAN,
        about="the same as imagenet in PyTorch: no worker beside the loop, and several",
        packages=("pillow", "torch"),
        extras=("workloads", "torch"),
    ),
    Workload(
        name="torch_checkpoint",
        module="pytorch.torch_checkpoint",
        paper=CHARACTERIZING,
        about="the same as checkpoint in PyTorch, by torch.save",
        reads=False,
        packages=("torch",),
        extras=("workloads", "torch"),
    ),
    Workload(
        name="torch_uneven_batches",
        module="pytorch.torch_uneven_batches",
        paper=LOTUS,
        about="batches that take unequally long: in order, in any order, slow samples dealt out",
        packages=("pillow", "torch"),
        extras=("workloads", "torch"),
    ),
    Workload(
        name="torch_slow_samples",
        module="pytorch.torch_slow_samples",
        paper=MINATO,
        about="a few slow samples: in order, in any order, slow samples prepared apart",
        packages=("pillow", "torch"),
        extras=("workloads", "torch"),
    ),
    Workload(
        name="pai",
        module="pai_run",
        paper=ALIBABA_PAI,
        about="the model of a training step with a storage term: bounds, and a synthetic population",
        reads=False,
        packages=(),
    ),
    Workload(
        name="lmdbio",
        module="lmdbio.matrix",
        paper=LMDBIO,
        about="LMDB by page faults and by LMDBIO's remedies, 1 to 8 readers; its 9,216 processes by a model",
        maps=True,
        packages=("lmdb",),
    ),
)
