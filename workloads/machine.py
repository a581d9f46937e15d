"""What the measurements were made on."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.native import _extension


@dataclass(frozen=True)
class Machine:
    """The machine in words that name no host."""

    cpu: str
    cores: int
    virtual: bool
    memory_gib: int
    kernel: str
    clocksource: str
    c_library: str
    python: str
    load_average: float

    def line(self) -> str:
        """Return it as one line."""
        return (
            f"{self.cpu}, {self.cores} cores{' of a virtual machine' if self.virtual else ''}, "
            f"{self.memory_gib} GiB, Linux {self.kernel}, clocksource {self.clocksource}, {self.c_library}, "
            f"Python {self.python}; load average {self.load_average:.2f}"
        )


def this_machine() -> Machine:
    """Ask the kernel."""
    cpu = _cpu_fields()
    return Machine(
        cpu=cpu.get("model name", platform.machine()),
        cores=len(os.sched_getaffinity(0)),
        virtual="hypervisor" in cpu.get("flags", "").split(),
        memory_gib=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        kernel=".".join(platform.release().split(".")[:2]),
        clocksource=_first_line(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        c_library=_extension.c_library_version(),
        python=platform.python_version(),
        load_average=os.getloadavg()[0],
    )


def stolen_s() -> float:
    """Return the seconds for which other virtual machines had this one's processors, all of them added up."""
    ticks = int(_first_line(Path("/proc/stat")).split()[8])
    return ticks / os.sysconf("SC_CLK_TCK")


def busy_elsewhere_s() -> float:
    """Return the seconds for which other processes had processors, all of them added up.

    Children that this process waited for are none of the others.

    Source: the first line of /proc/stat (proc_stat(5)), less this process's times(2).
    """
    user, nice, system, _idle, _iowait, irq, softirq = map(int, _first_line(Path("/proc/stat")).split()[1:8])
    own = os.times()
    busy_s = (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
    return busy_s - own.user - own.system - own.children_user - own.children_system


def _cpu_fields() -> dict[str, str]:
    first = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return "unknown"
