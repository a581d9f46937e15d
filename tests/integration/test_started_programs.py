"""Programs without Python that a job starts: counted as strace counts them, and left as they are without us."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.oracle import strace_log
from tests.integration.oracle.rules import differences
from tests.integration.oracle.tally import marker, tally, window

ROOT = Path(__file__).parents[2]
needs_strace = pytest.mark.skipif(
    not strace_log.is_available(), reason="strace is missing, or may not trace here"
)
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
# Sizes no block size divides.
SIZES = {"one": 100_003, "two": 300_007}
# What a job runs, in a folder of its own that holds the two files: by name, and what it needs.
PROGRAMS = {
    "cat": (["cat", "{d}/one", "{d}/two"], ""),
    "cat of its standard input": (["sh", "-c", "cat < {d}/two"], ""),
    "cp": (["cp", "{d}/one", "{d}/copy"], ""),
    "dd": (["dd", "if={d}/one", "of={d}/copy", "bs=1000", "status=none"], ""),
    "dd, synced": (["dd", "if={d}/one", "of={d}/copy", "bs=50000", "conv=fsync", "status=none"], ""),
    "tar": (["tar", "-cf", "{d}/made.tar", "-C", "{d}", "one", "two"], "tar"),
    "a pipeline of dash": (["dash", "-c", "cat {d}/one | tar -cf - -C {d} two | dd of={d}/made status=none"], "dash"),
    "a pipeline of bash": (["bash", "-c", "cat {d}/one | head -c 1000 | cat - {d}/two | tail -c 7 > {d}/made"], "bash"),
    "exec in a shell": (["sh", "-c", "exec cat {d}/one"], ""),
    "env -i": (["env", "-i", "/bin/cat", "{d}/one"], ""),
    "cmp": (["cmp", "{d}/one", "{d}/same"], "cmp"),
    "sort": (["sort", "-o", "{d}/sorted", "{d}/one"], ""),
    "gzip": (["gzip", "-k", "{d}/one"], "gzip"),
    "git": (["git", "hash-object", "{d}/two"], "git"),
    "xargs": (["sh", "-c", "ls {d}/* | xargs -n 1 cat"], "xargs"),
    "find -exec": (["find", "{d}", "-type", "f", "-exec", "cat", "{}", ";"], "find"),
    "python -S": ([sys.executable, "-S", "-c", "open('{d}/one', 'rb', 0).read()"], ""),
    "perl": (["perl", "-e", 'open(F, "<", "{d}/one"); 1 while read(F, $_, 999)'], "perl"),
    "C++ streams": (["{tools}/streams", "{d}/one", "{d}/copy"], "g++"),
    "all descriptors closed": (["{tools}/closes", "{d}/one"], "gcc"),
    **{f"a program that ends by {way}": (["{tools}/ends", way, "{d}/one"], "gcc")
       for way in ("exit", "_exit", "abort", "kill", "exec", "return", "thread")},
}  # fmt: skip
# Files on a descriptor that a program was given: the recorder looks at it once.
INHERITED = {"cat of its standard input": ["two"]}
SOURCES = {
    "streams.cc": """
        #include <fstream>
        #include <string>
        int main(int, char **names)
        {
            std::ifstream in(names[1], std::ios::binary);
            std::ofstream out(names[2], std::ios::binary);
            std::string line;
            while (std::getline(in, line))
                out << line;
        }""",
    "closes.c": """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <unistd.h>
        int main(int count, char **names)
        {
            char buffer[999];
            closefrom(0);
            int fd = open(names[count - 1], O_RDONLY);
            while (read(fd, buffer, sizeof buffer) > 0)
                ;
            return fd; /* the lowest number there is: nothing of ours is open */
        }""",
    "ends.c": """
        #include <fcntl.h>
        #include <pthread.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static void *read_all(void *name)
        {
            char buffer[999];
            int fd = open(name, O_RDONLY);
            while (read(fd, buffer, sizeof buffer) > 0)
                ;
            return 0;
        }
        int main(int count, char **names)
        {
            const char *way = names[1];
            pthread_t thread;
            (void)count;
            if (!strcmp(way, "thread")) {
                pthread_create(&thread, 0, read_all, names[2]);
                pthread_join(thread, 0);
                pthread_exit(0);
            }
            read_all(names[2]);
            if (!strcmp(way, "exit"))
                exit(3);
            if (!strcmp(way, "_exit"))
                _exit(4);
            if (!strcmp(way, "abort"))
                abort();
            if (!strcmp(way, "kill"))
                kill(getpid(), SIGKILL);
            if (!strcmp(way, "exec"))
                execlp("cat", "cat", names[2], (char *)0);
            return 5;
        }""",
    "shows.c": """
        #include <stdio.h>
        #include <stdlib.h>
        extern char **environ;
        int main(int count, char **names, char **given)
        {
            (void)count;
            (void)names;
            for (char **variable = given; *variable; variable++)
                puts(*variable);
            for (char **variable = environ; *variable; variable++)
                puts(*variable);
            printf("%s %ld", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "none", ftell(stdout) * 0);
        }""",
}
JOB = """\
import json, os, signal, subprocess, sys
import tfdarshan

commands, out = json.loads(sys.argv[1]), []
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
def run():
    for command in commands:
        ran = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
        out.append((ran.returncode, ran.stdout.decode("latin-1"), ran.stderr.decode("latin-1")))
if sys.argv[2] == "without":
    run()
else:
    with tfdarshan.profile(sys.argv[3], programs=sys.argv[2] == "programs"):
        os.access(sys.argv[4], os.F_OK)
        run()
        os.access(sys.argv[5], os.F_OK)
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """A folder of programs made for this, of those that a compiler is here for."""
    folder = tmp_path_factory.mktemp("tools")
    for name, text in SOURCES.items():
        compiler = "g++" if name.endswith(".cc") else "gcc"
        if shutil.which(compiler):
            (folder / name).write_text(textwrap.dedent(text))
            made = folder / Path(name).stem
            subprocess.run([compiler, "-O1", "-pthread", "-o", made, folder / name], check=True)
    return folder


def job_of(commands, mode, logdir):
    edges = [marker("programs", edge) for edge in ("begin", "end")]
    return [sys.executable, "-c", JOB, json.dumps(commands), mode, str(logdir), *edges]


def run_job(commands, mode, logdir, **more):
    """Runs a job that starts each command: gives the exit code, output and errors of each."""
    ran = subprocess.run(job_of(commands, mode, logdir), capture_output=True, text=True, timeout=200, **more)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not ran.stderr
    return [tuple(one) for one in json.loads(ran.stdout)]


def filled(command, data, tools):
    return [word.replace("{d}", str(data)).replace("{tools}", str(tools)) for word in command]


def make_data(folder):
    folder.mkdir(parents=True)
    for name, size in SIZES.items():
        (folder / name).write_bytes(os.urandom(size))
    shutil.copy(folder / "one", folder / "same")
    return folder


@pytest.fixture(scope="module")
def traced(tmp_path_factory, tools):
    """One job that starts all programs, in a session and under strace; those that are here."""
    home = tmp_path_factory.mktemp("traced")
    here = [name for name, (_, need) in PROGRAMS.items() if not need or shutil.which(need)]
    folders = {name: make_data(home / "data" / str(number)) for number, name in enumerate(here)}
    commands = [filled(PROGRAMS[name][0], folders[name], tools) for name in here]
    command = job_of(commands, "programs", home / "logs")
    done = strace_log.run(command, home / "strace", timeout_s=250)
    assert done.returncode == 0, done.stdout + done.stderr
    calls = window(strace_log.read_calls(home / "strace"), "programs")
    return folders, calls, tfdarshan.open_session(home / "logs")


@needs_strace
@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_are_those_of_strace(traced, name):
    folders, calls, session = traced
    if name not in folders:
        pytest.skip(f"{PROGRAMS[name][1]} is not installed")

    # WHEN what a program did is compared, file by file
    seen = tally(calls, folders[name])
    for file in INHERITED.get(name, ()):
        seen[f"{folders[name]}/{file}"].recorder_stats += 1
        seen[f"{folders[name]}/{file}"].recorder_seeks += 1
    found = differences(name, session.files, seen, folders[name])

    # THEN all of it is in the session
    assert not found, "\n".join(found)
    moved = (file.bytes_read + file.copy_bytes_read + file.bytes_mapped for file in seen.values())
    assert sum(moved) >= min(SIZES.values())


@needs_strace
def test_what_was_recorded_is_named(traced):
    folders, _calls, session = traced
    owner = session.meta[0]

    recorded = owner["programs"]["recorded"]
    assert owner["programs"]["unseen"] == []
    assert recorded["cat"] > 5
    assert recorded["dd"] >= 2
    assert not [note for note in owner["bounds"] if "could not be recorded" in note]
