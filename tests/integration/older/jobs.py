"""A job whose body a test gives, and what its sessions have of each file."""

FILES = 20
JOB = """\
import glob, multiprocessing, os, sqlite3, subprocess, sys, threading
import tfdarshan

DATA = os.environ["JOB_DATA"]

def read(number):
    with open(f"{DATA}/{number}", "rb", buffering=0) as file:
        return len(file.read(1000))

def read_large(_):
    with open(f"{DATA}/large", "rb", buffering=0) as file:
        return len(file.read())

def ask(_):
    connection = sqlite3.connect("numbers.db")
    try:
        return connection.execute("select * from numbers").fetchone()
    finally:
        connection.close()

def pool_of(way):
    pool = multiprocessing.get_context(way).Pool(2)
    assert sum(pool.map(read, range(20), chunksize=1)) == 2000
    return pool

def read_all(pool, times=1):
    for _ in range(times):
        assert sum(pool.map(read, range(20), chunksize=1)) == 2000

def PAGES():
    return glob.glob(f"/dev/shm/tfdarshan-job-*-{os.getpid()}-*")

def main():
BODY

if __name__ == "__main__":
    main()
"""
TWO_SESSIONS = """\
pool = pool_of(sys.argv[1])
with tfdarshan.profile("first"):
    read_all(pool)
read_all(pool)
with tfdarshan.profile("second"):
    read_all(pool, 2)
read_all(pool)
pool.close()
pool.join()
"""


def per_file(session, data):
    """Return the sets of opens and of bytes that files have: one number each where all are alike."""
    files = session.files
    mine = files[files["path"].str.startswith(f"{data}/")].groupby("path")
    assert len(mine) == FILES
    return set(mine["POSIX_OPENS"].sum()), set(mine["POSIX_BYTES_READ"].sum())
