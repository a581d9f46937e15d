"""A thousand processes start while sessions start and stop: each as without us, and none lost."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.integration.started.storm import OPENS, WAYS

STARTS = 1_000
# Names the job, and the session that records now.
OURS = "TFDARSHAN_SESSION"


def storm(python, folder, environment, kind):
    command = [python, Path(__file__).with_name("storm.py"), folder / "storm", str(STARTS), kind]
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1500, check=False
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1]), ran.stderr


@pytest.fixture(scope="module")
def both(python, tmp_path_factory):
    """What the job tells without us, and with sessions."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "storm").mkdir()
    (folder / "spools").mkdir()
    for number in range(STARTS):
        (folder / "storm" / str(number)).write_bytes(bytes(100))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TFDARSHAN_")}
    environment["PYTHONPATH"] = str(Path(__file__).parents[3])
    without, _ = storm(python, folder, environment, "alone")
    recorded, errors = storm(
        python, folder, environment | {"TFDARSHAN_SPOOL_DIR": str(folder / "spools")}, "sessions"
    )
    return without, recorded, errors, folder


def as_without_us(result):
    """What a process returned and said, less our variables in the list of its environment."""
    code, out, errors = result
    (head,) = [line for line in out.splitlines() if line.startswith("[")]
    said, rest = json.loads(head), out.replace(head, "")
    names = said if isinstance(said[0], str) else said[0]
    if names is not said:
        # A table that the job reads may be inherited for a moment: its flag is set after Arrow opened it.
        said[1] = [link for link in said[1] if not link.endswith(".parquet")]
    names[:] = [name for name in names if name not in (OURS, "TFDARSHAN_SPOOL_DIR")]
    return code, said, rest, errors


@pytest.mark.long
def test_each_is_as_without_us(both):
    without, recorded, _, folder = both
    assert len(recorded["starts"]) == len(without["starts"]) == STARTS
    for alone, beside in zip(without["starts"], recorded["starts"], strict=True):
        assert as_without_us(beside["result"]) == as_without_us(alone["result"]), beside
    # ... while sessions recorded, and not for a moment
    assert any(OURS in one["result"][1] for one in recorded["starts"])
    assert len(recorded["sessions"]) >= 2
    # ... and the job itself has what it had, and the name of the job
    # (multiprocessing keeps some of its helpers', whose numbers are chance)
    kept, kept_beside = ([len(each) for each in told["descriptors"]] for told in (without, recorded))
    assert kept_beside == kept
    assert set(recorded["environment"]) - set(without["environment"]) == {OURS, "TFDARSHAN_SPOOL_DIR"}
    assert os.listdir(folder / "spools") == []


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_what_they_opened_while_a_session_recorded_is_in_it(both, way):
    _, recorded, _, _ = both
    whole = 0
    for one in recorded["starts"]:
        if one["way"] != way:
            continue
        began, ended = one["time"]
        counts = [session["files"].get(one["path"], [0, 0]) for session in recorded["sessions"]]
        # In each session what was read is what was opened, and together never more than was done.
        assert all(moved <= 100 * opens for opens, moved in counts)
        assert sum(opens for opens, _ in counts) <= OPENS
        for session, count in zip(recorded["sessions"], counts, strict=True):
            if session["time"][0] <= began and ended <= session["time"][1]:
                whole += 1
                assert count == [OPENS, OPENS * 100], (one, session["time"])
    assert whole > 0
    assert all(session["problems"] == [] for session in recorded["sessions"])
