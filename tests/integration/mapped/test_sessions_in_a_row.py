"""A worker that lives through several sessions, and keeps what it has mapped."""

import os
import textwrap

from tests.integration.mapped.touched_files import ALL

SESSIONS = 6
SCRIPT = """
    import mmap, multiprocessing, os, sys

    def touch(path):
        global kept
        with open(path, "rb") as file:
            kept = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        return kept[0] + kept[-1], os.getpid()

    if __name__ == "__main__":
        import tfdarshan
        path, logdir, sessions = sys.argv[1:]
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            workers = set()
            for _ in range(int(sessions)):
                with tfdarshan.profile(logdir, mapped=True):
                    workers.add(pool.apply_async(touch, [path]).get(timeout=60)[1])
        print(len(workers))
"""


def test_a_worker_lives_through_sessions_without_a_pause_between_them(run_python, tmp_path):
    # GIVEN a worker whose mapped file is watched in each session
    data, script = tmp_path / "data.bin", tmp_path / "train.py"
    data.write_bytes(bytes(1 << 20))
    script.write_text(textwrap.dedent(SCRIPT))

    # WHEN
    ran = run_python(str(script), str(data), str(tmp_path / "logs"), str(SESSIONS), **ALL)

    # THEN it is the same one in all of them: what watched in one session is gone before the next begins
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "1"
    assert len(os.listdir(tmp_path / "logs" / "plugins" / "tfdarshan")) == SESSIONS
