"""Ways in which Python starts a process, as source."""

from __future__ import annotations

POOL = """\
with multiprocessing.get_context("{}").Pool(2) as pool:
    assert sum(pool.map(read, range(20))) == 20 * 100
    pool.close()
    pool.join()
"""
EXECUTOR = """\
context = multiprocessing.get_context("{}")
with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
    assert sum(executor.map(read, range(20))) == 20 * 100
"""
FORKED = """\
if not (pid := os.fork()):
    {}
assert os.waitpid(pid, 0)[1] == 0
"""
WAYS = {
    "Pool, fork": POOL.format("fork"),
    "Pool, spawn": POOL.format("spawn"),
    "Pool, forkserver": POOL.format("forkserver"),
    "ProcessPoolExecutor, spawn": EXECUTOR.format("spawn"),
    "ProcessPoolExecutor, forkserver": EXECUTOR.format("forkserver"),
    "subprocess": "subprocess.run(PYTHON, check=True)",
    "subprocess, an empty environment": "subprocess.run(PYTHON, env={}, check=True)",
    "subprocess, the job's environment": "subprocess.run(PYTHON, env=dict(os.environ), check=True)",
    "subprocess, an environment that was cleared": "os.environ.clear()\nsubprocess.run(PYTHON, check=True)",
    "subprocess, without vfork": "subprocess.run(PYTHON, preexec_fn=os.getpid, check=True)",
    "an isolated interpreter": "subprocess.run([sys.executable, '-I', *PYTHON[1:]], check=True)",
    "a shell": "subprocess.run(['/bin/sh', '-c', 'exec \"$0\" \"$@\"', *PYTHON], check=True)",
    "system": 'assert os.system(f\'{sys.executable} -c "$JOB_OPENS" "$JOB_DATA"\') == 0',
    "posix_spawn": "assert os.waitpid(os.posix_spawn(PYTHON[0], PYTHON, {}), 0)[1] == 0",
    "posix_spawnp": "assert os.waitpid(os.posix_spawnp(PYTHON[0], PYTHON, os.environ), 0)[1] == 0",
    "fork and execve": FORKED.format("os.execve(PYTHON[0], PYTHON, {})"),
    "fork and execv": FORKED.format("os.execv(PYTHON[0], PYTHON)"),
    "fork and execvpe": FORKED.format("os.execvpe(PYTHON[0], PYTHON, {})"),
    "spawnve": "assert os.spawnve(os.P_WAIT, PYTHON[0], PYTHON, {}) == 0",
    "a program started by a program": "subprocess.run([sys.executable, '-c', "
    "'import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:], env={}))', *PYTHON], check=True)",
}
