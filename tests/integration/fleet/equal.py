"""Holds a row of the catalogue against what `tfdarshan summary --json` says of the same input."""

import json
from pathlib import Path

import pytest

from tfdarshan.commands import main
from tfdarshan.fleet.catalogue_folder import CatalogueFolder


def assert_equal_to_summary(row, capsys, said=None):
    """The figures that both have are equal: counts and bytes exactly, times to their last digits.

    Return what the summary said, which may be handed in for another row of the same input.
    """
    assert row["state"] == "read", row["note"]
    if said is None:
        assert main(["summary", "--json", row["input"]]) == 0
        said = json.loads(capsys.readouterr().out)
    posix, stdio, copies = said["posix"], said["stdio"], said["copies"]
    whole = {name: posix[name] + stdio[name] for name in ("opens", "reads", "writes", "syncs")}
    whole["stats"] = posix["stats"]
    whole["bytes_read"] = posix["bytes_read"] + stdio["bytes_read"] + copies["read_bytes"]
    whole["bytes_written"] = posix["bytes_written"] + stdio["bytes_written"] + copies["write_bytes"]
    whole |= {"files": said["files"], "processes": said["processes"]}
    assert {name: row[name] for name in whole} == whole
    seconds = {name: said["file_time"][name] for name in ("read_s", "write_s", "meta_s")}
    seconds["duration_s"] = said["duration_s"]
    for name, value in seconds.items():
        assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
    if row["verdict"] is not None:
        assert (row["verdict"], row["finding"]) == (said["verdict"]["state"], said["verdict"]["finding"])
        assert row["io_s"] == said["wall_clock"]["io_s"]
    buckets = {bucket["label"]: bucket["reads"] for bucket in said["sizes"]}
    small = ["0 - 100 B", "1 - 100 B", "101 B - 1 KiB", "1 - 10 KiB"]
    if row["kind"] == "darshan_log":
        small.append("0 B")  # told apart in a summary where DXT has them
    assert row["small_reads"] == sum(buckets.get(label, 0) for label in small)
    assert_cache_is_the_rest(row, said["coverage"]["read"])
    mounts = {name: sum(entry[name] for entry in row["mounts"]) for name in ("opens", "bytes_read")}
    assert mounts == {name: row[name] for name in mounts}
    return said


def assert_cache_is_the_rest(row, read):
    """Of a log nobody knows what the page cache gave; of a session it is what storage was not asked for."""
    if read["storage"] is None:
        assert (row["cached_bytes"], row["cached_share"]) == (None, None)
        return
    assert row["cached_bytes"] == max(read["in_tables"] - read["uncharged"] - read["storage"], 0)
    if row["bytes_read"]:
        assert 0 <= row["cached_share"] == row["cached_bytes"] / row["bytes_read"] <= 1


def rows_of(capsys, *arguments):
    """Run `tfdarshan fleet` and return the rows of its catalogue, by input, and what it said as JSON."""
    assert main(["fleet", *arguments, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    folder = arguments[arguments.index("--catalogue") + 1]
    return {row["input"]: row for row in CatalogueFolder(Path(folder)).table.to_pylist()}, said
