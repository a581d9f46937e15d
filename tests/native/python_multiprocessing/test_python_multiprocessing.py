"""Worker processes of multiprocessing: forked ones are in the session, the others go on as without us."""

import pytest

from tests.native.python_script import counted, run_profiled

WORKERS, FILES, SIZE = 4, 40, 1234

SCRIPT = """
    import multiprocessing, os, sys, threading
    import tfdarshan

    def read(path):
        with open(path, "rb", buffering=0) as file:
            return len(file.read(100_000)), os.getpid()

    def keep_busy(path, done):
        while not done.is_set():
            read(path)

    if __name__ == "__main__":
        way, folder, workers, files, size = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
        paths = [os.path.join(folder, f"file{number}") for number in range(files)]
        done = threading.Event()
        with tfdarshan.profile("logs"):
            threads = [threading.Thread(target=keep_busy, args=(folder + "/own", done)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for _ in range(3):
                with multiprocessing.get_context(way).Pool(workers) as pool:
                    results = pool.map(read, paths, chunksize=1)
                assert [length for length, _ in results] == [size] * files, results
                assert os.getpid() not in {pid for _, pid in results}
            done.set()
            for thread in threads:
                thread.join()
"""


@pytest.mark.filterwarnings("ignore:This process")
@pytest.mark.parametrize("way", ["fork", "forkserver", "spawn"])
def test_pools_work_while_eight_threads_record(tmp_path, way):
    # GIVEN
    files = [tmp_path / f"file{number}" for number in range(FILES)]
    for file in [*files, tmp_path / "own"]:
        file.write_bytes(bytes(SIZE))

    # WHEN three pools read all of them
    numbers = map(str, (WORKERS, FILES, SIZE))
    session = run_profiled(tmp_path, SCRIPT, way, str(tmp_path), *numbers)

    # THEN each file was read three times by workers, forks or programs of their own
    for file in files:
        assert counted(session, file, "POSIX_OPENS") == 3
        assert counted(session, file, "POSIX_BYTES_READ") == 3 * SIZE
    assert len(set(session.files["pid"])) > 3  # each pool had one worker at least
