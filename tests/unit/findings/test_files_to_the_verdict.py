"""How many files a value passes on its way from a session to the verdict: of findings/ and replay/.

What comes before, the tables of a session and sums over them, is no part of that.
"""

import hashlib
import pickle
import shutil
import sys
from collections import defaultdict
from pathlib import Path

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan import findings, replay
from tfdarshan.findings import prefetch
from tfdarshan.findings.finding import Finding
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.replayed import replayed
from tfdarshan.findings.verdict import make_verdict

KB, STEPS = 1_000, 60
ROOMS = [Path(room.__file__).parent for room in (findings, replay)]


def returned(work):
    """Return what the functions of each file of the rooms return in some work, one digest after the other."""
    digests = defaultdict(list)

    def note(frame, event, value):
        path = Path(frame.f_code.co_filename)
        if event == "return" and path.parent in ROOMS:
            digests[f"{path.parent.name}/{path.name}"].append(_digest(value))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return digests


def _digest(value):
    try:
        return hashlib.sha256(pickle.dumps(value)).hexdigest()
    except (AttributeError, TypeError, pickle.PicklingError):
        # A generator or a function: it has no value of its own.
        return type(value).__name__


def told(folder, read_ms):
    """Return what files return where a job's reads take that long, and what is said of it."""
    calls = [(100 * n, 100 * n + read_ms, 1, "pread", n, 100 * KB, 0) for n in range(STEPS)]
    paths = [f"/data/{n}" for n in range(STEPS)]
    session = training(folder, calls, epochs_of_steps(STEPS, 100, 50), paths=paths, sizes=[100 * KB] * STEPS)
    measures, said = measure(session), []

    def verdict():
        found = prefetch.find(measures)
        assert isinstance(found, Finding)
        said.append(make_verdict(measures, replayed([found], measures), ()))

    found = returned(verdict)
    shutil.rmtree(folder)
    return found, said[0]


def test_a_value_passes_few_files_from_a_session_to_its_verdict(tmp_path):
    """A file is passed if something that it returns is another if the session's reads took longer."""
    # GIVEN a job that reads only while it waits; WHEN its reads take longer
    quick, verdict = told(tmp_path / "session", 30.0)
    again, _ = told(tmp_path / "session", 30.0)
    slow, other = told(tmp_path / "session", 49.0)

    # THEN the verdict is on that, and is the same of the same job
    assert verdict.finding == other.finding == prefetch.NAME
    assert verdict.gain != other.gain
    assert quick == again
    passed = {name for name in slow if quick[name] != slow[name]} - {"findings/prefetch.py"}
    assert 10 < len(passed) <= 20
