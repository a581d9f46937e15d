"""Verify with a real libdarshan: what it missed is left out exactly, and a miscount shows all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunChild = Callable[..., str]

pytestmark = pytest.mark.darshan

# libdarshan knows no descriptor that was opened relative to a folder it does not know.
MIXED = """
import os, sys, json, tfdarshan, tfdarshan.recording.libdarshan.darshan_records as records
folder, options, planted = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3] == "planted"
above = os.open(folder, os.O_RDONLY)
open(folder + "/one", "wb").write(b"x" * 100_000)
def miscount(read=records.read_records):
    found = read()
    place = records.module_columns("POSIX").names.index("POSIX_BYTES_READ")
    found.modules["POSIX"].counters[found.modules["POSIX"].active, place] += 1
    return found
if planted:
    records.read_records = miscount
options |= {"engine": "darshan", "include": [folder + "/one"]}
with tfdarshan.profile(folder + "/logs", **options) as session:
    seen = os.open(folder + "/one", os.O_RDWR)
    unseen = os.open("one", os.O_RDWR, dir_fd=above)
    for turn in range(200):
        os.read(seen, 100)
        os.read(unseen, 50 + turn % 3)
        os.pread(seen, 30, turn * 31)
        if turn % 5 == 0:
            os.pwrite(unseen, b"y" * 20, turn * 7)
    os.close(seen), os.close(unseen)
counters = session.files.set_index("path").loc[folder + "/one"]
print(json.dumps({"verify": session.meta[0]["verify"], "reads": int(counters["POSIX_READS"]),
                  "unseen": int(counters["TFD_UNSEEN_CALLS"]), "summary": session.summary()}))
"""

RENAME = """
import os, sys, json, tfdarshan
folder = sys.argv[1]
above = os.open(folder, os.O_RDONLY)
files = [folder + "/old", folder + "/new"]
with tfdarshan.profile(folder + "/logs", engine="darshan", include=files) as session:
    fd = os.open(folder + "/old", os.O_WRONLY | os.O_CREAT); os.write(fd, b"12345"); os.close(fd)
    os.rename("old", "new", src_dir_fd=above, dst_dir_fd=above)
print(json.dumps(session.meta[0]["verify"]))
"""

TOO_MANY = """
import os, sys, json, tfdarshan
folder = sys.argv[1]
options = {"include": [folder + "/f"], "darshan_files": 1024}
with tfdarshan.profile(folder + "/logs", engine="darshan", **options) as session:
    for number in range(3000):
        fd = os.open(f"{folder}/f{number}", os.O_WRONLY | os.O_CREAT); os.write(fd, b"12345"); os.close(fd)
meta = session.meta[0]
print(json.dumps({"verify": meta["verify"], "engine": meta["engine"], "bounds": meta["bounds"],
                  "written": int(session.files["POSIX_BYTES_WRITTEN"].sum())}))
"""


@pytest.fixture
def mixed(libdarshan: str, run_child: RunChild, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Read a file through a descriptor that libdarshan knows and one that it does not, in turn."""

    def run(*, planted: bool = False, **options: object) -> dict[str, Any]:
        arguments = (str(tmp_path), json.dumps(options), "planted" if planted else "as it is")
        return json.loads(run_child(MIXED, *arguments))

    return run


def kinds_of(verify: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["kind"]: entry for entry in verify["differences"] if entry["kind"] != "two clocks"}


def test_missed_calls_are_left_out_exactly(mixed: Callable[..., dict[str, Any]]) -> None:
    # GIVEN a file read in turn through a known and an unknown descriptor
    # WHEN the two counts are compared
    done = mixed()

    # THEN libdarshan has what the fold makes of the known one's calls, and the rest has a name
    assert done["reads"] == 400
    assert done["unseen"] == 200 + 40 + 2
    assert done["verify"]["inexact_rows"] == done["verify"]["unexplained_rows"] == 0
    found = kinds_of(done["verify"])
    assert set(found) == {"unseen calls"}
    assert {"POSIX_READS", "POSIX_WRITES", "POSIX_CONSEC_READS"} <= set(found["unseen calls"]["counters"])
    assert {"open", "read", "pwrite"} <= set(found["unseen calls"]["calls"])


def test_a_miscount_shows_on_a_file_with_missed_calls(mixed: Callable[..., dict[str, Any]]) -> None:
    # GIVEN a libdarshan that counts one byte too many on that file
    # WHEN the two counts are compared
    verify = mixed(planted=True)["verify"]

    # THEN that is not excused by the calls it missed
    assert verify["unexplained_rows"] == 1
    assert kinds_of(verify)["unexplained"]["counters"] == ["POSIX_BYTES_READ"]


def test_without_a_trace_the_comparison_is_said_to_be_rough(mixed: Callable[..., dict[str, Any]]) -> None:
    # GIVEN no trace, from which the missed calls could be left out
    # WHEN the two counts are compared
    done = mixed(trace=False)

    # THEN the summary says for how many rows they could not be, and all differences can be of such calls
    assert done["verify"]["inexact_rows"] == 1
    assert done["verify"]["unexplained_rows"] == 0
    assert "of 1 row only on those that unseen calls do not change" in " ".join(done["summary"].split())


def test_a_rename_it_has_no_wrapper_for_is_named(
    libdarshan: str, run_child: RunChild, tmp_path: Path
) -> None:
    # GIVEN a rename by folder descriptors, for which libdarshan has no wrapper
    # WHEN the two counts are compared
    found = kinds_of(json.loads(run_child(RENAME, str(tmp_path))))

    # THEN the difference has the call's name, on both files
    assert set(found) == {"unseen calls"}
    assert found["unseen calls"]["calls"] == {"rename": ["POSIX_RENAME_SOURCES", "POSIX_RENAME_TARGETS"]}
    assert found["unseen calls"]["rows"] == 2


def test_files_beyond_its_memory_are_counted_and_named(
    libdarshan: str, run_child: RunChild, tmp_path: Path
) -> None:
    # GIVEN memory for 1,024 files
    # WHEN 3,000 are written
    done = json.loads(run_child(TOO_MANY, str(tmp_path)))

    # THEN none is missing, and the session says whose counters the others have
    engine, found = done["engine"], kinds_of(done["verify"])
    assert done["written"] == 15_000
    assert engine["rows"] + engine["builtin_rows"] == 3000
    assert 900 <= engine["rows"] <= 1024
    assert set(found) == {"no room"}
    assert found["no room"]["rows"] == engine["builtin_rows"]
    assert any("memory for records was full" in bound for bound in done["bounds"])
