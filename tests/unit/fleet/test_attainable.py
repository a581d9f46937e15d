"""What a faster part would save: by hand, and never outside of what there is."""

import json

import numpy as np
import pytest

from tests.unit.fleet.made_jobs import made_jobs
from tfdarshan.commands import main
from tfdarshan.errors import ConfigurationError
from tfdarshan.fleet.attainable import attainable
from tfdarshan.fleet.faster_parts import hot_tier, node_link, parse_link, storage_bandwidth
from tfdarshan.fleet.job_models import nothing_told
from tfdarshan.reports.text.attainable_text import attainable_text
from tfdarshan.terminal.paint import Paint

SECONDS = 1 / 3600


def bounds(rows, part):
    """Return what is known of jobs without a model."""
    jobs = made_jobs(rows)
    return attainable(jobs, part, nothing_told(jobs))


def test_without_a_model_storage_of_twice_the_bandwidth_saves_up_to_half_of_the_time_in_calls():
    # GIVEN a job that says nothing of waits, and one that waited 30 s in 100 s of reads
    silent = {"read_s": 400.0, "processes": 4, "bytes_read": 10**9, "reads": 10}
    waits = {
        "read_s": 100.0,
        "bytes_read": 10**9,
        "reads": 10,
        "input_wait_s": 30.0,
        "steps_s": 500.0,
        "nodes": 2,
    }

    # WHEN
    found = bounds([silent, waits], storage_bandwidth(2.0))

    # THEN: half of the reads' 100 s, and no more than the wait
    assert found.high_job_hours == pytest.approx((50 + 30) * SECONDS)
    assert found.high_node_hours == pytest.approx((50 + 2 * 30) * SECONDS)
    assert found.low_job_hours == 0
    assert (found.jobs, found.gaining_jobs, found.modelled_jobs, found.nodes_unknown) == (2, 2, 0, 1)


def test_staging_takes_what_saves_most_for_each_byte_as_long_as_it_fits():
    # GIVEN folders of 10, 4 and 3 GB, from which 900, 800 and 100 s are read
    def job(folder, size, read_s, day, **more):
        below = {"input_folder": folder, "input_unique_bytes": size * 10**9, "input_bytes_read": size * 10**9}
        return (
            {"read_s": read_s, "bytes_read": size * 10**9, "input_read_s": read_s, "day": day} | below | more
        )

    rows = [
        job("/m/large", 10, 900.0, 0),
        job("/m/dense", 4, 400.0, 2, input_wait_s=100.0, nodes=1),
        job("/m/dense", 4, 400.0, 1, input_wait_s=100.0, nodes=1),
        job("/m/small", 3, 100.0, 0),
        {"read_s": 500.0, "bytes_read": 10},
    ]

    # WHEN
    found = bounds(rows, hot_tier(8 * 10**9, 2e9))

    # THEN: of the waits 100 s each, of the other 100 - 3 / 2 s
    assert [folder.folder for folder in found.folders] == ["/m/dense", "/m/small"]
    assert (found.folders[0].size_bytes, found.folders[0].jobs) == (4 * 10**9, 2)
    assert found.high_job_hours == pytest.approx((100 + 100 + 98.5) * SECONDS)
    assert found.low_job_hours == 0
    assert bounds(rows, hot_tier(10**9, 2e9)).high_job_hours == 0
    assert len(bounds(rows, hot_tier(17 * 10**9, 2e9)).folders) == 3


def test_a_faster_link_shortens_what_remote_bytes_take_on_it():
    # GIVEN 250 GB over 25 Gb/s: 80 s, of two nodes 40 s each; on a local disk; and a wait with a full link
    moved = {"bytes_read": 250 * 10**9, "read_s": 200.0}
    rows = [
        moved | {"nodes": 2},
        moved | {"fs_type": "ext4"},
        moved | {"read_s": 100.0, "nodes": 1, "input_wait_s": 50.0, "communication_s": 8.0},
    ]

    # WHEN
    found = bounds(rows, node_link(100e9, 25e9))

    # THEN three quarters of it are saved; of the wait no more than there is, and communication beside
    assert found.high_job_hours == pytest.approx((30 + 50 + 6) * SECONDS)
    assert found.low_job_hours == 0
    assert found.gaining_jobs == 2
    assert (found.step_speedup, found.talking_jobs) == (None, 0)


def test_steps_are_as_fast_as_their_communication_on_the_link_lets_them():
    # GIVEN a job that communicates half of its steps, one that does a tenth, and one that does not say
    rows = [
        {"steps_s": 100.0, "communication_s": 50.0},
        {"steps_s": 40.0, "communication_s": 4.0},
        {"steps_s": 70.0},
    ]

    # WHEN the link takes all of it, or four fifths
    all_of_it, part = (bounds(rows, node_link(100e9, 25e9, share)) for share in (1.0, 0.8))

    # THEN
    assert all_of_it.step_speedup == pytest.approx((1 / (1 - 0.375) + 1 / (1 - 0.075)) / 2)
    assert part.step_speedup == pytest.approx((1 / (1 - 0.3) + 1 / (1 - 0.06)) / 2)
    assert (part.talking_jobs, part.high_job_hours) == (2, pytest.approx(0.6 * 54 * SECONDS))
    assert "steps up to 1.25x as fast, mean of 2 jobs" in attainable_text(part, Paint())
    assert "80 % of known communication" in attainable_text(part, Paint()).replace("\n    ", " ")


def test_bounds_are_in_order_and_within_the_jobs():
    rng = np.random.default_rng(7)
    rows = []
    for _ in range(60):
        read_s, duration_s = float(rng.uniform(0, 5_000)), float(rng.uniform(1, 2_000))
        row = {
            "read_s": read_s, "write_s": float(rng.uniform(0, 100)), "reads": int(rng.integers(1, 10**6)),
            "bytes_read": int(rng.integers(1, 10**13)), "duration_s": duration_s,
            "processes": int(rng.integers(1, 64)), "input_folder": f"/m/{rng.integers(5)}",
            "input_unique_bytes": int(rng.integers(1, 10**12)), "input_read_s": read_s / 2,
            "input_bytes_read": int(rng.integers(1, 10**12)),
        }  # fmt: skip
        if rng.random() < 0.5:
            row |= {"input_wait_s": float(rng.uniform(0, duration_s)), "nodes": 3}
        rows.append(row)
    parts = [
        *(storage_bandwidth(factor) for factor in (1.5, 2, 100)),
        *(hot_tier(size, 2e9) for size in (10**9, 10**12, 10**15)),
        *(node_link(speed, 25e9) for speed in (50e9, 400e9)),
    ]
    answers = [bounds(rows, part) for part in parts]

    for found in answers:
        assert 0 <= found.low_job_hours <= found.high_job_hours <= found.job_hours
        assert 0 <= found.low_node_hours <= found.high_node_hours <= found.node_hours
        assert found.modelled_jobs <= found.gaining_jobs <= found.jobs
    highs = [found.high_job_hours for found in answers[:3]]
    assert highs == sorted(highs)
    slower = bounds(rows, storage_bandwidth(0.5))
    assert slower.low_job_hours < slower.high_job_hours <= 0


def test_speeds_of_links_are_bits():
    assert [parse_link(text, "--link") for text in ("100Gb", "25 Gb/s", "400G", "1.6Tbps")] == [
        100e9,
        25e9,
        400e9,
        1.6e12,
    ]
    for text in ("100", "fast", "100GB/s", "0G"):
        with pytest.raises(ConfigurationError, match="--link takes bits a second, such as 100Gb"):
            parse_link(text, "--link")


def test_whatif_asks_one_question(folder, tmp_path, capsys):
    where = ["--catalogue", str(tmp_path), "--findings", "0", "--processes", "1"]

    assert main(["fleet", "whatif", str(folder), *where]) == 2
    assert "takes one question: --storage-bandwidth, --stage-hot, --link" in capsys.readouterr().err
    assert main(["fleet", "whatif", str(folder), *where, "--storage-bandwidth", "fast"]) == 2
    assert main(["fleet", "whatif", str(folder), *where, "--link", "10G", "--stage-hot", "1T"]) == 2
    capsys.readouterr()
    for question in (["--storage-bandwidth", "2x"], ["--stage-hot", "10TB"], ["--link", "100Gb"]):
        assert main(["fleet", "whatif", str(folder), *where, *question]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= 100
        assert any("may gain; the replay models of 0 say by how much" in line for line in lines)
        assert main(["fleet", "whatif", *where, *question, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["low_node_hours"] == 0 < said["high_node_hours"] <= said["node_hours"]
