"""Small read-ahead under mapped files read in order: what larger windows give, by a probe of the mount."""

import pytest

from tests.unit.findings.made_up_mapped import PATH, loop_faults, mapped_training
from tests.unit.findings.made_up_training import epochs_of_steps
from tfdarshan.analysis.mapped_waits import FileWaits
from tfdarshan.analysis.step_model import noise_s
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.mapped_cures import read_larger_windows
from tfdarshan.storage_probe.depth_scaling import Level, Scaling
from tfdarshan.storage_probe.probe_result import StorageProbe

KIB = 1 << 10
WINDOW = 128 * KIB
STEPS, STEP_MS, WAIT_MS, EACH_MS = 50, 20.0, 10.0, 2.5
FAULTS = loop_faults(STEPS, STEP_MS, EACH_MS, 4, jump=WINDOW)
CAME_IN = len(FAULTS) * WINDOW


def probe(times, *, low=0.05):
    """Gives a probe by which 16 reads at a time get so many times what one gets, `low` one at a time."""

    def scaling(size, call_s):
        levels = [
            Level(n, call_s, gets / call_s, gets * size / call_s) for n, gets in ((1, 1.0), (16, times))
        ]
        return Scaling(size, tuple(levels), low + 0.05, low, low + 0.1)

    kept = StorageProbe(
        "/data", "/data", "nfs", "h", 1, 1.0, 1 << 20, 1, 0, False, False, 0,
        small=scaling(4 * KIB, 0.002), large=scaling(WINDOW, EACH_MS / 1e3),
    )  # fmt: skip
    return kept.as_dict()


TEN_TIMES = (probe(10.0),)


def job(folder, faults=FAULTS, *, bytes_in=CAME_IN, probes=TEN_TIMES):
    """Gives a session of a loop that waits in these faults."""
    steps = epochs_of_steps(STEPS, STEP_MS, WAIT_MS)
    return mapped_training(folder, faults, steps, bytes_in=bytes_in, probes=probes)


def found(folder, *faults, **more):
    diagnosis = diagnose(job(folder, *faults, **more))
    return {finding.name: finding for finding in diagnosis.findings}.get("mapped_window")


def test_more_windows_at_a_time_give_what_a_probe_measured(tmp_path):
    # GIVEN 4 waits of 2.5 ms a step for 128 KiB each, and storage that gives ten times that
    finding = found(tmp_path)

    # THEN of each 10 ms one is left, and 0.8 of the rest is sure but for what runs differ by
    assert finding.files == (PATH,)
    assert finding.gain.speedup == pytest.approx(20 / 11, rel=0.03)
    assert finding.gain.speedup_range[0] == pytest.approx(
        20 / (20 - 0.8 * 9 + noise_s(20, 0.8 * 9)), rel=0.01
    )
    assert any("measured by a probe of /data" in entry.support for entry in finding.gain.assumptions)
    assert "199 times a thread waited 2.5 ms for the next 131.1 kB" in finding.what


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("nfs", "echo 4096 > /sys/class/bdi/$(mountpoint -d /data)/read_ahead_kb"),
        ("ext4", "blockdev --setra 8192 $(findmnt -no SOURCE /data)"),
    ],
)
def test_the_cure_is_that_of_the_mount(kind, line):
    cure = read_larger_windows(FileWaits("/data/a", "/data", kind, "", -1, None))

    assert cure.line.startswith(line)
    assert "MADV_WILLNEED" in cure.what


@pytest.mark.parametrize(
    "more",
    [
        # nobody measured what storage gives
        {"probes": []},
        # it gives no more for more at a time
        {"probes": [probe(1.1, low=0.85)]},
        # windows are large
        {"bytes_in": len(FAULTS) << 21},
        # what came in is not known
        {"bytes_in": -1},
        # pages lie far apart
        {"faults": loop_faults(STEPS, STEP_MS, EACH_MS, 4, jump=1 << 20)},
        # memory has them
        {"faults": loop_faults(STEPS, STEP_MS, 0.01, 4, jump=WINDOW)},
    ],
)
def test_it_is_said_of_nothing_else(tmp_path, more):
    assert found(tmp_path, **more) is None
