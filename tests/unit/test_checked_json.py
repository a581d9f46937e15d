"""Reading JSON into shapes, by several threads."""

import subprocess
import sys

import tfdarshan

MANY = 4
# A shape is resolved once in a process, when it is first used.
READ_AT_ONCE = """
import sys, threading
from pathlib import Path
from tfdarshan.sessions.checked_json import decode, decode_as
from tfdarshan.sessions.meta_shape import MetaShape

content = Path(sys.argv[1]).read_bytes()
begin = threading.Barrier(6)
def read():
    begin.wait()
    assert decode(content, MetaShape) == decode_as(content, MetaShape)
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=read) for _ in range(begin.parties)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_may_read_the_first_of_a_kind_at_once(tmp_path):
    # GIVEN
    with tfdarshan.profile(tmp_path) as recording:
        pass
    (meta,) = recording.session.path.glob("*.meta.json")

    # WHEN some processes try it, of which most crashed
    ended = [subprocess.run([sys.executable, "-c", READ_AT_ONCE, meta]).returncode for _ in range(MANY)]

    # THEN
    assert ended == [0] * MANY
