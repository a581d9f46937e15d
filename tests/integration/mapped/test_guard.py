"""What watching may cost beside many page faults that are no file's: a part is seen, and the part is said."""

import ctypes
import mmap
import threading

import pytest

import tfdarshan
from tests.integration.mapped.touched_files import build_touch, must_be_seen
from tfdarshan.analysis.summary_data import summarize

STORM_NS, THREADS = 1_500_000_000, 2
STRIDE, TOUCHES = 4 << 20, 64


@pytest.fixture(scope="module")
def storm(tmp_path_factory):
    """Have threads fault on anonymous memory as fast as they can, up to a million times a second."""
    library = ctypes.CDLL(build_touch(tmp_path_factory.mktemp("touch")))
    library.storm.argtypes = [ctypes.c_int64, ctypes.c_int]
    return library.storm


def test_a_storm_of_other_faults_has_a_part_of_them_seen(storm, tmp_path, monkeypatch):
    monkeypatch.delenv("TFDARSHAN_MAPPED_COST_PERCENT", raising=False)
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(STRIDE * TOUCHES)

    # GIVEN a mapped file that is touched while other threads allocate memory all the time / WHEN
    with tfdarshan.profile(tmp_path / "logs", mapped=True) as session:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            raging = threading.Thread(target=storm, args=(STORM_NS, THREADS))
            raging.start()
            while raging.is_alive():
                assert not any(mapped[at] for at in range(0, STRIDE * TOUCHES, STRIDE))
                mapped.madvise(mmap.MADV_DONTNEED)
            raging.join()

    # THEN events were off most of the time, and the share that was seen is told
    reads = summarize(session.session).mapped
    if reads.sampled_share is None:
        must_be_seen(reads.notes)
    block = session.session.meta[0]["mapping"]
    assert 0 < reads.sampled_share < 0.5
    assert block["faults"] < block["minor_faults"] / 2
    assert any("were seen, so that to see them costs about 1 % of the time" in note for note in reads.notes)
